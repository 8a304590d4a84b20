import type { Database } from '../../../platform/postgres/database.ts';
import { RESYNC, type PubSub } from '../../../platform/postgres/pub-sub.ts';
import type { Logger } from '../../../platform/telemetry/logs.ts';
import type { ShownCredential } from './admission.ts';

const TOPIC = 'auth.credential_ends';
const RETRY_MS = 500;
/** The longest that setTimeout can wait is 24.8 days; whoever waits longer asks again in between. */
const LONGEST_WAIT_MS = 86_400_000;

/** What the trigger says of a key or token. */
interface Announcement {
  readonly id: string;
  /** Revoked or removed; else its time has changed. */
  readonly isOver: boolean;
}

interface Watch {
  readonly credential: ShownCredential;
  readonly ended: () => void;
  timer: NodeJS.Timeout | undefined;
  isOver: boolean;
}

/** Of the credential and of its key: what ends either is told under its own. */
function idsOf({ id, keyId }: ShownCredential): ReadonlySet<string> {
  return new Set([id, keyId]);
}

/**
 * Tells doors with open streams that the credential behind one has ended. The database says so (a trigger, whatever
 * changes the row), or its time is over: by the database's clock, which is asked before anybody is cut off.
 */
export class CredentialEnds {
  readonly #database: Database;
  readonly #logger: Logger;
  readonly #watches = new Map<string, Set<Watch>>();

  constructor(database: Database, pubSub: PubSub, logger: Logger) {
    this.#database = database;
    this.#logger = logger;
    void this.#listen(pubSub);
  }

  /** Calls `ended` once; the returned function cancels the watch. */
  watch(credential: ShownCredential, ended: () => void): () => void {
    const watch: Watch = { credential, ended, timer: undefined, isOver: false };
    for (const id of idsOf(credential)) this.#watches.set(id, (this.#watches.get(id) ?? new Set()).add(watch));
    // It may have ended between its admission and this moment.
    void this.#check([watch]);
    return () => this.#forget(watch);
  }

  #forget(watch: Watch): void {
    watch.isOver = true;
    clearTimeout(watch.timer);
    for (const id of idsOf(watch.credential)) {
      const others = this.#watches.get(id);
      others?.delete(watch);
      if (others?.size === 0) this.#watches.delete(id);
    }
  }

  async #listen(pubSub: PubSub): Promise<void> {
    for await (const news of pubSub.subscribe<Announcement>(TOPIC)) {
      const affected = [
        ...(news === RESYNC
          ? new Set([...this.#watches.values()].flatMap((watches) => [...watches]))
          : (this.#watches.get(news.id) ?? [])),
      ];
      // What is over stays over: nothing is asked, so that a revocation does not queue behind a flood of requests.
      if (news !== RESYNC && news.isOver) for (const watch of affected) this.#end(watch);
      else void this.#check(affected);
    }
  }

  async #check(watches: readonly Watch[]): Promise<void> {
    if (watches.length === 0) return;
    try {
      const ids = [...new Set(watches.map(({ credential }) => credential.id))];
      const rows = await this.#database.ask<{ id: string; ends_in_ms: number | null }>({
        name: 'auth.credential_ends',
        text: 'select * from auth.credential_ends($1)',
        values: [ids],
      });
      const ends = new Map(rows.map((row) => [row.id, row.ends_in_ms]));
      for (const watch of watches) this.#settle(watch, ends.get(watch.credential.id) ?? null);
    } catch (error) {
      this.#logger.warn(
        { err: error, streams: watches.length },
        'could not ask whether credentials have ended and will ask again',
      );
      for (const watch of watches) this.#later(watch, RETRY_MS);
    }
  }

  #settle(watch: Watch, endsInMs: number | null): void {
    if (watch.isOver || endsInMs === null) return;
    if (endsInMs <= 0) this.#end(watch);
    else this.#later(watch, Math.min(endsInMs + 1, LONGEST_WAIT_MS));
  }

  #end(watch: Watch): void {
    this.#forget(watch);
    watch.ended();
  }

  #later(watch: Watch, waitMs: number): void {
    if (watch.isOver) return;
    clearTimeout(watch.timer);
    watch.timer = setTimeout(() => void this.#check([watch]), waitMs);
    watch.timer.unref();
  }
}
