import type { QualityCode } from '../../../../../schema/contract/data-quality.ts';
import { QUALITY_CODES } from '../../../../../schema/value-lists.ts';
import { judgeQuality } from '../../../../../subgraphs/attribution/intake/quality/judge-quality.ts';
import type { QualityEvidence } from '../../../../../subgraphs/attribution/intake/quality/quality-check.ts';
import type { StoredQuality } from '../../../../../subgraphs/attribution/intake/quality/stored-quality.ts';
import type { UploadQuality } from '../../../../../subgraphs/attribution/intake/quality/upload-quality.ts';

const DAYS = Array.from({ length: 56 }, (_, place) => ({
  day: new Date(Date.UTC(2026, 0, 1 + place)).toISOString().slice(0, 10),
  touches: 200,
  orders: 20,
  revenue: 1_000,
}));
const RANGE = [DAYS[0]!.day, DAYS.at(-1)!.day] as const;

const ORDERS: StoredQuality['orders'] = {
  count: 1_120,
  revenue: 56_000,
  unmatched: 100,
  unmatchedRevenue: 5_000,
  users: 900,
  unmatchedUsers: 90,
  alike: 0,
  alikeRevenue: 0,
  refunds: 12,
};

/** Four weeks that nothing is wrong with. */
const CLEAN: QualityEvidence = {
  stored: {
    orders: ORDERS,
    everOrders: { count: 2_240, refunds: 24 },
    currencies: [{ currency: 'USD', orders: 1_120, revenue: 56_000 }],
    days: DAYS,
    channels: [
      { channel: 'direct', touches: 4_000, unnamed: 4_000 },
      { channel: 'google_ads', touches: 3_200, unnamed: 100 },
      { channel: 'meta_ads', touches: 4_000, unnamed: 200 },
    ],
    bots: { users: 0, touches: 0, cost: 0 },
  },
  uploads: [],
  spend: new Map([
    ['google_ads', 4_000],
    ['meta_ads', 6_000],
  ]),
  dateRange: RANGE,
  currency: 'USD',
  isPaid: (channel) => channel !== 'direct' && channel !== 'email',
};

const storing = (changes: Partial<StoredQuality>): QualityEvidence => ({
  ...CLEAN,
  stored: { ...CLEAN.stored, ...changes },
});
const ordering = (changes: Partial<StoredQuality['orders']>): QualityEvidence =>
  storing({ orders: { ...ORDERS, ...changes } });
const days = (change: (day: StoredQuality['days'][number], place: number) => object): QualityEvidence =>
  storing({ days: DAYS.map((day, place) => ({ ...day, ...change(day, place) })) });
const uploading = (changes: Partial<UploadQuality>): QualityEvidence => ({
  ...CLEAN,
  uploads: [
    {
      id: 'u',
      kind: 'conversions',
      rowsAccepted: 1_120,
      rowsRejected: 0,
      found: {},
      foreignRows: new Map(),
      keptRejects: 0,
      ...changes,
    },
  ],
});
const spending = (spend: Readonly<Record<string, number>>): QualityEvidence => ({
  ...CLEAN,
  spend: new Map(Object.entries(spend)),
});

const codesOf = (evidence: QualityEvidence): string[] =>
  judgeQuality(evidence).checks.map(({ code, severity }) => `${severity} ${code}`);

test('nothing is said of clean rows', () => {
  expect(judgeQuality(CLEAN)).toEqual({ status: 'good', checks: [] });
});

/** Each code by the fault that it stands for, and the same rows just within the limit. */
const FAULTS: Readonly<
  Record<QualityCode, readonly (readonly [severity: string, fault: QualityEvidence, within?: QualityEvidence])[]>
