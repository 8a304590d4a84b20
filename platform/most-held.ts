/** Somebody who has bytes of ours in memory. */
export interface Holder {
  /** What holders are counted by, such as the address that they come from. */
  readonly group: string;
  readonly bytes: number;
}

/**
 * Who has to give up what he holds where all together hold too much: always one of the group that holds most, and of
 * that the one who holds most. Whoever takes no more than he needs is next to never one of them.
 */
export function mostHeld<Each extends Holder>(holders: Iterable<Each>, maxBytes: number): Each[] {
  const groups = new Map<string, { bytes: number; readonly holders: Each[] }>();
  let total = 0;
  for (const holder of holders) {
    if (holder.bytes === 0) continue;
    const group = groups.get(holder.group) ?? { bytes: 0, holders: [] };
    groups.set(holder.group, group);
    group.bytes += holder.bytes;
    group.holders.push(holder);
    total += holder.bytes;
  }
  if (total <= maxBytes) return [];
  const going: Each[] = [];
  for (const group of groups.values()) group.holders.sort((a, b) => a.bytes - b.bytes);
  while (total > maxBytes) {
    const fullest = [...groups.values()].reduce((most, group) => (group.bytes > most.bytes ? group : most));
    const holder = fullest.holders.pop()!;
    fullest.bytes -= holder.bytes;
    total -= holder.bytes;
    going.push(holder);
  }
  return going;
}
