/** How slowly a reader may take what is written for him. */
export interface Pace {
  readonly bytesPerS: number;
  /** For how long he may be slower. */
  readonly patienceMs: number;
  /** When his reading ends in any case. */
  readonly longestMs: number;
}

/**
 * What waits for a reader holds a file, a connection and a place among the exports of its account. 32 KiB a second is
 * less than a line of the third generation carries, and a minute is longer than a train is in a tunnel. The largest
 * export would hold its room for eighteen hours at that pace; within one it takes 600 KB a second.
 */
export const SLOWEST_READER: Pace = { bytesPerS: 32 * 1024, patienceMs: 60_000, longestMs: 3_600_000 };

/**
 * Chunks on their way out, for as long as they are taken at a pace. What the source takes for a chunk is not the
 * reader's time, and what a quick reader gained lasts for one pause.
 * @param cut hears that the reader is too slow, and has to end the reading
 */
export async function* atReadersPace(
  chunks: AsyncIterable<Uint8Array>,
  cut: () => void,
  { bytesPerS, patienceMs, longestMs }: Pace = SLOWEST_READER,
): AsyncGenerator<Uint8Array> {
  let leftMs = patienceMs;
  const end = setTimeout(cut, longestMs).unref();
  try {
    for await (const chunk of chunks) {
      const givenMs = performance.now();
      const timer = setTimeout(cut, leftMs).unref();
      try {
        yield chunk;
      } finally {
        clearTimeout(timer);
      }
      const earnedMs = (1_000 * chunk.length) / bytesPerS;
      leftMs = Math.min(patienceMs, leftMs + earnedMs - (performance.now() - givenMs));
    }
  } finally {
    clearTimeout(end);
  }
}
