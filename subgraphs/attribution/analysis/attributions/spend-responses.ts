import type { EventTable } from '../../../../compute/journey-tables.ts';
import { DAY_S } from '../../../../compute/run-options.ts';
import type { TaskInput, TaskOutcome } from '../../../../compute/tasks.ts';
import type { DailySpend } from '../../intake/touchpoints/touchpoint-store.ts';
import type { Credit } from './compose-figures.ts';
import type { ChannelFigures } from './figures.ts';

/** An estimate is shown where chance alone would bring one like it in fewer cases than this. */
const SIGNIFICANT = 0.05;

/** The days of a run: orders with their times, what was spent, and the range, `[start, end)` in seconds. */
export interface RunDays {
  readonly events: EventTable | null;
  readonly spendDays?: readonly DailySpend[];
  readonly rangeStartS: number;
  readonly rangeEndS: number;
  readonly confidenceLevel: number;
}

/**
 * Puts beside spend that leaves no touches what revenue did when it moved: only where it rose, and significantly so.
 * That revenue falls with what is spent on advertising says that budgets answer to demand, not that they harm.
 */
export async function withSpendResponses(
  credit: Credit,
  run: RunDays,
  regress: (input: TaskInput<'spend_response'>) => Promise<TaskOutcome<'spend_response'>>,
): Promise<Credit> {
  const asked = credit.channels.filter(isUntracked).map(({ channel }) => channel);
  const { events, confidenceLevel } = run;
  if (asked.length === 0 || events === null) return credit;
  const revenue = revenueByDay(events, run);
  const { all, byChannel } = spendByDay(asked, run);
  const outcome = await regress({
    channels: asked.map((channel) => {
      const spend = byChannel.get(channel)!;
      return { revenue, spend, otherSpend: all.map((amount, day) => Math.max(0, amount - spend[day]!)) };
    }),
    confidenceLevel,
  });
  if (!outcome.ok) throw new Error(`spend_response failed: ${outcome.message}`);
  const shown = (figures: ChannelFigures): ChannelFigures => {
    const found = outcome.responses[asked.indexOf(figures.channel)] ?? null;
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

type Range = Pick<RunDays, 'rangeStartS' | 'rangeEndS'>;

const daysOf = ({ rangeStartS, rangeEndS }: Range): number => Math.round((rangeEndS - rangeStartS) / DAY_S);
const dayOf = (timeS: number, { rangeStartS }: Range): number => Math.floor((timeS - rangeStartS) / DAY_S);

function revenueByDay({ timeS, conversion, value }: EventTable, range: Range): Float64Array {
  const revenue = new Float64Array(daysOf(range));
  let order = 0;
  for (let i = 0; i < timeS.length; i++) {
    if (conversion[i] !== 1) continue;
    const amount = value[order++]!;
    const day = dayOf(timeS[i]!, range);
    if (day >= 0 && day < revenue.length) revenue[day]! += amount;
  }
  return revenue;
}

function spendByDay(asked: readonly string[], { spendDays = [], ...range }: Range & Pick<RunDays, 'spendDays'>) {
  const all = new Float64Array(daysOf(range));
  const byChannel = new Map(asked.map((channel) => [channel, new Float64Array(all.length)]));
  for (const { channel, day, spend } of spendDays) {
    const at = dayOf(Date.parse(day) / 1000, range);
    if (at < 0 || at >= all.length) continue;
    all[at]! += spend;
    const own = byChannel.get(channel);
    if (own !== undefined) own[at]! += spend;
  }
  return { all, byChannel };
}

const isUntracked = ({ identification }: ChannelFigures): boolean =>
  identification?.reasons.some(({ code }) => code === 'untracked_spend') ?? false;
