import { Caller, openHouse, type Answer, type House, type Json } from '../house.ts';
import { sized } from '../run-length.ts';
import { clock } from '../service-clock.ts';

const MODELS = ['causal', 'markov', 'shapley', 'dominance', 'rwa', 'prav'] as const;
const RANGE = ['2026-01-01', '2026-06-30'];
const DAY_MS = 86_400_000;

/**
 * A row of a file of events: who, on which day and hour of the range, by which channel, and for a conversion its
 * revenue.
 */
type Event = readonly [user: number, day: number, hour: number, channel: string, revenue?: number];

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const timeOf = (day: number, hour: number): string =>
  new Date(Date.parse('2026-01-01T00:00:00Z') + day * DAY_MS + hour * 3_600_000).toISOString();
const eventFile = (events: readonly Event[]): string =>
  [
    'user_id,timestamp,channel,cost,conversion,revenue',
    ...events.map(
      ([user, day, hour, channel, revenue]) =>
        `u${user},${timeOf(day, hour)},${quoted(channel)},0,${revenue === undefined ? 0 : 1},${revenue ?? ''}`,
    ),
  ].join('\n');
const pathFile = (
  rows: readonly (readonly [path: readonly string[], conversions: number, revenue: number, nulls: number])[],
): string =>
  [
    'path,conversions,revenue,nulls',
    ...rows.map(
      ([path, conversions, revenue, nulls]) => `${quoted(path.join(' > '))},${conversions},${revenue},${nulls}`,
    ),
  ].join('\n');

/**
 * Users who each visit some of the channels in turn; `buys` says whether, and for how much. Who buys looks in unpaid
 * twice before, where there is an unpaid channel.
 */
function shop(users: number, channels: readonly string[], buys: (user: number) => number | null): Event[] {
  return Array.from({ length: users }, (_, user): Event[] => {
    const start = (user * 7) % 120;
    const touches = Array.from({ length: 1 + (user % 4) }, (__, step): Event => [
      user,
      start + 2 * step,
      user % 24,
      channels[(user * 3 + step * (1 + (user % 2))) % channels.length]!,
    ]);
    const revenue = buys(user);
    if (revenue === null) return touches;
    const looks = channels.includes('direct') ? [7, 8].map((day): Event => [user, start + day, 3, 'direct']) : [];
    return [...touches, ...looks, [user, start + 9, 12, '', revenue]];
  }).flat();
}

const CHANNELS = ['direct', 'email', 'search', 'social'];
const some = (user: number): boolean => user % 5 === 0 || user % 7 === 0;
const SCRIPTS = [
  'direct',
  'بحث مدفوع',
  '検索広告',
  '네이버',
  '🛒👩🏽‍💻',
  'Cafe\u0301',
  'Café',
  'Ελλάδα',
  'शॉप',
  '__proto__',
  'a "quoted", name',
];

interface Case {
  readonly name: string;
  readonly file: string;
  /** models that cannot answer and say why; all others give figures */
  readonly refuses: readonly (typeof MODELS)[number][];
  readonly check?: (body: Json) => void;
}

const revenueOf = (body: Json, channel: string): number =>
  Number(
    (body['channel_impact'] as unknown as Json[]).find((impact) => String(impact['channel']) === channel)![
      'attributed_revenue'
    ],
  );

