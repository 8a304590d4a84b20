import type { Principal } from '../../../schema/principal.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import type { Logger } from '../../../platform/telemetry/logs.ts';
import { LATENCY_BUCKETS, latencyBucket } from './latency-buckets.ts';

/** A call that was answered, for the account that the caller came from. */
export interface AnsweredCall {
  readonly principal: Pick<Principal, 'accountId' | 'environment' | 'workspace'>;
  /** As documented: `GET /attribution/{id}`, `POST /graphql`. */
  readonly endpoint: string;
  readonly failed: boolean;
  readonly elapsedMs: number;
}

interface Count {
  readonly account: string;
  readonly environment: string;
  readonly endpoint: string;
  calls: number;
  errors: number;
  readonly buckets: number[];
}

const EVERY_MS = 3_000;
/** Of accounts and endpoints together: beyond it the rest of these seconds goes uncounted rather than into memory. */
const MOST_HELD = 50_000;

/**
 * Counts calls by account, operation and day. A call costs no write of its own: a process counts in memory, and books
 * every few seconds in one statement. A process that is killed forgets what it has not booked.
 */
export class CallMeter {
  readonly #database: Database;
  readonly #logger: Logger;
  readonly #timer: NodeJS.Timeout;
  #counts = new Map<string, Count>();
  #booking: Promise<void> = Promise.resolve();

  constructor(database: Database, logger: Logger) {
    this.#database = database;
    this.#logger = logger;
    this.#timer = setInterval(() => void this.book(), EVERY_MS);
    this.#timer.unref();
  }

  count({ principal, endpoint, failed, elapsedMs }: AnsweredCall): void {
    const account = principal.workspace?.homeAccountId ?? principal.accountId;
    const { environment } = principal;
    this.#add({ account, environment, endpoint }, 1, Number(failed), (buckets) => {
      buckets[latencyBucket(elapsedMs)]! += 1;
    });
  }

  /** Writes down what was counted so far. What cannot be written is kept for the next time. */
  book(): Promise<void> {
    this.#booking = this.#booking.then(() => this.#bookNow());
    return this.#booking;
  }

  /** The last booking; nothing is counted afterwards. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.book();
  }

  async #bookNow(): Promise<void> {
    const counts = [...this.#counts.values()];
    if (counts.length === 0) return;
    this.#counts = new Map();
    try {
      await this.#database.perform({
        name: 'auth.book_endpoint_calls',
        text: 'select auth.book_endpoint_calls($1::jsonb)',
        values: [JSON.stringify(counts)],
      });
    } catch (error) {
      this.#logger.warn({ err: error }, 'calls could not be booked and will be tried again');
      for (const { calls, errors, buckets, ...of } of counts)
        this.#add(of, calls, errors, (held) => buckets.forEach((count, place) => (held[place]! += count)));
    }
  }

  #add(
    of: Pick<Count, 'account' | 'environment' | 'endpoint'>,
    calls: number,
    errors: number,
    time: (buckets: number[]) => void,
  ): void {
    const key = `${of.account} ${of.environment} ${of.endpoint}`;
    let count = this.#counts.get(key);
    if (count === undefined) {
      if (this.#counts.size >= MOST_HELD) return;
      count = { ...of, calls: 0, errors: 0, buckets: Array<number>(LATENCY_BUCKETS).fill(0) };
      this.#counts.set(key, count);
    }
    count.calls += calls;
    count.errors += errors;
    time(count.buckets);
  }
}
