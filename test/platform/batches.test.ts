import { setImmediate as nextTurn } from 'node:timers/promises';
import * as fc from 'fast-check';
import { Batches, type BatchesOptions } from '../../platform/batches.ts';

interface Batch {
  readonly items: readonly number[];
  readonly release: () => void;
  readonly fail: (error: Error) => void;
}

/** Gives each item its hundredfold, once it is released. */
function released(options?: BatchesOptions) {
  const sent: Batch[] = [];
  const batches = new Batches<number, number>((items) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly number[]>();
    sent.push({ items, release: () => resolve(items.map((item) => item * 100)), fail: reject });
    return promise;
  }, options);
  return { sent, batches };
}

describe('batches', () => {
  test('those who ask in one turn of the event loop go together, later ones by themselves', async () => {
    const { sent, batches } = released();
    const results = [1, 2, 3].map((item) => batches.add(item));
    expect(sent).toEqual([]);
    await nextTurn();
    const late = batches.add(4);
    await nextTurn();
    expect(sent.map(({ items }) => items)).toEqual([[1, 2, 3], [4]]);
    for (const { release } of sent) release();
    expect(await Promise.all([...results, late])).toEqual([100, 200, 300, 400]);
  });

  test('where one may be under way at a time, all who come meanwhile are the next, as many as it holds', async () => {
    const { sent, batches } = released({ atOnce: 1, size: 3 });
    const results: Promise<number>[] = [];
    for (let item = 1; item <= 5; item += 1) {
      results.push(batches.add(item));
      await nextTurn();
    }
    expect(sent.map(({ items }) => items)).toEqual([[1]]);
    sent[0]!.release();
    await nextTurn();
    expect(sent.map(({ items }) => items)).toEqual([[1], [2, 3, 4]]);
    sent[1]!.release();
    await nextTurn();
    sent[2]!.release();
    expect(await Promise.all(results)).toEqual([100, 200, 300, 400, 500]);
  });

  test('who is in a batch that fails hears of it, as does who waited behind it; the next one is tried', async () => {
    const { sent, batches } = released({ atOnce: 1 });
    const failing = batches.add(1);
    await nextTurn();
    const behind = batches.add(2);
    await nextTurn();
    sent[0]!.fail(new Error('on purpose'));
    await expect(failing).rejects.toThrow('on purpose');
    await expect(behind).rejects.toThrow('on purpose');
    const next = batches.add(3);
    await nextTurn();
    sent[1]!.release();
    expect(await next).toBe(300);
  });

  test('everybody gets a result of his own, exactly once, and no batch is too large or one too many', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('add', 'turn', 'release'), { maxLength: 60 }),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 4 }),
        async (script, atOnce, size) => {
          const { sent, batches } = released({ atOnce, size });
          const results: Promise<number>[] = [];
          let done = 0;
          const release = async () => {
            sent[done]?.release();
            if (done < sent.length) done += 1;
            await nextTurn();
            expect(sent.length - done).toBeLessThanOrEqual(atOnce);
          };
          for (const each of script) {
            if (each === 'add') results.push(batches.add(results.length));
            else if (each === 'turn') await nextTurn();
            else await release();
          }
          await nextTurn();
          while (done < sent.length) await release();
          expect(await Promise.all(results)).toEqual(results.map((_result, item) => item * 100));
          expect(sent.flatMap(({ items }) => items)).toEqual(results.map((_result, item) => item));
          expect(sent.every(({ items }) => items.length <= size)).toBe(true);
        },
      ),
    );
  });
});
