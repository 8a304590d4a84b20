import { setTimeout as sleep } from 'node:timers/promises';
import { isPassing } from '../clickhouse/outage.ts';

/**
 * A store that crashed is back within seconds, and the locks of a worker that froze in a transaction are given back after
 * half a minute; whoever gave up at once would have used up every try of the job by then.
 */
const OUTAGE_PAUSES_MS = [200, 500, 1_000, 2_000, 4_000, 8_000, 15_000];

/** Tries again while a store is away, as long as the attempt counts. @throws what the last try threw */
export async function throughOutages<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (const pauseMs of OUTAGE_PAUSES_MS) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error)) throw error;
      await sleep(pauseMs, undefined, { signal });
    }
  }
  return work();
}
