import type { NumberCell, TextCell, TimeCell } from './cells.ts';
import { bytesOf, tableFilledBy, type RecordTable } from './record-table.ts';
import { SpendSums, type SpendSum } from './spend-sums.ts';

/**
 * Holds its rows back until the end of the file, and adds up those of one day, channel and campaign.
 * @param own what an amount is in the currency of the source
 */
export function summedSpend(
  cells: {
    date: TimeCell;
    channel: TextCell;
    campaign: TextCell;
    spend: NumberCell;
    impressions: NumberCell;
    clicks: NumberCell;
  },
  own: (amount: number | bigint) => number | bigint,
): RecordTable {
  const sums = new SpendSums();
  const released = sums.taken();
  let sum: SpendSum;
  const table = tableFilledBy('spend', {
    date: (column) => column.add(sum.day),
    channel: (column) => column.add(sum.channel, 0, sum.channel.length),
    campaign: (column) => column.add(sum.campaign, 0, sum.campaign.length),
    spend: (column) => column.add(sum.spend),
    impressions: (column) => column.add(sum.impressions),
    clicks: (column) => column.add(sum.clicks),
  });
  return {
    ...table,
    get rows() {
      return table.rows;
    },
    clear: () => table.clear(),
    add() {
      const { spend, impressions, clicks } = cells;
      return sums.add(cells.date.day, cells.channel, cells.campaign, {
        spend: own(spend.value),
        impressions: impressions.value,
        clicks: clicks.value,
      });
    },
    release(blockBytes) {
      while (bytesOf(table) < blockBytes) {
        const next = released.next();
        if (next.done === true) return;
        sum = next.value;
        table.add(0);
      }
    },
  };
}
