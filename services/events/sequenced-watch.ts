import { setTimeout as sleep } from 'node:timers/promises';
import { ProblemError } from '../../schema/problems.ts';
import { BriefTurns } from '../../platform/brief-turns.ts';
import { FairTurns } from '../../platform/fair-turns.ts';
import { RESYNC, type Resync } from '../../platform/postgres/pub-sub.ts';

/**
 * Whether a watcher may go on behind a place.
 * @throws ProblemError `validation_error`, `out_of_range`, for a place before the beginning
 */
export function assertPlace(after: number | null | undefined): void {
  if (after == null || after >= 0) return;
  throw new ProblemError('validation_error', 'after: must not be negative', { code: 'too_small', param: '/after' });
}

/** Numbered items that watchers are told of as they come, and that can be read again. */
export interface WatchedSequence<Item> {
  /** UUID of the account in whose turns it is read and told. */
  readonly tenant: string;
  /** Subscribed to before anything is read, so that nothing falls between the history and the future. */
  readonly news: AsyncIterableIterator<Item | Resync>;
  readonly placeOf: (item: Item) => number;
  /**
   * The items behind a place, in their order (earlier ones are passed over); null when nothing will follow any more.
   */
  readonly read: (after: number) => Promise<readonly Item[] | null>;
  /** The most that one reading gives; more may be left behind as many. Without it a reading gives all. */
  readonly pageSize?: number;
  /** Whether the watcher wants to see an item. */
  readonly accepts?: (item: Item) => boolean;
  /** Nothing follows this item. */
  readonly isLast?: (item: Item) => boolean;
}

/**
 * Whoever replays a history a hundred times at once would hold the database's connections, and then the thread. What is
 * read waits here rather than for a connection, which is given up when it does not come soon.
 */
const READINGS = new FairTurns({ places: 4, perTenant: 1 });
/** What becomes of an item once it is told, up to the bytes for a client, waits for nothing in most cases. */
const TELLINGS = new BriefTurns();
const OUTAGE_PAUSE_MS = 500;
const DONE = { done: true, value: undefined } as const;

/**
 * The items behind a place, and then those that come, each once and in order. News carry the items themselves; a gap,
 * news that were missed or a lost connection are mended by reading. Written by hand: `return()` on an async generator
 * would wait behind its pending `next()`.
 */
export class SequencedWatch<Item> implements AsyncIterableIterator<Item> {
  readonly #sequence: WatchedSequence<Item>;
  /** Null: what is there has to be read. */
  #pending: Item[] | null = null;
  #mayHoldMore = false;
  #last: number;
  #ended = false;

  /** @param after place of the last item that was seen */
  constructor(sequence: WatchedSequence<Item>, after: number) {
    this.#sequence = sequence;
    this.#last = after;
  }

  async next(): Promise<IteratorResult<Item, undefined>> {
    const { tenant, news, placeOf, accepts, isLast } = this.#sequence;
    while (!this.#ended) {
      this.#pending ??= await this.#missed();
      const item = this.#pending.shift();
      if (item === undefined && this.#mayHoldMore) {
        this.#pending = null;
      } else if (item === undefined) {
        const { done, value } = await news.next();
        if (done === true) break;
        this.#pending = value === RESYNC || placeOf(value) > this.#last + 1 ? null : [value];
      } else if (placeOf(item) > this.#last) {
        this.#last = placeOf(item);
        if (accepts?.(item) === false) continue;
        await TELLINGS.take(tenant);
        if (this.#ended) break;
        if (isLast?.(item) === true) await this.return();
        return { done: false, value: item };
      }
    }
    return DONE;
  }

  /** While the database is away, asking again is all that the watcher could do as well. */
  async #missed(): Promise<Item[]> {
    const { pageSize } = this.#sequence;
    while (!this.#ended) {
      try {
        const items = await this.#readInTurn();
        this.#mayHoldMore = items?.length === pageSize;
        if (items !== null) return [...items];
        await this.return();
      } catch (error) {
        if (!(error instanceof ProblemError) || error.type !== 'service_unavailable') throw error;
        await sleep(OUTAGE_PAUSE_MS, undefined, { ref: false });
      }
    }
    this.#mayHoldMore = false;
    return [];
  }

  async #readInTurn(): Promise<readonly Item[] | null> {
    const { tenant, read } = this.#sequence;
    const release = await READINGS.take(tenant);
    try {
      return this.#ended ? null : await read(this.#last);
    } finally {
      release();
    }
  }

  async return(): Promise<IteratorResult<Item, undefined>> {
    this.#ended = true;
    await this.#sequence.news.return?.();
    return DONE;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

/** A first item, and then those of a watch. */
export function beginningWith<Item>(first: Item, watch: AsyncIterableIterator<Item>): AsyncIterableIterator<Item> {
  let hasBegun = false;
  return {
    next() {
      if (hasBegun) return watch.next();
      hasBegun = true;
      return Promise.resolve({ done: false, value: first });
    },
    async return() {
      hasBegun = true;
      await watch.return?.();
      return DONE;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
