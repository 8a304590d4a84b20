import { JourneyStore } from '../../../../../subgraphs/attribution/analysis/journeys/journey-store.ts';
import { loadSampledEvents } from '../../../../../subgraphs/attribution/analysis/journeys/sampled-events.ts';
import { loadRunData } from '../../../../../subgraphs/attribution/analysis/attributions/load-run-data.ts';
import type { RunQuery } from '../../../../../subgraphs/attribution/analysis/attributions/compute-analysis.ts';
import type { ChannelNaming } from '../../../../../subgraphs/attribution/intake/touchpoints/channel-expression.ts';
import { sourceChannels } from '../../../../../subgraphs/attribution/intake/touchpoints/touchpoint-store.ts';
import type { ChannelRule } from '../../../../../schema/contract/channel-rules.ts';
import type { Uuid } from '../../../../../platform/identifiers.ts';
import { openColumnarStore, sourceEvidence, upload, type ColumnarStore } from './columnar-store.ts';
import { referenceChannel } from './reference-naming.ts';

/** Rules over stored rows, held against the same rows uploaded with the names that the rules give. */

let store: ColumnarStore;
beforeAll(async () => {
  store = await openColumnarStore();
});
afterAll(() => store.close());

const RULES: readonly ChannelRule[] = [
  { match: { source: 'Facebook', medium: 'CPC' }, channel: 'meta' },
  { match: { channel: 'google ads', campaignRegex: '^brand' }, channel: 'google_brand' },
  { match: { channel: 'fb' }, channel: 'meta' },
  { match: { channel: 'Google Ads' }, channel: 'google' },
  { match: { campaignRegex: '(?i)newsletter' }, channel: 'email' },
];
const NAMING: ChannelNaming = { rules: RULES };
const RAW = ['fb', 'FB', 'Google Ads', 'google ads', 'email', 'direct', 'social'];
const CAMPAIGNS = ['brand_x', 'generic', 'Newsletter 7', ''];
const pick = <T>(values: readonly T[], number: number): T => values[number % values.length]!;
const timeOf = (number: number): string => new Date(Date.UTC(2025, 11, 20) + number * 7_000_000).toISOString();

/** The files of a source; `name` is what is made of a row's channel. */
function files(
  name: (row: { channel: string; source: string; medium: string; campaign: string }) => string,
  step: (channel: string) => string,
) {
  const touches = Array.from({ length: 500 }, (_, place) => {
    const row = {
      channel: pick(RAW, place * 5 + (place >> 3)),
      source: pick(['facebook', 'bing', ''], place >> 1),
      medium: pick(['cpc', 'email'], place >> 2),
      campaign: pick(CAMPAIGNS, place * 3 + (place >> 4)),
    };
    const { campaign, source, medium } = row;
    return `u${(place * 13) % 90},${timeOf(place)},${name(row)},${campaign},${source},${medium},${place % 3}`;
  });
  const orders = Array.from({ length: 60 }, (_, place) => {
    const row = {
      channel: place % 4 === 0 ? pick(RAW, place) : '',
      source: '',
      medium: '',
      campaign: pick(CAMPAIGNS, place),
    };
    const shown = row.channel === '' ? '' : name(row);
    return `o${place},u${(place * 7) % 90},${timeOf(place * 8 + 0.5)},${10 + place},${shown},${row.campaign}`;
  });
  const spend = Array.from({ length: 120 }, (_, place) => {
    // A campaign of its own for each raw name: rows that are renamed by hand must not become one.
    const row = {
      channel: pick(RAW, place),
      source: '',
      medium: '',
      campaign: `${pick(CAMPAIGNS, place >> 2)}-${place % RAW.length}`,
    };
    return `2026-01-${String(1 + (place % 28)).padStart(2, '0')},${name(row)},${row.campaign}_${place},${place / 4}`;
  });
  const paths = Array.from(
    { length: 40 },
    (_, place) =>
      `${[0, 1, 2]
        .slice(0, 1 + (place % 3))
        .map((back) => step(pick(RAW, place + back * 3)))
        .join(
          ' > ',
        )},${1 + (place % 5)},${place * 3},${place % 2},2026-01-${String(1 + (place % 28)).padStart(2, '0')}`,
  );
  return {
    journeys: [
      ['user_id,timestamp,channel,campaign,source,medium,cost', ...touches],
      ['order_id,user_id,timestamp,revenue,channel,campaign', ...orders],
      ['date,channel,campaign,spend', ...spend],
    ].map((lines) => lines.join('\n')),
    paths: [['path,conversions,revenue,nulls,date', ...paths].join('\n')],
  };
}

