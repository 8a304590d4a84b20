// The main job at full size, as a client of the running service: a file of touchpoints in, the causal result out.
//   npm run bench main-job            10 million touchpoints
//   npm run bench main-job 1000000
// Prints seconds per step and the largest memory of all processes of the service together. Linux only.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createReadStream, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeConversions, writeTouchpoints } from './ingest/touchpoint-file.ts';

const touchpoints = Number(process.argv[2] ?? 10_000_000);
const PORT = 4391;
const ROOT = `http://127.0.0.1:${PORT}`;
/** The generated history: 180 days from the first of January 2025. */
const DATE_RANGE = ['2025-01-01', '2025-06-29'];
const SAMPLE_MS = 250;

const folder = await mkdtemp(join(tmpdir(), 'liftgraph-bench-'));
const dataDir = join(folder, 'data');
const [touchFile, orderFile] = [join(folder, 'touchpoints.csv'), join(folder, 'orders.csv')];
await writeTouchpoints(touchFile, touchpoints);
await writeConversions(orderFile, touchpoints);

const service = spawn(process.execPath, [join(import.meta.dirname, '../processes/launch.mjs'), 'start'], {
  env: { ...process.env, LIFTGRAPH_DATA_DIR: dataDir, PORT: String(PORT), LOG_LEVEL: 'warn' },
  stdio: ['ignore', 'ignore', 'inherit'],
});
let peakBytes = 0;
const sampler = setInterval(() => (peakBytes = Math.max(peakBytes, serviceBytes())), SAMPLE_MS);
try {
  await untilReady();
  const idleBytes = serviceBytes();
  const key = String((await send('/agents/register', { name: 'bench-agent', operator_id: randomUUID() }))['api_key']);
  const source = String(
    (await send('/data-sources/connect', { type: 'csv_upload', credentials: {} }, key))['data_source_id'],
  );
  const upload = (file: string) =>
    timed(() =>
      sendBody(`/data-sources/${source}/records`, createReadStream(file, { highWaterMark: 1 << 20 }), 'text/csv', key),
    );

  const stored = await upload(touchFile);
  await upload(orderFile);
  const uploadPeakBytes = peakBytes;
  const first = await timed(() =>
    send('/attribution', { data_source_id: source, date_range: DATE_RANGE }, key, { prefer: 'wait=60' }),
  );
  const second = await timed(() =>
    send('/attribution', { data_source_id: source, date_range: DATE_RANGE }, key, { prefer: 'wait=60' }),
  );
  const [one, two] = [first.result, second.result] as {
    status: string;
    diagnostics: { journeys: number; run_digest: string; elapsed_ms: number };
  }[];
  if (one!.status !== 'completed' || one!.diagnostics.run_digest !== two!.diagnostics.run_digest)
    throw new Error('the two runs differ');

  console.log(`${touchpoints} touchpoints, ${one!.diagnostics.journeys} journeys`);
  console.log(`file to stored, through the door    ${seconds(stored.tookMs)}`);
  console.log(
    `stored to causal result             ${seconds(first.tookMs)}, again ${seconds(second.tookMs)}; same digest`,
  );
  console.log(
    `memory of all processes, MB         idle ${megabytes(idleBytes)}, peak while uploading ` +
      `${megabytes(uploadPeakBytes)}, peak of all ${megabytes(peakBytes)}`,
  );
} finally {
  clearInterval(sampler);
  const ended = new Promise((resolve) => service.once('exit', resolve));
  service.kill('SIGTERM');
  await ended;
  await rm(folder, { recursive: true, force: true });
}

/** Proportional set size of every process that was started with our data directory: shared pages are counted once. */
function serviceBytes(): number {
  let bytes = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`LIFTGRAPH_DATA_DIR=${dataDir}`)) continue;
      bytes += Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))?.[1] ?? 0) * 1024;
    } catch (error) {
      // A process that has just ended has nothing to add.
      if (!['ENOENT', 'ESRCH', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    }
  }
  return bytes;
}

async function untilReady(): Promise<void> {
  for (;;) {
    const ready = await fetch(`${ROOT}/readyz`).then(
      (response) => response.ok,
      () => false,
    );
    if (ready) return;
    if (service.exitCode !== null) throw new Error('the service did not start');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function send(
  path: string,
  body: unknown,
  key?: string,
  headers: Record<string, string> = {},
): Promise<Record<string, unknown>> {
  return sendBody(path, JSON.stringify(body), 'application/json', key, headers);
}

async function sendBody(
  path: string,
  body: unknown,
  contentType: string,
  key?: string,
  headers: Record<string, string> = {},
): Promise<Record<string, unknown>> {
  const request = {
    method: 'POST',
    headers: {
      'content-type': contentType,
      'x-nonce': randomUUID(),
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...headers,
    },
    body: body as NonNullable<RequestInit['body']>,
    duplex: 'half',
  };
  const response = await fetch(`${ROOT}/v1${path}`, request);
  const answer = (await response.json()) as Record<string, unknown>;
  if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

async function timed<Result>(work: () => Promise<Result>): Promise<{ result: Result; tookMs: number }> {
  const startedMs = performance.now();
  return { result: await work(), tookMs: performance.now() - startedMs };
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 1e6);
}
