import { spendResponse } from '../../../../compute/models/spend-response/spend-response.ts';
import { DAY_S } from '../../../../compute/run-options.ts';
import type { RunData, RunParameters } from './analyze.ts';
import type { Credit } from './compose-figures.ts';
import type { ChannelFigures } from './figures.ts';

/** An estimate is shown where chance alone would bring one like it in fewer cases than this. */
const SIGNIFICANT = 0.05;

/**
 * Puts beside spend that leaves no touches what revenue did when it moved: only where it rose, and significantly so.
 * That revenue falls with what is spent on advertising says that budgets answer to demand, not that they harm.
 */
export function withSpendResponses(
  credit: Credit,
  { events, spendDays = [] }: Pick<RunData, 'events' | 'spendDays'>,
  { rangeStartS, rangeEndS, confidenceLevel }: Pick<RunParameters, 'rangeStartS' | 'rangeEndS' | 'confidenceLevel'>,
): Credit {
  const asked = credit.channels.filter(isUntracked);
  if (asked.length === 0 || events === null) return credit;
  const days = Math.round((rangeEndS - rangeStartS) / DAY_S);
  const dayOf = (timeS: number): number => Math.floor((timeS - rangeStartS) / DAY_S);
  const revenue = new Float64Array(days);
  let order = 0;
  for (let i = 0; i < events.timeS.length; i++) {
    if (events.conversion[i] !== 1) continue;
    const amount = events.value[order++]!;
    const day = dayOf(events.timeS[i]!);
    if (day >= 0 && day < days) revenue[day]! += amount;
  }
  const all = new Float64Array(days);
  const byChannel = new Map(asked.map(({ channel }) => [channel, new Float64Array(days)]));
  for (const { channel, day, spend } of spendDays) {
    const at = dayOf(Date.parse(day) / 1000);
    if (at < 0 || at >= days) continue;
    all[at]! += spend;
    const own = byChannel.get(channel);
    if (own !== undefined) own[at]! += spend;
  }
  const shown = (figures: ChannelFigures): ChannelFigures => {
    const spend = byChannel.get(figures.channel);
    if (spend === undefined) return figures;
    const otherSpend = all.map((amount, day) => Math.max(0, amount - spend[day]!));
    const found = spendResponse({ revenue, spend, otherSpend }, confidenceLevel);
    if (found === null || !(found.pValue < SIGNIFICANT && found.incrementalRevenue > 0)) return figures;
    const { incrementalRevenue, low, high, pValue } = found;
    return {
      ...figures,
      spendResponse: {
        incrementalRevenue,
        confidenceInterval: { lower: low, upper: high, level: confidenceLevel },
        pValue,
        method: 'time_series',
      },
    };
  };
  return { ...credit, channels: credit.channels.map(shown) };
}

const isUntracked = ({ identification }: ChannelFigures): boolean =>
  identification?.reasons.some(({ code }) => code === 'untracked_spend') ?? false;
