import { setTimeout as sleep } from 'node:timers/promises';
import { isMemoryShort, isPassing } from '../clickhouse/outage.ts';

/**
 * A store that crashed is back within seconds, and the locks of a worker that froze in a transaction are given back
 * after half a minute; whoever gave up at once would have used up every try of the job by then.
 */
const OUTAGE_PAUSES_MS = [200, 500, 1_000, 2_000, 4_000, 8_000, 15_000];
/**
 * Memory that others take comes back as soon as they are done. Each try of what takes it all itself costs everybody.
 */
const SHORTAGE_PAUSES_MS = [1_000, 4_000];

/**
 * Tries again while a store is away, as long as the attempt counts.
 * @param pause waits between two tries; in place unless given
 * @throws what the last try threw
 */
export async function throughOutages<T>(
  signal: AbortSignal,
  work: () => Promise<T>,
  pause: (ms: number) => Promise<void> = async (ms) => sleep(ms, undefined, { signal }),
): Promise<T> {
  const [outages, shortages] = [OUTAGE_PAUSES_MS.values(), SHORTAGE_PAUSES_MS.values()];
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error)) throw error;
      const { value: pauseMs } = (isMemoryShort(error) ? shortages : outages).next();
      if (pauseMs === undefined) throw error;
      await pause(pauseMs);
    }
  }
}
