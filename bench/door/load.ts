// What the door costs, as ratios to plain Koa on the same machine in the same run, and how it behaves at half its load
// and at five times its load. Needs about three minutes and a machine with nothing else to do.
//   npm run bench door/load
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbeddedClickHouse } from '../../platform/clickhouse/embedded-server.ts';
import { startEmbeddedPostgres } from '../../platform/postgres/embedded-server.ts';
import { createLogger } from '../../platform/telemetry/logs.ts';
import { pacedLoad, type PacedResult } from './paced-load.ts';

interface CannonRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly setupRequest?: (request: CannonRequest) => CannonRequest;
}

/** What is used of autocannon, which comes without types. */
const autocannon = createRequire(import.meta.url)('autocannon') as (options: { url: string; connections: number; duration: number; requests: readonly CannonRequest[] }) => Promise<PacedResult>;

const HOOK = new URL('../../processes/typescript-hook.mjs', import.meta.url).href;
/** Of both sides. Fewer leave a core idle while an answer is on its way. */
const CONNECTIONS = 64;
/** Under overload everybody comes with a connection of his own: what queues, queues at the door. */
const CLIENTS = 4_000;
const OVERLOAD = 5;
const [WARM_S, SLICE_S, MEASURE_S] = [8, 2, 8];
const SLICES = 5;
/** `--profile` writes a CPU profile of the service into the current folder. */
const profile = process.argv.includes('--profile') ? ['--cpu-prof', '--cpu-prof-dir=.'] : [];

interface Started {
  readonly root: string;
  stop(): Promise<void>;
}

/** Starts a program and waits until it says where it listens. */
async function start(program: string, env: Record<string, string>, options: readonly string[] = []): Promise<Started> {
  const child: ChildProcess = spawn(process.execPath, [...options, '--import', HOOK, fileURLToPath(new URL(program, import.meta.url))], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const root = await new Promise<string>((resolve, reject) => {
    let output = '';
    child.stdout!.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const address = / is up at (http:\/\/[^/\s]+)/.exec(output)?.[1];
      if (address !== undefined) resolve(address);
    });
    void ended.then(() => reject(new Error(`${program} ended: ${output.slice(-500)}`)));
  });
  return {
    root,
    stop: async () => {
      child.kill('SIGINT');
      await ended;
    },
  };
}

interface Load {
  readonly url: string;
  /** Whose turn it is changes with every request. */
  readonly keys?: readonly string[];
  /** A POST with this body, a fresh nonce and a fresh idempotency key each time; a GET without it. */
  readonly body?: unknown;
  readonly connections?: number;
  /** Requests per second that are sent, whatever comes back; as fast as answers come when absent. */
  readonly rate?: number;
  readonly seconds?: number;
}

