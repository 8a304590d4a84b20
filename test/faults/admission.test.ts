import { jest } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { WebSocket } from 'ws';
import { MIGRATION_OWNERS } from '../../processes/backing-services.ts';
import { FrozenClock } from '../frozen-clock.ts';
import { Caller, type Answer } from '../house.ts';
import { createTestDatabase, testServices, type TestDatabase } from '../platform.ts';
import { sized } from '../run-length.ts';
import { leaveOutExample } from './data-folder.ts';
import { Service } from './service.ts';

jest.setTimeout(120_000);

const PROCESSES = sized({ short: 2, long: 4 });
const REQUESTS = sized({ short: 400, long: 1_000 });
const LIMIT = 60;
const BUSY_PAUSE_MS = 100;

/**
 * Some processes of the whole service on one database: what is counted, used up or revoked at one door holds at all.
 */
describe(`admission at ${PROCESSES} processes`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'liftgraph-doors-'));
  const secrets = { KEY_PEPPER: randomBytes(32).toString('hex'), KEY_ENCRYPTION_KEY: randomBytes(32).toString('hex') };
  let database: TestDatabase;
  let owner: Client;
  let clock: FrozenClock;
  const doors: Service[] = [];

  const start = (place: number) =>
    Service.start({
      env: {
        ...secrets,
        DATABASE_URL: database.applicationUrl,
        DATABASE_OWNER_URL: database.ownerUrl,
        CLICKHOUSE_URL: testServices().clickhouseUrl,
        LIFTGRAPH_DATA_DIR: join(folder, String(place)),
        DATABASE_POOL_MAX: '8',
        COMPUTE_THREADS: '1',
        BILLING: 'on',
        RATE_LIMITS: 'register=1000',
        LOG_LEVEL: 'warn',
      },
    });

  beforeAll(async () => {
    database = await createTestDatabase(MIGRATION_OWNERS);
    owner = new Client({ connectionString: database.ownerUrl });
    await owner.connect();
    clock = new FrozenClock(database.ownerUrl);
    await clock.stop();
    for (let place = 0; place < PROCESSES; place += 1) leaveOutExample(join(folder, String(place)));
    await Promise.all(Array.from({ length: PROCESSES }, async (_, place) => (doors[place] = await start(place))));
  });

  afterAll(async () => {
    await Promise.all(doors.map((door) => (door.isOver ? undefined : door.stop())));
    await owner?.end();
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  const register = () => Caller.register(doors[0]!.root);
  const at = (place: number, { key }: Caller) => new Caller(doors[place % PROCESSES]!.root, key);
  /**
   * How many of many requests at once, spread over the doors, were let in, and how many refused with which status. What
   * happens behind admission on a busy machine does not matter here; a door that was too busy to ask is asked again.
   */
  async function outcomes(
    count: number,
    ask: (place: number) => Promise<Pick<Answer, 'status' | 'headers'>>,
  ): Promise<Record<string, number>> {
    const seen: Record<string, number> = {};
    const insist = async (place: number): Promise<void> => {
      for (;;) {
        const { status, headers } = await ask(place);
        // Whoever is let in learns where the windows stand, whatever the answer.
        const isIn = status !== 429 && headers.has('ratelimit');
        if (status === 503 && !isIn) {
          await sleep(BUSY_PAUSE_MS);
          continue;
        }
        const outcome = isIn && (status === 200 || status === 503) ? 'in' : status;
        seen[outcome] = (seen[outcome] ?? 0) + 1;
        return;
      }
    };
    await Promise.all(Array.from({ length: count }, (_, place) => insist(place)));
    return seen;
  }
  const keyOf = async ({ key }: Caller) =>
    (await owner.query<{ id: string }>('select id from auth.api_keys where last4 = $1', [key!.slice(-4)])).rows[0]!.id;

  test(`of ${REQUESTS} parallel requests exactly ${LIMIT} pass`, async () => {
    const caller = await register();
    // One at a time first: after a start each door has the graph's plans to make.
    for (let place = 0; place < PROCESSES; place += 1) await at(place, await register()).get('/agents/me');
    expect(await outcomes(REQUESTS, (place) => at(place, caller).get('/agents/me'))).toEqual({
      in: LIMIT,
      429: REQUESTS - LIMIT,
    });
    await clock.stop('1 minute');
    expect(await outcomes(LIMIT + 1, (place) => at(place, caller).get('/agents/me'))).toEqual({ in: LIMIT, 429: 1 });
  });

  test('instances whose clocks differ by ten minutes gain nothing: the database’s clock is the only one', async () => {
    // A clock that jumps, as that of a standby that takes over may: it may refuse for a while, and never lets in more.
    const caller = await register();
    await clock.stop();
    expect(await outcomes(LIMIT, (place) => at(place, caller).get('/agents/me'))).toEqual({ in: LIMIT });
    await clock.stop('-10 minutes');
    expect(await outcomes(LIMIT, (place) => at(place, caller).get('/agents/me'))).toEqual({ 429: LIMIT });
    const nonce = { 'x-nonce': randomUUID() };
    const other = await register();
    const use = (place: number) => at(place, other).post('/attribution', {}, nonce);
    expect((await use(0)).status).toBe(422);
    for (const offset of ['0 s', '10 minutes', '-10 minutes']) {
      await clock.stop(offset);
      expect((await use(1)).status).toBe(409);
    }
    await clock.stop();
  });

  test('of two hundred uses of one nonce one passes, and a process that was killed has not forgotten it', async () => {
    const caller = await register();
    await owner.query(
      'update auth.accounts set requests_per_minute = 1000000, requests_per_day = 1000000 where account_id = (select ' +
        'account_id from auth.api_keys where id = $1)',
      [await keyOf(caller)],
    );
    const nonce = { 'x-nonce': randomUUID() };
    const use = (place: number) => at(place, caller).post('/attribution', {}, nonce);
    expect(await outcomes(200, use)).toEqual({ 422: 1, 409: 199 });
    const last = PROCESSES - 1;
    await doors[last]!.stop('SIGKILL');
    doors[last] = await start(last);
    expect(await outcomes(PROCESSES, use)).toEqual({ 409: PROCESSES });
  });

  test(`a revoked key passes none of ${REQUESTS} requests, and its open sockets close at every process`, async () => {
    const caller = await register();
    await owner.query(
      'update auth.accounts set requests_per_minute = 1000000, requests_per_day = 1000000 where account_id = (select ' +
        'account_id from auth.api_keys where id = $1)',
      [await keyOf(caller)],
    );
    const ask = (place: number) => at(place, caller).get('/agents/me');
    // All connections are warm, and so is whatever anybody might remember.
    expect(await outcomes(100, ask)).toEqual({ in: 100 });
    const sockets = await Promise.all(
      doors.map(async ({ root }) => {
        const socket = new WebSocket(`${root.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
        await once(socket, 'open');
        socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${caller.key!}` } }));
        await once(socket, 'message');
        return {
          closed: (once(socket, 'close') as Promise<[number]>).then(([code]) => ({ code, atMs: performance.now() })),
        };
      }),
    );
    await owner.query('update auth.api_keys set revoked_at = now() where id = $1', [await keyOf(caller)]);
    const revokedAtMs = performance.now();
    expect(await outcomes(REQUESTS, ask)).toEqual({ 401: REQUESTS });
    for (const { code, atMs } of await Promise.all(sockets.map(({ closed }) => closed))) {
      expect(code).toBe(4401);
      expect(atMs - revokedAtMs).toBeLessThan(2_000);
    }
  });
});
