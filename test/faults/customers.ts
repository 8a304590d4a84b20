import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom, type Random } from '../../compute/numerics/random.ts';
import { Caller, type Answer } from '../house.ts';
import type { AcknowledgedSource, AcknowledgedTenant, Ledger } from './ledger.ts';
import { recentDays, shopRows } from './shop-rows.ts';

const PAUSE_MS = 50;
const FILES = 2;
const ANALYSES = 2;

/**
 * Customers who register, connect, upload and analyse, over and over, whatever happens to the service. What was answered
 * with a success goes into the ledger; what was not answered is asked again: it may have happened or not.
 */
export class Customers {
  readonly ledger: Ledger = [];
  readonly #root: string;
  readonly #random: Random;
  #acknowledged = 0;
  #closing = false;
  #waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  #files = 0;

  constructor(root: string, seed: number) {
    this.#root = root;
    this.#random = seededRandom(seed);
  }

  callerOf = (key: string): Caller => new Caller(this.#root, key);

  /** Lets this many act at once; resolves when each has finished its shop after {@link close}. */
  async act(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, async () => {
      while (!this.#closing) await this.#keepShop();
    }));
  }

  /** No new shops from now on. */
  close(): void {
    this.#closing = true;
  }

  /** Resolves after this many more acknowledgements. */
  async acknowledged(more: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ count: this.#acknowledged + more, resolve });
    await promise;
  }

  async #keepShop(): Promise<void> {
    // Another operator at each try: an answer that was lost may have been that of a registration.
    const { body: agent } = await this.#insist(201, () => new Caller(this.#root, null).post('/agents/register', { name: 'fault-customer', operator_id: crypto.randomUUID() }));
    const tenant: AcknowledgedTenant = { key: String(agent['api_key']), sources: [] };
    this.ledger.push(tenant);
    const caller = this.callerOf(tenant.key);

    const { body: connected } = await this.#insist(201, () => caller.post('/data-sources/connect', { type: 'csv_upload', credentials: {} }));
    const source: AcknowledgedSource = { id: String(connected['data_source_id']), touchpoints: 0, conversions: 0, analyses: [] };
    tenant.sources.push(source);

    for (let file = 0; file < FILES; file += 1) {
      const rows = shopRows({ users: 100 + Math.floor(900 * this.#random()), channels: 12, touches: 6, seed: (this.#files += 1) });
      await this.#insist(202, () => caller.send('POST', `/data-sources/${source.id}/records`, rows.csv, { 'content-type': 'text/csv' }));
      source.touchpoints += rows.touchpoints;
      source.conversions += rows.conversions;
    }
    for (let run = 0; run < ANALYSES; run += 1) {
      const { body } = await this.#insist(200, () => caller.post('/attribution', { data_source_id: source.id, date_range: recentDays() }, { prefer: 'respond-async' }));
      source.analyses.push(String(body['id']));
    }
  }

  /** Asks until the answer is this one. @throws Error for an answer that a fault does not excuse */
  async #insist(wanted: number, ask: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
      const answer = await ask().catch(noAnswer);
      if (answer?.status === wanted) {
        this.#count();
        return answer;
      }
      if (answer !== undefined && answer.status !== 503) throw new Error(`answered with ${answer.status}: ${JSON.stringify(answer.body)}`);
      await sleep(PAUSE_MS);
    }
  }

  #count(): void {
    this.#acknowledged += 1;
    for (const { resolve } of this.#waiting.filter(({ count }) => count <= this.#acknowledged)) resolve();
    this.#waiting = this.#waiting.filter(({ count }) => count > this.#acknowledged);
  }
}

/** The connection was refused, or broke before or within the answer: all that fetch throws is a TypeError of Node's own realm. */
function noAnswer(error: unknown): undefined {
  if ((error as { name?: unknown }).name === 'TypeError') return undefined;
  throw error;
}
