import { testCredit } from '../../../compute/models/causal/credit-tests.ts';
import type { Measured } from '../../../compute/models/causal/credit-measurements.ts';

/** The texts about a channel whose estimate is `estimate` in every test that has one. */
function textsFor(estimate: number): readonly string[] {
  const rows: readonly Measured[] = [{ channel: 'email', estimate, error: 0.01 }];
  const tests = testCredit(
    {
      ok: true,
      people: 1_000,
      ofPeople: 1_000,
      placebos: rows,
      horizonHalved: rows,
      horizonDoubled: rows,
      windowHalves: rows,
      overlap: [],
    },
    {
      channels: ['email'],
      isBaseline: Uint8Array.of(0),
      confidenceLevel: 0.95,
      revenue: 1_000,
      low: Float64Array.of(0),
      high: Float64Array.of(100),
      prav: { ok: false, code: 'insufficient_data', message: 'not here' },
    },
  );
  return tests.map(({ message }) => message);
}

test.each([-0.0001, 0.0001, -0])('an estimate of %d is said without a sign or a direction', (estimate) => {
  const texts = textsFor(estimate);
  expect(texts.join()).not.toContain('-0.0 %');
  expect(texts.find((text) => text.startsWith('By the later half'))).toMatch(/^By the later half .* as much as by the/);
});

test('one that is more than a rounding error keeps both', () => {
  const texts = textsFor(-0.012);
  expect(texts.join()).toContain('moves by -1.2 % of the revenue');
  expect(texts.join()).toContain('it brings 2.4 % of the revenue less than by the earlier half');
});
