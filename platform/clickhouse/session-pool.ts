import { Session } from 'chdb';
import { EngineError, literal, type StatementRequest } from './http-request.ts';

const MAX_WAITING = 256;

/** A connection to the engine in this process, and what the statement before it left set. */
class PooledSession {
  readonly session: Session;
  #changed: readonly string[] = [];

  constructor(path: string, connectionArgs: readonly string[]) {
    this.session = new Session(path, { connectionArgs });
  }

  /** `SET` statement that puts the session into the state the request asks for: earlier settings back, its own in place. */
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
 * Several sessions on one data directory, so that statements run beside each other. The engine's own bound-parameter call
 * is serialised over the whole process; parameters go as `SET param_x` ahead of the statement instead.
 */
export class SessionPool {
  readonly #path: string;
  readonly #connectionArgs: readonly string[];
  readonly #size: number;
  readonly #all = new Set<PooledSession>();
  readonly #free: PooledSession[] = [];
  readonly #waiting: ((session: PooledSession) => void)[] = [];

  constructor(path: string, connectionArgs: readonly string[], size: number) {
    this.#path = path;
    this.#connectionArgs = connectionArgs;
    this.#size = size;
    this.#free.push(this.#open());
  }

  async with<T>(work: (session: PooledSession) => Promise<T>): Promise<T> {
    const session = await this.#take();
    try {
      const result = await work(session);
      this.#giveBack(session);
      return result;
    } catch (error) {
      // A failed statement may have left any part of its settings behind; a new session costs a millisecond.
      this.#discard(session);
      throw error;
    }
  }

  close(): void {
    for (const { session } of this.#all) session.close();
  }

  #giveBack(session: PooledSession): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(session);
    else next(session);
  }

  #discard(session: PooledSession): void {
    this.#all.delete(session);
    session.session.close();
    this.#waiting.shift()?.(this.#open());
  }

  #open(): PooledSession {
    const session = new PooledSession(this.#path, this.#connectionArgs);
    this.#all.add(session);
    return session;
  }

  #take(): Promise<PooledSession> | PooledSession {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#all.size < this.#size) return this.#open();
    if (this.#waiting.length >= MAX_WAITING) throw new EngineError(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', 'Too many simultaneous queries');
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

export type { PooledSession };
