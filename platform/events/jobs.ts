import { setTimeout as sleep } from 'node:timers/promises';
import { PgBoss, fromKysely, type ConstructorOptions, type Job as BossJob, type JobWithMetadata } from 'pg-boss';
import { Registry } from 'prom-client';
import type { z } from 'zod';
import type { SqlEntityManager } from '../postgres/database.ts';
import { ProblemError } from '../../schema/problems.ts';
import { outageAsProblem } from '../postgres/outage.ts';
import type { Logger } from '../telemetry/logs.ts';
import { JobMetrics } from './job-metrics.ts';
import { JOBS_SCHEMA as SCHEMA } from './jobs-migrations.ts';

/** A kind of work and the shape of its data; `name` is `owner.verb`, e.g. `attribution.run`. */
export interface JobQueue<T> {
  readonly name: string;
  readonly data: z.ZodType<T>;
  /** How many jobs of one group may run, and wait besides, at a time; groups are not limited when absent. */
  readonly perGroup?: { readonly running: number; readonly waiting: number };
}

export interface EnqueueOptions {
  /** Attempts after the first one; 2. */
  readonly retryLimit?: number;
  /** An attempt may run this long; 900 s. */
  readonly expireInS?: number;
  /** Not before this time; now when absent. */
  readonly startAfter?: Date;
  /** Not before so many seconds, by the database's clock. */
  readonly startAfterS?: number;
  /** While a job with this key waits to be started, further ones are dropped. */
  readonly singletonKey?: string;
  /** Whose job it is, for the limits of its queue. */
  readonly group?: string;
}

export interface Job<T> {
  readonly id: string;
  readonly data: T;
  /** 1 for the first attempt. Fence writes with it: a worker thought dead may still be running an earlier one. */
  readonly attempt: number;
  /** Aborts when the attempt ran out of time or was taken over, or the process stops: its result counts no more. */
  readonly signal: AbortSignal;
}

export interface WorkOptions<T> {
  /** Jobs of this queue at a time, in this process; 1. */
  readonly concurrency?: number;
  /** Runs, once per job and at least once, after the last attempt failed; itself retried when it throws. */
  readonly onExhausted?: (data: T, error: Error) => Promise<void>;
}

/** Work that outlives the request and the process that asked for it. Every job runs at least once. */
export interface Jobs {
  /**
   * Part of the caller's transaction: no commit, no job. Workers are woken by the commit.
   * @returns the job's id; undefined when one with the same `singletonKey` is waiting already
   * @throws ProblemError `rate_limit_exceeded` / `concurrency` when as many jobs of its group run and wait as may
   */
  enqueue<T>(em: SqlEntityManager, queue: JobQueue<T>, data: T, options?: EnqueueOptions): Promise<string | undefined>;
  /** Part of the caller's transaction: whatever waits under this `singletonKey` is not begun any more. What runs goes on. */
  withdraw(em: SqlEntityManager, queue: JobQueue<unknown>, singletonKey: string): Promise<void>;
  /** Starts handling jobs of the queue; a handler that throws is tried again. */
  work<T>(queue: JobQueue<T>, options: WorkOptions<T>, handler: (job: Job<T>) => Promise<void>): Promise<void>;
  /** Takes no more jobs, waits for the running ones, and gives up those still running at the deadline. */
  stop(timeoutMs?: number): Promise<void>;
}

export interface JobsOptions {
  /** Of the application role. */
  readonly url: string;
  readonly logger: Logger;
  /** A job whose worker fell silent is taken over within this time. Below 5 s it may take 2 s longer. */
  readonly leaseS: number;
  /** Where runs are counted. */
  readonly registry?: Registry;
  /** Whether this process takes jobs, or lets others know of them only; it says so in the name of its connections. */
  readonly takesJobs?: boolean;
  /** Longest wait for a connection; 1,500 ms. */
  readonly connectTimeoutMs?: number;
}

/** Name of the connections of a process that takes jobs. */
export const TAKING_JOBS = 'liftgraph-worker';
const RETRY_LIMIT = 2;
const EXPIRE_IN_S = 900;
const POLL_S = 2;
const MIN_POLL_S = 0.5;
const POOL_MAX = 4;
const QUERY_TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 1_500;
const STOP_TIMEOUT_MS = 15_000;
const TURN_POLL_MS = 100;
const KEEP_FINISHED_S = 7 * 86_400;

