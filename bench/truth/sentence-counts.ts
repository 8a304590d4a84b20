import type { AttributionReport } from '../../report/attribution-report.ts';
import { statementsOf, type ReportStatements } from '../../report/statements.ts';
import { verdictOf, type Verdict } from '../../report/verdicts.ts';
import { wilson } from './accuracy.ts';
import type { ShopRecord } from './shop-record.ts';

/** How often a sentence was said on shops whose truth is known, and how often it was false. */
export interface SentenceCount {
  readonly sentence: string;
  readonly said: number;
  readonly wrong: number;
  /** channels, or shops, of which it could have been said */
  readonly asked: number;
}

/** Part of `said` that was wrong, with its 95 % range; null where it was never said. */
export function falseRate({ said, wrong }: SentenceCount): { rate: number; low: number; high: number } | null {
  if (said === 0) return null;
  const [low, high] = wilson(wrong, said);
  return { rate: wrong / said, low, high };
}

type Status = NonNullable<AttributionReport['channel_impact'][number]['identification']>['status'];

const statusOf = ({ status }: { readonly status: string }): Status =>
  status === 'point' || status === 'none' ? status : 'partial';

/** As much of a result as sentences are drawn from. */
export function reportOfShop({ channels, estimates, revenue, name }: ShopRecord): AttributionReport {
  const { credit, low, high, identification } = estimates.causal;
  return {
    model: 'causal',
    date_range: [name, name],
    currency: 'USD',
    channel_impact: channels.map((channel, c) => ({
      channel: channel.name,
      is_baseline: false,
      spend: channel.spend,
      attributed_revenue: credit[c]!,
      lastclick_revenue: estimates.last_click.credit[c]!,
      delta_r: credit[c]! - estimates.last_click.credit[c]!,
      conversions: 0,
      share: 0,
      roas: null,
      roi: null,
      causal_lift: null,
      confidence: null,
      confidence_interval:
        identification?.[c]?.status === 'none' ? null : { lower: low![c]!, upper: high![c]!, level: 0.95 },
      rank: c + 1,
      ...(identification !== undefined && { identification: { status: statusOf(identification[c]!), reasons: [] } }),
    })),
    methodology: 'prav/stacked-on-placebo-adjusted-lift',
    confidence: null,
    confidence_level: 0.95,
    created_at: '',
    conversions: 0,
    revenue,
    baseline_revenue: 0,
    unattributed_revenue: 0,
    lookback_window_days: 30,
    revenue_lastclick_cents: 0,
    revenue_causal_cents: 0,
    delta_r_cents: 0,
    delta_r_net_cents: 0,
    model_breakdown: {},
    comparison: {},
    diagnostics: {
      journeys: 0,
      converting_journeys: 0,
      touches: 0,
      elapsed_ms: 0,
      run_digest: '',
      warnings: [],
      models: {},
      experiments: [],
    },
  };
}

/** Whether what a verdict says of `truth` is false; those that leave it open can't be. */
export function isFalse(verdict: Verdict, truth: number, spend: number): boolean {
  switch (verdict) {
    case 'pays':
      return truth <= spend;
    case 'adds':
      return truth <= 0;
    case 'loses':
      return truth >= spend;
    case 'harms':
      return truth >= 0;
    default:
      return false;
  }
}

const SAID = ['pays', 'adds', 'loses', 'harms', 'open', 'unmeasured'] as const satisfies readonly Verdict[];

interface Spoken {
  readonly verdict: Verdict;
  readonly truth: number;
  readonly spend: number;
}

const countOf = (sentence: string, all: readonly Spoken[], verdicts: readonly Verdict[]): SentenceCount => {
  const said = all.filter(({ verdict }) => verdicts.includes(verdict));
  const wrong = said.filter(({ verdict, truth, spend }) => isFalse(verdict, truth, spend)).length;
  return { sentence, said: said.length, wrong, asked: all.length };
};

