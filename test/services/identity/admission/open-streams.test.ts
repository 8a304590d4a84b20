import fc from 'fast-check';
import {
  FEW_STREAMS,
  MAX_STREAMS,
  MAX_STREAMS_PER_ACCOUNT,
  MAX_STREAMS_PER_KEY,
  OpenStreams,
  RESERVED_STREAMS,
  type StreamHolder,
} from '../../../../services/identity/admission/open-streams.ts';

const key = (keyId: string, accountId = 'account'): StreamHolder => ({ keyId, accountId });
const fill = (streams: OpenStreams, holder: StreamHolder, count = MAX_STREAMS_PER_KEY) =>
  Array.from({ length: count }, () => streams.open(holder));
const tooMany = expect.objectContaining({
  type: 'rate_limit_exceeded',
  problem: expect.objectContaining({ status: 429, code: 'concurrency', retryAfterS: 1 }),
});

test('as many as a key may have, and one more when one has ended; nobody else is in its way', () => {
  const streams = new OpenStreams();
  const [first] = fill(streams, key('a'));
  const refused = () => streams.open(key('a'));
  expect(refused).toThrow(tooMany);
  expect(streams.open(key('b'))).toBeDefined();
  first!();
  first!();
  expect(streams.open(key('a'))).toBeDefined();
  expect(refused).toThrow(/At most 100 streams/);
});

test('an account has no more for having more keys', () => {
  const streams = new OpenStreams();
  const [first] = fill(streams, key('a'));
  fill(streams, key('b'));
  const refused = () => streams.open(key('c'));
  expect(refused).toThrow(tooMany);
  expect(refused).toThrow(/At most 200 streams .* one account/);
  expect(streams.open(key('c', 'neighbour'))).toBeDefined();
  first!();
  expect(streams.open(key('c'))).toBeDefined();
  expect(refused).toThrow(tooMany);
});

test('ten accounts, and any ten more, leave some for whoever has few; nobody gets one beyond what there is', () => {
  const streams = new OpenStreams();
  let open = 0;
  for (let account = 0; open < MAX_STREAMS - RESERVED_STREAMS; account += 1) {
    for (const name of ['a', 'b']) open += fill(streams, key(`${name}${account}`, `account ${account}`)).length;
  }
  expect(open).toBeGreaterThanOrEqual(20 * MAX_STREAMS_PER_ACCOUNT * (3 / 4));
  const late = () => streams.open(key('late', 'late'));
  const [first] = fill(streams, key('late', 'late'), FEW_STREAMS);
  expect(late).toThrow(tooMany);
  expect(late).toThrow(/keeps them for accounts with less than 10/);
  for (let account = 1; account < RESERVED_STREAMS / FEW_STREAMS; account += 1)
    fill(streams, key(`k${account}`, `few ${account}`), FEW_STREAMS);
  const last = () => streams.open(key('last', 'last'));
  expect(last).toThrow(/as many streams and subscriptions open as it can/);
  first!();
  expect(last()).toBeDefined();
  expect(last).toThrow(tooMany);
});

test('whatever opens and ends, in whatever order, leaves room for exactly what is not open', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(MAX_STREAMS_PER_KEY)), { maxLength: 300 }), (steps) => {
      const streams = new OpenStreams();
      const open: (() => void)[] = [];
      for (const [opens, place] of steps) {
        if (!opens) open.splice(place, 1)[0]?.();
        else if (open.length < MAX_STREAMS_PER_KEY) open.push(streams.open(key('a')));
        else expect(() => streams.open(key('a'))).toThrow();
      }
      for (let room = MAX_STREAMS_PER_KEY - open.length; room > 0; room -= 1) streams.open(key('a'));
      expect(() => streams.open(key('a'))).toThrow();
    }),
  );
});
