import fc from 'fast-check';
import { fingerprintOf } from '../../../platform/idempotency/idempotency-key.ts';

test('requests with one JSON body have one fingerprint, whatever the order of their members; others have another', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), (body) => {
      const reversed = Object.fromEntries(Object.entries(body).toReversed());
      expect(fingerprintOf({ body: reversed })).toBe(fingerprintOf({ body }));
      expect(fingerprintOf({ body: { ...body, more: [body] } })).not.toBe(fingerprintOf({ body }));
    }),
  );
});

test('a number beyond a double has a fingerprint of its own', () => {
  const [large, negative] = [JSON.parse('{"a":[1e999]}'), JSON.parse('{"a":[-1e999]}')] as Record<string, unknown>[];
  expect(new Set([fingerprintOf(large!), fingerprintOf(negative!), fingerprintOf({ a: [null] })]).size).toBe(3);
});
