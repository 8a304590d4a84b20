import { setTimeout as sleep } from 'node:timers/promises';
import { recentDays, shopRows } from '../../test/faults/shop-rows.ts';
import { memberOf, send, sendJson, type TimedAnswer } from './timed-request.ts';

const READS_PER_SECOND = 20;
const TICK_MS = 5;
/** Longer than this nobody waits; it counts as how long it took. */
const [READ_TIMEOUT_MS, WORK_TIMEOUT_MS] = [15_000, 120_000];
const PAUSE_MS = 500;
/** 20,000 touches. */
const SHOP = shopRows({ users: 4_000, channels: 6, touches: 5, seed: 61 });

/** What a tenant noticed in a while. */
export interface Noticed {
  readonly readsMs: number[];
  readonly uploadsMs: number[];
  readonly analysesMs: number[];
  /** How many answers had each status; 0 is none. */
  readonly statuses: Map<number, number>;
  /** The first few that were no success. */
  readonly refusals: string[];
}

/** A tenant who reads at an even rate, uploads a small shop and analyses it, each over a connection of its own. */
export class Neighbour {
  readonly #root: string;
  readonly #key: string;
  readonly #source: string;
  #result = '';

  private constructor(root: string, key: string, source: string) {
    this.#root = root;
    this.#key = key;
    this.#source = source;
  }

  static async register(root: string): Promise<Neighbour> {
    const registered = await sendJson(
      { root, path: '/v1/agents/register', timeoutMs: READ_TIMEOUT_MS },
      { name: 'neighbour', operator_id: crypto.randomUUID() },
    );
    const key = memberOf(registered, 'api_key');
    const connected = await sendJson(
      { root, key, path: '/v1/data-sources/connect', timeoutMs: READ_TIMEOUT_MS },
      { type: 'csv_upload', credentials: {} },
    );
    return new Neighbour(root, key, memberOf(connected, 'data_source_id'));
  }

  /** Makes the result that is read afterwards. */
  async prepare(): Promise<void> {
    const uploaded = await this.#upload();
    if (uploaded.status !== 202)
      throw new Error(`the first upload was answered with ${uploaded.status}: ${uploaded.text}`);
    this.#result = memberOf(await this.#analyse(), 'id');
  }

  /** Goes about its work for as long as it is let, and at least until one upload and one analysis are over. */
  async live(isOver: () => boolean): Promise<Noticed> {
    const noticed: Noticed = { readsMs: [], uploadsMs: [], analysesMs: [], statuses: new Map(), refusals: [] };
    await Promise.all([this.#reads(noticed, isOver), this.#work(noticed, isOver)]);
    return noticed;
  }

  async #reads(noticed: Noticed, isOver: () => boolean): Promise<void> {
    const paths = ['/v1/agents/me', '/v1/data-sources?per_page=5', `/v1/attribution/${this.#result}`];
    const startMs = performance.now();
    const underWay = new Set<Promise<void>>();
    for (let sent = 0; !isOver(); await sleep(TICK_MS)) {
      // Sent when it is due, whatever became of those before it, and its wait counts from then on.
      for (; sent < ((performance.now() - startMs) / 1_000) * READS_PER_SECOND; sent += 1) {
        const dueMs = startMs + (sent / READS_PER_SECOND) * 1_000;
        const reading = this.#read(noticed, paths[sent % paths.length]!, dueMs).finally(() => underWay.delete(reading));
        underWay.add(reading);
      }
    }
    await Promise.all(underWay);
  }

  async #read(noticed: Noticed, path: string, dueMs: number): Promise<void> {
    const { status, text, tookMs } = await this.#get(path);
    noticed.readsMs.push(performance.now() - dueMs);
    note(noticed, 'read', { status, text, tookMs }, 200);
  }

  async #work(noticed: Noticed, isOver: () => boolean): Promise<void> {
    do {
      const uploaded = await this.#upload();
      note(noticed, 'upload', uploaded, 202);
      noticed.uploadsMs.push(uploaded.tookMs);
      const analysed = await this.#analyse();
      note(noticed, 'analysis', analysed, 200);
      if (analysed.status === 200 && !analysed.text.includes('"status":"completed"'))
        noticed.refusals.push(`analysis: not completed, ${analysed.text.slice(0, 200)}`);
      noticed.analysesMs.push(analysed.tookMs);
      await sleep(PAUSE_MS);
    } while (!isOver());
  }

  #get(path: string): Promise<TimedAnswer> {
    return send({ root: this.#root, method: 'GET', path, key: this.#key, timeoutMs: READ_TIMEOUT_MS });
  }

  #upload(): Promise<TimedAnswer> {
    const path = `/v1/data-sources/${this.#source}/records`;
    return send({
      root: this.#root,
      method: 'POST',
      path,
      key: this.#key,
      headers: { 'content-type': 'text/csv' },
      body: SHOP.csv,
      timeoutMs: WORK_TIMEOUT_MS,
    });
  }

  #analyse(): Promise<TimedAnswer> {
    const body = { data_source_id: this.#source, date_range: recentDays() };
    return sendJson(
      {
        root: this.#root,
        path: '/v1/attribution',
        key: this.#key,
        headers: { prefer: 'wait=60' },
        timeoutMs: WORK_TIMEOUT_MS,
      },
      body,
    );
  }
}

const MOST_REFUSALS = 5;

function note({ statuses, refusals }: Noticed, what: string, { status, text }: TimedAnswer, expected: number): void {
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
  if (status !== expected && refusals.length < MOST_REFUSALS) refusals.push(`${what}: ${status} ${text.slice(0, 200)}`);
}
