import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { MIGRATION_OWNERS } from '../../processes/backing-services.ts';
import { createTestDatabase, testServices } from '../platform.ts';
import { leaveOutExample } from './data-folder.ts';
import { Service } from './service.ts';

/** Where an instance can be held up: taking a key, the effect of a connection, or keeping the answer to it. */
export type Point = 'claim' | 'effect' | 'answer';
const LOCK_OF_POINT: Readonly<Record<Point, number>> = { claim: 4_713, effect: 4_711, answer: 4_712 };
const POLL_MS = 10;

/** Two whole instances of the service on the same stores, and the owner's hands on their database. */
export interface TwoInstances {
  readonly one: Service;
  readonly other: Service;
  readonly owner: Client;
  /** Starts the first one again. */
  restart(): Promise<void>;
  /** Whoever reaches the point from now on waits there. */
  holdUpAt(point: Point): Promise<void>;
  /** Resolves with the backend that waits there. */
  reached(point: Point): Promise<number>;
  /** The statement that this backend was sent last by a process now dead must not be finished for it. */
  doom(backend: number): Promise<void>;
  letPass(point: Point): Promise<void>;
  /** Lets every lease run out, as time would, once there is one. */
  letLeasesEnd(): Promise<void>;
  stop(): Promise<void>;
}

export async function openTwoInstances(): Promise<TwoInstances> {
  const database = await createTestDatabase(MIGRATION_OWNERS);
  const folder = mkdtempSync(join(tmpdir(), 'liftgraph-two-'));
  const owner = new Client({ connectionString: database.ownerUrl });
  await owner.connect();
  // Shared locks pass each other, and wait while the test holds the exclusive one.
  await owner.query(`
    create schema faults;
    create table faults.doomed (pid integer);
    create function faults.pass() returns trigger language plpgsql security definer as $$ begin
      perform pg_advisory_xact_lock_shared(tg_argv[0]::bigint);
      if exists (select from faults.doomed
        where pid = pg_backend_pid()) then raise exception 'its client was killed'; end if;
      return new;
    end $$;
    create trigger pass before insert
      on idempotency.claims for each row execute function faults.pass(${LOCK_OF_POINT.claim});
    create trigger pass before insert
      on attribution.data_sources for each row execute function faults.pass(${LOCK_OF_POINT.effect});
    create trigger pass_answer before update on idempotency.claims for each row
      when (old.answer is null and new.answer is not null) execute function faults.pass(${LOCK_OF_POINT.answer});
    grant usage on schema faults to public`);
  const shared = {
    LIFTGRAPH_ROLE: 'all',
    DATABASE_URL: database.applicationUrl,
    DATABASE_OWNER_URL: database.ownerUrl,
    CLICKHOUSE_URL: testServices().clickhouseUrl,
    KEY_PEPPER: randomBytes(32).toString('hex'),
    KEY_ENCRYPTION_KEY: randomBytes(32).toString('hex'),
    COMPUTE_THREADS: '1',
    LOG_LEVEL: 'warn',
    RATE_LIMITS: 'discovery=1000000,self_hosted=1000000',
  };
  const start = (name: string): Promise<Service> =>
    Service.start({ env: { ...shared, LIFTGRAPH_DATA_DIR: join(folder, name) } });
  for (const name of ['one', 'other']) leaveOutExample(join(folder, name));
  const other = await start('other');
  let one = await start('one');
  return {
    get one() {
      return one;
    },
    other,
    owner,
    async restart() {
      one = await start('one');
    },
    holdUpAt: async (point) => void (await owner.query('select pg_advisory_lock($1)', [LOCK_OF_POINT[point]])),
    async reached(point) {
      for (;;) {
        const { rows } = await owner.query<{ pid: number }>(
          `select pid from pg_locks where locktype = 'advisory' and objid = $1 and not granted`,
          [LOCK_OF_POINT[point]],
        );
        if (rows[0] !== undefined) return rows[0].pid;
        await sleep(POLL_MS);
      }
    },
    doom: async (backend) => void (await owner.query('insert into faults.doomed values ($1)', [backend])),
    letPass: async (point) => void (await owner.query('select pg_advisory_unlock($1)', [LOCK_OF_POINT[point]])),
    async letLeasesEnd() {
      for (;;) {
        const { rowCount } = await owner.query(
          `update idempotency.claims set lease_until = now() - interval '1 second' where answer is null`,
        );
        if (rowCount !== 0) return;
        await sleep(POLL_MS);
      }
    },
    async stop() {
      for (const service of [one, other])
        if (!service.isOver) await service.stop(service.isFrozen ? 'SIGKILL' : 'SIGINT');
      await owner.end();
      await database.drop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
