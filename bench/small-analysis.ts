// How long a small analysis takes from request to result in the all-in-one process, against its parts:
//   npm run bench small-analysis
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateShop } from '../examples/shop/generate.ts';
import { SHOP_DAYS } from '../examples/shop/shop-calendar.ts';
import { loadConfig } from '../processes/config/config.ts';
import { createLogger } from '../platform/telemetry/logs.ts';
import { startAll } from '../processes/roles/all.ts';

const RUNS = 40;
const WARM_UP = 10;
/** About 10,000 touchpoints. */
const SHOPPERS = 870;
const PORT = 4390;
const DAY_MS = 86_400_000;

const dataDir = await mkdtemp(join(tmpdir(), 'liftgraph-bench-'));
const endDate = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10);
const startDate = new Date(Date.parse(endDate) - (SHOP_DAYS - 1) * DAY_MS).toISOString().slice(0, 10);
const files = await generateShop({ directory: join(dataDir, 'shop'), seed: 1, endDate, users: SHOPPERS });
const running = await startAll(
  loadConfig({
    LIFTGRAPH_DATA_DIR: dataDir,
    PORT: String(PORT),
    LOG_LEVEL: 'warn',
    // A new agent may call sixty times a minute.
    BILLING: 'on',
    RATE_LIMITS: 'discovery=1000000',
  }),
  createLogger({ level: 'warn', format: 'json' }),
);
try {
  const key = String(
    (await send('POST', '/agents/register', { name: 'bench-agent', operator_id: randomUUID() })).api_key,
  );
  const source = String(
    (
      await send(
        'POST',
        '/data-sources/connect',
        { type: 'csv_upload', credentials: { content: readFileSync(files.events, 'utf8') } },
        key,
      )
    ).data_source_id,
  );
  const request = { data_source_id: source, date_range: [startDate, endDate] };
  const touches = (await send('POST', '/attribution', request, key)) as unknown as {
    diagnostics: { touches: number; elapsed_ms: number };
  };

  const analyses = await timed(() => send('POST', '/attribution', request, key));
  const reads = await timed(() => send('GET', '/data-sources', undefined, key));
  const writes = await timed(() => send('POST', '/data-sources/connect', { type: 'csv_upload', credentials: {} }, key));
  console.log(
    `${touches.diagnostics.touches} touchpoints, ${RUNS} runs after ${WARM_UP} to warm up; milliseconds, median (p95)`,
  );
  console.log(`analysis, request to result   ${shown(analyses)}`);
  console.log(`one read through the door     ${shown(reads)}`);
  console.log(`one committed write           ${shown(writes)}`);
  console.log(`analysis / committed write    ${(quantile(analyses, 0.5) / quantile(writes, 0.5)).toFixed(1)}`);
} finally {
  await running.stop();
  await rm(dataDir, { recursive: true, force: true });
}
process.exit(0);

async function send(method: string, path: string, body?: unknown, key?: string): Promise<Record<string, unknown>> {
  const response = await fetch(`http://127.0.0.1:${PORT}/v1${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      'x-nonce': randomUUID(),
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as Record<string, unknown>;
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

async function timed(run: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < WARM_UP + RUNS; i += 1) {
    const startedMs = performance.now();
    await run();
    if (i >= WARM_UP) times.push(performance.now() - startedMs);
  }
  return times.toSorted((a, b) => a - b);
}

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.floor(share * (sorted.length - 1))]!;
}

function shown(sorted: readonly number[]): string {
  return `${quantile(sorted, 0.5).toFixed(1)} (${quantile(sorted, 0.95).toFixed(1)})`;
}
