import { createHash } from 'node:crypto';

/** Between the names of channels that were kept away together. */
export const TOGETHER = ' + ';
/** A name is part of a unique key, and is read by people. */
const LONGEST_NAME = 200;

/** What several channels are called together: one by its name, a few by theirs, many by their number and a digest. */
export function groupName(channels: readonly string[]): string {
  const names = channels.join(TOGETHER);
  if (channels.length === 1 || names.length <= LONGEST_NAME) return names;
  const digest = createHash('sha256').update(JSON.stringify(channels)).digest('hex');
  return `${channels.length} channels, ${digest.slice(0, 12)}`;
}
