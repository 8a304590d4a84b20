import { NO_CHANNEL } from '../../journey-tables.ts';
import type { EventTable } from '../../journey-tables.ts';
import type { Checkpoint } from '../../outcome.ts';
import { DAY_S } from '../../run-options.ts';
import type { RunOptions } from '../../run-options.ts';
import type { ComparisonResult } from './comparison-result.ts';
import { HALF_LIFE_DAYS, RuleSums } from './rule-sums.ts';

const USERS_PER_CHECK = 512;

/**
 * The comparison rules on real timestamps. A converting journey is the touches since the user's previous conversion and
 * within the lookback before this one; a click attached to the conversion is its last touch. Only conversions inside
 * the range count, but those outside it cut journeys too.
 */
export function compareOnEvents(
  table: EventTable,
  { rangeStartS, rangeEndS, lookbackS }: Pick<RunOptions, 'rangeStartS' | 'rangeEndS' | 'lookbackS'>,
  checkpoint: Checkpoint,
): ComparisonResult {
  const { userStart, timeS, channel, conversion, value } = table;
  const sums = new RuleSums(table.channels);
  const attributed = { conversions: 0, value: 0 };
  const unattributed = { conversions: 0, value: 0 };
  const users = userStart.length - 1;
  let valueIndex = 0;
  for (let user = 0; user < users; user++) {
    if (user % USERS_PER_CHECK === 0) checkpoint(user / users);
    const stop = userStart[user + 1]!;
    let begin = userStart[user]!;
    for (let i = begin; i < stop; i++) {
      if (conversion[i] === 0) continue;
      const earned = value[valueIndex++]!;
      const t = timeS[i]!;
      const end = channel[i] === NO_CHANNEL ? i : i + 1;
      if (t >= rangeStartS && t < rangeEndS) {
        while (begin < end && timeS[begin]! < t - lookbackS) begin++;
        if (begin === end) {
          unattributed.conversions++;
          unattributed.value += earned;
        } else {
          attributed.conversions++;
          attributed.value += earned;
          sums.addEnds(channel, begin, end, 1, earned);
          addDecay(sums, table, begin, end, earned);
        }
      }
      begin = i + 1;
    }
  }
  return sums.result(attributed, unattributed);
}

function addDecay(sums: RuleSums, { timeS, channel }: EventTable, begin: number, end: number, earned: number): void {
  const last = timeS[end - 1]!;
  const rate = Math.LN2 / (HALF_LIFE_DAYS * DAY_S);
  let whole = 0;
  for (let i = begin; i < end; i++) whole += Math.exp((timeS[i]! - last) * rate);
  for (let i = begin; i < end; i++)
    sums.addDecayed(channel[i]!, Math.exp((timeS[i]! - last) * rate) / whole, 1, earned);
}
