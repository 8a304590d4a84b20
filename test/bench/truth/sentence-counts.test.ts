import { METHODS, type Estimate, type Method } from '../../../bench/truth/estimate-world.ts';
import { falseRate, isFalse, sentenceCounts, totalCoverage } from '../../../bench/truth/sentence-counts.ts';
import { foundOfSentences, sentencesPage } from '../../../bench/truth/sentences-page.ts';
import type { ShopRecord } from '../../../bench/truth/shop-record.ts';

const none = Object.fromEntries(METHODS.map((method) => [method, { credit: [0, 0, 0] }])) as unknown as Record<
  Method,
  Estimate
>;
const point = { status: 'point', codes: [] } as const;

/** Revenue of 1,000. Of a and b the interval lies above the spend: a earns more, b does not. Of c it holds it. */
const SHOP: ShopRecord = {
  name: 'made_1',
  simulator: 'made',
  traits: [],
  people: 1,
  events: 1,
  orders: 10,
  revenue: 1000,
  truthTotal: 190,
  channels: [
    { name: 'a', traits: [], spend: 50, truth: 100 },
    { name: 'b', traits: [], spend: 50, truth: 40 },
    { name: 'c', traits: [], spend: 50, truth: 50 },
  ],
  estimates: {
    ...none,
    last_click: { credit: [200, 30, 60] },
    prav: { credit: [10, 90, 60], low: [0, 80, 0], high: [20, 100, 120] },
    causal: {
      credit: [100, 80, 60],
      low: [60, 60, 0],
      high: [140, 100, 120],
      identification: [point, point, point],
    },
  },
  deltaR: { value: 50, low: 0, high: 70 },
  tests: [],
};

const countOf = (counts: readonly { sentence: string; said: number; wrong: number; asked: number }[], name: string) =>
  counts.find(({ sentence }) => sentence === name);

test('a verdict counts as false where the truth is not on the side that it says', () => {
  expect(isFalse('pays', 50, 50)).toBe(true);
  expect(isFalse('pays', 51, 50)).toBe(false);
  expect(isFalse('loses', 50, 50)).toBe(true);
  expect(isFalse('loses', 49, 50)).toBe(false);
  expect(isFalse('adds', 0, 0)).toBe(true);
  expect(isFalse('harms', -1, 0)).toBe(false);
  expect(isFalse('open', -1, 0)).toBe(false);
});

test('channels are counted by their verdict, and by whether the truth agrees', () => {
  const { channels } = sentenceCounts([SHOP]);
  expect(countOf(channels, 'pays')).toEqual({ sentence: 'pays', said: 2, wrong: 1, asked: 3 });
  expect(countOf(channels, 'open')).toEqual({ sentence: 'open', said: 1, wrong: 0, asked: 3 });
  expect(channels.at(-1)).toMatchObject({ said: 2, wrong: 1 });
});

test('what is said of last click is false where the truth is on its other side', () => {
  const { lastClick } = sentenceCounts([SHOP]);
  // a is shown with 200 of at most 140; b with 30 of at least 60, and brought 40.
  expect(lastClick).toEqual([
    { sentence: 'too_much', said: 1, wrong: 0, asked: 3 },
    { sentence: 'too_little', said: 1, wrong: 0, asked: 3 },
  ]);
});

test('the total is judged by the sums of the ends', () => {
  const { totals } = sentenceCounts([SHOP]);
  // 120 to 360, for 150.
  expect(countOf(totals, 'open')).toMatchObject({ said: 1, asked: 1 });
  expect(totalCoverage([SHOP])).toMatchObject({ shops: 1, held: 1, heldAllOff: 1, width: 0.24 });
});

test('PRAV by itself would be false more often', () => {
  const { ofPravAlone } = sentenceCounts([SHOP]);
  expect(countOf(ofPravAlone, 'loses')).toMatchObject({ said: 1, wrong: 1 });
  expect(countOf(ofPravAlone, 'pays')).toMatchObject({ said: 1, wrong: 1 });
});

test('nothing said has no rate, and the page says so', () => {
  expect(falseRate({ sentence: 'harms', said: 0, wrong: 0, asked: 3 })).toBeNull();
  expect(falseRate({ sentence: 'pays', said: 2, wrong: 1, asked: 3 })!.rate).toBe(0.5);
  expect(sentencesPage([SHOP])).toContain('| takes revenue away | 0 | 0 | never said | 3 |');
  expect(foundOfSentences([SHOP])).toContain('1 of 3 paid channels');
  expect(foundOfSentences([SHOP])).toContain('given 2 times, 1 of them false: 33.3 % of all channels');
});
