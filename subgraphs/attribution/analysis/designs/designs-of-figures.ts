import {
  experimentDesigns,
  type ExperimentDesign,
} from '../../../../compute/models/experiment-design/experiment-designs.ts';
import { ProblemError } from '../../../../schema/problems.ts';
import { didYouMean } from '../../../../schema/unknown-members.ts';
import { daysBetween } from '../../../../schema/day-range.ts';
import { namesOf } from '../../intake/data-sources/channel-names.ts';
import type { DateRange } from '../../intake/data-sources/date-range.ts';
import { groupName } from '../experiments/channel-group.ts';
import { isUnmeasurable, type AnalysisFigures, type ChannelFigures } from '../attributions/figures.ts';

/** What designs are made of: a causal analysis, or as much of it. */
export type DesignedFigures = Pick<
  AnalysisFigures,
  'channels' | 'revenueCents' | 'holdoutWindows' | 'calibrations' | 'profitability'
>;

/** Designs, and what none can be made for. */
export interface DesignsFound {
  readonly designs: readonly ExperimentDesign[];
  readonly warnings: readonly string[];
}

/**
 * The experiments that would settle what the paid channels of an analysis bring; see `experimentDesigns`. Spend that
 * leaves no touches has none: who would have seen it is not known, so nobody can be kept away from it.
 * @param power in (0, 1)
 * @param only the one channel that is asked about, or the name of those that are kept away together
 * @throws ProblemError `validation_error` / `unknown_channel`
 */
export function designsOfFigures(
  figures: DesignedFigures,
  range: DateRange,
  power: number,
  only?: string,
): DesignsFound {
  const { channels, revenueCents, holdoutWindows: windows, calibrations = [], profitability } = figures;
  if (windows == null) return { designs: [], warnings: [NO_PEOPLE] };
  if (windows.length === 0) return { designs: [], warnings: [TOO_SHORT] };
  if (windows.every(({ revenueSquares }) => revenueSquares === 0)) return { designs: [], warnings: [NO_ORDERS] };
  const paid = channels.filter(({ isBaseline }) => !isBaseline);
  const untracked = paid.filter(isUntracked).map(({ channel }) => channel);
  const tracked = paid.filter((channel) => !isUntracked(channel));
  const measuredTotals = calibrations.filter(({ channels: together = [] }) =>
    tracked.every(({ channel }) => together.includes(channel)),
  );
  const designs = experimentDesigns(
    {
      rangeDays: daysBetween(range.start, range.end),
      revenue: revenueCents / 100,
      windows,
      ...(profitability !== undefined && { margin: profitability.margin }),
      channels: tracked.map((channel) => ({
        channel: channel.channel,
        credit: channel.attributedRevenueCents / 100,
        interval: isUnmeasurable(channel) ? null : channel.confidenceInterval,
        spend: channel.spend,
      })),
      totalError: measuredTotals.reduce((least, { standardError }) => Math.min(least, standardError), Infinity),
    },
    power,
  );
  if (only !== undefined) refuseUnknown(only, [...channels.map(({ channel }) => channel), ...designs.map(nameOf)]);
  const isAsked = (name: string): boolean => only === undefined || name === only;
  const unpaid = channels.filter(({ channel, isBaseline }) => isBaseline && channel === only);
  const faint = designs.filter(({ isTelling }) => !isTelling).map(nameOf);
  return {
    designs: designs.filter((design) => isAsked(nameOf(design))),
    warnings: [
      ...unpaid.map(({ channel }) => unpaidFor(channel)),
      ...telling(untracked.filter(isAsked), withoutTouches),
      ...telling(faint.filter(isAsked), tooNoisy),
    ],
  };
}

const nameOf = ({ channels }: ExperimentDesign): string => groupName(channels);
const telling = (channels: readonly string[], text: (channels: readonly string[]) => string): string[] =>
  channels.length === 0 ? [] : [text(channels)];

function refuseUnknown(asked: string, known: readonly string[]): void {
  if (known.includes(asked)) return;
  const near = didYouMean(asked, known) || `; they have ${namesOf(known)}.`;
  const message = `channel: the figures have no channel ${JSON.stringify(asked)}${near}`;
  throw new ProblemError('validation_error', message, { code: 'unknown_channel', param: '/channel' });
}

const isUntracked = ({ identification }: ChannelFigures): boolean =>
  identification?.reasons.some(({ code }) => code === 'untracked_spend') ?? false;

const NO_PEOPLE =
  'The source holds aggregated paths, without people, so that nobody can be held out. Upload touchpoints with a ' +
  'user id.';
const TOO_SHORT = 'The range is too short to tell what a test of two weeks would find. Choose four days or more.';
const NO_ORDERS = 'No order of a known person lies in the range, so that nothing tells what a test would find.';

const unpaidFor = (channel: string): string =>
  `${channel} is a baseline channel: people come by it without marketing, so that there is nothing to keep them from.`;

const tooNoisy = (channels: readonly string[]): string =>
  `Orders vary so much that no holdout of up to twelve weeks would know more of ${channels.join(', ')} than the rows ` +
  'do: it would move what is believed, not settle it.';

const withoutTouches = (channels: readonly string[]): string =>
  `No holdout of people can measure ${channels.join(', ')}: the spend leaves no touches, and nobody knows whom it ` +
  'reaches. A test in some places and not in others would.';
