import type { EventCampaigns } from '../../../../compute/journey-tables.ts';
import { largestRemainder } from '../../../../compute/numerics/largest-remainder.ts';
import type { TaskOutcome } from '../../../../compute/tasks.ts';
import type { CampaignSpend } from '../../intake/touchpoints/touchpoint-store.ts';
import type { CampaignFigures, ChannelFigures, Period, TimeSeriesFigures } from './figures.ts';

type Successful<Outcome> = Extract<Outcome, { readonly ok: true }>;
type BreakdownResult = Successful<TaskOutcome<'breakdown'>>;
type SegmentCredits = BreakdownResult['periods'];
type PravSegments = Successful<TaskOutcome<'prav'>>['segments'][number];

/** What PRAV says of each segment: where its effects make the credit, they split it too. */
export interface IncrementalSegments {
  readonly channels: readonly string[];
  readonly periods: PravSegments;
  /** null: no event names a campaign. */
  readonly campaigns: PravSegments | null;
}

/**
 * The published credit by period. A channel's credit is split by the placebo-adjusted contributions of the touches of
 * each period where PRAV's effects make it (models: causal, per period and per campaign), else by the linear revenue
 * credit of the conversions of each period; where there is none of either, by touches. The baseline has no touches: it
 * is split by the revenue of each period's conversions, in a path model by that of conversions without a touch. Every
 * row of cents sums to the figure of the whole range.
 */
export function timeSeriesOf(
  credit: PublishedCredit,
  calendar: readonly Period[],
  credits: BreakdownResult,
  incremental: IncrementalSegments | null,
): TimeSeriesFigures {
  const { periods, revenue, unattributedRevenue } = credits;
  return {
    periods: calendar,
    revenueCents: plainZeros(
      largestRemainder(
        revenue.map((amount) => 100 * amount),
        credit.revenueCents,
      ),
    ),
    baselineRevenueCents: split(
      credit.baselineRevenueCents,
      incremental === null ? unattributedRevenue : revenue,
      revenue,
    ),
    channels: credit.channels.map(({ channel, attributedRevenueCents }) => {
      const columns = columnsOf(channel, credits, periods, incremental?.periods ?? null, incremental);
      return { channel, attributedRevenueCents: split(attributedRevenueCents, ...columns, revenue) };
    }),
  };
}

/**
 * The published credit by campaign, the most credited first. The same rule as by period; what names no campaign is an
 * entry of its channel without a name.
 */
export function campaignsOf(
  credit: PublishedCredit,
  names: EventCampaigns['names'],
  credits: BreakdownResult,
  spend: readonly CampaignSpend[],
  incremental: IncrementalSegments | null,
): readonly CampaignFigures[] {
  const seen = new Set(names);
  const spendOf = Map.groupBy(spend, ({ channel }) => channel);
  const figures = credit.channels.flatMap((figuresOfChannel) => {
    const { channel, attributedRevenueCents, lastclickRevenueCents } = figuresOfChannel;
    const { campaigns } = credits;
    const place = credits.channels.indexOf(channel);
    const unnamed = Float64Array.from({ length: campaigns.count }, (_, slot) => (slot === 0 ? 1 : 0));
    const attributed = split(
      attributedRevenueCents,
      ...columnsOf(channel, credits, campaigns, incremental?.campaigns ?? null, incremental),
      unnamed,
    );
    const lastClick = plainZeros(
      largestRemainder(
        column(campaigns.lastClick, place, credits.channels.length, campaigns.count).map((amount) => 100 * amount),
        lastclickRevenueCents,
      ),
    );
    const touches = column(campaigns.touches, place, credits.channels.length, campaigns.count);
    const spent = new Map(spendOf.get(channel)?.map((each) => [each.campaign, each.spend]));
    const known = attributed.map((cents, slot): CampaignFigures => {
      const campaign = slot === 0 ? '' : names[slot - 1]!;
      return {
        channel,
        campaign: campaign === '' ? null : campaign,
        spend: spent.get(campaign) ?? 0,
        touches: touches[slot]!,
        attributedRevenueCents: cents,
        lastclickRevenueCents: lastClick[slot]!,
      };
    });
    const unseen = [...spent].filter(([campaign]) => campaign !== '' && !seen.has(campaign));
    return [
      ...known.filter(
        (each) =>
          each.touches > 0 || each.spend > 0 || each.attributedRevenueCents !== 0 || each.lastclickRevenueCents !== 0,
      ),
      ...unseen.map(([campaign, amount]): CampaignFigures => ({
        channel,
        campaign,
        spend: amount,
        touches: 0,
        attributedRevenueCents: 0,
        lastclickRevenueCents: 0,
      })),
    ];
  });
  return figures.toSorted(
    (a, b) =>
      b.attributedRevenueCents - a.attributedRevenueCents ||
      compare(a.channel, b.channel) ||
      compare(a.campaign ?? '', b.campaign ?? ''),
  );
}

interface PublishedCredit {
  readonly channels: readonly ChannelFigures[];
  readonly revenueCents: number;
  readonly baselineRevenueCents: number;
}

/** The weights of a channel's segments, the best first. */
function columnsOf(
  channel: string,
  credits: BreakdownResult,
  segments: SegmentCredits,
  own: PravSegments | null,
  incremental: IncrementalSegments | null,
): Float64Array[] {
  const place = credits.channels.indexOf(channel);
  const adjusted =
    own === null || incremental === null
      ? []
      : [column(own.split, incremental.channels.indexOf(channel), incremental.channels.length, segments.count)];
  return [
    ...adjusted,
    ...[segments.linear, segments.touches].map((matrix) =>
      column(matrix, place, credits.channels.length, segments.count),
    ),
  ];
}

/** Column `place` of a row-major matrix; zeros for a channel that the matrix does not know. */
function column(matrix: Float64Array, place: number, width: number, height: number): Float64Array {
  return Float64Array.from({ length: height }, (_, row) => (place < 0 ? 0 : matrix[row * width + place]!));
}

/** Cents that sum to `cents`, by the first of the weights that has anything positive; equally where none has. */
function split(cents: number, ...weights: readonly Float64Array[]): number[] {
  const positive = weights.map((list) => list.map((weight) => Math.max(0, weight)));
  const chosen =
    positive.find((list) => list.some((weight) => weight > 0)) ?? new Float64Array(positive[0]!.length).fill(1);
  const sum = chosen.reduce((total, weight) => total + weight, 0);
  return plainZeros(
    largestRemainder(
      chosen.map((weight) => (weight / sum) * cents),
      cents,
    ),
  );
}

/** No −0. */
const plainZeros = (cents: Float64Array): number[] => Array.from(cents, (each) => each + 0);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
