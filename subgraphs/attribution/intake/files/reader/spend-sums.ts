import type { RejectCode } from '../rejects.ts';
import type { TextCell } from './cells.ts';
import { limitExceeded } from './refused-file.ts';

/** Of one file: with their names they take some 80 MB. */
const MOST_SUMS = 400_000;
const MOST_NAME_BYTES = 48 * 1024 * 1024;
/** A sum of spend, in millionths; as for a single amount. */
const LARGEST_SPEND = 10n ** 18n;
const PART_END = '\0';

/** What a channel or campaign of a day cost, and what it showed for it. */
export interface SpendSum {
  readonly day: number;
  readonly channel: Buffer;
  readonly campaign: Buffer;
  /** Millionths. */
  readonly spend: number | bigint;
  readonly impressions: number | bigint;
  readonly clicks: number | bigint;
}

interface Amounts {
  spend: number | bigint;
  impressions: number | bigint;
  clicks: number | bigint;
}

/**
 * Adds up the rows of a file that are of one day, channel and campaign: reports part them by device, ad set or country,
 * and stored rows have one key for them all.
 */
export class SpendSums {
  readonly #sums = new Map<string, Amounts>();
  #nameBytes = 0;

  /** @throws RefusedFileError `file_limit_exceeded` */
  add(day: number, channel: TextCell, campaign: TextCell, more: Readonly<Amounts>): RejectCode | null {
    const key = `${day}${PART_END}${channel.latin1()}${PART_END}${campaign.latin1()}`;
    const sum = this.#sums.get(key);
    if (sum === undefined) {
      this.#nameBytes += key.length;
      if (this.#sums.size === MOST_SUMS || this.#nameBytes > MOST_NAME_BYTES)
        throw limitExceeded(
          'its spend is of too many days and campaigns',
          `${MOST_SUMS}, with ${MOST_NAME_BYTES} bytes of names`,
        );
      this.#sums.set(key, { spend: more.spend, impressions: more.impressions, clicks: more.clicks });
      return null;
    }
    const spend = plus(sum.spend, more.spend);
    if (spend > LARGEST_SPEND) return 'amount_out_of_range';
    sum.spend = spend;
    sum.impressions = plus(sum.impressions, more.impressions);
    sum.clicks = plus(sum.clicks, more.clicks);
    return null;
  }

  /** In the order in which the file names them first. Each is given once. */
  *taken(): Generator<SpendSum> {
    for (const [key, amounts] of this.#sums) {
      const [day, channel, campaign] = key.split(PART_END) as [string, string, string];
      this.#sums.delete(key);
      yield {
        day: Number(day),
        channel: Buffer.from(channel, 'latin1'),
        campaign: Buffer.from(campaign, 'latin1'),
        ...amounts,
      };
    }
  }
}

function plus(sum: number | bigint, more: number | bigint): number | bigint {
  if (typeof sum === 'number' && typeof more === 'number') {
    const both = sum + more;
    if (Number.isSafeInteger(both)) return both;
  }
  return BigInt(sum) + BigInt(more);
}
