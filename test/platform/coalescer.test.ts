import { setImmediate as nextTurn } from 'node:timers/promises';
import * as fc from 'fast-check';
import { Coalescer } from '../../platform/coalescer.ts';

/** Answers with the number of the asking; nobody is answered before `release`. */
function counting(patienceMs?: number) {
  const askings: { readonly question: string; readonly askers: number; readonly release: () => void }[] = [];
  const coalescer = new Coalescer<string, number>((question, askers) => {
    const place = askings.length;
    return new Promise((resolve) => askings.push({ question, askers, release: () => resolve(place) }));
  }, patienceMs);
  return { askings, coalescer };
}

describe('who asks the same in one turn of the event loop', () => {
  test('is answered by one asking, and knows who came before', async () => {
    const { askings, coalescer } = counting();
    const shares = ['first', 'second', 'third'].map((question) => coalescer.join('same', question));
    expect(askings).toEqual([]);
    await nextTurn();
    expect(askings).toEqual([{ question: 'first', askers: 3, release: expect.any(Function) }]);
    askings[0]!.release();
    expect(await Promise.all(shares.map(({ answer }) => answer))).toEqual([0, 0, 0]);
    expect(shares.map(({ place }) => place)).toEqual([0, 1, 2]);
  });

  test('shares nothing with who asks something else, nor with who comes when the asking has begun', async () => {
    const { askings, coalescer } = counting(1);
    coalescer.join('one', 'one');
    coalescer.join('other', 'other');
    await nextTurn();
    const late = coalescer.join('one', 'late');
    expect(late.place).toBe(0);
    // Whoever is slow holds nobody up for long.
    while (askings.length < 3) await nextTurn();
    expect(askings.map(({ question, askers }) => [question, askers])).toEqual([
      ['one', 1],
      ['other', 1],
      ['late', 1],
    ]);
  });

  test('gathers with who comes while the same is asked for others, whose answer is too old for them', async () => {
    const { askings, coalescer } = counting(60_000);
    const early = coalescer.join('same', 'early');
    await nextTurn();
    const late = [];
    for (let turn = 0; turn < 3; turn += 1) {
      late.push(coalescer.join('same', `late ${turn}`));
      await nextTurn();
    }
    expect(askings.map(({ question }) => question)).toEqual(['early']);
    askings[0]!.release();
    expect(await early.answer).toBe(0);
    await nextTurn();
    expect(askings.slice(1).map(({ question, askers }) => [question, askers])).toEqual([['late 0', 3]]);
    askings[1]!.release();
    expect(await Promise.all(late.map(({ answer }) => answer))).toEqual([1, 1, 1]);
  });

  test('hears of the same failure; the next one asks anew', async () => {
    let failures = 0;
    const coalescer = new Coalescer<string, never>(async () => {
      throw new Error(`failure ${(failures += 1)}`);
    });
    const shares = [coalescer.join('a', 'a'), coalescer.join('a', 'a')];
    for (const { answer } of shares) await expect(answer).rejects.toThrow('failure 1');
    await expect(coalescer.join('a', 'a').answer).rejects.toThrow('failure 2');
  });
});

test('no answer is older than its question, and every asker is counted in exactly one asking', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom('a', 'b', 'turn', 'microtask'), { maxLength: 40 }), async (script) => {
      let now = 0;
      let counted = 0;
      const coalescer = new Coalescer<string, { readonly key: string; readonly sinceNow: number }>(
        async (key, askers) => {
          counted += askers;
          const sinceNow = (now += 1);
          // Some take a while, so that others come meanwhile.
          if (key === 'b') await nextTurn();
          return { key, sinceNow };
        },
      );
      const asked: {
        readonly key: string;
        readonly atNow: number;
        readonly answer: Promise<{ readonly key: string; readonly sinceNow: number }>;
      }[] = [];
      for (const each of script) {
        if (each === 'turn') await nextTurn();
        else if (each === 'microtask') await Promise.resolve();
        else asked.push({ key: each, atNow: (now += 1), answer: coalescer.join(each, each).answer });
      }
      for (const { key, atNow, answer } of asked) {
        const { key: answered, sinceNow } = await answer;
        expect(answered).toBe(key);
        expect(sinceNow).toBeGreaterThan(atNow);
      }
      expect(counted).toBe(asked.length);
    }),
  );
});
