import { array, assert, integer, property, tuple } from 'fast-check';
import { TokenBucket } from '../../platform/token-bucket.ts';

test('holds a burst, and regains what was taken with time', () => {
  const bucket = new TokenBucket({ burst: 10, perSecond: 2 }, 0);
  expect([bucket.take(8, 0), bucket.take(3, 0), bucket.take(2, 0), bucket.take(1, 400), bucket.take(1, 500)]).toEqual([
    true,
    false,
    true,
    false,
    true,
  ]);
  expect([bucket.take(11, 1e9), bucket.take(10, 1e9)]).toEqual([false, true]);
});

test('never gives more than burst and rate allow', () => {
  const takes = array(tuple(integer({ min: 0, max: 20 }), integer({ min: 0, max: 2_000 })));
  assert(
    property(takes, (each) => {
      const bucket = new TokenBucket({ burst: 20, perSecond: 5 }, 0);
      let [nowMs, taken] = [0, 0];
      for (const [tokens, pauseMs] of each) {
        nowMs += pauseMs;
        if (bucket.take(tokens, nowMs)) taken += tokens;
        expect(taken).toBeLessThanOrEqual(20 + (nowMs / 1000) * 5 + 1e-6);
      }
    }),
  );
});
