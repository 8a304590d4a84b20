import type { RefundCounts } from './reader/refund-rows.ts';

/* What the sender of orders should know of them. */

/** @param repeated rows of one file whose order id another row of it has, beside the one that counts */
export const repeatedWarning = (repeated: number): string =>
  `${rows(repeated, 'repeats', 'repeat')} an order_id of the file. Of each order the last row counts, and the ` +
  'revenue of the others is lost. Send one row per order with its whole revenue, not one per item.';

export function refundWarnings({ takenOff, alone, leftOut }: RefundCounts): string[] {
  return [
    ...(takenOff === 0
      ? []
      : [`${rows(takenOff, 'is a refund, which was', 'are refunds, which were')} taken off the order of the same id.`]),
    ...(alone === 0
      ? []
      : [
          `${rows(alone, 'has a negative amount and no order of its', 'have negative amounts and no order of their')}` +
            ' order_id in the file. Stored as it stands, such a row replaces an order of the same id that another ' +
            'file brought. Send orders and their refunds in one file.',
        ]),
    ...(leftOut === 0
      ? []
      : [
          `${rows(leftOut, 'is a refund of an order', 'are refunds of orders')} that the file does not have, or ` +
            'without an amount, and lowered nothing. Send orders and their refunds in one file.',
        ]),
  ];
}

const rows = (count: number, one: string, several: string): string =>
  `${count} ${count === 1 ? `row ${one}` : `rows ${several}`}`;
