import fc from 'fast-check';
import { EventStreamParser } from '../../../../processes/cli/listen/event-stream.ts';

const STREAM = [
  'retry: 3000\n\n',
  'id: 7\n\n',
  ': hb\n\n',
  'id: 8\nevent: attribution.completed\ndata: {"a":1}\n\n',
  'id: 9\r\ndata: one\r\ndata:two\r\n\r\n',
  'data\n\n',
  'ignored: x\rdata: last\r\r',
].join('');

test('reads what the standard says, and the ids of blocks without an event', () => {
  const parser = new EventStreamParser('6');
  expect(parser.push(`${STREAM}\n`)).toEqual([
    { lastEventId: '6', event: null },
    { lastEventId: '7', event: null },
    { lastEventId: '7', event: null },
    { lastEventId: '8', event: { type: 'attribution.completed', data: '{"a":1}' } },
    { lastEventId: '9', event: { type: 'message', data: 'one\ntwo' } },
    { lastEventId: '9', event: { type: 'message', data: '' } },
    { lastEventId: '9', event: { type: 'message', data: 'last' } },
  ]);
  expect(parser.retryMs).toBe(3000);
});

test('it does not matter where the stream is cut', () => {
  const whole = new EventStreamParser().push(`${STREAM}\n`);
  fc.assert(
    fc.property(fc.array(fc.nat(STREAM.length), { maxLength: 12 }), (cuts) => {
      const parser = new EventStreamParser();
      const places = [0, ...cuts.toSorted((one, other) => one - other), STREAM.length];
      const pieces = places.slice(1).map((end, index) => STREAM.slice(places[index], end));
      expect([...pieces, '\n'].flatMap((piece) => parser.push(piece))).toEqual(whole);
    }),
  );
});
