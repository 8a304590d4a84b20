import { PgBoss, fromKysely, type ConstructorOptions, type Job as BossJob, type JobWithMetadata } from 'pg-boss';
import { Registry } from 'prom-client';
import type { z } from 'zod';
import type { SqlEntityManager } from '../postgres/database.ts';
import { outageAsProblem } from '../postgres/outage.ts';
import type { Logger } from '../telemetry/logs.ts';
import { JobLine, joinLine, leaveLine, refuseCrowd, type JobLimits, type Taken } from './job-line.ts';
import { JobMetrics } from './job-metrics.ts';
import { JOBS_SCHEMA as SCHEMA } from './jobs-migrations.ts';

/** A kind of work and the shape of its data; `name` is `owner.verb`, e.g. `attribution.run`. */
export interface JobQueue<T> {
  readonly name: string;
  readonly data: z.ZodType<T>;
  /**
   * How many jobs of one share of a tenant may run, and wait besides, at a time; shares are not limited when absent.
   */
  readonly perShare?: JobLimits;
  /** Jobs that may take all places of a process but one, so that there is soon one for others; none when absent. */
  readonly isLarge?: (data: T) => boolean;
  /** Attempts after the first one; 2. */
  readonly retryLimit?: number;
  /** An attempt may run this long; 900 s. */
  readonly expireInS?: number;
}

/**
 * For what a tenant may have any number of: one runs at a time, and not for ever, so that none holds up those of
 * others.
 */
export const ONE_BY_ONE = { perShare: { running: 1 }, expireInS: 300 } as const;

export interface EnqueueOptions {
  /**
   * Whose job it is: a worker that becomes free takes that of the tenant who has the fewest running and has used the
   * least lately.
   */
  readonly tenant: string;
  /** What the limits of the queue hold for, of what is the tenant's; all of it when absent. */
  readonly share?: string;
  /** Not before this time; now when absent. */
  readonly startAfter?: Date;
  /** Not before so many seconds, by the database's clock. */
  readonly startAfterS?: number;
  /** While a job with this key waits to be started, further ones are dropped. */
  readonly singletonKey?: string;
}