const CASES: readonly Case[] = [
  {
    name: 'one channel',
    file: eventFile(shop(60, ['email'], (user) => (some(user) ? 40 : null))),
    refuses: ['dominance', 'rwa', 'prav'],
    check: (body) => expect(body['channel_impact']).toHaveLength(1),
  },
  {
    name: 'one unpaid channel',
    file: eventFile(shop(60, ['direct'], (user) => (some(user) ? 40 : null))),
    refuses: ['dominance', 'rwa'],
  },
  {
    name: 'one journey',
    file: eventFile([
      [1, 3, 1, 'email'],
      [1, 4, 1, 'search'],
      [1, 5, 1, '', 99.99],
    ]),
    refuses: ['dominance', 'rwa', 'prav'],
    check: (body) => expect(Number(body['revenue'])).toBe(99.99),
  },
  { name: 'no conversion', file: eventFile(shop(60, CHANNELS, () => null)), refuses: MODELS },
  { name: 'every journey converts', file: eventFile(shop(60, CHANNELS, (user) => 10 + user)), refuses: [] },
  {
    name: 'every journey converts for the same price',
    file: eventFile(shop(60, CHANNELS, () => 25)),
    refuses: ['dominance', 'rwa'],
  },
  {
    name: 'channels that always occur together',
    file: eventFile(
      shop(80, CHANNELS, (user) => (some(user) ? 30 : null)).flatMap((event): Event[] =>
        event[3] === 'email' ? [event, [event[0], event[1], event[2] + 1, 'twin']] : [event],
      ),
    ),
    refuses: [],
    check: (body) =>
      ['shapley', 'dominance', 'rwa'].includes(String(body['model']))
        ? expect(revenueOf(body, 'email')).toBeCloseTo(revenueOf(body, 'twin'), 1)
        : undefined,
  },
  {
    name: 'journeys of a thousand touches',
    file: eventFile(
      Array.from({ length: 6 }, (_, user): Event[] => [
        ...Array.from({ length: 1_000 }, (__, i): Event => [
          user,
          i / 50,
          (i % 20) + user / 10,
          CHANNELS[(i * i + user) % 4]!,
        ]),
        ...(user % 2 === 0 ? [[user, 22, 0, '', 50] as const] : []),
      ]).flat(),
    ),
    refuses: [],
    check: (body) => expect(Number(body['diagnostics']!['touches'])).toBe(6_000),
  },
  {
    name: 'revenue in billions',
    file: eventFile(shop(80, CHANNELS, (user) => (some(user) ? 1e9 + user / 100 : null))),
    refuses: [],
  },
  {
    name: 'conversions without revenue',
    file: eventFile(shop(80, CHANNELS, (user) => (some(user) ? 0 : null))),
    refuses: [],
    check: (body) => expect(Number(body['revenue'])).toBe(0),
  },
  {
    name: 'refunds',
    file: eventFile(shop(80, CHANNELS, (user) => (some(user) ? (user % 3 === 0 ? -20 : 60) : null))),
    refuses: [],
  },
  {
    name: 'more refunds than sales',
    file: eventFile(shop(80, CHANNELS, (user) => (some(user) ? (user % 3 === 0 ? 10 : -60) : null))),
    refuses: [],
  },
  {
    name: 'refunds that cancel the sales',
    file: eventFile(shop(80, CHANNELS, (user) => (user % 10 === 0 ? 50 : user % 10 === 5 ? -50 : null))),
    refuses: [],
    check: (body) => expect(Number(body['revenue'])).toBe(0),
  },
  {
    name: 'channel names in any script',
    file: eventFile(shop(200, SCRIPTS, (user) => (some(user) ? 33.33 : null))),
    refuses: [],
    // The two spellings of Café are one name once composed.
    check: (body) =>
      expect(
        new Set(
          (body['channel_impact'] as unknown as Json[]).map((impact) => String(impact['channel']).normalize('NFC')),
        ),
      ).toEqual(new Set(SCRIPTS.map((name) => name.normalize('NFC')))),
  },
  {
    name: 'aggregated paths of one channel',
    file: pathFile([[['email'], 3, 100, 9]]),
    refuses: ['dominance', 'rwa', 'prav'],
  },
  {
    name: 'aggregated paths',
    file: pathFile([
      [['email', 'search'], 3, 100, 9],
      [['search'], 1, 20, 30],
      [['direct', 'email'], 2, -10, 4],
    ]),
    refuses: ['prav'],
  },
];

let house: House;
let caller: Caller;

