import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { z } from 'zod';
import { connectClickHouse } from '../../../platform/clickhouse/client.ts';
import { startEmbeddedClickHouse } from '../../../platform/clickhouse/embedded-server.ts';
import { EngineProcess } from '../../../platform/clickhouse/engine-process.ts';
import { isPassing, refusedForGood } from '../../../platform/clickhouse/outage.ts';
import { throughOutages } from '../../../platform/jobs/through-outages.ts';

const logger = pino({ level: 'silent' });
const OneNumber = z.object({ n: z.coerce.number() });
/** Holds about 260 MB at once. */
const LARGE = 'SELECT length(groupArray(number)) AS n FROM numbers(16000000)';
/** Would hold more than a statement may. */
const TOO_LARGE = 'SELECT length(groupArray(number)) AS n FROM numbers(40000000)';
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'liftgraph-engine-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

test('statements that are too large together are refused, and the engine stays up', async () => {
  const engine = await startEmbeddedClickHouse({ dataDir: folder, logger });
  const clickhouse = connectClickHouse({ url: engine.url, database: 'default', logger });
  try {
    const statements = Array.from({ length: 8 }, (_, index) =>
      clickhouse.rows(`${LARGE} WHERE {account_id:String} != ''`, OneNumber, {
        params: { account_id: `tenant ${index}` },
      }),
    );
    const outcomes = await Promise.allSettled(statements);
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected').map(({ reason }) => reason as unknown);
    expect(refused.length).toBeGreaterThan(0);
    // A shortage passes: they may be sent again.
    for (const reason of refused)
      expect(reason).toMatchObject({
        type: 'service_unavailable',
        problem: { code: 'memory_short' },
        cause: { code: '241' },
      });
    expect(refused.map(isPassing)).toEqual(refused.map(() => true));
    expect(await clickhouse.rows(LARGE, OneNumber)).toEqual([{ n: 16_000_000 }]);
    // One that is too large by itself never passes.
    const tooLarge = await clickhouse.rows(TOO_LARGE, OneNumber).catch((error: unknown) => error);
    expect(tooLarge).toMatchObject({ type: 'service_unavailable', problem: { code: 'statement_too_large' } });
    expect([isPassing(tooLarge), refusedForGood(tooLarge)]).toEqual([false, 'statement_too_large']);
  } finally {
    await clickhouse.close();
    await engine.stop();
  }
});

test('an engine that takes more memory than its process may have is ended', async () => {
  const engine = await EngineProcess.start(folder, {
    password: 'secret',
    port: 0,
    sessions: 4,
    mostMemoryBytes: 400 * 1024 ** 2,
    reserveBytes: 0,
  });
  const clickhouse = connectClickHouse({
    url: `http://liftgraph:secret@127.0.0.1:${engine.port}`,
    database: 'default',
    logger,
  });
  try {
    const over = new AbortController();
    const asked = throughOutages(over.signal, () => clickhouse.rows(LARGE, OneNumber)).catch(() => undefined);
    await engine.exited;
    over.abort();
    await asked;
    expect(engine.output).toMatch(/it takes \d+ MiB of memory/);
  } finally {
    await clickhouse.close();
  }
});
