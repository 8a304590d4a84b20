import { z } from 'zod';
import type { ChannelRule } from '../../../../../schema/contract/channel-rules.ts';
import {
  currentPathsOf,
  spendOf,
  touchpointsOf,
} from '../../../../../subgraphs/attribution/intake/touchpoints/named-rows.ts';
import { sourceParams, type SourceKey } from '../../../../../subgraphs/attribution/intake/touchpoints/source-key.ts';
import { openColumnarStore, storeRows, type ColumnarStore } from './columnar-store.ts';
import { referenceChannel, type NamedRow } from './reference-naming.ts';

let store: ColumnarStore;
beforeAll(async () => {
  store = await openColumnarStore();
});
afterAll(() => store.close());

/** Numbers in [0, 1) that are the same in every run. */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const WORDS = [
  'google',
  'Google',
  'GOOGLE',
  'facebook',
  'Straße',
  'STRASSE',
  'ÄÖÜ',
  'äöü',
  "it's",
  'back\\slash',
  '{x:String}',
  'a, b',
  'тест',
  'ТЕСТ',
  '日本',
  "']); --",
  'tab\there',
];
const REGEXES = ['brand', '(?i)brand', '^spring$', '\\d{2,}', '^$', 'a|b', "it's", '[.]'];
const CAMPAIGNS = ['', 'brand', 'Brand 2026', 'spring', 'Spring', 'a', "it's 10", 'v1.5'];

function randomCase(random: () => number): {
  readonly rules: readonly ChannelRule[];
  readonly rows: readonly NamedRow[];
} {
  const among = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
  const word = () => (random() < 0.3 ? '' : among(WORDS));
  const rules = Array.from({ length: 1 + Math.floor(random() * 12) }, (): ChannelRule => {
    const match: ChannelRule['match'] = {};
    for (const member of ['channel', 'source', 'medium', 'referrer', 'clickId'] as const)
      if (random() < 0.25) match[member] = among(WORDS);
    if (random() < 0.3 || Object.keys(match).length === 0) match.campaignRegex = among(REGEXES);
    return { match, channel: among(['meta', 'Search', "o'ther", 'x > y', 'é\\']) };
  });
  const rows = Array.from({ length: 60 }, (): NamedRow => ({
    channel: among(WORDS),
    source: word(),
    medium: word(),
    referrer: word(),
    clickId: word(),
    campaign: among(CAMPAIGNS),
  }));
  return { rules, rows };
}

const Row = z.object({ place: z.string(), channel: z.string() });
const read = async (key: SourceKey, table: string, place: string): Promise<Map<string, string>> => {
  const rows = await store.clickhouse.rows(
    `SELECT ${place} AS place, toString(channel) AS channel FROM ${table}`,
    Row,
    { params: sourceParams(key) },
  );
  return new Map(rows.map((row) => [row.place, row.channel]));
};

test('rules name random rows as the plain reference does', async () => {
  const random = randomNumbers(7);
  for (let run = 0; run < 25; run += 1) {
    const { rules, rows } = randomCase(random);
    const key = { accountId: 'account', dataSourceId: `random-${run}`, naming: { rules } };
    await storeRows(
      store.clickhouse,
      key,
      'touchpoints',
      rows.map(({ clickId, ...row }, place) => ({
        ...row,
        click_id: clickId,
        user_id: String(place),
        ts: '2026-01-01 00:00:00.000',
      })),
    );
    const found = await read(key, touchpointsOf(key, 'FINAL'), 'user_id');
    expect({ rules, found: rows.map((_, place) => found.get(String(place))) }).toEqual({
      rules,
      found: rows.map((row) => referenceChannel(rules, row)),
    });
  }
});