> = {
  order_match_rate: [
    ['warning', ordering({ unmatched: 340 }), ordering({ unmatched: 330 })],
    ['blocking', ordering({ unmatched: 680 })],
  ],
  user_match_rate: [
    ['warning', ordering({ unmatchedUsers: 280 }), ordering({ unmatchedUsers: 265 })],
    ['blocking', ordering({ unmatchedUsers: 560 })],
  ],
  rejected_revenue: [
    ['warning', uploading({ rowsRejected: 20 }), uploading({ rowsRejected: 8 })],
    ['blocking', uploading({ rowsRejected: 200 })],
    // Few rows, but the large ones.
    [
      'blocking',
      uploading({ rowsRejected: 8, found: { rejectedRevenue: { USD: '9000.50' } } }),
      uploading({ rowsRejected: 200, found: { rejectedRevenue: { USD: '100' } } }),
    ],
  ],
  mixed_currencies: [
    ['blocking', uploading({ rowsRejected: 9, keptRejects: 9, foreignRows: new Map([['EUR', 9]]) })],
    ['blocking', uploading({ rowsRejected: 9, found: { rejectedRevenue: { EUR: '70.5' } } })],
    ['blocking', storing({ currencies: [...CLEAN.stored.currencies, { currency: 'EUR', orders: 1, revenue: 50 }] })],
  ],
  spend_without_touches: [
    [
      'warning',
      spending({ google_ads: 4_000, meta_ads: 5_000, Facebook: 1_000 }),
      spending({ google_ads: 4_000, meta_ads: 5_600, Facebook: 400 }),
    ],
  ],
  touches_without_spend: [['warning', spending({ google_ads: 4_000 })]],
  duplicate_orders: [
    ['warning', ordering({ alike: 20, alikeRevenue: 1_000 }), ordering({ alike: 10, alikeRevenue: 500 })],
    ['blocking', ordering({ alike: 300, alikeRevenue: 15_000 })],
    ['blocking', uploading({ found: { conversions: 1_120, repeatedOrders: 300 } })],
  ],
  missing_days: [
    [
      'warning',
      days((_, place) => (place >= 20 && place < 24 ? { touches: 0 } : {})),
      days((_, place) => (place >= 20 && place < 22 ? { touches: 0 } : {})),
    ],
    ['blocking', days((_, place) => (place >= 20 && place < 44 ? { orders: 0, revenue: 0 } : {}))],
  ],
  // Asked when the file is read.
  ambiguous_dates: [],
  assumed_time_zone: [['warning', uploading({ found: { assumedTimeZone: 'UTC' } })]],
  bot_like_users: [
    [
      'warning',
      storing({ bots: { users: 2, touches: 900, cost: 0 } }),
      storing({ bots: { users: 2, touches: 500, cost: 0 } }),
    ],
  ],
  level_shift: [
    [
      'warning',
      days((_, place) => (place >= 30 ? { touches: 450 } : {})),
      days((_, place) => (place >= 30 ? { touches: 380 } : {})),
    ],
    ['warning', days((_, place) => (place >= 30 ? { touches: 90 } : {}))],
  ],
  campaign_coverage: [
    [
      'warning',
      storing({
        channels: CLEAN.stored.channels.map((each) =>
          each.channel === 'meta_ads' ? { ...each, unnamed: 2_000 } : each,
        ),
      }),
      storing({
        channels: CLEAN.stored.channels.map((each) =>
          each.channel === 'meta_ads' ? { ...each, unnamed: 1_300 } : each,
        ),
      }),
    ],
    ['info', storing({ channels: CLEAN.stored.channels.map((each) => ({ ...each, unnamed: each.touches })) })],
  ],
  refunds_missing: [
    ['warning', ordering({ refunds: 0 }), ordering({ refunds: 1 })],
    ['info', storing({ orders: { ...ORDERS, refunds: 0 }, everOrders: { count: 2_240, refunds: 0 } })],
  ],
};

describe.each(QUALITY_CODES.filter((code) => FAULTS[code].length > 0))('%s', (code) => {
  const faults = FAULTS[code].map(([severity, fault, within = null]) => ({ severity, fault, within }));
  test.each(faults)('$severity, and not within the limit', ({ severity, fault, within }) => {
    const { status, checks } = judgeQuality(fault);
    expect(codesOf(fault)).toEqual([`${severity} ${code}`]);
    expect(status).toBe(severity === 'info' ? 'good' : severity);
    for (const { message, remedy, amount, currency } of checks) {
      expect(message).toMatch(/^.{20,}\.$/);
      expect(remedy).toMatch(/^.{20,}\.$/);
      expect(currency === null).toBe(amount === null);
    }
    if (within !== null) expect(codesOf(within)).toEqual([]);
  });
});

