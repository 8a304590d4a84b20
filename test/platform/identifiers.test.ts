import fc from 'fast-check';
import { isUuid, newUuid, publicId, requireUuid, uuidFromPublicId, type Uuid } from '../../platform/identifiers.ts';

const anyUuid = fc.uuid().map((text) => text as Uuid);

describe('identifiers', () => {
  test('a public id is the prefix and 22 alphanumerics, and leads back to its UUID', () => {
    fc.assert(
      fc.property(anyUuid, (uuid) => {
        const id = publicId('attr', uuid);
        expect(id).toMatch(/^attr_[0-9A-Za-z]{22}$/);
        expect(uuidFromPublicId('attr', id)).toBe(uuid);
      }),
    );
  });

  test('public ids sort as their UUIDs do', () => {
    fc.assert(
      fc.property(
        anyUuid,
        anyUuid,
        (a, b) => Math.sign(Number(publicId('ds', a) > publicId('ds', b))) === Number(a > b),
      ),
    );
  });

  test('the extremes survive the round trip', () => {
    for (const uuid of ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'] as Uuid[]) {
      expect(uuidFromPublicId('key', publicId('key', uuid))).toBe(uuid);
    }
  });

  test.each([
    'attr_',
    'attr_short',
    `ds_${'0'.repeat(22)}`,
    `attr_${'z'.repeat(22)}`,
    `attr_${'0'.repeat(21)}-`,
    '',
    `attr_${'0'.repeat(23)}`,
  ])('%p is no id of an attribution', (id) => {
    expect(uuidFromPublicId('attr', id)).toBeUndefined();
    expect(() => requireUuid('attr', id, 'attribution')).toThrow(
      expect.objectContaining({ type: 'resource_not_found' }),
    );
  });

  test('new UUIDs are version 7 and ordered by time', () => {
    const early = newUuid(1_700_000_000_000);
    const late = newUuid(1_700_000_000_001);
    expect(isUuid(early)).toBe(true);
    expect(early[14]).toBe('7');
    expect('89ab').toContain(early[19]);
    expect(early < late).toBe(true);
  });
});
