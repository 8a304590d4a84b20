import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import { pino } from 'pino';
import { z } from 'zod';
import { connectClickHouse, type ClickHouse } from '../../../platform/clickhouse/client.ts';
import { createTestClickHouse, type TestClickHouse } from '../../platform.ts';

const logger = pino({ level: 'silent' });
let server: TestClickHouse;
let clickhouse: ClickHouse;

beforeAll(async () => {
  server = await createTestClickHouse();
  clickhouse = connectClickHouse({ url: server.url, database: server.database, logger });
});

afterAll(async () => {
  await clickhouse.close();
  await server.drop();
});

test('any text survives being bound, alone and in arrays', async () => {
  const Row = z.object({ text: z.string(), texts: z.array(z.string()) });
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0')),
      async (text) => {
        const [row] = await clickhouse.rows('SELECT {text:String} AS text, {texts:Array(String)} AS texts', Row, {
          params: { text, texts: [text, 'x', text] },
        });
        expect(row).toEqual({ text, texts: [text, 'x', text] });
      },
    ),
    { numRuns: 50, examples: [[`a'b\\c\t\n\r{x:String};--/*`]] },
  );
});

test('a row that does not fit its schema is an error, not a wrong value', async () => {
  await expect(clickhouse.rows(`SELECT 'a' AS n`, z.object({ n: z.number() }))).rejects.toBeInstanceOf(z.ZodError);
});

test('results of many blocks arrive complete and in order', async () => {
  let next = 0;
  for await (const batch of clickhouse.batches('SELECT number FROM numbers(300000) ORDER BY number', {
    settings: { max_block_size: 10_000 },
  })) {
    for (const n of batch.getChild('number')!) expect(Number(n)).toBe(next++);
  }
  expect(next).toBe(300_000);
});

test('a result without rows has no blocks', async () => {
  const batches = [];
  for await (const batch of clickhouse.batches('SELECT [number] AS list FROM numbers(10) WHERE number > 10'))
    batches.push(batch);
  expect(batches).toEqual([]);
});

async function read(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces);
}

test('a result as a file is the whole of it, with any text in it', async () => {
  const statement = 'SELECT number, {text:String} AS text FROM numbers(300000) ORDER BY number';
  const text = `it's "{x:String}", a \\ and a\nline`;
  const lines = (await read(await clickhouse.file(statement, 'JSONEachRow', { params: { text } })))
    .toString()
    .trimEnd()
    .split('\n');
  expect(lines).toHaveLength(300_000);
  expect(JSON.parse(lines[299_999]!)).toEqual({ number: 299_999, text });
  expect(
    (
      await read(
        await clickhouse.file('SELECT 1 AS n FROM numbers(0)', 'CSVWithNames', {
          settings: { output_format_csv_crlf_end_of_line: 1 },
        }),
      )
    ).toString(),
  ).toBe('"n"\r\n');
});

test('a statement that fails half-way is an error, not half a file; none that nobody awaits is made', async () => {
  await expect(
    clickhouse.file('SELECT throwIf(number = 900000) AS n FROM numbers(1000000)', 'CSVWithNames'),
  ).rejects.toMatchObject({ code: '395' });
  await expect(clickhouse.file('SELECT 1', 'CSVWithNames', { signal: AbortSignal.abort() })).rejects.toMatchObject({
    name: 'AbortError',
  });
  const endless = clickhouse.file('SELECT sum(sipHash64(number)) AS n FROM numbers(1000000000000)', 'CSVWithNames', {
    signal: AbortSignal.timeout(300),
  });
  await expect(endless).rejects.toThrow();
  const Row = z.object({ n: z.coerce.number() });
  const running = () =>
    clickhouse.rows(
      `SELECT count() AS n FROM system.processes WHERE query LIKE '%numbers(1000000000000)%' AND query NOT LIKE ` +
        `'%processes%'`,
      Row,
    );
  for (let wait = 0; wait < 50 && (await running())[0]!.n > 0; wait += 1) await sleep(100);
  expect(await running()).toEqual([{ n: 0 }]);
});

test('a statement that takes too long or too much is unavailable; a wrong one is an error of ours', async () => {
  const endless = 'SELECT sum(sipHash64(number)) AS n FROM numbers(1000000000000)';
  const large = 'SELECT length(groupArray(number)) AS n FROM numbers(100000000)';
  const Row = z.object({ n: z.unknown() });
  await expect(clickhouse.rows(endless, Row, { timeoutMs: 1_000 })).rejects.toMatchObject({
    type: 'service_unavailable',
  });
  await expect(clickhouse.rows(large, Row, { settings: { max_memory_usage: 50_000_000 } })).rejects.toMatchObject({
    type: 'service_unavailable',
  });
  await expect(clickhouse.rows('SELECT n FROM nowhere', Row)).rejects.toMatchObject({ code: '60' });
});

test('a store that is not there is unavailable', async () => {
  const nowhere = connectClickHouse({ url: 'http://127.0.0.1:1', database: 'liftgraph', logger });
  await expect(nowhere.ping()).rejects.toMatchObject({ type: 'service_unavailable' });
  await expect(nowhere.command('SELECT 1')).rejects.toMatchObject({ type: 'service_unavailable' });
  await expect(nowhere.insert('INSERT INTO t FORMAT CSV', Buffer.from('1\n'))).rejects.toMatchObject({
    type: 'service_unavailable',
  });
  await nowhere.close();
});

test('migrations run once, by however many processes at a time', async () => {
  const statements = [
    'CREATE TABLE IF NOT EXISTS once (n UInt8) ENGINE = MergeTree ORDER BY n',
    'ALTER TABLE once ADD COLUMN IF NOT EXISTS m UInt8',
  ];
  await Promise.all(Array.from({ length: 4 }, () => clickhouse.migrate(statements)));
  await clickhouse.command('ALTER TABLE once DROP COLUMN m');
  await clickhouse.migrate(statements);
  const columns = await clickhouse.rows(
    `SELECT name FROM system.columns WHERE database = currentDatabase() AND table = 'once'`,
    z.object({ name: z.string() }),
  );
  expect(columns).toEqual([{ name: 'n' }]);
});

test('a migration that fails takes back nothing of what was done before it', async () => {
  const first = 'CREATE TABLE IF NOT EXISTS begun (n UInt8) ENGINE = MergeTree ORDER BY n';
  await expect(clickhouse.migrate([first, 'CREATE TABLE nonsense'])).rejects.toThrow();
  await clickhouse.command('DROP TABLE begun');
  await clickhouse.migrate([first]);
  expect(
    await clickhouse.rows(
      `SELECT name FROM system.tables WHERE database = currentDatabase() AND name = 'begun'`,
      z.unknown(),
    ),
  ).toEqual([]);
});