const raw = files(
  ({ channel }) => channel,
  (channel) => channel,
);
const named = files(
  ({ channel, ...row }) => referenceChannel(RULES, { channel, ...row, referrer: '', clickId: '' }),
  (channel) =>
    referenceChannel(
      RULES.filter(({ match }) => Object.keys(match).join() === 'channel'),
      { channel, source: '', medium: '', referrer: '', clickId: '', campaign: '' },
    ),
);

const queryOf = (source: string, naming?: ChannelNaming): RunQuery => ({
  accountId: 'account' as Uuid,
  dataSourceId: source as Uuid,
  naming,
  startDate: '2026-01-03',
  endDate: '2026-01-25',
  lookbackDays: 12,
  conversionEvent: 'purchase',
  now: new Date('2026-04-01T00:00:00Z'),
  earliestDay: '2025-12-01',
  experiments: [
    {
      id: 'exp',
      channels: ['meta'],
      method: 'geo',
      period: { start: '2026-01-01', end: '2026-01-10' },
      incrementalRevenue: 5,
      standardError: 1,
    },
  ],
});

/** Everything that an analysis computes its figures from, and its exported paths. */
async function inputsOf(source: string, naming?: ChannelNaming) {
  const query = queryOf(source, naming);
  const { stored, ...data } = await loadRunData(store.clickhouse)(query, () => undefined, new AbortController().signal);
  const chunks: Uint8Array[] = [];
  const limits = { account: query.accountId, maxBytes: 1_000_000, signal: new AbortController().signal };
  const journeys = new JourneyStore(store.clickhouse, { ...query, dateRange: [query.startDate, query.endDate] });
  for await (const chunk of await journeys.pathFile('csv', null, limits)) chunks.push(chunk);
  const channels = await sourceChannels(store.clickhouse, query);
  const sampled = await loadSampledEvents(store.clickhouse, {
    ...query,
    span: { startMs: Date.parse('2025-12-20'), endMs: Date.parse('2026-01-20') },
    channels,
    oneIn: 2,
  });
  return {
    data,
    sampled,
    channels,
    rows: stored.rows,
    recounted: await stored.recount(),
    preceding: stored.preceding,
    exported: Buffer.concat(chunks).toString(),
  };
}

describe.each(['journeys', 'paths'] as const)('%s', (kind) => {
  test('analyses by rules read exactly what they would if the files had been renamed by hand', async () => {
    for (const file of raw[kind]) await upload(store.clickhouse, `${kind}-raw`, file);
    for (const file of named[kind]) await upload(store.clickhouse, `${kind}-named`, file);
    const byHand = await inputsOf(`${kind}-named`);
    expect(byHand.channels).toEqual(expect.arrayContaining(['meta', 'google', 'direct']));
    expect(await inputsOf(`${kind}-raw`, NAMING)).toEqual(byHand);
    expect((await inputsOf(`${kind}-raw`)).channels).toEqual(RAW.toSorted());
  });

  test('rows keep their natural keys: the same file changes nothing, and without rules all is as it was', async () => {
    const before = await inputsOf(`${kind}-raw`);
    const key = { accountId: 'account', dataSourceId: `${kind}-raw` };
    const evidence = await sourceEvidence(store.clickhouse, key);
    for (const file of raw[kind]) await upload(store.clickhouse, `${kind}-raw`, file);
    expect(await sourceEvidence(store.clickhouse, key)).toEqual(evidence);
    // Quick counts count a row that came twice and was not merged yet twice.
    const { data, exported, recounted } = await inputsOf(`${kind}-raw`);
    expect({ data, exported, recounted }).toEqual({
      data: before.data,
      exported: before.exported,
      recounted: before.recounted,
    });
  });
});
