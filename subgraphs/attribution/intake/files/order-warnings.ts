import type { SampledRows } from './reader/read-sample.ts';
import type { RefundFates } from './refunded-orders.ts';

/* What the sender of orders should know of them. */

export const MONEY = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** @param repeated rows of one file whose order id another row of it has, beside the one that counts */
export const repeatedWarning = (repeated: number): string =>
  `${rows(repeated, 'repeats', 'repeat')} an order_id of the file. Of each order the last row counts, as ` +
  'the whole of it.';

export const addedWarning = (lines: number): string[] =>
  lines === 0
    ? []
    : [`${rows(lines, 'is a further line of an order, and was', 'are further lines of orders, and were')} added up.`];

export function fateWarnings(fates: RefundFates, currency: string): string[] {
  const { takenOff, overruled, alone, aloneAmount, waiting, waitingAmount, loweredByOthers } = fates;
  return [
    ...takenOffWarning(takenOff),
    ...(overruled === 0
      ? []
      : [
          `${rows(overruled, 'is a refund of an order', 'are refunds of orders')} that a file of orders tells, and ` +
            'lowered nothing: what the shop says of its orders holds.',
        ]),
    ...(alone === 0
      ? []
      : [
          `${refundsOf(alone, aloneAmount, currency)} that the source does not hold. Each stands as a row of its own ` +
            'until its order comes, which it then lowers.',
        ]),
    ...(waiting === 0
      ? []
      : [
          `${refundsOf(waiting, waitingAmount, currency)} that the source does not hold, and lower nothing until then.`,
        ]),
    ...(loweredByOthers === 0
      ? []
      : [
          `${loweredByOthers} ${loweredByOthers === 1 ? 'order was' : 'orders were'} lowered by refunds that other ` +
            'files brought.',
        ]),
  ];
}

/** Of a file that is only looked at. */
export function lookedAtWarnings({ refunds, repeatedOrders }: SampledRows, currency: string): string[] {
  const { ofFile, ofOthers, amountOfOthers } = refunds;
  return [
    ...takenOffWarning(ofFile),
    ...(ofOthers === 0
      ? []
      : [
          `${refundsOf(ofOthers, amountOfOthers, currency)} that the file does not have. Those of the source are ` +
            'lowered; each other refund stands as a row of its own until its order comes.',
        ]),
    ...(repeatedOrders === 0 ? [] : [repeatedWarning(repeatedOrders)]),
  ];
}

export const amountlessWarning = (amountless: number): string[] =>
  amountless === 0
    ? []
    : [`${rows(amountless, 'is a refund', 'are refunds')} without an amount or an order id, and lowered nothing.`];

const takenOffWarning = (takenOff: number): string[] =>
  takenOff === 0
    ? []
    : [`${rows(takenOff, 'is a refund, which was', 'are refunds, which were')} taken off the order of the same id.`];

const refundsOf = (count: number, amount: number, currency: string): string =>
  `${rows(count, 'is a refund', 'are refunds')}, ${MONEY.format(amount)} ${currency} in all, of ` +
  `${count === 1 ? 'an order' : 'orders'}`;

const rows = (count: number, one: string, several: string): string =>
  `${count} ${count === 1 ? `row ${one}` : `rows ${several}`}`;