test('spend knows channel and campaign, steps of paths their name: rules that ask for more pass them by', async () => {
  const rules: ChannelRule[] = [
    { match: { channel: 'fb', source: 'facebook' }, channel: 'wrong' },
    { match: { channel: 'FB', campaignRegex: 'brand' }, channel: 'meta_brand' },
    { match: { channel: 'fb' }, channel: 'meta' },
    { match: { channel: 'Fb' }, channel: 'never' },
  ];
  const key = { accountId: 'account', dataSourceId: 'priced', naming: { rules } };
  await storeRows(store.clickhouse, key, 'spend', [
    { date: '2026-01-01', channel: 'fb', campaign: 'brand', spend: '1' },
    { date: '2026-01-02', channel: 'fB', spend: '1' },
    { date: '2026-01-03', channel: 'email', spend: '1' },
  ]);
  expect([...(await read(key, spendOf(key, 'FINAL'), 'toString(date)'))]).toEqual([
    ['2026-01-01', 'meta_brand'],
    ['2026-01-02', 'meta'],
    ['2026-01-03', 'email'],
  ]);
  await storeRows(store.clickhouse, key, 'paths', [{ path: ['FB', 'email', 'fb'], conversions: '1', revenue: '1' }]);
  expect(
    await read(
      key,
      `(SELECT arrayJoin([1, 2, 3]) AS step, path[step] AS channel FROM ${currentPathsOf(key)})`,
      'toString(step)',
    ),
  ).toEqual(
    new Map([
      ['1', 'meta'],
      ['2', 'email'],
      ['3', 'meta'],
    ]),
  );
});

test('a text matches itself, whatever is made of its case', async () => {
  const odd = ['ΑΣ', 'ας', 'ασ', 'İ', 'i̇', 'ı', 'ẞ', 'ß', 'ǅ', 'ﬀ', 'K'];
  const key = { accountId: 'account', dataSourceId: 'odd' };
  await storeRows(
    store.clickhouse,
    key,
    'touchpoints',
    odd.map((channel, place) => ({ user_id: String(place), ts: '2026-01-01 00:00:00.000', channel })),
  );
  for (const [place, channel] of odd.entries()) {
    const naming = { rules: [{ match: { channel }, channel: 'found' }] };
    expect(
      (await read({ ...key, naming }, touchpointsOf({ ...key, naming }, 'FINAL'), 'user_id')).get(String(place)),
    ).toBe('found');
  }
  const naming = { rules: odd.map((channel) => ({ match: { channel }, channel: 'found' })) };
  expect(
    new Set((await read({ ...key, naming }, touchpointsOf({ ...key, naming }, 'FINAL'), 'user_id')).values()),
  ).toEqual(new Set(['found']));
});

test('a source without rules is read from the bare table, as is a table that no rule is about', () => {
  const key = { accountId: 'account', dataSourceId: 'bare' };
  expect(touchpointsOf(key, 'FINAL')).toBe('touchpoints FINAL');
  expect(spendOf({ ...key, naming: { rules: [{ match: { source: 'x' }, channel: 'y' }] } }, 'FINAL')).toBe(
    'spend FINAL',
  );
});

test('the most rules of the widest kind fit into one statement', async () => {
  const rules = Array.from({ length: 200 }, (_, place): ChannelRule => ({
    match: {
      channel: `c${place}`,
      source: `s${place}`,
      medium: `m${place}`,
      referrer: `r${place}`,
      clickId: `k${place}`,
      campaignRegex: `^p${place}$`,
    },
    channel: `n${place}`,
  }));
  const key = { accountId: 'account', dataSourceId: 'widest', naming: { rules } };
  await storeRows(store.clickhouse, key, 'touchpoints', [
    {
      user_id: 'u',
      ts: '2026-01-01 00:00:00.000',
      channel: 'C199',
      source: 's199',
      medium: 'm199',
      referrer: 'r199',
      click_id: 'k199',
      campaign: 'p199',
    },
  ]);
  const four = Array.from({ length: 4 }, () => `SELECT user_id, channel FROM ${touchpointsOf(key, 'FINAL')}`).join(
    ' UNION ALL ',
  );
  expect([...(await read(key, `(${four})`, 'user_id'))]).toEqual([['u', 'n199']]);
});
