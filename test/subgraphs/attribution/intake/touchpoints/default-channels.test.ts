import { z } from 'zod';
import { loadJourneys } from '../../../../../subgraphs/attribution/analysis/journeys/journey-store.ts';
import { migrateColumnarTables } from '../../../../../subgraphs/attribution/intake/touchpoints/columnar-schema.ts';
import { touchpointsOf, withoutGaps } from '../../../../../subgraphs/attribution/intake/touchpoints/named-rows.ts';
import { sourceParams, type SourceKey } from '../../../../../subgraphs/attribution/intake/touchpoints/source-key.ts';
import { sourceChannels } from '../../../../../subgraphs/attribution/intake/touchpoints/touchpoint-store.ts';
import { openColumnarStore, sourceEvidence, storeRows, upload, type ColumnarStore } from './columnar-store.ts';

let store: ColumnarStore;
beforeAll(async () => {
  store = await openColumnarStore();
});
afterAll(() => store.close());

const keyOf = (dataSourceId: string): SourceKey => ({ accountId: 'account', dataSourceId });
const Row = z.object({ user: z.string(), channel: z.string() });
const channelsOf = async (key: SourceKey): Promise<Readonly<Record<string, string>>> => {
  const named = await withoutGaps(store.clickhouse, key);
  const rows = await store.clickhouse.rows(
    `SELECT user_id AS user, toString(channel) AS channel FROM ${touchpointsOf(named, 'FINAL')} ORDER BY ` +
      `toUInt32OrZero(user), user`,
    Row,
    { params: sourceParams(named) },
  );
  return Object.fromEntries(rows.map(({ user, channel }) => [user, channel]));
};

interface Origin {
  readonly source?: string;
  readonly medium?: string;
  readonly campaign?: string;
  readonly referrer?: string;
  readonly click_id?: string;
}

/** What GA4 calls the traffic, in our style; then what it makes of automatic tags and plain links. */
const CASES: readonly (readonly [Origin, string])[] = [
  [{ source: '(direct)', medium: '(none)' }, 'direct'],
  [{ source: '(direct)', medium: '(not set)' }, 'direct'],
  [{ source: '(direct)' }, 'direct'],
  [{ source: 'google', medium: 'cpc', campaign: 'Cross-Network summer' }, 'cross_network'],
  [{ source: 'amazon.de', medium: 'cpc' }, 'paid_shopping'],
  [{ source: 'google', medium: 'ppc', campaign: 'shopping_de' }, 'paid_shopping'],
  [{ source: 'google', medium: 'cpc' }, 'paid_search'],
  [{ source: 'Google', medium: 'CPC' }, 'paid_search'],
  [{ source: 'bing', medium: 'paid-search' }, 'paid_search'],
  [{ source: 'facebook', medium: 'cpc' }, 'paid_social'],
  [{ source: 'm.facebook.com', medium: 'paid_social' }, 'paid_social'],
  [{ source: 'ig', medium: 'retargeting' }, 'paid_social'],
  [{ source: 'facebook', medium: 'cpm' }, 'paid_social'],
  [{ source: 'youtube.com', medium: 'cpv_cpc' }, 'paid_video'],
  [{ source: 'somewhere', medium: 'cpm' }, 'display'],
  [{ source: 'somewhere', medium: 'banner' }, 'display'],
  [{ source: 'somewhere', medium: 'cpa_cpx' }, 'paid_other'],
  [{ source: 'newsite', medium: 'paid' }, 'paid_other'],
  [{ source: 'etsy', medium: 'listing' }, 'organic_shopping'],
  [{ source: 'partner', medium: 'listing', campaign: 'spring shop' }, 'organic_shopping'],
  // Not every word with these letters is about a shop.
  [{ source: 'partner', medium: 'link', campaign: 'workshop' }, 'referral'],
  [{ source: 'linkedin', medium: 'post' }, 'organic_social'],
  [{ source: 'somewhere', medium: 'Social Media' }, 'organic_social'],
  [{ source: 'vimeo', medium: 'embed' }, 'organic_video'],
  [{ source: 'somewhere', medium: 'video-ad' }, 'organic_video'],
  [{ source: 'duckduckgo', medium: 'organic' }, 'organic_search'],
  [{ source: 'unknown-engine', medium: 'organic' }, 'organic_search'],
  [{ source: 'blog.example', medium: 'referral' }, 'referral'],
  [{ source: 'newsletter', medium: 'email' }, 'email'],
  [{ source: 'e-mail', medium: 'weekly' }, 'email'],
  [{ source: 'awin', medium: 'affiliate' }, 'affiliates'],
  [{ source: 'podcast', medium: 'audio' }, 'audio'],
  [{ source: 'sms', medium: 'text' }, 'sms'],
  [{ source: 'app', medium: 'web-push' }, 'mobile_push'],
  [{ source: 'firebase', medium: 'x' }, 'mobile_push'],
  [{ source: 'someone', medium: 'something' }, 'unassigned'],
  [{ click_id: 'gclid' }, 'paid_search'],
  [{ click_id: 'gclid', referrer: 'youtube.com' }, 'paid_search'],
  [{ click_id: 'msclkid' }, 'paid_search'],
  [{ click_id: 'dclid' }, 'display'],
  [{ click_id: 'fbclid' }, 'organic_social'],
  [{ click_id: 'fbclid', source: 'facebook', medium: 'paid' }, 'paid_social'],
  [{ click_id: 'ttclid' }, 'paid_social'],
  [{ click_id: 'li_fat_id', referrer: 'linkedin.com' }, 'paid_social'],
  [{ referrer: 'google.co.uk' }, 'organic_search'],
  [{ referrer: 'de.search.yahoo.com' }, 'organic_search'],
  [{ referrer: 'mail.google.com' }, 'referral'],
  [{ referrer: 't.co' }, 'organic_social'],
  [{ referrer: 'l.instagram.com' }, 'organic_social'],
  [{ referrer: 'youtu.be' }, 'organic_video'],
  [{ referrer: 'amazon.com' }, 'organic_shopping'],
  [{ referrer: 'blog.example' }, 'referral'],
  [{ referrer: 'notgoogle.com' }, 'referral'],
];

