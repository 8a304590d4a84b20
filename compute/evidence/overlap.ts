import { NO_CHANNEL } from '../journey-tables.ts';
import type { EventTable } from '../journey-tables.ts';
import { DAY_S } from '../run-options.ts';
import type { RunOptions } from '../run-options.ts';

/** Past activity: unpaid visits and paid touches of the week before, an order in the month before. */
const WEEK_S = 7 * DAY_S;
const MONTH_S = 30 * DAY_S;
const VISIT_LEVELS = 4;
const TOUCH_LEVELS = 3;
const STRATA = VISIT_LEVELS * TOUCH_LEVELS * 2;
/**
 * People of a stratum who were not exposed have to be this part of it (Crump et al. 2009: propensities beyond 0.9 are
 * left out of a comparison).
 */
const FEWEST_UNEXPOSED = 0.1;
const USERS_PER_CHECK = 512;

/** Of one channel: people who met it, and the part of them whose like hardly ever went without. */
export interface ChannelOverlap {
  readonly people: number;
  readonly withoutCounterpart: number;
}

/**
 * Whether exposed people have unexposed counterparts, per channel. A moment is a touch of any channel; its stratum is
 * what the person did before it. Somebody is exposed to a channel where its touch is the first of the person within a
 * horizon; a moment without a touch of the channel a horizon before and after is that of a counterpart. People are
 * counted once per stratum. Linear in events times channels.
 */
export function measureOverlap(
  table: EventTable,
  { isBaseline, horizonS }: RunOptions,
  throwIfCancelled: () => void,
): readonly ChannelOverlap[] {
  const { userStart, userHash, timeS, channel, conversion } = table;
  const channels = table.channels.length;
  const exposed = new Float64Array(channels * STRATA);
  const unexposed = new Float64Array(channels * STRATA);
  // Who was counted last, so that nobody is counted twice.
  const countedExposed = new Int32Array(channels * STRATA).fill(-1);
  const countedUnexposed = new Int32Array(channels * STRATA).fill(-1);
  const last = new Float64Array(channels);
  const next = new Float64Array(channels);
  let nearestAfter = new Float64Array(64 * channels);

  for (let user = 0; user < userHash.length; user++) {
    if (user % USERS_PER_CHECK === 0) throwIfCancelled();
    const [begin, stop] = [userStart[user]!, userStart[user + 1]!];
    if (nearestAfter.length < (stop - begin) * channels) nearestAfter = new Float64Array(2 * (stop - begin) * channels);
    next.fill(Infinity);
    for (let i = stop - 1; i >= begin; i--) {
      nearestAfter.set(next, (i - begin) * channels);
      if (conversion[i] === 0 && channel[i] !== NO_CHANNEL) next[channel[i]!] = timeS[i]!;
    }
    last.fill(-Infinity);
    let [from, visits, touches, ordered] = [begin, 0, 0, -Infinity];
    for (let i = begin; i < stop; i++) {
      const t = timeS[i]!;
      const x = channel[i]!;
      if (conversion[i] === 1) {
        ordered = t;
        continue;
      }
      for (; timeS[from]! < t - WEEK_S; from++) {
        if (conversion[from] === 1) continue;
        if (isBaseline[channel[from]!] === 1) visits--;
        else touches--;
      }
      const stratum =
        (Math.min(visits, VISIT_LEVELS - 1) * TOUCH_LEVELS + Math.min(touches, TOUCH_LEVELS - 1)) * 2 +
        Number(ordered >= t - MONTH_S);
      for (let c = 0; c < channels; c++) {
        if (isBaseline[c] === 1) continue;
        const cell = c * STRATA + stratum;
        const isRecent = last[c]! >= t - horizonS;
        if (x === c) {
          if (isRecent || countedExposed[cell] === user) continue;
          countedExposed[cell] = user;
          exposed[cell]! += 1;
        } else if (
          !isRecent &&
          nearestAfter[(i - begin) * channels + c]! > t + horizonS &&
          countedUnexposed[cell] !== user
        ) {
          countedUnexposed[cell] = user;
          unexposed[cell]! += 1;
        }
      }
      last[x] = t;
      if (isBaseline[x] === 1) visits++;
      else touches++;
    }
  }
  return Array.from({ length: channels }, (_, c) => {
    let [people, alone] = [0, 0];
    for (let cell = c * STRATA; cell < (c + 1) * STRATA; cell++) {
      people += exposed[cell]!;
      if (unexposed[cell]! < FEWEST_UNEXPOSED * (exposed[cell]! + unexposed[cell]!)) alone += exposed[cell]!;
    }
    return { people, withoutCounterpart: people > 0 ? alone / people : 0 };
  });
}
