import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { EngineProcess } from './engine-process.ts';
import { stopOrphanEngine } from './orphan-engine.ts';

export interface EmbeddedClickHouseOptions {
  /** The engine keeps everything under `clickhouse/` in here. The caller holds the directory exclusively. */
  readonly dataDir: string;
  readonly logger: Logger;
  /** A free one when absent. */
  readonly port?: number;
  /** What results that wait on disk for their readers leave free there; 0 when absent. */
  readonly reserveBytes?: number;
}

export interface EmbeddedClickHouse {
  /** Loopback address with the credentials of this run. */
  readonly url: string;
  /** Lets running statements finish (5 s at most), then ends the engine: 10 s at most in all. */
  stop(): Promise<void>;
}

const SESSIONS = 8;
/** Twice of what the largest analysis makes it take; its own limits refuse statements before that. */
const MOST_MEMORY_BYTES = 1_536 * 1024 ** 2;
const RESTART_MS = { first: 50, longest: 5_000, healthyAfter: 30_000 } as const;

/**
 * Starts the columnar engine (chDB) as a child process that speaks ClickHouse's HTTP interface, and keeps it up: if it
 * crashes it is started again on the same address, with growing pauses while it keeps crashing.
 * @throws Error when it does not come up the first time
 */
export async function startEmbeddedClickHouse(options: EmbeddedClickHouseOptions): Promise<EmbeddedClickHouse> {
  const folder = join(options.dataDir, 'clickhouse');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (await stopOrphanEngine(folder))
    options.logger.warn({ folder }, 'a columnar engine left over from a killed process was stopped');
  const supervisor = new Supervisor(folder, options);
  const startedMs = performance.now();
  const port = await supervisor.start(options.port ?? 0);
  options.logger.info({ folder, port, tookMs: Math.round(performance.now() - startedMs) }, 'embedded ClickHouse is up');
  return { url: `http://liftgraph:${supervisor.password}@127.0.0.1:${port}`, stop: () => supervisor.stop() };
}

class Supervisor {
  readonly password = randomBytes(24).toString('base64url');
  readonly #folder: string;
  readonly #logger: Logger;
  readonly #reserveBytes: number;
  readonly #stopped = new AbortController();
  #engine: EngineProcess | undefined;
  #watch: Promise<void> = Promise.resolve();

  constructor(folder: string, { logger, reserveBytes = 0 }: EmbeddedClickHouseOptions) {
    this.#reserveBytes = reserveBytes;
    this.#folder = folder;
    this.#logger = logger;
  }

  async start(port: number): Promise<number> {
    this.#engine = await this.#startEngine(port);
    const bound = this.#engine.port;
    this.#watch = this.#keepUp(bound);
    return bound;
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#engine?.stop();
    await this.#watch;
  }

  #startEngine(port: number): Promise<EngineProcess> {
    return EngineProcess.start(this.#folder, {
      password: this.password,
      port,
      sessions: SESSIONS,
      mostMemoryBytes: MOST_MEMORY_BYTES,
      reserveBytes: this.#reserveBytes,
    });
  }

  async #keepUp(port: number): Promise<void> {
    let pauseMs: number = RESTART_MS.first;
    while (this.#engine !== undefined) {
      const startedMs = performance.now();
      await this.#engine.exited;
      if (this.#stopped.signal.aborted) return;
      this.#logger.error({ output: this.#engine.output }, 'the columnar engine ended by itself, starting it again');
      if (performance.now() - startedMs > RESTART_MS.healthyAfter) pauseMs = RESTART_MS.first;
      pauseMs = await this.#restart(port, pauseMs);
    }
  }

  /** @returns the pause before the next attempt, should this one not last */
  async #restart(port: number, firstPauseMs: number): Promise<number> {
    let pauseMs = firstPauseMs;
    while (!this.#stopped.signal.aborted) {
      await sleep(pauseMs, undefined, { signal: this.#stopped.signal }).catch(() => undefined);
      pauseMs = Math.min(2 * pauseMs, RESTART_MS.longest);
      try {
        if (this.#stopped.signal.aborted) break;
        this.#engine = await this.#startEngine(port);
        // Stopped while it was starting: nobody else would end it.
        if (this.#stopped.signal.aborted) await this.#engine.stop();
        break;
      } catch (error) {
        this.#logger.error({ err: error }, 'the columnar engine did not start, trying again');
      }
    }
    return pauseMs;
  }
}
