import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { connectClickHouse, type ClickHouse } from '../../../../../platform/clickhouse/client.ts';
import {
  startEmbeddedClickHouse,
  type EmbeddedClickHouse,
} from '../../../../../platform/clickhouse/embedded-server.ts';
import { migrateColumnarTables } from '../../../../../subgraphs/attribution/intake/touchpoints/columnar-schema.ts';
import { measureSource } from '../../../../../subgraphs/attribution/intake/touchpoints/touchpoint-store.ts';
import { sized } from '../../../../run-length.ts';
import { MEASURED_AT, sourceEvidence, upload } from '../touchpoints/columnar-store.ts';

/** Several blocks, in the midst of which storing is interrupted. */
const ROWS = sized({ short: 750_000, long: 1_500_000 });
const MIB = 1 << 20;
/** In the middle of the file: where the engine is killed, twice, and the process once. */
const KILLED_AT = sized({ short: [10 * MIB, 21 * MIB], long: [20 * MIB, 45 * MIB] });
const ENDED_AT = sized({ short: 22_000_000, long: 40_000_000 });
const WRONG = 3;
const SOURCE = { accountId: 'account', dataSourceId: 'source' };
const logger = pino({ level: 'silent' });
let folder: string;
let engine: EmbeddedClickHouse;
let clickhouse: ClickHouse;
let content: Buffer;

beforeAll(() => {
  const lines = Array.from(
    { length: ROWS },
    (_, index) => `user-${(index * 7919) % 50_000},${1_735_689_600 + index},email,campaign,0.5`,
  );
  for (let wrong = 0; wrong < WRONG; wrong += 1) lines.push('user,never,email,,');
  content = Buffer.from(['user_id,timestamp,channel,campaign,cost', ...lines].join('\n'));
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'liftgraph-ingest-'));
  engine = await startEmbeddedClickHouse({ dataDir: folder, logger });
  clickhouse = connectClickHouse({ url: engine.url, database: 'liftgraph', logger });
  await migrateColumnarTables(clickhouse);
});

afterEach(async () => {
  await clickhouse.close();
  await engine.stop();
  await rm(folder, { recursive: true, force: true });
});

async function* inPieces(data: Buffer): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < data.length; start += MIB) yield data.subarray(start, start + MIB);
}

test('an upload survives the crash of the engine in its middle: every row once, every count right', async () => {
  const kills = [...KILLED_AT];
  const onProgress = ({ bytes }: { readonly bytes: number }): void => {
    if (bytes < (kills[0] ?? Infinity)) return;
    kills.shift();
    process.kill(Number(readFileSync(join(folder, 'clickhouse', 'engine.pid'), 'utf8')), 'SIGKILL');
  };
  const report = await upload(clickhouse, SOURCE.dataSourceId, '', { body: inPieces(content), onProgress });
  expect(kills).toEqual([]);
  expect(report).toMatchObject({ rowsAccepted: ROWS, rowsRejected: WRONG, touchpoints: ROWS });
  expect(report.firstErrors.map(({ line }) => line)).toEqual([ROWS + 2, ROWS + 3, ROWS + 4]);
  expect((await measureSource(clickhouse, () => MEASURED_AT)(SOURCE.accountId, SOURCE.dataSourceId)).touchpoints).toBe(
    ROWS,
  );
}, 120_000);

test('an upload whose process is killed leaves rows that sending it again completes, and nothing twice', async () => {
  const file = join(folder, 'upload.csv');
  await writeFile(file, content);
  const program = `
    const { pino } = await import('pino');
    const { connectClickHouse } = await import('./platform/clickhouse/client.ts');
    const { ingestRecords } = await import('./subgraphs/attribution/intake/files/ingest-records.ts');
    const { ReadingRoom } = await import('./subgraphs/attribution/intake/files/reading-room.ts');
    const room = new ReadingRoom({ folder: ${JSON.stringify(join(folder, 'uploads'))} });
    const logger = pino({ level: 'silent' });
    await ingestRecords(await room.inPlace('account', ${JSON.stringify(file)}, ${content.length}), {
      room, clickhouse: connectClickHouse({ url: process.env.STORE, database: 'liftgraph', logger }),
      source: ${JSON.stringify(SOURCE)}, uploadId: 'upload', mediaType: 'text/csv',
      now: new Date(Date.UTC(2025, 11, 1)),
      onProgress: ({ bytes }) => bytes > ${ENDED_AT} && process.stdout.write('stored'),
    });`;
  const root = fileURLToPath(new URL('../../../../..', import.meta.url));
  const child = spawn(
    process.execPath,
    ['--import', './processes/typescript-hook.mjs', '--input-type=module', '-e', program],
    { cwd: root, env: { ...process.env, STORE: engine.url }, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exited = new Promise<NodeJS.Signals | null>((resolve) => child.once('exit', (_, signal) => resolve(signal)));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  child.kill('SIGKILL');
  expect(await exited).toBe('SIGKILL');
  expect((await sourceEvidence(clickhouse, SOURCE)).rows).toBeGreaterThan(0);

  const report = await upload(clickhouse, SOURCE.dataSourceId, '', { body: inPieces(content), uploadId: 'upload' });
  expect(report).toMatchObject({ rowsAccepted: ROWS, rowsRejected: WRONG });
  const interrupted = await sourceEvidence(clickhouse, SOURCE);
  await upload(clickhouse, 'undisturbed', '', { body: inPieces(content) });
  expect(interrupted).toEqual(await sourceEvidence(clickhouse, { ...SOURCE, dataSourceId: 'undisturbed' }));
}, 120_000);
