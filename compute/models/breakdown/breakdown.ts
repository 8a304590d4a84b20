import { NO_CHANNEL } from '../../journey-tables.ts';
import type { EventCampaigns, EventTable } from '../../journey-tables.ts';
import { failure } from '../../outcome.ts';
import type { Checkpoint, Failure } from '../../outcome.ts';
import { DAY_S } from '../../run-options.ts';
import type { RunOptions } from '../../run-options.ts';
import type { BreakdownResult, SegmentCredits } from './breakdown-result.ts';
import { NO_SEGMENT, periodAt } from './period-segments.ts';
import type { PeriodTable } from './period-segments.ts';

/** Events, and the periods and campaigns that their credit is split over. */
export interface BreakdownInput {
  readonly events: EventTable;
  readonly options: Pick<RunOptions, 'rangeStartS' | 'rangeEndS' | 'lookbackS'>;
  readonly periods: PeriodTable;
  /** null: every touch belongs to segment 0 */
  readonly campaigns: EventCampaigns | null;
}

const USERS_PER_CHECK = 512;

const noCredits = (count: number, channels: number): SegmentCredits => {
  const none = (): Float64Array => new Float64Array(count * channels);
  return { count, linear: none(), lastClick: none(), touches: none() };
};

/**
 * Linear and last-click credit and touches per period and per campaign, in one pass over the sorted events. Journeys
 * are cut as the comparison rules cut them: the touches since the user's previous conversion and within the lookback
 * before this one, a click attached to the conversion last. Credit of a journey stands in the period of its conversion,
 * touches in their own.
 */
export function breakDown(
  { events, options, periods, campaigns }: BreakdownInput,
  checkpoint: Checkpoint,
): BreakdownResult | Failure {
  const { userStart, timeS, channel, conversion, value } = events;
  const { rangeStartS, rangeEndS, lookbackS } = options;
  if (campaigns !== null && campaigns.slot.length !== timeS.length)
    return failure('invalid_input', 'Breakdown: campaigns need one entry per event.');
  if (periods.ofDay.length * DAY_S < rangeEndS - rangeStartS)
    return failure('invalid_input', 'Breakdown: periods need one entry per day of the range.');
  const channels = events.channels.length;
  const slot = campaigns?.slot ?? null;
  const byPeriod = noCredits(periods.count, channels);
  const byCampaign = noCredits(1 + (campaigns?.names.length ?? 0), channels);
  const revenue = new Float64Array(periods.count);
  const unattributedRevenue = new Float64Array(periods.count);
  const users = userStart.length - 1;
  let valueIndex = 0;
  for (let user = 0; user < users; user++) {
    if (user % USERS_PER_CHECK === 0) checkpoint(user / users);
    const stop = userStart[user + 1]!;
    let begin = userStart[user]!;
    for (let i = begin; i < stop; i++) {
      const t = timeS[i]!;
      const inRange = t >= rangeStartS && t < rangeEndS;
      const period = inRange ? periodAt(periods, rangeStartS, t) : NO_SEGMENT;
      const row = period * channels;
      if (conversion[i] === 0) {
        if (!inRange) continue;
        byPeriod.touches[row + channel[i]!]! += 1;
        byCampaign.touches[(slot === null ? 0 : slot[i]!) * channels + channel[i]!]! += 1;
        continue;
      }
      const earned = value[valueIndex++]!;
      if (inRange) {
        revenue[period]! += earned;
        const end = channel[i] === NO_CHANNEL ? i : i + 1;
        while (begin < end && timeS[begin]! < t - lookbackS) begin++;
        if (begin === end) unattributedRevenue[period]! += earned;
        else {
          const part = earned / (end - begin);
          for (let touch = begin; touch < end; touch++) {
            byPeriod.linear[row + channel[touch]!]! += part;
            byCampaign.linear[(slot === null ? 0 : slot[touch]!) * channels + channel[touch]!]! += part;
          }
          byPeriod.lastClick[row + channel[end - 1]!]! += earned;
          byCampaign.lastClick[(slot === null ? 0 : slot[end - 1]!) * channels + channel[end - 1]!]! += earned;
        }
      }
      begin = i + 1;
    }
  }
  return {
    ok: true,
    model: 'breakdown',
    channels: events.channels,
    periods: byPeriod,
    campaigns: byCampaign,
    revenue,
    unattributedRevenue,
  };
}