export interface Job<T> {
  readonly id: string;
  readonly data: T;
  /** 1 for the first attempt. Fence writes with it: a worker thought dead may still be running an earlier one. */
  readonly attempt: number;
  /** Aborts when the attempt ran out of time or was taken over, or the process stops: its result counts no more. */
  readonly signal: AbortSignal;
  /**
   * Does what needs no place, waiting above all, while another job has it.
   * @returns false where too many do so already: then it was left out
   */
  aside(work: () => Promise<void>): Promise<boolean>;
  /**
   * Of a job that turns out to be large, whatever its data said: from here on it is one of the large jobs of this
   * process, and waits aside where they have all the places that they may have.
   */
  turnOutLarge(): Promise<void>;
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
   * @throws ProblemError `rate_limit_exceeded` / `concurrency` when as many jobs of its share run and wait as may
   */
  enqueue<T>(em: SqlEntityManager, queue: JobQueue<T>, data: T, options: EnqueueOptions): Promise<string | undefined>;
  /**
   * Part of the caller's transaction: whatever waits under this `singletonKey` is not begun any more. What runs goes
   * on.
   */
  withdraw(em: SqlEntityManager, queue: Pick<JobQueue<unknown>, 'name'>, singletonKey: string): Promise<void>;
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
/** Attempts count from when a ticket has a job. */
const TICKET_RETRY_LIMIT = 1_000;
const EXPIRE_IN_S = 900;
const POLL_S = 2;
const MIN_POLL_S = 0.5;
const POOL_MAX = 4;
const QUERY_TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 1_500;
const STOP_TIMEOUT_MS = 15_000;
/** Jobs of a queue for which another worker stands in at a time, in this process. */
const MAX_ASIDE = 64;
const KEEP_FINISHED_S = 7 * 86_400;

/** As pg-boss hands it out: without data as long as the ticket has no job. */
type GroupedJob = Omit<BossJob, 'data'> & { readonly data: object | null; readonly groupId?: string | null };

/**
 * The lease in parts: silence is noticed after half of it, by a check every tenth; three heartbeats fit into the
 * silence.
 */
function leaseParts(leaseS: number) {
  const silenceS = Math.max(1, Math.floor(leaseS / 2));
  return {
    silenceS,
    heartbeatS: silenceS / 3,
    checkS: Math.max(1, Math.floor(leaseS / 10)),
    pollS: Math.min(POLL_S, Math.max(MIN_POLL_S, leaseS / 10)),
  };
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
  readonly #stopping = new AbortController();

  constructor(boss: PgBoss, options: JobsOptions) {
    this.#boss = boss;
    this.#logger = options.logger;
    this.#lease = leaseParts(options.leaseS);
    this.#metrics = new JobMetrics(options.registry ?? new Registry());
  }

  async enqueue<T>(
    em: SqlEntityManager,
    queue: JobQueue<T>,
    data: T,
    options: EnqueueOptions,
  ): Promise<string | undefined> {
    const transaction = em.getTransactionContext<Parameters<typeof fromKysely>[0]>();
    if (transaction === undefined) throw new TypeError('a job is enqueued inside a transaction');
    await this.#ensureQueue(queue.name);
    const { tenant, share = '' } = options;
    if (queue.perShare !== undefined) await refuseCrowd(em, queue.name, queue.perShare, tenant, share);
    const id = crypto.randomUUID();
    const parsed = queue.data.parse(data);
    const start = options.startAfter === undefined ? { inS: options.startAfterS ?? 0 } : { at: options.startAfter };
    const joined = await joinLine(em, {
      id,
      queue: queue.name,
      tenant,
      share,
      singletonKey: options.singletonKey ?? id,
      isLarge: queue.isLarge?.(parsed) ?? false,
      data: parsed as object,
      start,
    });
    if (!joined) return undefined;
    await this.#boss.insert(
      queue.name,
      [{ ...this.#ticket(queue), id, singletonKey: id, startAfter: 'at' in start ? start.at : `${start.inS} seconds` }],
      { db: fromKysely(transaction) },
    );
    return id;
  }

  #ticket({ expireInS = EXPIRE_IN_S }: Pick<JobQueue<unknown>, 'expireInS'>) {
    return { retryLimit: TICKET_RETRY_LIMIT, expireInSeconds: expireInS, heartbeatSeconds: this.#lease.silenceS };
  }

  async withdraw(em: SqlEntityManager, queue: Pick<JobQueue<unknown>, 'name'>, singletonKey: string): Promise<void> {
    await leaveLine(em, queue.name, singletonKey);
  }

  async work<T>(queue: JobQueue<T>, options: WorkOptions<T>, handler: (job: Job<T>) => Promise<void>): Promise<void> {
    await this.#ensureQueue(queue.name);
    const { concurrency = 1, onExhausted } = options;
    const line = new JobLine(this.#boss.getDb(), {
      queue: queue.name,
      limits: queue.perShare,
      retryLimit: queue.retryLimit ?? RETRY_LIMIT,
      places: concurrency,
      logger: this.#logger,
    });
    let standIns = 0;
    /**
     * While a job waits, another worker takes jobs in its stead: one that waits for the place of large jobs holds up no
     * small one.
     */
    const withStandIn = async <W>(wait: () => Promise<W>): Promise<W> => {
      standIns += 1;
      const worker = await start();
      try {
        return await wait();
      } finally {
        standIns -= 1;
        await this.#boss.offWork(queue.name, { id: worker, wait: false });
      }
    };

    /** The ticket of a later attempt has its job already. */
    const takeAgain = async ({ data, groupId, signal }: GroupedJob): Promise<Taken> => {
      const job = { tenant: groupId ?? '', isLarge: queue.isLarge?.(queue.data.parse(data)) ?? false };
      const comeBack = (): ReturnType<JobLine['comeBack']> => line.comeBack(job, signal);
      const mustWait = line.isFullFor(job) && standIns < MAX_ASIDE;
      return { ...job, data, leave: await (mustWait ? withStandIn(comeBack) : comeBack()) };
    };

    const handle = async (job: GroupedJob): Promise<void> => {
      const taken = job.data === null ? await this.#takeNext(line, queue, job) : await takeAgain(job);
      if (taken === null) return;
      let { leave, isLarge } = taken;
      const stepAside = async (work: () => Promise<void>): Promise<boolean> => {
        if (standIns >= MAX_ASIDE) return false;
        await leave();
        await withStandIn(async () => {
          await work();
          leave = await line.comeBack({ tenant: taken.tenant, isLarge }, job.signal);
        });
        return true;
      };
      const turnOutLarge = async (): Promise<void> => {
        if (isLarge) return;
        isLarge = true;
        const asLarge = { tenant: taken.tenant, isLarge };
        await leave();
        const comeBack = async (): Promise<void> => void (leave = await line.comeBack(asLarge, job.signal));
        const mustWait = line.isFullFor(asLarge) && standIns < MAX_ASIDE;
        await (mustWait ? withStandIn(comeBack) : comeBack());
      };
      try {
        await handler({
          id: job.id,
          data: queue.data.parse(taken.data),
          attempt: job.retryCount + 1,
          signal: job.signal,
          aside: stepAside,
          turnOutLarge,
        });
      } finally {
        // Before the job is over: whoever chooses the next one knows what this one has cost.
        await leave();
      }
    };
    const start = (): Promise<string> => this.#startWorker<GroupedJob>(queue.name, {}, handle);

    for (let worker = 0; worker < concurrency; worker += 1) await start();
    if (onExhausted === undefined) return;
    await this.#startWorker<JobWithMetadata>(exhaustedQueue(queue.name), { includeMetadata: true }, (job) =>
      onExhausted(queue.data.parse(job.data), failureOf(job.sourceOutput)),
    );
  }

