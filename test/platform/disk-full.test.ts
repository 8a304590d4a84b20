import { writeFile } from 'node:fs/promises';
import { pino } from 'pino';
import { z } from 'zod';
import type { RequestContext } from '../../schema/principal.ts';
import { connectClickHouse, type ClickHouse } from '../../platform/clickhouse/client.ts';
import { isDiskFull } from '../../platform/disk-full.ts';
import { exactlyOnce } from '../../services/idempotency/exactly-once.ts';
import { openDatabase, type Database } from '../../platform/postgres/database.ts';
import { ProblemError } from '../../schema/problems.ts';
import { createTestClickHouse, createTestDatabase, type TestClickHouse, type TestDatabase } from '../platform.ts';

const logger = pino({ level: 'silent' });
let testDatabase: TestDatabase;
let testClickHouse: TestClickHouse;
let database: Database;
let clickhouse: ClickHouse;

beforeAll(async () => {
  [testDatabase, testClickHouse] = await Promise.all([createTestDatabase([]), createTestClickHouse()]);
  database = await openDatabase({
    url: testDatabase.applicationUrl,
    entities: [],
    applicationName: 'disk-full',
    poolMax: 2,
    logger,
    timeoutMs: 20_000,
  });
  clickhouse = connectClickHouse({ ...testClickHouse, logger });
});
afterAll(async () => {
  await Promise.all([database.close(), clickhouse.close()]);
  await Promise.all([testDatabase.drop(), testClickHouse.drop()]);
});

/** What a caller gets to see. */
async function shown(work: Promise<unknown>): Promise<unknown> {
  const error = await work.then(
    () => new Error('succeeded'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ProblemError)) throw error;
  expect(error.message).toMatch(/^The disk of the service is full/);
  expect(error.cause).toBeDefined();
  return error.problem;
}
const FULL = { type: 'service_unavailable', status: 503, code: 'disk_full', retryAfterS: 30 };
const raise = (sqlstate: string) =>
  `do $$ begin raise exception 'could not extend file' using errcode = '${sqlstate}'; end $$`;
const one = z.object({ one: z.number() });

describe('a disk that is full', () => {
  test('is told as such by PostgreSQL, in transactions and single statements alike', async () => {
    expect(await shown(database.asNobody((em) => em.execute(raise('53100'))))).toEqual(FULL);
    expect(await shown(database.perform({ name: 'full', text: raise('53100'), values: [] }))).toEqual(FULL);
    expect(await shown(database.ask({ name: 'full', text: raise('53100'), values: [] }))).toEqual(FULL);
  });

  test('is told as such by the columnar store, whichever way it says so', async () => {
    const settings = { allow_custom_error_code_in_throwif: 1 };
    expect(
      await shown(
        clickhouse.rows(`SELECT throwIf(1, 'Cannot reserve 1.00 MiB, not enough space', toInt16(243)) AS one`, one, {
          settings,
        }),
      ),
    ).toEqual(FULL);
    expect(
      await shown(
        clickhouse.command(
          `SELECT throwIf(1, 'Cannot write to file: , errno: 28, strerror: No space left on device', toInt16(75))`,
          { settings },
        ),
      ),
    ).toEqual(FULL);
    expect(
      await shown(
        clickhouse.command(
          `SELECT throwIf(1, 'filesystem error: in create_directories: No space left on device ["/data"]', ` +
            `toInt16(1001))`,
          { settings },
        ),
      ),
    ).toEqual(FULL);
  });

  test('is told as such where a mutation writes a file of its own', async () => {
    const context = {} as RequestContext;
    const effect = z.object({});
    // A device of Linux that is always full.
    expect(
      await shown(
        exactlyOnce(database, context, {
          effect,
          act: () => writeFile('/dev/full', 'x'),
          recall: async () => undefined,
        }),
      ),
    ).toEqual(FULL);
  });

  test('is no other outage, and no other error', async () => {
    await expect(database.asNobody((em) => em.execute(raise('53200')))).rejects.toMatchObject({
      type: 'service_unavailable',
      message: expect.stringMatching(/^The database cannot be reached/),
    });
    await expect(clickhouse.command('SELECT throwIf(1)')).rejects.not.toBeInstanceOf(ProblemError);
    for (const other of [
      new Error('the word ENOSPC in a row'),
      Object.assign(new Error('no'), { code: 'ENOENT' }),
      undefined,
      'ENOSPC',
      new Error('errno: 281'),
    ])
      expect(isDiskFull(other)).toBe(false);
    for (const full of [
      new Error('ENOSPC: no space left on device, write'),
      new Error('database or disk is full'),
      Object.assign(new Error('no'), { code: 'EDQUOT' }),
      new Error('a', { cause: new Error('b', { cause: { code: '53100' } }) }),
    ])
      expect(isDiskFull(full)).toBe(true);
  });
});

test('a mutation that needs room is refused before it acts; others, and what has happened already, go on', async () => {
  let acted = 0;
  const refusal = new ProblemError('service_unavailable', 'no room', { code: 'disk_nearly_full' });
  const full = await openDatabase({
    url: testDatabase.applicationUrl,
    entities: [],
    applicationName: 'disk-full',
    poolMax: 2,
    logger,
    refuseWithoutRoom: () => {
      throw refusal;
    },
  });
  const effect = z.object({});
  const act = async () => (acted += 1);
  await expect(exactlyOnce(full, {} as RequestContext, { effect, act, recall: act })).rejects.toBe(refusal);
  expect(acted).toBe(0);
  await exactlyOnce(full, {} as RequestContext, { effect, needsRoom: false, act, recall: act });
  expect(acted).toBe(1);
  await full.close();
});
