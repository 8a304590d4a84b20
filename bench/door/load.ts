// What the door costs, as ratios to Koa that keeps the same promises and to plain Koa, on the same machine in the same
// run, and how it behaves at half and at five times the load that it has to carry, and that it can. Needs about eight
// minutes and a machine with nothing else to do. npm run bench door/load
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedClickHouse } from '../../platform/clickhouse/embedded-server.ts';
import { startEmbeddedPostgres } from '../../platform/postgres/embedded-server.ts';
import { createLogger } from '../../platform/telemetry/logs.ts';
import { pacedLoad, type PacedResult } from './paced-load.ts';
import { startProgram } from './started-program.ts';

interface CannonRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly setupRequest?: (request: CannonRequest) => CannonRequest;
}

/** What is used of autocannon, which comes without types. */
const autocannon = createRequire(import.meta.url)('autocannon') as (options: {
  url: string;
  connections: number;
  duration: number;
  requests: readonly CannonRequest[];
}) => Promise<PacedResult>;

/** Of both sides. Fewer leave a core idle while an answer is on its way. */
const CONNECTIONS = 64;
/** Under overload everybody comes with a connection of his own: what queues, queues at the door. */
const CLIENTS = 4_000;
const OVERLOAD = 5;
const [WARM_S, SLICE_S, MEASURE_S] = [8, 2, 8];
const SLICES = 5;
const HALF_LOAD_RUNS = 3;
const [REQUIRED, POSSIBLE] = ['the load that it has to carry', 'the load that it can carry'];
/** `--profile` writes a CPU profile of the service into the current folder. */
const profile = process.argv.includes('--profile') ? ['--cpu-prof', '--cpu-prof-dir=.'] : [];

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

async function load({
  url,
  keys = [],
  body,
  connections = CONNECTIONS,
  rate,
  seconds = MEASURE_S,
}: Load): Promise<PacedResult> {
  const method = body === undefined ? 'GET' : 'POST';
  const text = body === undefined ? undefined : JSON.stringify(body);
  let turn = 0;
  const headers = (): Record<string, string> => ({
    ...(keys.length === 0 ? {} : { authorization: `Bearer ${keys[turn++ % keys.length]!}` }),
    ...(body === undefined
      ? {}
      : { 'content-type': 'application/json', 'x-nonce': randomUUID(), 'svc-idempotency-key': randomUUID() }),
  });
  if (rate !== undefined)
    return pacedLoad(
      { url, method, headers, ...(text === undefined ? {} : { body: text }) },
      rate,
      seconds,
      connections,
    );
  // Made anew for each request where requests differ.
  const setupRequest =
    body === undefined && keys.length < 2
      ? {}
      : { setupRequest: (request: CannonRequest): CannonRequest => ({ ...request, headers: headers() }) };
  return autocannon({
    url,
    connections,
    duration: seconds,
    requests: [{ method, headers: headers(), ...(text === undefined ? {} : { body: text }), ...setupRequest }],
  });
}

/** Answers with a success per second. */
const goodput = (result: PacedResult): number => result['2xx'] / result.duration;
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const verdict = (value: number, bar: number, isAtLeast: boolean): string =>
  (isAtLeast ? value >= bar : value <= bar) ? 'met' : 'MISSED';

interface Measurement {
  readonly what: string;
  readonly service: Load;
  /** Koa and nothing else; for a POST one committed insert. */
  readonly plain: Load;
  /** Koa that keeps the same promises, and nothing else (see plain-koa.ts). */
  readonly promises: Load;
  /** Of the rate of Koa with the same promises. */
  readonly ratioBar: number;
  /** Requests per second. */
  readonly rateBar: number;
  readonly p99BarMs: number;
}

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)]!;

/** The service's rate, against both. */
async function measureRate({ what, service, plain, promises, ratioBar, rateBar }: Measurement): Promise<number> {
  for (const each of [plain, promises, service]) await load({ ...each, seconds: WARM_S });
  // In turns, so that whatever else the machine does is in the way of all.
  const slices: { readonly koa: number; readonly kept: number; readonly ours: number }[] = [];
  for (let slice = 0; slice < SLICES; slice += 1) {
    const [koa, kept, ours] = [
      await load({ ...plain, seconds: SLICE_S }),
      await load({ ...promises, seconds: SLICE_S }),
      await load({ ...service, seconds: SLICE_S }),
    ].map(goodput);
    slices.push({ koa: koa!, kept: kept!, ours: ours! });
  }
  const ours = median(slices.map((slice) => slice.ours));
  const ratio = median(slices.map((slice) => slice.ours / slice.kept));
  print(`${what}: ${Math.round(ours)}/s (at least ${rateBar}: ${verdict(ours, rateBar, true)})`);
  print(
    `  ${ratio.toFixed(2)} of Koa with the same promises, ${Math.round(median(slices.map((slice) => slice.kept)))}/s ` +
      `(at least ${ratioBar}: ${verdict(ratio, ratioBar, true)})`,
  );
  print(
    `  ${median(slices.map((slice) => slice.ours / slice.koa)).toFixed(3)} of plain Koa, ` +
      `${Math.round(median(slices.map((slice) => slice.koa)))}/s`,
  );
  return ours;
}

