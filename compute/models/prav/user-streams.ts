import { NO_CHANNEL } from '../../journey-tables.ts';
import type { EventTable } from '../../journey-tables.ts';

/**
 * The touches, unpaid visits and orders of one user as sorted streams, each ended by a time of Infinity. The arrays are those of every
 * user in turn, as long as the longest history.
 */
export class UserStreams {
  readonly touchTimeS: Float64Array;
  readonly touchChannel: Uint16Array;
  /** Touches of channels that nobody pays for. */
  readonly visitTimeS: Float64Array;
  readonly orderTimeS: Float64Array;
  touches = 0;
  visits = 0;
  readonly #table: EventTable;
  readonly #isBaseline: Uint8Array;
  readonly #endS: number;

  /** @param endS what comes after it is out of sight */
  constructor(table: EventTable, isBaseline: Uint8Array, endS: number) {
    const length = longestUser(table.userStart) + 1;
    this.touchTimeS = new Float64Array(length);
    this.touchChannel = new Uint16Array(length);
    this.visitTimeS = new Float64Array(length);
    this.orderTimeS = new Float64Array(length);
    this.#table = table;
    this.#isBaseline = isBaseline;
    this.#endS = endS;
  }

  /** Takes the place of the user before. @param user row of the table's users */
  read(user: number): void {
    const { userStart, timeS, channel, conversion } = this.#table;
    const { touchTimeS, touchChannel, visitTimeS, orderTimeS } = this;
    const isBaseline = this.#isBaseline;
    const endS = this.#endS;
    const stop = userStart[user + 1]!;
    let [touches, visits, orders] = [0, 0, 0];
    for (let i = userStart[user]!; i < stop; i++) {
      const t = timeS[i]!;
      if (t > endS) break;
      const x = channel[i]!;
      if (conversion[i] === 1) orderTimeS[orders++] = t;
      else if (x !== NO_CHANNEL) {
        touchTimeS[touches] = t;
        touchChannel[touches++] = x;
        if (isBaseline[x] === 1) visitTimeS[visits++] = t;
      }
    }
    touchTimeS[touches] = Infinity;
    visitTimeS[visits] = Infinity;
    orderTimeS[orders] = Infinity;
    this.touches = touches;
    this.visits = visits;
  }
}

/** Events of the user with the most. */
export function longestUser(userStart: Uint32Array): number {
  let longest = 0;
  for (let user = 1; user < userStart.length; user++) longest = Math.max(longest, userStart[user]! - userStart[user - 1]!);
  return longest;
}