test('the sum concerned stands in the message and in the amount', () => {
  expect(judgeQuality(ordering({ unmatched: 680, unmatchedRevenue: 34_000 })).checks[0]).toEqual({
    code: 'order_match_rate',
    severity: 'blocking',
    value: 0.3929,
    threshold: 0.4,
    amount: 34_000,
    currency: 'USD',
    message: '680 of 1,120 orders, 34,000.00 USD, are of users without a single touch: no channel can earn them.',
    remedy: expect.stringContaining('user_id'),
  });
});

test('rejected rows whose amount nobody can read are priced as the others, the readable ones as they are', () => {
  const [check] = judgeQuality(
    uploading({ rowsRejected: 30, found: { rejectedRevenue: { USD: '4000' }, unpricedRejects: 20 } }),
  ).checks;
  expect(check).toMatchObject({ code: 'rejected_revenue', severity: 'warning', amount: 5_000, value: 0.082 });
});

test('of a file of many days as much counts as lies in the range', () => {
  const found = { firstDay: '2025-12-01', lastDay: '2026-01-28', conversions: 1_120 };
  // 28 of 59 days; so many rejects in as many days would be a warning.
  expect(judgeQuality(uploading({ rowsRejected: 59, found })).checks[0]).toMatchObject({ amount: 1_400 });
});

test('rejects for their currency are not counted as lost as well', () => {
  const foreign = uploading({ rowsRejected: 400, keptRejects: 400, foreignRows: new Map([['EUR', 400]]) });
  expect(codesOf(foreign)).toEqual(['blocking mixed_currencies']);
});

test('what is blocking comes first', () => {
  const both = { ...ordering({ unmatched: 340, unmatchedUsers: 560 }), spend: new Map([['google_ads', 4_000]]) };
  expect(codesOf(both)).toEqual([
    'blocking user_match_rate',
    'warning order_match_rate',
    'warning touches_without_spend',
  ]);
});

test('order ids that one file repeats tell from five rows on', () => {
  const told = (conversions: number, repeatedOrders: number) => {
    const { stored } = CLEAN;
    const few = { ...uploading({ found: { conversions, repeatedOrders } }) };
    const orders = { ...ORDERS, count: 4, users: 4, unmatched: 0, unmatchedUsers: 0, alike: 3, revenue: 40 };
    return judgeQuality({ ...few, stored: { ...stored, orders } }).checks.filter(
      ({ code }) => code === 'duplicate_orders',
    );
  };
  expect(told(5, 2)).toMatchObject([{ severity: 'blocking', value: 0.4, amount: 20 }]);
  expect(told(4, 2)).toEqual([]);
  expect(told(0, 0)).toEqual([]);
});

test('a few rows tell nothing', () => {
  const few: QualityEvidence = {
    ...uploading({ rowsAccepted: 4, rowsRejected: 4, keptRejects: 2, foreignRows: new Map([['EUR', 2]]) }),
    stored: {
      orders: { ...ORDERS, count: 4, users: 4, unmatched: 4, unmatchedUsers: 4, alike: 2, refunds: 0 },
      everOrders: { count: 4, refunds: 0 },
      currencies: [{ currency: 'USD', orders: 4, revenue: 40 }],
      days: [
        { day: '2026-01-01', touches: 5, orders: 4, revenue: 40 },
        { day: '2026-03-01', touches: 5, orders: 0, revenue: 0 },
      ],
      channels: [{ channel: 'meta_ads', touches: 10, unnamed: 5 }],
      bots: { users: 0, touches: 0, cost: 0 },
    },
    spend: new Map([['Facebook', 100]]),
  };
  expect(judgeQuality(few)).toEqual({ status: 'good', checks: [] });
});

test('spend under another name is told by which name the touches go, and that it may count twice', () => {
  const [check] = judgeQuality(spending({ google_ads: 4_000, meta_ads: 6_000, Facebook: 6_000 })).checks;
  expect(check?.remedy).toContain('{"match":{"channel":"Facebook"},"channel":"meta_ads"}');
  expect(check?.message).toContain('twice: Facebook as meta_ads');
});