/** The lease in parts: silence is noticed after half of it, by a check every tenth; three heartbeats fit into the silence. */
function leaseParts(leaseS: number) {
  const silenceS = Math.max(1, Math.floor(leaseS / 2));
  return { silenceS, heartbeatS: silenceS / 3, checkS: Math.max(1, Math.floor(leaseS / 10)), pollS: Math.min(POLL_S, Math.max(MIN_POLL_S, leaseS / 10)) };
}

/** @throws ProblemError `service_unavailable` when the database cannot be reached */
export async function createJobs(options: JobsOptions): Promise<Jobs> {
  const { checkS } = leaseParts(options.leaseS);
  const connection: ConstructorOptions & { query_timeout: number; keepAlive: boolean } = {
    connectionString: options.url,
    application_name: options.takesJobs === false ? 'liftgraph-jobs' : TAKING_JOBS,
    max: POOL_MAX,
    connectionTimeoutMillis: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    schema: SCHEMA,
    migrate: false,
    createSchema: false,
    schedule: false,
    // Needs the owner's rights; autovacuum is enough at our sizes.
    reindex: false,
    useListenNotify: true,
    notifyHeartbeatIntervalMs: 5_000,
    notifyHeartbeatTimeoutMs: 2_000,
    superviseIntervalSeconds: checkS,
    monitorIntervalSeconds: checkS,
  };
  const boss = new PgBoss(connection);
  boss.on('error', (error) => options.logger.warn({ err: error }, 'the job queue met an error and goes on'));
  boss.on('warning', (warning) => options.logger.warn({ warning }, 'the job queue warns'));
  try {
    await boss.start();
  } catch (error) {
    await boss.stop({ graceful: false });
    throw outageAsProblem(error);
  }
  return new BossJobs(boss, options);
}

class BossJobs implements Jobs {
  readonly #boss: PgBoss;
  readonly #logger: Logger;
  readonly #lease: ReturnType<typeof leaseParts>;
  readonly #metrics: JobMetrics;
  readonly #queues = new Map<string, Promise<void>>();

  constructor(boss: PgBoss, options: JobsOptions) {
    this.#boss = boss;
    this.#logger = options.logger;
    this.#lease = leaseParts(options.leaseS);
    this.#metrics = new JobMetrics(options.registry ?? new Registry());
  }

  async enqueue<T>(em: SqlEntityManager, queue: JobQueue<T>, data: T, options: EnqueueOptions = {}): Promise<string | undefined> {
    const transaction = em.getTransactionContext<Parameters<typeof fromKysely>[0]>();
    if (transaction === undefined) throw new TypeError('a job is enqueued inside a transaction');
    await this.#ensureQueue(queue.name);
    if (options.group !== undefined) await refuseCrowd(em, queue, options.group);
    const id = crypto.randomUUID();
    const job = {
      id,
      data: queue.data.parse(data) as object,
      retryLimit: options.retryLimit ?? RETRY_LIMIT,
      expireInSeconds: options.expireInS ?? EXPIRE_IN_S,
      heartbeatSeconds: this.#lease.silenceS,
      // The queue's policy allows one waiting job per key.
      singletonKey: options.singletonKey ?? id,
      ...(options.startAfter === undefined ? {} : { startAfter: options.startAfter }),
      ...(options.startAfterS === undefined ? {} : { startAfter: `${options.startAfterS} seconds` }),
      ...(options.group === undefined ? {} : { group: { id: options.group } }),
    };
    const inserted = await this.#boss.insert(queue.name, [job], { db: fromKysely(transaction), returnId: true });
    return inserted?.[0];
  }

  async withdraw(em: SqlEntityManager, queue: JobQueue<unknown>, singletonKey: string): Promise<void> {
    await em.execute(`delete from ${SCHEMA}.job where name = ? and singleton_key = ? and state in ('created', 'retry')`, [queue.name, singletonKey]);
  }

