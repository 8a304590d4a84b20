import fc from 'fast-check';
import { MAX_STREAMS_PER_KEY, OpenStreams } from '../../../platform/auth/open-streams.ts';

const fill = (streams: OpenStreams, key: string) => Array.from({ length: MAX_STREAMS_PER_KEY }, () => streams.open(key));

test('as many as a key may have, and one more when one has ended; nobody else is in its way', () => {
  const streams = new OpenStreams();
  const [first] = fill(streams, 'a');
  const refused = () => streams.open('a');
  expect(refused).toThrow(expect.objectContaining({ type: 'rate_limit_exceeded', problem: expect.objectContaining({ status: 429 }), extensions: expect.anything() }));
  expect(streams.open('b')).toBeDefined();
  first!();
  first!();
  expect(streams.open('a')).toBeDefined();
  expect(refused).toThrow(/At most 100 streams/);
});

test('whatever opens and ends, in whatever order, leaves room for exactly what is not open', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat(MAX_STREAMS_PER_KEY)), { maxLength: 300 }), (steps) => {
      const streams = new OpenStreams();
      const open: (() => void)[] = [];
      for (const [opens, place] of steps) {
        if (!opens) open.splice(place, 1)[0]?.();
        else if (open.length < MAX_STREAMS_PER_KEY) open.push(streams.open('a'));
        else expect(() => streams.open('a')).toThrow();
      }
      for (let room = MAX_STREAMS_PER_KEY - open.length; room > 0; room -= 1) streams.open('a');
      expect(() => streams.open('a')).toThrow();
    }),
  );
});