test('touches without a channel have that of GA4’s default group', async () => {
  await storeRows(
    store.clickhouse,
    keyOf('defaults'),
    'touchpoints',
    CASES.map(([origin], place) => ({ ...origin, user_id: String(place), ts: '2026-01-01 00:00:00.000', channel: '' })),
  );
  const found = await channelsOf(keyOf('defaults'));
  expect(CASES.map(([origin], place) => [origin, found[String(place)]])).toEqual(CASES);
});

test('rules come first, and a channel that the file names stays', async () => {
  const origin = { ts: '2026-01-01 00:00:00.000', source: 'google', medium: 'cpc' };
  await storeRows(store.clickhouse, keyOf('rules'), 'touchpoints', [
    { user_id: '1', channel: '', ...origin },
    { user_id: '2', channel: 'Search', ...origin },
    { user_id: '3', channel: '', ...origin, campaign: 'brand', referrer: 'google.com' },
  ]);
  expect(await channelsOf(keyOf('rules'))).toEqual({ 1: 'paid_search', 2: 'Search', 3: 'paid_search' });
  const naming = { rules: [{ match: { referrer: 'https://www.Google.com/' }, channel: 'brand_search' }] };
  expect(await channelsOf({ ...keyOf('rules'), naming })).toEqual({ 1: 'paid_search', 2: 'Search', 3: 'brand_search' });
});