/** Counts over shops: of verdicts on channels and on totals, of what is said of last click, and of PRAV by itself. */
export function sentenceCounts(shops: readonly ShopRecord[]): {
  readonly channels: readonly SentenceCount[];
  readonly lastClick: readonly SentenceCount[];
  readonly totals: readonly SentenceCount[];
  readonly ofPravAlone: readonly SentenceCount[];
} {
  const spoken = shops.map((shop) => ({ shop, said: statementsOf(reportOfShop(shop)) }));
  const pairs = spoken.flatMap(({ shop, said }) =>
    said.channels.map((statement) => ({
      statement,
      own: shop.channels.find(({ name }) => name === statement.channel)!,
    })),
  );
  const channels = pairs.map(({ statement: { verdict }, own }) => ({ verdict, truth: own.truth, spend: own.spend }));
  const lastClick = spoken.flatMap(({ shop, said }) => lastClickOf(shop, said));
  const totals = spoken.map(({ shop, said: { total } }) => ({
    verdict: total.verdict,
    truth: truthOf(shop, total.channels),
    spend: total.spend,
  }));
  const prav = shops.flatMap((shop) =>
    shop.channels.map(({ truth, spend }, c) => ({ verdict: pravVerdict(shop, c), truth, spend })),
  );
  const each = (all: readonly Spoken[]): SentenceCount[] => [
    ...SAID.map((verdict) => countOf(verdict, all, [verdict])),
    countOf('all that can be false', all, ['pays', 'adds', 'loses', 'harms']),
  ];
  return {
    channels: each(channels),
    lastClick: (['too_much', 'too_little'] as const).map((kind) => ({
      sentence: kind,
      said: lastClick.filter((one) => one.kind === kind).length,
      wrong: lastClick.filter((one) => one.kind === kind && one.isWrong).length,
      asked: channels.length,
    })),
    totals: each(totals),
    ofPravAlone: each(prav),
  };
}

const truthOf = ({ channels }: ShopRecord, names: readonly string[]): number =>
  channels.filter(({ name }) => names.includes(name)).reduce((sum, { truth }) => sum + truth, 0);

function lastClickOf({ channels, estimates }: ShopRecord, said: ReportStatements) {
  return said.channels.map(({ channel, lastClick: kind }) => {
    const c = channels.findIndex(({ name }) => name === channel);
    const shown = estimates.last_click.credit[c]!;
    const { truth } = channels[c]!;
    return { kind, isWrong: kind === 'too_much' ? truth >= shown : truth <= shown };
  });
}

/** What would be said if PRAV's own intervals were judged by. */
function pravVerdict({ channels, estimates: { prav } }: ShopRecord, c: number): Verdict {
  const [lower, upper] = [prav.low?.[c], prav.high?.[c]];
  const interval = lower === undefined || upper === undefined ? null : { lower, upper, level: 0.95 };
  return verdictOf({ breakEven: channels[c]!.spend, interval, isMeasurable: true, isJudged: true, isSound: true });
}

/** How often an interval of the total holds it: as it is given, and as independent errors would have it. */
export function totalCoverage(shops: readonly ShopRecord[]): {
  readonly shops: number;
  readonly held: number;
  readonly heldAllOff: number;
  readonly heldIfIndependent: number;
  /** mean width as a part of revenue */
  readonly width: number;
  readonly widthIfIndependent: number;
} {
  const judged = shops.flatMap((shop) => {
    const { total, channels } = statementsOf(reportOfShop(shop));
    if (total.interval === null) return [];
    const half = Math.sqrt(
      channels.reduce((sum, { interval: i }) => sum + (i === null ? 0 : ((i.upper - i.lower) / 2) ** 2), 0),
    );
    const centre = channels.reduce((sum, { interval: i }) => sum + (i === null ? 0 : (i.upper + i.lower) / 2), 0);
    const truth = truthOf(shop, total.channels);
    const { lower, upper } = total.interval;
    return [
      {
        held: lower <= truth && truth <= upper,
        heldAllOff: lower <= shop.truthTotal && shop.truthTotal <= upper,
        heldIfIndependent: Math.abs(truth - centre) <= half,
        width: (upper - lower) / shop.revenue,
        widthIfIndependent: (2 * half) / shop.revenue,
      },
    ];
  });
  const part = (of: (one: (typeof judged)[number]) => number | boolean): number =>
    judged.reduce((sum, one) => sum + Number(of(one)), 0) / Math.max(1, judged.length);
  return {
    shops: judged.length,
    held: part(({ held }) => held),
    heldAllOff: part(({ heldAllOff }) => heldAllOff),
    heldIfIndependent: part(({ heldIfIndependent }) => heldIfIndependent),
    width: part(({ width }) => width),
    widthIfIndependent: part(({ widthIfIndependent }) => widthIfIndependent),
  };
}
