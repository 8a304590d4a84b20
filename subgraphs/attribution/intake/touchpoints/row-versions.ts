/* Of two rows with one natural key, the one of the higher version counts. */

/** What a shop says of its orders wins over what somebody saw of them, whichever comes later. */
export const OF_ORDERS = 1n << 63n;

/** Beneath every version of an upload. */
const LARGEST_TOLD_BY_NONE = 1n << 20n;

/** A row of refunds stands in for their order, which no file has told. */
export const standsIn = (version: string): string => `${version} <= ${LARGEST_TOLD_BY_NONE}`;

/** Later uploads win over earlier ones, later blocks of an upload over its earlier ones. */
export function versionOf(now: Date, block: number, isOfOrders: boolean): string {
  return String((isOfOrders ? OF_ORDERS : 0n) | (BigInt(now.getTime()) << 20n) | BigInt(block));
}

/** Those of all blocks of an upload. */
export function versionsOf(now: Date, isOfOrders: boolean): { readonly from: string; readonly until: string } {
  return { from: versionOf(now, 0, isOfOrders), until: versionOf(new Date(now.getTime() + 1), 0, isOfOrders) };
}