const READ_FROM = [
  [
    'csv',
    'text/csv',
    'user_id,timestamp,source,medium,page_referrer,gclid,fbclid\n' +
      '1,2026-01-01T00:00:00Z,google,cpc,,,\n' +
      '2,2026-01-02T00:00:00Z,,,https://www.Bing.com/search?q=a,,\n' +
      '3,2026-01-03T00:00:00Z,,,https://l.facebook.com/,,IwAR0x\n' +
      '4,2026-01-03T00:00:00Z,,,,Cj0KCQ,IwAR0x\n' +
      '5,2026-01-03T00:00:00Z,,,,,\n',
  ],
  [
    'ndjson',
    'application/x-ndjson',
    '{"user_id":1,"timestamp":"2026-01-01T00:00:00Z","source":"google","medium":"cpc"}\n' +
      '{"user_id":2,"timestamp":"2026-01-02T00:00:00Z","referrer":"https://www.Bing.com/search?q=a"}\n' +
      '{"user_id":3,"timestamp":"2026-01-03T00:00:00Z","click_id":"FBCLID"}\n' +
      '{"user_id":4,"timestamp":"2026-01-03T00:00:00Z","click_id":"gclid"}\n' +
      '{"user_id":5,"timestamp":"2026-01-03T00:00:00Z","click_id":"Cj0KCQ"}\n',
  ],
  [
    'events',
    'text/csv',
    'user_id,timestamp,utm_source,utm_medium,referrer_url,fbclid,gclid,conversion,revenue\n' +
      '1,2026-01-01T00:00:00Z,google,cpc,,,,0,\n' +
      '2,2026-01-02T00:00:00Z,,,bing.com,,,0,\n' +
      '3,2026-01-03T00:00:00Z,,,,IwAR0x,,0,\n' +
      '4,2026-01-03T00:00:00Z,,,,,Cj0KCQ,0,\n' +
      '5,2026-01-03T00:00:00Z,,,,,,0,\n' +
      '6,2026-01-04T00:00:00Z,,,,,,1,20\n',
  ],
] as const;

test.each(READ_FROM)('files without a channel are read as %s', async (source, mediaType, content) => {
  const report = await upload(store.clickhouse, source, content, { mediaType });
  expect(report).toMatchObject({ rowsRejected: 1, firstErrors: [{ column: '', code: 'missing_value' }] });
  expect(await channelsOf(keyOf(source))).toEqual({
    1: 'paid_search',
    2: 'organic_search',
    3: 'organic_social',
    4: 'paid_search',
  });
  const evidence = await sourceEvidence(store.clickhouse, keyOf(source));
  await upload(store.clickhouse, source, content, { mediaType });
  expect(await sourceEvidence(store.clickhouse, keyOf(source))).toEqual(evidence);
});

test('an empty channel will do where something else tells it; what cannot be told is the column’s fault', async () => {
  const report = await upload(
    store.clickhouse,
    'mixed',
    'user_id,timestamp,channel,source,click_id\n' +
      '1,2026-01-01T00:00:00Z,email,,\n' +
      '2,2026-01-01T00:00:00Z,,tiktok,\n' +
      '3,2026-01-01T00:00:00Z,,,\n' +
      '4,2026-01-01T00:00:00Z,,,some-id\n' +
      '5,2026-01-01T00:00:00Z,direct,,some-id\n',
  );
  expect(report).toMatchObject({
    rowsAccepted: 3,
    firstErrors: [
      { line: 4, column: 'channel', code: 'missing_value' },
      { line: 5, column: 'channel', code: 'missing_value' },
    ],
  });
  expect(await channelsOf(keyOf('mixed'))).toEqual({ 1: 'email', 2: 'organic_social', 5: 'direct' });
});

test('analyses count touches without a channel by their default', async () => {
  await upload(
    store.clickhouse,
    'analysed',
    'user_id,timestamp,source,medium\n' +
      'u1,2026-01-01T00:00:00Z,google,cpc\n' +
      'u1,2026-01-02T00:00:00Z,newsletter,email\n' +
      'u2,2026-01-02T00:00:00Z,bing,organic\n',
  );
  await upload(store.clickhouse, 'analysed', 'order_id,user_id,timestamp,revenue\no1,u1,2026-01-03T00:00:00Z,50\n');
  const source = await withoutGaps(store.clickhouse, keyOf('analysed'));
  expect(await sourceChannels(store.clickhouse, source)).toEqual(['email', 'organic_search', 'paid_search']);
  const { paths, totals } = await loadJourneys(store.clickhouse, {
    ...source,
    dateRange: ['2026-01-01', '2026-01-31'],
    lookbackDays: 30,
    conversionEvent: 'purchase',
  });
  expect(paths.channels).toEqual(['email', 'organic_search', 'paid_search']);
  expect(totals).toMatchObject({ touches: 3, convertingJourneys: 1, unattributedConversions: 0 });
});

