import fc from 'fast-check';
import { KeyVault, SealBrokenError } from '../../../services/trust/key-vault.ts';

const vault = new KeyVault('a-secret-of-the-installation-of-32-characters');

describe('the vault', () => {
  test('gives back what was sealed, in its place and under its secret alone', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.string(), (plain, place) => {
        const sealed = vault.seal(plain, place);
        expect(vault.open(sealed, place)).toEqual(Buffer.from(plain));
        expect(() => vault.open(sealed, `${place}!`)).toThrow(SealBrokenError);
        expect(() => new KeyVault('another-secret-of-the-installation').open(sealed, place)).toThrow(SealBrokenError);
      }),
    );
  });

  test('no byte of a sealed secret can be changed, no two seals are alike', () => {
    const plain = Buffer.from('private key');
    const sealed = vault.seal(plain, 'p');
    expect(sealed.includes(plain)).toBe(false);
    expect(vault.seal(plain, 'p').equals(sealed)).toBe(false);
    for (let at = 0; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed);
      changed[at]! ^= 1;
      expect(() => vault.open(changed, 'p')).toThrow(SealBrokenError);
    }
    for (let length = 0; length < sealed.length; length += 1)
      expect(() => vault.open(sealed.subarray(0, length), 'p')).toThrow(SealBrokenError);
  });
});