async function load({ url, keys = [], body, connections = CONNECTIONS, rate, seconds = MEASURE_S }: Load): Promise<PacedResult> {
  const method = body === undefined ? 'GET' : 'POST';
  const text = body === undefined ? undefined : JSON.stringify(body);
  let turn = 0;
  const headers = (): Record<string, string> => ({
    ...(keys.length === 0 ? {} : { authorization: `Bearer ${keys[turn++ % keys.length]!}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'x-nonce': randomUUID(), 'svc-idempotency-key': randomUUID() }),
  });
  if (rate !== undefined) return pacedLoad({ url, method, headers, ...(text === undefined ? {} : { body: text }) }, rate, seconds, connections);
  // Made anew for each request where requests differ.
  const setupRequest = body === undefined && keys.length < 2 ? {} : { setupRequest: (request: CannonRequest): CannonRequest => ({ ...request, headers: headers() }) };
  return autocannon({ url, connections, duration: seconds, requests: [{ method, headers: headers(), ...(text === undefined ? {} : { body: text }), ...setupRequest }] });
}

/** Answers with a success per second. */
const goodput = (result: PacedResult): number => result['2xx'] / result.duration;
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const verdict = (value: number, bar: number, isAtLeast: boolean): string => ((isAtLeast ? value >= bar : value <= bar) ? 'met' : 'MISSED');

async function measure(what: string, service: Load, plain: Load, ratioBar: number, p99BarMs: number): Promise<void> {
  await load({ ...plain, seconds: WARM_S });
  await load({ ...service, seconds: WARM_S });
  // In turns, so that whatever else the machine does is in the way of both.
  const slices: { readonly koa: number; readonly ours: number }[] = [];
  for (let slice = 0; slice < SLICES; slice += 1) slices.push({ koa: goodput(await load({ ...plain, seconds: SLICE_S })), ours: goodput(await load({ ...service, seconds: SLICE_S })) });
  const { koa, ours } = slices.toSorted((one, other) => one.ours / one.koa - other.ours / other.koa)[Math.floor(SLICES / 2)]!;
  print(`${what}: ${Math.round(ours)}/s, plain Koa ${Math.round(koa)}/s, ratio ${(ours / koa).toFixed(3)} (at least ${ratioBar}: ${verdict(ours / koa, ratioBar, true)})`);
  // Whoever sends the load has to be warm, too, or waits for its own start.
  await load({ ...service, rate: ours / 2, seconds: SLICE_S });
  const half = await load({ ...service, rate: ours / 2 });
  print(`  at half its load: p50 ${half.latency.p50} ms, p99 ${half.latency.p99} ms (at most ${p99BarMs} ms: ${verdict(half.latency.p99, p99BarMs, false)}), ${half.non2xx} refused`);
  const over = await load({ ...service, rate: ours * OVERLOAD, connections: CLIENTS });
  print(`  offered ${OVERLOAD} times its load: ${Math.round(goodput(over))}/s, ${(goodput(over) / ours).toFixed(2)} of before (at least 0.8: ${verdict(goodput(over) / ours, 0.8, true)}), ${over.non2xx} refused, slowest answer ${over.latency.max} ms, ${over.errors} lost`);
  const after = await load({ ...service, rate: ours / 2, seconds: 2 });
  print(`  right after: p99 ${after.latency.p99} ms, ${after.non2xx} refused`);
}

/** A new agent's key. */
async function register(root: string): Promise<string> {
  const headers = { 'content-type': 'application/json', 'x-nonce': randomUUID() };
  const registered = await fetch(`${root}/v1/agents/register`, { method: 'POST', headers, body: JSON.stringify({ name: `load-${randomUUID().slice(0, 8)}`, operator_id: randomUUID() }) });
  const { api_key: key } = (await registered.json()) as { api_key: string };
  return key;
}

const folder = mkdtempSync(join(tmpdir(), 'liftgraph-load-'));
chmodSync(folder, 0o711);
const logger = createLogger({ level: 'error', format: 'pretty' });
const [postgres, clickhouse] = await Promise.all([startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), logger }), startEmbeddedClickHouse({ dataDir: join(folder, 'clickhouse'), logger })]);
const everybody = 'register=1000000,discovery=1000000';
const service = await start('../../processes/start.ts', { PORT: '0', LIFTGRAPH_DATA_DIR: join(folder, 'data'), DATABASE_URL: postgres.applicationUrl, DATABASE_OWNER_URL: postgres.ownerUrl, CLICKHOUSE_URL: clickhouse.url, RATE_LIMITS: everybody, LOG_LEVEL: 'warn' }, profile);
const plain = await start('plain-koa.ts', { DATABASE_URL: postgres.ownerUrl });
try {
  const keys = await Promise.all(Array.from({ length: CONNECTIONS }, () => register(service.root)));
  const admission = goodput(await load({ url: `${plain.root}/admission` }));
  print(`plain Koa with the one round trip of an admission: ${Math.round(admission)}/s`);
  const promises = goodput(await load({ url: `${plain.root}/promises` }));
  print(`plain Koa with the round trips of a read: ${Math.round(promises)}/s`);
  const me = `${service.root}/v1/agents/me`;
  await measure('GET /v1/agents/me, one caller', { url: me, keys: keys.slice(0, 1) }, { url: plain.root }, 0.2, 50);
  await measure(`GET /v1/agents/me, ${keys.length} callers`, { url: me, keys }, { url: plain.root }, 0.2, 50);
  const source = { type: 'csv_upload', credentials: {} };
  await measure('POST /v1/data-sources/connect', { url: `${service.root}/v1/data-sources/connect`, keys: keys.slice(0, 1), body: source }, { url: plain.root, body: source }, 0.45, 150);
} finally {
  await Promise.all([service.stop(), plain.stop()]);
  await Promise.all([postgres.stop(), clickhouse.stop()]);
  rmSync(folder, { recursive: true, force: true });
}
