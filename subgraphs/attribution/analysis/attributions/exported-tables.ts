import { ProblemError } from '../../../../schema/problems.ts';
import { roundHalfUp } from '../../../../schema/rounding.ts';
import type { ExportLevel } from '../../../../schema/value-lists.ts';
import type { Table } from '../journeys/table-file.ts';
import type { Attribution } from './attribution.ts';
import type { ChannelImpact } from './attribution-types.ts';
import type { AnalysisFigures } from './figures.ts';
import { presentFigures } from './present-attribution.ts';
import { presentCampaigns, presentTimeSeries, type ChannelFilter } from './present-breakdown.ts';

const text = (name: string) => ({ name, type: 'String' }) as const;
const number = (name: string) => ({ name, type: 'Float64' }) as const;
const maybe = (name: string) => ({ name, type: 'Nullable(Float64)' }) as const;
const flag = (name: string) => ({ name, type: 'Bool' }) as const;

const money = (value: number): number | null => roundHalfUp(value, 2);
const optional = (value: number | null | undefined): number | null => (value == null ? null : money(value));
const ratio = (value: number | null): number | null => (value === null ? null : roundHalfUp(value, 4));

/**
 * The figures of a completed analysis as rows, restricted to its channels; columns are named and rounded as over REST.
 * Money in major units.
 * @throws ProblemError `validation_error` where the data of the analysis has no such level.
 */
export function exportedTable(
  attribution: Attribution,
  figures: AnalysisFigures,
  level: Exclude<ExportLevel, 'paths'>,
): Table {
  const shown = attribution.channels ?? null;
  const isShown: ChannelFilter = (channel) => shown === null || shown.includes(channel);
  switch (level) {
    case 'channels':
      return channelRows(figures, isShown);
    case 'periods':
      return periodRows(figures, isShown);
    case 'campaigns':
      return campaignRows(figures, isShown);
  }
}

function channelRows(figures: AnalysisFigures, isShown: ChannelFilter): Table {
  const { currency, profitability } = figures;
  const hasProfit = profitability !== undefined;
  return {
    columns: [
      text('channel'),
      flag('is_baseline'),
      number('spend'),
      number('attributed_revenue'),
      number('lastclick_revenue'),
      number('delta_r'),
      number('incremental_revenue'),
      number('conversions'),
      number('share'),
      maybe('roi'),
      maybe('roas'),
      maybe('causal_lift'),
      maybe('confidence'),
      maybe('interval_lower'),
      maybe('interval_upper'),
      { name: 'identification', type: 'Nullable(String)' },
      { name: 'rank', type: 'UInt32' },
      text('currency'),
      ...(hasProfit ? PROFIT_COLUMNS : []),
    ],
    rows: presentFigures(figures)
      .filter(({ channel }) => isShown(channel))
      .map((each) => [
        each.channel,
        each.isBaseline,
        money(each.spend),
        each.attributedRevenue,
        each.lastclickRevenue,
        each.deltaR,
        each.incrementalRevenue,
        ratio(each.conversions),
        ratio(each.share),
        ratio(each.roi),
        ratio(each.roas),
        ratio(each.causalLift),
        ratio(each.confidence),
        each.confidenceInterval === null ? null : money(each.confidenceInterval.lower),
        each.confidenceInterval === null ? null : money(each.confidenceInterval.upper),
        each.identification?.status ?? null,
        each.rank,
        currency,
        ...(hasProfit ? profitCells(each) : []),
      ]),
  };
}

/** Of paid channels; behind all others, so that files from before there were any keep their columns. */
const PROFIT_COLUMNS = ['profit', 'profit_lower', 'profit_upper', 'profit_roas'].map(maybe);

const profitCells = ({ profit, profitInterval, profitRoas }: ChannelImpact): (number | null)[] => [
  optional(profit),
  optional(profitInterval?.lower),
  optional(profitInterval?.upper),
  ratio(profitRoas ?? null),
];

function periodRows({ timeSeries, channels, currency }: AnalysisFigures, isShown: ChannelFilter): Table {
  if (timeSeries == null) throw without('periods');
  const baseline = new Set(channels.filter(({ isBaseline }) => isBaseline).map(({ channel }) => channel));
  return {
    columns: [
      { name: 'period_start', type: 'Date32' },
      flag('partial'),
      text('channel'),
      flag('is_baseline'),
      number('attributed_revenue'),
      text('currency'),
    ],
    rows: presentTimeSeries(timeSeries, isShown).flatMap((point) =>
      Object.entries(point.channels).map(([channel, attributed]) => [
        point.periodStart,
        point.partial,
        channel,
        baseline.has(channel),
        attributed,
        currency,
      ]),
    ),
  };
}

function campaignRows({ campaigns, channels, currency }: AnalysisFigures, isShown: ChannelFilter): Table {
  if (campaigns == null) throw without('campaigns');
  return {
    columns: [
      text('channel'),
      { name: 'campaign', type: 'Nullable(String)' },
      number('spend'),
      number('touches'),
      number('attributed_revenue'),
      number('lastclick_revenue'),
      number('delta_r'),
      maybe('roi'),
      maybe('roas'),
      text('currency'),
    ],
    rows: presentCampaigns(campaigns, channels, isShown).map((each) => [
      each.channel,
      each.campaign,
      money(each.spend),
      each.touches,
      each.attributedRevenue,
      each.lastclickRevenue,
      each.deltaR,
      ratio(each.roi),
      ratio(each.roas),
      currency,
    ]),
  };
}

function without(level: ExportLevel): ProblemError {
  return new ProblemError('validation_error', `level: this analysis has no ${level}; its diagnostics say why.`, {
    code: 'not_available',
    param: 'query:level',
  });
}