  async work<T>(queue: JobQueue<T>, options: WorkOptions<T>, handler: (job: Job<T>) => Promise<void>): Promise<void> {
    await this.#ensureQueue(queue.name);
    for (let worker = 0; worker < (options.concurrency ?? 1); worker += 1) {
      await this.#startWorker<BossJob>(queue.name, queue.perGroup === undefined ? {} : { groupConcurrency: queue.perGroup.running }, async (job) => {
        if (queue.perGroup !== undefined) await this.#awaitTurn(queue.name, job, queue.perGroup.running);
        await handler({ id: job.id, data: queue.data.parse(job.data), attempt: job.retryCount + 1, signal: job.signal });
      });
    }
    const { onExhausted } = options;
    if (onExhausted === undefined) return;
    await this.#startWorker<JobWithMetadata>(exhaustedQueue(queue.name), { includeMetadata: true }, (job) =>
      onExhausted(queue.data.parse(job.data), failureOf(job.sourceOutput)),
    );
  }

  /** Seldom waits: only where more jobs of a group were fetched at once than may run. */
  async #awaitTurn(queueName: string, job: BossJob, most: number): Promise<void> {
    for (;;) {
      const { rows } = await this.#boss.getDb().executeSql(`select ${SCHEMA}.take_turn($1, $2, $3) as taken`, [queueName, job.id, most]);
      if ((rows as readonly { readonly taken: boolean }[])[0]!.taken) return;
      await sleep(TURN_POLL_MS, undefined, { signal: job.signal });
    }
  }

  async #startWorker<J extends BossJob>(queueName: string, options: { includeMetadata?: boolean; groupConcurrency?: number }, run: (job: J) => Promise<void>): Promise<void> {
    const { pollS, heartbeatS } = this.#lease;
    const workOptions = { ...options, pollingIntervalSeconds: pollS, notifyPollingIntervalSeconds: pollS, heartbeatRefreshSeconds: heartbeatS };
    const workerId: string = await this.#boss.work(queueName, workOptions, async (jobs: BossJob[]) => {
      // Look again right after this job: more may be waiting, or this one for its next attempt.
      this.#boss.notifyWorker(workerId);
      const job = jobs[0] as J;
      try {
        await this.#metrics.counted(queueName, () => run(job));
      } catch (error) {
        this.#logger.warn({ err: error, queue: queueName, jobId: job.id, attempt: job.retryCount + 1 }, 'a job failed');
        throw error;
      }
    });
  }

  async stop(timeoutMs: number = STOP_TIMEOUT_MS): Promise<void> {
    await this.#boss.stop({ graceful: true, timeout: timeoutMs });
  }

  /** Queues are rows: made by whoever needs one first. */
  async #ensureQueue(name: string): Promise<void> {
    const pending = this.#queues.get(name) ?? this.#createQueue(name);
    this.#queues.set(name, pending);
    try {
      await pending;
    } catch (error) {
      this.#queues.delete(name);
      throw outageAsProblem(error);
    }
  }

  async #createQueue(name: string): Promise<void> {
    const exhausted = exhaustedQueue(name);
    const retention = { deleteAfterSeconds: KEEP_FINISHED_S };
    await this.#boss.createQueue(exhausted, { ...retention, retryLimit: 20, retryDelay: 5, retryBackoff: true, retryDelayMax: 300, notify: true });
    await this.#boss.createQueue(name, { ...retention, policy: 'short', deadLetter: exhausted, notify: true });
  }
}

const CROWDED_RETRY_S = 5;

/**
 * One transaction of a group at a time counts, until it commits: so the limit is exact, whoever enqueues where. Each
 * half of the sum is read from an index that pg-boss keeps.
 */
async function refuseCrowd(em: SqlEntityManager, { name, perGroup }: JobQueue<unknown>, group: string): Promise<void> {
  if (perGroup === undefined) return;
  await em.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`${name} ${group}`]);
  const [row] = await em.execute<[{ unfinished: number }]>(
    `select ((select count(*) from ${SCHEMA}.job where name = ? and group_id = ? and state = 'active')
           + (select count(*) from ${SCHEMA}.job where name = ? and group_id = ? and state < 'active' and not blocked))::int as unfinished`,
    [name, group, name, group],
  );
  const most = perGroup.running + perGroup.waiting;
  if (row.unfinished < most) return;
  throw new ProblemError('rate_limit_exceeded', `${most} of your analyses are running or waiting already (${perGroup.running} run at a time). Try again when one has finished.`, { code: 'concurrency', retryAfterS: CROWDED_RETRY_S });
}

/** Where a job goes after its last attempt. */
function exhaustedQueue(name: string): string {
  return `${name}.exhausted`;
}

/** Why the last attempt failed, as pg-boss stored it: a serialised error, or `{ value: { message } }` of its own. */
function failureOf(output: unknown): Error {
  const stored = output as { message?: unknown; name?: unknown; value?: { message?: unknown } } | null;
  const message = stored?.message ?? stored?.value?.message ?? 'unknown';
  const error = new Error(String(message));
  if (typeof stored?.name === 'string') error.name = stored.name;
  return error;
}
