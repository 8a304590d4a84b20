import fc from 'fast-check';
import { LATENCY_BUCKETS, latencyBucket, latencyQuantile } from '../../../services/identity/limits/latency-buckets.ts';

const counted = (times: readonly number[]): number[] => {
  const counts = Array<number>(LATENCY_BUCKETS).fill(0);
  for (const time of times) counts[latencyBucket(time)]! += 1;
  return counts;
};

test('released counts keep their meaning: bounds grow by the fourth root of 2, from 1 ms to 2,097 s', () => {
  expect(LATENCY_BUCKETS).toBe(86);
  expect([0, 0.3, 1, 1.1, 2, 4, 1_024, 2 ** 21, 2 ** 21 + 1, 1e9].map(latencyBucket)).toEqual([
    0, 0, 0, 1, 4, 8, 40, 84, 85, 85,
  ]);
});

test('a quantile is never less than the true one, and at most a fifth more, to the millisecond', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 2 ** 21, noNaN: true }), { minLength: 1, maxLength: 200 }),
      fc.constantFrom(0.5, 0.95, 1),
      (times, share) => {
        const sorted = times.toSorted((one, other) => one - other);
        const truth = sorted[Math.ceil(share * times.length) - 1]!;
        const told = latencyQuantile(counted(times), share)!;
        expect(told).toBeGreaterThanOrEqual(truth);
        expect(told).toBeLessThanOrEqual(Math.ceil(Math.max(1, truth) * 1.19));
      },
    ),
  );
});

test('nobody has called: there is none', () => {
  expect(latencyQuantile(counted([]), 0.95)).toBeNull();
});
