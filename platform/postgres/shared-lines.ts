import type { PoolClient } from 'pg';

/** A line whose eldest question has waited for longer is held up, and whoever comes next takes another one. */
const HELD_UP_MS = 100;

export interface SharedLinesOptions {
  /** A connection from a pool, one that takes questions before earlier ones are answered. */
  readonly connect: () => Promise<PoolClient>;
  /** Most lines at a time. */
  readonly max: number;
  readonly nowMs: () => number;
}

/** A connection while questions are on their way over it. */
interface Line {
  readonly client: Promise<PoolClient>;
  /** When each question set out; they are answered in this order. */
  readonly sinceMs: number[];
  isDistrusted: boolean;
}

/**
 * Short questions of many callers over few connections: each is sent at once, behind those that are not answered yet,
 * and all that set out in one turn of the event loop travel together. That saves most of what a round trip costs both
 * sides, and whoever changes the same row (a counter of calls) meets nobody there. All go over one line for as long as
 * it flows.
 */
export class SharedLines {
  readonly #options: SharedLinesOptions;
  #lines: Line[] = [];

  constructor(options: SharedLinesOptions) {
    this.#options = options;
  }

  /** Questions that are not answered yet. */
  get pending(): number {
    return this.#lines.reduce((sum, { sinceMs }) => sum + sinceMs.length, 0);
  }

  /** Sends by `ask` over a line. What goes wrong costs the line, since nobody knows what is prepared on it. */
  async send<Answer>(ask: (client: PoolClient) => Promise<Answer>): Promise<Answer> {
    const nowMs = this.#options.nowMs();
    const line = this.#lineFor(nowMs);
    line.sinceMs.push(nowMs);
    try {
      return await ask(await line.client);
    } catch (error) {
      line.isDistrusted = true;
      throw error;
    } finally {
      line.sinceMs.shift();
      if (line.sinceMs.length === 0) this.#close(line);
    }
  }

  /** The network has failed somewhere: whatever comes next is sent over new connections. */
  distrustAll(): void {
    for (const line of this.#lines) line.isDistrusted = true;
  }

  #lineFor(nowMs: number): Line {
    const flowing = this.#lines.filter(({ isDistrusted }) => !isDistrusted);
    const free = flowing.find(({ sinceMs: [eldestMs = nowMs] }) => nowMs - eldestMs < HELD_UP_MS);
    if (free !== undefined) return free;
    if (flowing.length < this.#options.max) return this.#open();
    return flowing.reduce((one, other) => (other.sinceMs.length < one.sinceMs.length ? other : one));
  }

  #open(): Line {
    const line: Line = { client: this.#options.connect(), sinceMs: [], isDistrusted: false };
    this.#lines.push(line);
    return line;
  }

  /** Back to the pool, which knows what to do with idle connections. */
  #close(line: Line): void {
    this.#lines = this.#lines.filter((other) => other !== line);
    line.client.then(
      (client) => client.release(line.isDistrusted),
      () => undefined,
    );
  }
}
