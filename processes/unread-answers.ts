/** A connection of a client, as far as what it does not read is concerned. */
export interface Reader {
  /** What it is counted by. */
  readonly block: string;
  /** Bytes of answers that it has not taken yet. */
  readonly unreadBytes: number;
}

/**
 * Answers that nobody reads lie in memory. Beyond a bound, addresses give up connections, always the one of which most is
 * unread, and of those the fullest: whoever reads what he asks for has next to nothing there.
 * @returns the connections that have to go
 */
export function mostUnread<Each extends Reader>(readers: Iterable<Each>, maxBytes: number): Each[] {
  const byBlock = new Map<string, { bytes: number; readonly readers: Each[] }>();
  let total = 0;
  for (const reader of readers) {
    if (reader.unreadBytes === 0) continue;
    const block = byBlock.get(reader.block) ?? { bytes: 0, readers: [] };
    byBlock.set(reader.block, block);
    block.bytes += reader.unreadBytes;
    block.readers.push(reader);
    total += reader.unreadBytes;
  }
  if (total <= maxBytes) return [];
  const going: Each[] = [];
  for (const block of byBlock.values()) block.readers.sort((a, b) => a.unreadBytes - b.unreadBytes);
  while (total > maxBytes) {
    const fullest = [...byBlock.values()].reduce((most, block) => (block.bytes > most.bytes ? block : most));
    const reader = fullest.readers.pop()!;
    fullest.bytes -= reader.unreadBytes;
    total -= reader.unreadBytes;
    going.push(reader);
  }
  return going;
}
