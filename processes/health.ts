import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { ComputePool } from '../compute/pool.ts';
import type { ClickHouse } from '../platform/clickhouse/client.ts';
import { queueStanding } from '../platform/jobs/queue-standing.ts';
import type { Database } from '../platform/postgres/database.ts';
import type { HealthCheck, HealthReport } from '../rest-adapter/representations/health-report.ts';
import { ATTRIBUTION_RUNS } from '../subgraphs/attribution/analysis/attributions/attribution.ts';
import { askedRuns } from '../subgraphs/attribution/runs/run-queues.ts';
import type { DiskWatch } from './disk-watch.ts';

export interface HealthOptions {
  /** Resolves once every subgraph has answered. */
  readonly pingSubgraphs: () => Promise<void>;
  readonly backing: { readonly database: Database; readonly clickhouse: ClickHouse };
  /** Null in a process that computes nothing. */
  readonly pool: ComputePool | null;
  /** Absent where the stores are other people's servers. */
  readonly disk?: DiskWatch;
  readonly uptimeSeconds: () => number;
}

/** Of the interface, as its OpenAPI document says it. */
const VERSION = '1.0.0';

/** A queue this deep makes callers wait for seconds. */
const DEEP_QUEUE = 16;
/**
 * A job that waits so long while nobody works on any was not taken: workers look every two seconds, and are woken
 * before.
 */
const FORGOTTEN_S = 15;
/** A worker that is restarted, or lost its database, is connected again within this time. */
const UNSERVED_MS = 10_000;
/** An answer counts for so long, whoever asks how often. */
const KEPT_MS = 1_000;
/** Longest that whoever asks waits; the check goes on. */
const WAIT_MS = 2_000;
/** A session of the columnar store is not to be had, or the store hangs, when a statement of nothing takes longer. */
const STATEMENT_MS = 5_000;

/**
 * How everything is that a request needs: `down` when uploads or analyses would fail. Each check does what they do: a
 * statement in each of the stores, the queue, the subgraphs, the threads, the disk. Whoever asks gets an answer within
 * two seconds.
 */
export function healthOf({
  pingSubgraphs,
  backing,
  pool,
  disk,
  uptimeSeconds,
}: HealthOptions): () => Promise<HealthReport> {
  const { database, clickhouse } = backing;
  let servedMs = performance.now();
  const asked = {
    database: new KeptCheck(() => timed(() => database.ping())),
    columnar_store: new KeptCheck(() =>
      timed(async () => {
        const limits = { timeoutMs: STATEMENT_MS, signal: AbortSignal.timeout(STATEMENT_MS) };
        await clickhouse.rows('SELECT 1 AS one', z.object({ one: z.number() }), limits);
      }),
    ),
    queue: new KeptCheck(async () => {
      const { waiting, oldestWaitS, running, isServed } = await queueStanding(
        database,
        askedRuns(ATTRIBUTION_RUNS).name,
      );
      if (isServed) servedMs = performance.now();
      const isForsaken = performance.now() - servedMs > UNSERVED_MS || (running === 0 && oldestWaitS > FORGOTTEN_S);
      if (isForsaken) return { status: 'down', queueDepth: waiting, reason: 'No worker takes jobs.' };
      return { status: waiting > DEEP_QUEUE ? 'degraded' : 'ok', queueDepth: waiting };
    }),
    gateway: new KeptCheck(() => timed(pingSubgraphs)),
  };
  return async () => {
    const answers = Object.entries(asked).map(async ([name, check]) => [name, await check.read()] as const);
    const checks: Record<string, HealthCheck> = {
      ...Object.fromEntries(await Promise.all(answers)),
      ...(pool === null ? {} : { compute_pool: poolCheck(pool) }),
      ...(disk === undefined ? {} : { disk: disk.check() }),
    };
    const statuses = new Set(Object.values(checks).map((check) => check.status));
    const status = statuses.has('down') ? 'down' : statuses.has('degraded') ? 'degraded' : 'ok';
    return { status, version: VERSION, uptimeSeconds: uptimeSeconds(), checks };
  };
}

/** Asks once at a time and once a second at most, so that probes are no load, however many come. */
export class KeptCheck {
  readonly #ask: () => Promise<HealthCheck>;
  #kept: { readonly check: HealthCheck; readonly atMs: number } | undefined;
  #asking: { readonly sinceMs: number; readonly inTime: Promise<unknown> } | undefined;

  /** @param ask ends by itself; what it throws makes the check `down` */
  constructor(ask: () => Promise<HealthCheck>) {
    this.#ask = ask;
  }

  /** While a slow answer is outstanding, what was down stays down, and what was not is `degraded`. */
  async read(): Promise<HealthCheck> {
    if (this.#asking === undefined && (this.#kept === undefined || performance.now() - this.#kept.atMs >= KEPT_MS))
      this.#begin();
    await this.#asking?.inTime;
    if (this.#asking === undefined) return this.#kept!.check;
    if (this.#kept?.check.status === 'down') return this.#kept.check;
    return { status: 'degraded', latencyMs: Math.round(performance.now() - this.#asking.sinceMs) };
  }

  #begin(): void {
    const inTime = Promise.race([this.#answer(), sleep(WAIT_MS, undefined, { ref: false })]);
    this.#asking = { sinceMs: performance.now(), inTime };
  }

  async #answer(): Promise<void> {
    // The failure is the answer; whoever owns the connection has logged its cause.
    const check = await this.#ask().catch((): HealthCheck => ({ status: 'down' }));
    this.#kept = { check, atMs: performance.now() };
    this.#asking = undefined;
  }
}

async function timed(work: () => Promise<void>): Promise<HealthCheck> {
  const startedMs = performance.now();
  const latencyMs = () => Math.round((performance.now() - startedMs) * 10) / 10;
  const ended = (status: HealthCheck['status']) => (): HealthCheck => ({ status, latencyMs: latencyMs() });
  return work().then(ended('ok'), ended('down'));
}

/** A pool without threads takes tasks and never runs them. */
function poolCheck(pool: ComputePool): HealthCheck {
  const { threads, queued } = pool.stats();
  return { status: threads === 0 ? 'down' : queued > DEEP_QUEUE ? 'degraded' : 'ok', threads, queueDepth: queued };
}