/** At half a load: the one that the door has to carry, which the bar is for, or the one that it can. */
async function measureHalfLoad(
  { service, p99BarMs }: Measurement,
  what: string,
  rate: number,
  isBar: boolean,
): Promise<void> {
  const runs: PacedResult[] = [];
  // The first one warms up whoever sends the load, which else waits for its own start.
  for (let run = 0; run <= (isBar ? HALF_LOAD_RUNS : 1); run += 1)
    runs.push(await load({ ...service, rate: rate / 2, seconds: run === 0 ? SLICE_S : MEASURE_S }));
  const [, ...measured] = runs;
  const p99 = median(measured.map(({ latency }) => latency.p99));
  const bar = isBar ? ` (at most ${p99BarMs} ms: ${verdict(p99, p99BarMs, false)})` : '';
  print(
    `  at half ${what}, ${Math.round(rate / 2)}/s: p50 ${median(measured.map(({ latency }) => latency.p50))} ms, p99 ` +
      `${measured.map(({ latency }) => latency.p99).join(', ')} ms${bar}, ` +
      `${measured.reduce((sum, { non2xx }) => sum + non2xx, 0)} refused`,
  );
}

async function measureOverload({ service }: Measurement, what: string, rate: number, isBar: boolean): Promise<void> {
  const over = await load({ ...service, rate: rate * OVERLOAD, connections: CLIENTS });
  const good = goodput(over) / rate;
  print(
    `  offered ${OVERLOAD} times ${what}, ${Math.round(rate * OVERLOAD)}/s: ${Math.round(goodput(over))}/s, ` +
      `${good.toFixed(2)} of it${isBar ? ` (at least 0.8: ${verdict(good, 0.8, true)})` : ''}, ${over.errors} lost`,
  );
  print(
    `    ${over.non2xx} refused, the slowest after ${over.slowestRefusalMs} ms (at most 1000: ` +
      `${verdict(over.slowestRefusalMs ?? Infinity, 1000, false)}); p99 ${over.latency.p99} ms, slowest answer ` +
      `${over.latency.max} ms`,
  );
  const after = await load({ ...service, rate: rate / 2, seconds: 2 });
  print(`    right after: p99 ${after.latency.p99} ms, ${after.non2xx} refused`);
}

/** A new agent's key. */
async function register(root: string): Promise<string> {
  const headers = { 'content-type': 'application/json', 'x-nonce': randomUUID() };
  const registered = await fetch(`${root}/v1/agents/register`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ name: `load-${randomUUID().slice(0, 8)}`, operator_id: randomUUID() }),
  });
  const { api_key: key } = (await registered.json()) as { api_key: string };
  return key;
}

const folder = mkdtempSync(join(tmpdir(), 'liftgraph-load-'));
chmodSync(folder, 0o711);
const logger = createLogger({ level: 'error', format: 'pretty' });
const [postgres, clickhouse] = await Promise.all([
  startEmbeddedPostgres({ dataDir: join(folder, 'postgres'), logger }),
  startEmbeddedClickHouse({ dataDir: join(folder, 'clickhouse'), logger }),
]);
const everybody = 'register=1000000,discovery=1000000';
const service = await startProgram(
  '../../processes/start.ts',
  {
    PORT: '0',
    LIFTGRAPH_DATA_DIR: join(folder, 'data'),
    DATABASE_URL: postgres.applicationUrl,
    DATABASE_OWNER_URL: postgres.ownerUrl,
    CLICKHOUSE_URL: clickhouse.url,
    BILLING: 'on',
    RATE_LIMITS: everybody,
    SOURCES_PER_ACCOUNT: '1000000',
    LOG_LEVEL: 'warn',
  },
  profile,
);
const plain = await startProgram('plain-koa.ts', { DATABASE_URL: postgres.ownerUrl });
try {
  const keys = await Promise.all(Array.from({ length: CONNECTIONS }, () => register(service.root)));
  const admission = goodput(await load({ url: `${plain.root}/admission` }));
  print(`plain Koa with the one round trip of an admission: ${Math.round(admission)}/s`);
  const read = {
    plain: { url: plain.root },
    promises: { url: `${plain.root}/promises` },
    ratioBar: 0.2,
    rateBar: 1500,
    p99BarMs: 50,
  };
  const me = `${service.root}/v1/agents/me`;
  // Five times this would be more than plain Koa answers, and more than the sender can offer beside it.
  const shared: Measurement = {
    what: 'GET /v1/agents/me, one caller',
    service: { url: me, keys: keys.slice(0, 1) },
    ...read,
  };
  const sharedRate = await measureRate(shared);
  await measureHalfLoad(shared, REQUIRED, shared.rateBar, true);
  await measureHalfLoad(shared, POSSIBLE, sharedRate, false);
  const body = { type: 'csv_upload', credentials: {} };
  const connect = `${service.root}/v1/data-sources/connect`;
  const write = {
    plain: { url: plain.root, body },
    promises: { url: `${plain.root}/promises`, body },
    ratioBar: 0.45,
    rateBar: 400,
    p99BarMs: 150,
  };
  for (const each of [
    { what: `GET /v1/agents/me, ${keys.length} callers`, service: { url: me, keys }, ...read },
    {
      what: 'POST /v1/data-sources/connect, one caller',
      service: { url: connect, keys: keys.slice(0, 1), body },
      ...write,
    },
    { what: `POST /v1/data-sources/connect, ${keys.length} callers`, service: { url: connect, keys, body }, ...write },
  ]) {
    const rate = await measureRate(each);
    await measureHalfLoad(each, REQUIRED, each.rateBar, true);
    await measureHalfLoad(each, POSSIBLE, rate, false);
    await measureOverload(each, REQUIRED, each.rateBar, true);
    await measureOverload(each, POSSIBLE, rate, false);
  }
} finally {
  await Promise.all([service.stop(), plain.stop()]);
  await Promise.all([postgres.stop(), clickhouse.stop()]);
  rmSync(folder, { recursive: true, force: true });
}
