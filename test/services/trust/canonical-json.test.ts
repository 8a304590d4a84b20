import fc from 'fast-check';
import { canonicalDigest } from '../../../services/trust/canonical-json.ts';

describe('canonical JSON', () => {
  test('the digest is that of RFC 8785 text', () => {
    // printf '{"a":[1,true,null],"b":"é"}' | sha256sum
    expect(canonicalDigest({ b: 'é', a: [1, true, null] })).toBe(
      'sha256:6eab153701ef60c995351765c772011bca6739878254f313acc3f11e1fef476b',
    );
  });

  test('the order of keys does not count', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).toReversed());
        expect(canonicalDigest(reversed)).toBe(canonicalDigest(value));
      }),
    );
  });

  test('what JSON cannot say is refused', () => {
    expect(() => canonicalDigest({ x: Number.NaN })).toThrow(RangeError);
    expect(() => canonicalDigest(['\ud800'])).toThrow(RangeError);
    expect(() => canonicalDigest(undefined)).toThrow(RangeError);
  });
});