/** Touches without a channel by their user, and what they are called beside that spend. */
const BOUGHT: Readonly<Record<string, string>> = {
  'a,google,cpc,': 'Google Ads',
  'b,google,cpc,Cross-network': 'Google Ads',
  'c,google,cpc,shopping': 'Google Ads',
  'd,youtube.com,cpv_cpc,': 'Google Ads',
  'e,google,organic,': 'organic_search',
  'f,l.facebook.com,paid_social,': 'fb',
  'g,instagram,referral,': 'organic_social',
  // Spend of two names: which of them it was cannot be told.
  'h,tiktok,cpc,': 'paid_social',
  // Spend that tells a part of the network.
  'i,bing,cpc,': 'paid_search',
  'j,somewhere,cpc,': 'paid_other',
};

test('paid touches of a network are called as all of its spend is, also where another source has it', async () => {
  const touches = `user_id,source,medium,campaign,timestamp\n${Object.keys(BOUGHT)
    .map((touch) => `${touch},2026-01-01T00:00:00Z\n`)
    .join('')}k,pinterest,paid,,2026-01-01T00:00:00Z\n`;
  await upload(store.clickhouse, 'bought', touches);
  await upload(
    store.clickhouse,
    'network-spend',
    `date,channel,spend\n${['Google Ads', 'Meta', 'TikTok', 'tiktok_ads', 'Bing Brand', 'pinterest']
      .map((channel) => `2026-01-01,${channel},10\n`)
      .join('')}`,
  );
  const others = [{ ...keyOf('network-spend'), naming: { rules: [{ match: { channel: 'Meta' }, channel: 'fb' }] } }];
  const named = { ...BOUGHT, 'k,pinterest,paid,': 'pinterest' };
  const ofUsers = (names: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(names).map(([touch, channel]) => [touch.slice(0, 1), channel]));
  expect(await channelsOf({ ...keyOf('bought'), others })).toEqual(ofUsers(named));
  // Rules of the touches come first.
  const rules = [{ match: { source: 'google', medium: 'cpc' }, channel: 'sea' }];
  expect(await channelsOf({ ...keyOf('bought'), naming: { rules }, others })).toEqual(
    ofUsers({ ...named, 'a,google,cpc,': 'sea', 'b,google,cpc,Cross-network': 'sea', 'c,google,cpc,shopping': 'sea' }),
  );
  // Alone, nothing is known of any spend.
  expect(await channelsOf(keyOf('bought'))).toMatchObject({ a: 'paid_search', b: 'cross_network', f: 'paid_social' });
});

test('click ids name the network where nothing else does', async () => {
  await upload(
    store.clickhouse,
    'clicked',
    'user_id,timestamp,click_id\n1,2026-01-01T00:00:00Z,gclid\n2,2026-01-01T00:00:00Z,msclkid\n' +
      '3,2026-01-01T00:00:00Z,fbclid\n',
  );
  await upload(
    store.clickhouse,
    'clicked',
    'date,channel,spend\n2026-01-01,adwords,5\n2026-01-01,meta_ads,5\n2026-01-01,microsoft_ads,5\n',
  );
  // fbclid is on links that nobody paid for, too.
  expect(await channelsOf(keyOf('clicked'))).toEqual({ 1: 'adwords', 2: 'microsoft_ads', 3: 'organic_social' });
});

test('a source all of whose touches name a channel is read from the bare table', async () => {
  await upload(store.clickhouse, 'full', 'user_id,timestamp,channel\nu1,2026-01-01T00:00:00Z,email\n');
  expect(await withoutGaps(store.clickhouse, keyOf('full'))).toEqual(keyOf('full'));
});

test('tables of earlier versions get the columns that they lack', async () => {
  await store.clickhouse.command('ALTER TABLE touchpoints DROP COLUMN referrer, DROP COLUMN click_id');
  await store.clickhouse.command('TRUNCATE TABLE schema_statements');
  await migrateColumnarTables(store.clickhouse);
  await upload(store.clickhouse, 'later', 'user_id,timestamp,referrer\nu1,2026-01-01T00:00:00Z,https://example.org/\n');
  expect(await channelsOf(keyOf('later'))).toEqual({ u1: 'referral' });
});
