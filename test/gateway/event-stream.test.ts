import { jest } from '@jest/globals';
import fc from 'fast-check';
import { EventQueue } from '../../gateway/event-queue.ts';
import { EventStream } from '../../gateway/event-stream.ts';

const DONE = { done: true, value: undefined };
const passOn = <Event>(event: Event) => event;
const rethrow = (reason: unknown): never => {
  throw reason;
};

async function drained<Event>(stream: AsyncIterable<Event>): Promise<Event[]> {
  const seen: Event[] = [];
  for await (const event of stream) seen.push(event);
  return seen;
}

describe('EventQueue', () => {
  test('keeps the order of what is pushed, whenever it is read', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.integer(), fc.constant('read' as const)), { maxLength: 60 }),
        async (steps) => {
          const queue = new EventQueue<number>(() => undefined);
          const read: Promise<IteratorResult<number>>[] = [];
          for (const step of steps) {
            if (step === 'read') read.push(queue.next());
            else queue.push(step);
          }
          queue.end();
          const rest = await drained(queue);
          const early = (await Promise.all(read)).filter(({ done }) => done !== true).map(({ value }) => value);
          expect([...early, ...rest]).toEqual(steps.filter((step) => step !== 'read'));
        },
      ),
    ));

  test('fails behind what was pushed, and once', async () => {
    const queue = new EventQueue<number>(() => undefined);
    queue.push(1);
    queue.fail('lost');
    expect(await queue.next()).toEqual({ done: false, value: 1 });
    await expect(queue.next()).rejects.toBe('lost');
    expect(await queue.next()).toEqual(DONE);
  });

  test('tells the producer once when the reader leaves, and forgets the rest', async () => {
    const left = jest.fn();
    const queue = new EventQueue<number>(left);
    queue.push(1);
    await queue.return();
    await queue.return();
    queue.push(2);
    expect(await queue.next()).toEqual(DONE);
    expect(left).toHaveBeenCalledTimes(1);
  });

  test('does not tell a producer that has ended', async () => {
    const left = jest.fn();
    const queue = new EventQueue<number>(left);
    queue.end();
    await queue.return();
    expect(left).not.toHaveBeenCalled();
  });

  test('breaks instead of growing without end', async () => {
    const left = jest.fn();
    const queue = new EventQueue<number>(left);
    for (let event = 0; event < 5_000; event += 1) queue.push(event);
    await expect(queue.next()).rejects.toThrow('behind');
    expect(left).toHaveBeenCalledTimes(1);
  });
});

describe('EventStream', () => {
  test('presents each event', async () => {
    const queue = new EventQueue<number>(() => undefined);
    for (const event of [1, 2, 3]) queue.push(event);
    queue.end();
    expect(await drained(new EventStream(queue, async (event) => event * 10, rethrow))).toEqual([10, 20, 30]);
  });

  test('ends at once when the reader leaves, even if the source never answers', async () => {
    const deaf: AsyncIterator<number> = {
      next: () => new Promise(() => undefined),
      return: jest.fn(async () => ({ done: true as const, value: undefined })),
    };
    const stream = new EventStream(deaf, passOn, rethrow);
    const pending = stream.next();
    await stream.return();
    expect(await pending).toEqual(DONE);
    expect(await stream.next()).toEqual(DONE);
    expect(deaf.return).toHaveBeenCalledTimes(1);
  });

  test('a broken source has one last word', async () => {
    const queue = new EventQueue<string>(() => undefined);
    queue.push('event');
    queue.fail('lost');
    expect(await drained(new EventStream(queue, passOn, (reason) => `broken: ${String(reason)}`))).toEqual([
      'event',
      'broken: lost',
    ]);
  });

  test('an event that cannot be presented ends the stream and its source', async () => {
    const left = jest.fn();
    const queue = new EventQueue<string>(left);
    queue.push('event');
    const stream = new EventStream(queue, rethrow, rethrow);
    await expect(stream.next()).rejects.toBe('event');
    expect(await stream.next()).toEqual(DONE);
    expect(left).toHaveBeenCalledTimes(1);
  });

  test('a source that breaks after the reader left stays silent', async () => {
    let fail: (reason: unknown) => void = () => undefined;
    const source: AsyncIterator<number> = { next: () => new Promise((_resolve, reject) => (fail = reject)) };
    const stream = new EventStream(source, passOn, rethrow);
    const pending = stream.next();
    await stream.return();
    fail(new Error('late'));
    expect(await pending).toEqual(DONE);
  });
});
