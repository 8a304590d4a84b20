import { jest } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Caller } from '../house.ts';
import { sized } from '../run-length.ts';
import { connectSource, upload } from './analyses.ts';
import { DataFolder } from './data-folder.ts';
import { runHostileFiles } from './hostile-files/run.ts';
import { FORMATS, type Format } from './hostile-files/shapes.ts';
import { survivorsOf, type Running } from './process-tree.ts';
import { Service } from './service.ts';
import { HEADER, recentDays, shopRows } from './shop-rows.ts';
import { UNLIMITED } from './unlimited.ts';

/**
 * `HOSTILE_CASES=2000 npm test test/faults/hostile-files` goes on for half an hour. `HOSTILE_SEED` makes other cases;
 * `HOSTILE_FORMAT=parquet` with `HOSTILE_CASE=117` sends one again.
 */
const {
  HOSTILE_CASES = sized({ short: '10', long: '60' }),
  HOSTILE_SEED = '380154',
  HOSTILE_FORMAT,
  HOSTILE_CASE,
} = process.env;
/** There are some three hundred shapes, and a gigabyte in a kilobyte is one of many that take a reader seconds. */
const EVERY_SHAPE = sized({ short: 4, long: 1 });
const CASES = Number(HOSTILE_CASES);
const SEED = Number(HOSTILE_SEED);
const ONLY = HOSTILE_CASE === undefined ? undefined : Number(HOSTILE_CASE);
const CHOSEN = HOSTILE_FORMAT === undefined ? FORMATS : [HOSTILE_FORMAT as Format];
const STOP_MS = 20_000;
const SHOP = shopRows({ users: 200, channels: 4, touches: 4, seed: 51 });

jest.setTimeout(180_000 + CASES * 2_000);

describe(`hostile files, seed ${SEED}`, () => {
  const folder = new DataFolder();
  let service: Service;
  let caller: Caller;

  beforeAll(async () => {
    service = await Service.start({ env: { LIFTGRAPH_DATA_DIR: folder.path, LOG_LEVEL: 'warn', ...UNLIMITED } });
    caller = await Caller.register(service.root);
  });
  afterAll(async () => {
    if (service?.isOver === false) await ended(service);
    folder.remove();
  });

  test(`${CASES} of each format: refused or counted, in time, and nobody else notices`, async () => {
    const engine = folder.enginePid();
    const { faults, ...rest } = await runHostileFiles(service.root, {
      seed: SEED,
      cases: CASES,
      everyShape: EVERY_SHAPE,
      formats: CHOSEN,
      only: ONLY,
    });
    process.stdout.write(`seed ${SEED}: ${JSON.stringify(rest, null, 1)}\n`);

    expect(faults).toEqual([]);
    expect(service.log().filter(({ level }) => level === 'error' || level === 'fatal')).toEqual([]);
    expect(folder.enginePid()).toBe(engine);
    expect((await fetch(`${service.root}/readyz`)).status).toBe(200);
    const source = await connectSource(caller);
    expect(await upload(caller, source, SHOP)).toMatchObject({
      accepted: SHOP.touchpoints + SHOP.conversions,
      rejected: 0,
    });
  });

  const touch = 'user_id,timestamp,channel,cost\nu1,2026-01-05T10:00:00Z,email,0.40\n';
  const order = 'order_id,user_id,timestamp,revenue\no1,u1,2026-01-05T10:00:00Z,49.90\n';
  const spend = 'date,channel,spend\n2026-01-05,email,12.50\n';
  test.each([
    ...['0000-00-00', '2026-05-00', '2026-00-10', '2026-02-30', '9999-12-31', '1900-01-01', '2299-12-31'].map(
      (day) => [`a spend of ${day}`, spend.replace('2026-01-05', day)] as const,
    ),
    ...[
      '0000-00-00T00:00:00Z',
      '2026-05-00T00:00:00Z',
      '2026-02-30T00:00:00Z',
      '9999-12-31T00:00:00Z',
      '1999-12-31T00:00:00Z',
    ].map((time) => [`a touch at ${time}`, touch.replace('2026-01-05T10:00:00Z', time)] as const),
    ...['1.2345.678', '123.45.678', '1..5', '.', '1e', 'NaN', 'Infinity', '-', '1000000000001'].map(
      (amount) => [`a revenue of ${amount}`, order.replace('49.90', amount)] as const,
    ),
    ...['1.2345.678', '1..5', '10000000000000'].map(
      (amount) => [`a cost of ${amount}`, touch.replace('0.40', amount)] as const,
    ),
    ...['1.2345.678', '123.45.678', '1..5'].map(
      (amount) => [`a spend of ${amount}`, spend.replace('12.50', amount)] as const,
    ),
  ])('%s is told of and not stored', async (_what, csv) => {
    const { body } = await caller.send('POST', `/data-sources/${await connectSource(caller)}/records`, csv, {
      'content-type': 'text/csv',
    });
    expect(body).toMatchObject({
      accepted: 0,
      rejected: 1,
      errors: [{ line: 2, column: expect.any(String), code: expect.any(String) }],
    });
  });

  test.each([
    [1, '99999999999999'],
    [2, '99999999999999'],
    [30, '99999999999999'],
    [100, '1000000000000'],
  ])('%d orders of %s: what comes of them fails nothing and no list', async (orders, revenue) => {
    const source = await connectSource(caller);
    await upload(caller, source, SHOP);
    const [day] = recentDays();
    const rows = Array.from({ length: orders }, (_, row) =>
      [
        `rich${row},${day}T09:00:00Z,channel-1,spring,0.10,0,\n`,
        `rich${row},${day}T10:00:00Z,channel-1,spring,0,1,${revenue}\n`,
      ].join(''),
    );
    expect(
      (
        await caller.send('POST', `/data-sources/${source}/records`, HEADER + rows.join(''), {
          'content-type': 'text/csv',
        })
      ).status,
    ).toBe(202);
    for (const model of ['markov', 'causal']) {
      const { status, body } = await caller.post(
        '/attribution',
        { data_source_id: source, date_range: recentDays(), model },
        { prefer: 'wait=60' },
      );
      expect(status).toBeLessThan(500);
      expect(JSON.stringify(body['failure'])).not.toContain('"internal"');
      expect((await caller.get('/attribution')).status).toBe(200);
    }
    expect((await caller.get(`/data-sources/${source}/status`)).status).toBe(200);
  });

  test('after all of it the service ends when it is told to, and leaves nothing behind', async () => {
    expect(await ended(service)).toEqual([]);
  });
});

/** Ends a service, by force if need be, and returns what is left that it had started: it should be nothing. */
async function ended(service: Service): Promise<readonly Running[]> {
  const family = service.tree();
  const isOver = await Promise.race([service.stop('SIGTERM').then(() => true), sleep(STOP_MS, false, { ref: false })]);
  const left = survivorsOf(family);
  for (const { pid } of left) process.kill(pid, 'SIGKILL');
  if (!isOver) await service.ended;
  return left;
}
