import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { nativeBlock, TextColumn } from '../../../../../../subgraphs/attribution/intake/files/reader/block-columns.ts';
import { UserCell } from '../../../../../../subgraphs/attribution/intake/files/reader/user-cell.ts';

/** What would be stored of an id that stands somewhere in a row, or why it is refused. */
function read(id: string | Uint8Array): string {
  const bytes = Buffer.concat([Buffer.from('before,'), Buffer.from(id), Buffer.from(',@after@')]);
  const [cell, column] = [new UserCell(), new TextColumn('user_id')];
  const fault = cell.read(bytes, 7, bytes.length - 8);
  if (fault !== null) return fault;
  cell.addTo(column);
  const [, , text] = nativeBlock([column], 1);
  // Shorter than 128 bytes: one byte of length.
  return Buffer.from(text!.subarray(1)).toString();
}
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('the id of a person', () => {
  test.each(['ann@shop.example', ' Ann@Shop.Example\t', 'ANN@SHOP.EXAMPLE', sha256('ann@shop.example').toUpperCase()])(
    '%j is the digest of the address',
    (id) => expect(read(id)).toBe(sha256('ann@shop.example')),
  );

  test.each(['u1', ' u1 ', 'a@b', '@shop.example', 'a b@shop.example', 'ann@@shop.example', 'ÄÖ', '1@2@shop.example'])(
    '%j stays as it is',
    (id) => expect(read(id)).toBe(id),
  );

  test.each([
    ['', 'missing_value'],
    ['x'.repeat(513), 'value_too_long'],
    ['a\u0000@shop.example', 'nul_character'],
    [Uint8Array.of(0xff, 0x40), 'invalid_encoding'],
  ])('%j is refused: %s', (id, code) => expect(read(id)).toBe(code));

  test('however an address is spelt, nothing of it is left', () => {
    fc.assert(
      fc.property(fc.emailAddress(), fc.constantFrom('', ' ', '  '), fc.boolean(), (address, blanks, isUpper) => {
        const stored = read(blanks + (isUpper ? address.toUpperCase() : address) + blanks);
        expect(stored).toBe(sha256(address.toLowerCase()));
      }),
    );
  });
});