  async #takeNext(
    line: JobLine,
    queue: Pick<JobQueue<unknown>, 'name' | 'expireInS'>,
    { id, signal }: GroupedJob,
  ): Promise<Taken | null> {
    try {
      return await line.takeNext(id, AbortSignal.any([signal, this.#stopping.signal]));
    } catch (error) {
      if (!this.#stopping.signal.aborted) throw error;
      // This process ends while nobody may begin: another one gets the ticket.
      await this.#boss.insert(queue.name, [this.#ticket(queue)]);
      return null;
    }
  }

  async #startWorker<J extends Pick<BossJob, 'id' | 'retryCount'>>(
    queueName: string,
    options: { includeMetadata?: boolean },
    run: (job: J) => Promise<void>,
  ): Promise<string> {
    const { pollS, heartbeatS } = this.#lease;
    const workOptions = {
      ...options,
      pollingIntervalSeconds: pollS,
      notifyPollingIntervalSeconds: pollS,
      heartbeatRefreshSeconds: heartbeatS,
    };
    const workerId: string = await this.#boss.work(queueName, workOptions, async (jobs: BossJob[]) => {
      // Look again right after this job: more may be waiting, or this one for its next attempt.
      this.#boss.notifyWorker(workerId);
      const job = jobs[0] as unknown as J;
      try {
        await this.#metrics.counted(queueName, () => run(job));
      } catch (error) {
        this.#logger.warn({ err: error, queue: queueName, jobId: job.id, attempt: job.retryCount + 1 }, 'a job failed');
        throw error;
      }
    });
    return workerId;
  }

  async stop(timeoutMs: number = STOP_TIMEOUT_MS): Promise<void> {
    this.#stopping.abort();
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
    await this.#boss.createQueue(exhausted, {
      ...retention,
      retryLimit: 20,
      retryDelay: 5,
      retryBackoff: true,
      retryDelayMax: 300,
      notify: true,
    });
    await this.#boss.createQueue(name, { ...retention, policy: 'short', deadLetter: exhausted, notify: true });
  }
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