beforeAll(async () => {
  house = await openHouse('one process', { clock });
  caller = await Caller.register(house.root);
});
afterAll(() => house?.stop());

const SENTENCE = /^\S.{20,}\.$/;

/** Answered with figures, or refused with a sentence that says why; never a gap or a NaN. */
function expectSound({ status, body }: Answer): boolean {
  if (status === 422) {
    expect(body['error']).toMatchObject({
      type: 'validation_error',
      code: 'insufficient_data',
      message: expect.stringMatching(SENTENCE),
    });
    return false;
  }
  expect(status).toBe(200);
  if (String(body['status']) === 'failed') {
    expect(body['failure']).toEqual({ code: 'insufficient_data', message: expect.stringMatching(SENTENCE) });
    return false;
  }
  expect(body['status']).toBe('completed');
  const impact = body['channel_impact'] as unknown as Json[];
  const cents = (amount: unknown): number => Math.round(Number(amount) * 100);
  for (const channel of impact) {
    for (const figure of [
      'attributed_revenue',
      'conversions',
      'share',
      'spend',
      'confidence',
      'incremental_revenue',
      'delta_r',
      'lastclick_revenue',
    ]) {
      expect({
        figure,
        known: typeof channel[figure] === 'number' && Number.isFinite(channel[figure] as unknown as number),
      }).toEqual({ figure, known: true });
    }
    const isUnknown = (channel['identification'] as unknown as { status: string } | undefined)?.status === 'none';
    const interval = channel['confidence_interval'] as unknown as { lower: number; upper: number } | null;
    expect(interval === null).toBe(isUnknown);
    if (interval !== null) {
      expect(interval.lower).toBeLessThanOrEqual(Number(channel['attributed_revenue']));
      expect(interval.upper).toBeGreaterThanOrEqual(Number(channel['attributed_revenue']));
    }
    expect(Number(channel['confidence'])).toBeGreaterThanOrEqual(0);
    expect(Number(channel['confidence'])).toBeLessThanOrEqual(1);
  }
  expect(Number(body['confidence'])).toBeGreaterThanOrEqual(0);
  expect(
    impact.reduce((sum, channel) => sum + cents(channel['attributed_revenue']), cents(body['baseline_revenue'])),
  ).toBe(cents(body['revenue']));
  return true;
}

/** In the short run every other model, begun with by turns. */
const EVERY_MODEL = sized({ short: 2, long: 1 });
const asked = ({ name }: Case): readonly (typeof MODELS)[number][] => {
  const first = CASES.findIndex((each) => each.name === name);
  return MODELS.filter((_, place) => (place + first) % EVERY_MODEL === 0);
};

describe.each(CASES)('$name', (hostile) => {
  const { file, refuses, check } = hostile;
  let source: string;
  beforeAll(async () => {
    const connected = await caller.post('/data-sources/connect', {
      type: 'csv_upload',
      credentials: { filename: 'rows.csv', content: file },
    });
    if (connected.status !== 201)
      throw new Error(`the upload was answered with ${connected.status}: ${JSON.stringify(connected.body)}`);
    source = String(connected.body['data_source_id']);
  });

  test.each(asked(hostile))('%s', async (model) => {
    const answer = await caller.post('/attribution', { data_source_id: source, date_range: RANGE, model });
    const answered = expectSound(answer);
    expect(answered).toBe(!refuses.includes(model));
    if (answered) check?.(answer.body);
  });
});

test('a range without a row is refused with what to do about it', async () => {
  const connected = await caller.post('/data-sources/connect', {
    type: 'csv_upload',
    credentials: { filename: 'rows.csv', content: CASES[0]!.file },
  });
  const { body } = await caller.post('/attribution', {
    data_source_id: connected.body['data_source_id'],
    date_range: ['2025-03-01', '2025-03-02'],
  });
  expect(body).toMatchObject({
    status: 'failed',
    failure: { code: 'insufficient_data', message: expect.stringMatching(/longer range.*upload/) },
  });
});
