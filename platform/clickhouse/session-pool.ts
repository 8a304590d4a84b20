import { Session } from 'chdb';
import { CrowdedTurnsError, FairTurns } from '../fair-turns.ts';
import { EngineError, literal, type StatementRequest } from './http-request.ts';

const MAX_WAITING = 256;
/** For statements of no tenant: migrations, the sandbox, deletes. */
const HOUSE_SESSIONS = 2;
const STALLED_MS = 15_000;

/** A connection to the engine in this process, and what the statement before it left set. */
class PooledSession {
  readonly session: Session;
  #changed: readonly string[] = [];

  constructor(path: string, connectionArgs: readonly string[]) {
    this.session = new Session(path, { connectionArgs });
  }

  /**
   * `SET` statement that puts the session into the state the request asks for: earlier settings back, its own in place.
   */
  setup(database: string | undefined, tag: string, request: StatementRequest): string {
    const reset = this.#changed.map((name) => `${name} = DEFAULT`);
    this.#changed = ['log_comment', ...request.settings.keys()];
    const own = [...request.settings].map(([name, value]) => `${name} = ${literal(value)}`);
    const params = [...request.params].map(([name, value]) => `param_${name} = ${literal(value)}`);
    const use = `USE \`${database ?? 'default'}\`; `;
    const back = reset.length === 0 ? '' : `SET ${reset.join(', ')}; `;
    return `${use}${back}SET ${[`log_comment = ${literal(tag)}`, ...own, ...params].join(', ')}; `;
  }
}

/**
 * Several sessions on one data directory, so that statements run beside each other: handed out fairly among tenants,
 * half of them to one at most, with a few apart for statements of no tenant. The engine's own bound-parameter call is
 * serialised over the whole process; parameters go as `SET param_x` ahead of the statement instead.
 */
export class SessionPool {
  readonly #path: string;
  readonly #connectionArgs: readonly string[];
  readonly #sessions: number;
  readonly #free: PooledSession[] = [];
  readonly #tenants: FairTurns;
  readonly #house = new FairTurns({ places: HOUSE_SESSIONS, perTenant: HOUSE_SESSIONS, waitingPerTenant: MAX_WAITING });

  /** Sessions that tenants have, and when the last of them was given back. */
  #taken = 0;
  #givenBackMs = performance.now();

  /** @param sessions for statements of tenants */
  constructor(path: string, connectionArgs: readonly string[], sessions: number) {
    this.#path = path;
    this.#connectionArgs = connectionArgs;
    this.#sessions = sessions;
    this.#tenants = new FairTurns({
      places: sessions,
      perTenant: Math.ceil(sessions / 2),
      waitingPerTenant: MAX_WAITING,
    });
    this.#free.push(this.#open());
  }

  /**
   * @param tenant whose turn it is; empty for a statement of no tenant
   * @throws EngineError 202 when too many of the tenant's wait; the signal's reason when it aborts before the turn
   */
  async with<T>(tenant: string, signal: AbortSignal, work: (session: PooledSession) => Promise<T>): Promise<T> {
    const release = await this.#turn(tenant, signal);
    const counted = tenant === '' ? 0 : 1;
    this.#taken += counted;
    try {
      const session = this.#free.pop() ?? this.#open();
      try {
        const result = await work(session);
        this.#free.push(session);
        return result;
      } catch (error) {
        // A failed statement may have left any part of its settings behind; a new session costs a millisecond. One
        // whose statement still runs is closed when that ends.
        session.session.close();
        throw error;
      }
    } finally {
      this.#taken -= counted;
      if (counted > 0) this.#givenBackMs = performance.now();
      release();
    }
  }

  /** Whether tenants have all sessions, others wait, and none was given back for long. */
  get isStalled(): boolean {
    return (
      this.#taken === this.#sessions && this.#tenants.waiting > 0 && performance.now() - this.#givenBackMs > STALLED_MS
    );
  }

  async #turn(tenant: string, signal: AbortSignal): ReturnType<FairTurns['take']> {
    try {
      return await (tenant === '' ? this.#house : this.#tenants).take(tenant, signal);
    } catch (error) {
      throw error instanceof CrowdedTurnsError
        ? new EngineError(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', error.message)
        : error;
    }
  }

  #open(): PooledSession {
    return new PooledSession(this.#path, this.#connectionArgs);
  }
}

export type { PooledSession };
