import { createHash } from 'node:crypto';
import type { ReadingOrder } from '../reading-messages.ts';

/** Names files that are alike: those with the same columns in the same order. */
export const headerDigest = (header: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(header)).digest('hex').slice(0, 32);

/** The order for a file with this header: with what was said of the last one like it, where there was one. */
export function asRemembered(order: ReadingOrder, header: readonly string[]): ReadingOrder {
  const { remembered } = order;
  if (Object.keys(remembered).length === 0) return order;
  const digest = headerDigest(header);
  return Object.hasOwn(remembered, digest) ? { ...order, ...remembered[digest] } : order;
}
