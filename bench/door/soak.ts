// Whether the service stays as it is for as long as it runs: clients of every kind for as long as it is told, and the
// slope of what it holds behind the first quarter, each minute right after a full collection (between them V8 lets
// garbage lie for hundreds of megabytes): live objects, resident memory, files, handles and connections; and the memory
// of the stores that it has started. Linux only. npm run bench door/soak [minutes, default 60]
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from 'graphql-ws';
import { generateShop } from '../../examples/shop/generate.ts';
import { SHOP_DAYS } from '../../examples/shop/shop-calendar.ts';
import { INSPECTABLE, memoryKept } from '../../test/faults/inspected-memory.ts';
import { startedBy } from '../../test/faults/process-tree.ts';
import { Service } from '../../test/faults/service.ts';

const minutes = Number(process.argv[2] ?? 60);
const [MINUTE_MS, DAY_MS] = [60_000, 86_400_000];
const WARM_SHARE = 0.25;
/** About 1,000 touchpoints. */
const SHOPPERS = 87;
const EVERYBODY = 'register=1000000,discovery=1000000,oauth=1000000';
/** Metrics of the service itself that count something. */
const COUNTS = {
  process_open_fds: 'files',
  nodejs_active_handles_total: 'handles',
  liftgraph_postgres_connections_open: 'connections',
  liftgraph_streams_open: 'streams',
} as const;
/**
 * Programs of others: their caches fill for longer, and each connection of PostgreSQL is a process. Shown without a
 * bar.
 */
const STORES = ['MiB in the engine', 'MiB in PostgreSQL'];
const UNITS = ['MiB of objects', 'MiB resident', ...STORES, ...Object.values(COUNTS)];
/** Growth of each in ten minutes. */
const BAR = 1;

interface Sample {
  readonly minute: number;
  /** As {@link UNITS}. */
  readonly values: readonly number[];
}

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const folder = mkdtempSync(join(tmpdir(), 'liftgraph-soak-'));
chmodSync(folder, 0o711);
const service = await Service.start({
  env: {
    LIFTGRAPH_DATA_DIR: join(folder, 'data'),
    BILLING: 'on',
    RATE_LIMITS: EVERYBODY,
    SOURCES_PER_ACCOUNT: '1000000',
    LOG_LEVEL: 'warn',
  },
  nodeOptions: INSPECTABLE,
});
const endDate = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10);
const startDate = new Date(Date.parse(endDate) - (SHOP_DAYS - 1) * DAY_MS).toISOString().slice(0, 10);
const counts = new Map<string, number>();
const startedMs = performance.now();
const isOver = (): boolean => performance.now() - startedMs > minutes * MINUTE_MS;

const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);

async function send(method: string, path: string, key?: string, body?: unknown): Promise<Answer> {
  const response = await fetch(`${service.root}${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      'x-nonce': randomUUID(),
      'svc-idempotency-key': randomUUID(),
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  count(String(response.status));
  // A busy machine may let the database be missed for a moment; the report tells how often.
  if (response.status === 500) throw new Error(`${method} ${path}: ${text}`);
  return { status: response.status, body: text.startsWith('{') ? (JSON.parse(text) as Answer['body']) : {} };
}

async function register(): Promise<{ readonly key: string; readonly agentId: string }> {
  const { body } = await send('POST', '/v1/agents/register', undefined, {
    name: `soak-${randomUUID().slice(0, 8)}`,
    operator_id: randomUUID(),
  });
  return { key: String(body['api_key']), agentId: String(body['agent_id']) };
}

/** Reads, and asks for what there is not, and what it may not. */
async function read(): Promise<void> {
  const { key } = await register();
  while (!isOver()) {
    for (const path of [
      '/v1/agents/me',
      '/v1/data-sources?per_page=5',
      '/v1/keys',
      '/v1/referrals',
      '/v1/attribution/attr_none',
      '/v1/nowhere',
    ])
      await send('GET', path, key);
    await send('GET', '/v1/agents/me', 'svc_live_sk_000000000000000000000000');
    await send('POST', '/graphql', key, {
      query: '{ dataSources(first: 3) { totalCount edges { node { id status } } } }',
    });
    await sleep(50);
  }
}

/** Makes sources and takes them away again. */
async function write(): Promise<void> {
  const { key } = await register();
  while (!isOver()) {
    const { body } = await send('POST', '/v1/data-sources/connect', key, { type: 'csv_upload', credentials: {} });
    await send('DELETE', `/v1/data-sources/${String(body['data_source_id'])}`, key);
    await send('POST', '/v1/data-sources/connect', key, { type: 'no_such_type' });
    await sleep(50);
  }
}

/** Takes tokens, uses them and gives them back. */
async function authorise(): Promise<void> {
  const { key, agentId } = await register();
  while (!isOver()) {
    const { body } = await send('POST', '/v1/oauth/token', undefined, {
      grant_type: 'client_credentials',
      client_id: agentId,
      client_secret: key,
    });
    const token = String(body['access_token']);
    await send('GET', '/v1/agents/me', token);
    await send('POST', '/v1/oauth/revoke', undefined, { token, client_id: agentId, client_secret: key });
    await sleep(200);
  }
}

/** Analyses over and over, and listens to each analysis by both kinds of stream. */
async function analyse(content: string): Promise<void> {
  const { key } = await register();
  const { body } = await send('POST', '/v1/data-sources/connect', key, {
    type: 'csv_upload',
    credentials: { content },
  });
  const source = String(body['data_source_id']);
  while (!isOver()) {
    const socket = createClient({
      url: `${service.root.replace('http', 'ws')}/graphql`,
      connectionParams: { authorization: `Bearer ${key}` },
      retryAttempts: 0,
      lazyCloseTimeout: 0,
    });
    const ended = new Promise<void>((resolve) => socket.on('closed', () => resolve()));
    const unsubscribe = socket.subscribe(
      {
        query: 'subscription Watch($id: ID!) { dataSourceStatus(id: $id) { sequence kind } }',
        variables: { id: source },
      },
      {
        next: () => count('event'),
        error: (error) => count(`refused subscription ${JSON.stringify(error)}`),
        complete: () => undefined,
      },
    );
    const { body: analysis } = await send('POST', '/v1/attribution', key, {
      data_source_id: source,
      date_range: [startDate, endDate],
    });
    await send('GET', `/v1/attribution/${String(analysis['attribution_id'])}/stream`, key);
    unsubscribe();
    await socket.dispose();
    await ended;
    await sleep(500);
  }
}

async function watch(): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  while (!isOver()) {
    await sleep(MINUTE_MS);
    const { liveMib, residentMib } = await memoryKept(service);
    const metrics = await (await fetch(`${service.root}/metrics`)).text();
    const values = [
      liveMib,
      residentMib,
      ...storesMib(),
      ...Object.keys(COUNTS).map((name) =>
        Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(metrics)?.[1] ?? Number.NaN),
      ),
    ];
    samples.push({ minute: (performance.now() - startedMs) / MINUTE_MS, values });
    process.stdout.write(
      `${samples.length} min: ${values.map((value, place) => `${value.toFixed(1)} ${UNITS[place]}`).join(', ')}\n`,
    );
  }
  return samples;
}

/**
 * What the embedded engine and all processes of the embedded PostgreSQL have of their own: pages that they share count
 * for none.
 */
function storesMib(): readonly [engineMib: number, postgresMib: number] {
  const [engine, postgres]: [number[], number[]] = [[], []];
  for (const { pid, name } of startedBy(service.pid))
    if (pid !== service.pid) (name === 'postgres' ? postgres : engine).push(ownMib(pid));
  return [engine.reduce((sum, each) => sum + each, 0), postgres.reduce((sum, each) => sum + each, 0)];
}

/** 0 for a process that has just ended: PostgreSQL's connections come and go. */
function ownMib(pid: number): number {
  try {
    return Number(/^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return 0;
    throw error;
  }
}

/** Median of the slopes between any two minutes (Theil 1950, Sen 1968), which single steps do not move. */
function slopePerMinute(samples: readonly Sample[], place: number): number {
  const slopes = samples
    .flatMap((one, index) =>
      samples
        .slice(index + 1)
        .map((other) => (other.values[place]! - one.values[place]!) / (other.minute - one.minute)),
    )
    .toSorted((one, other) => one - other);
  return slopes[Math.floor(slopes.length / 2)] ?? Number.NaN;
}

try {
  const files = await generateShop({ directory: join(folder, 'shop'), seed: 1, endDate, users: SHOPPERS });
  const content = readFileSync(files.events, 'utf8');
  const [samples] = await Promise.all([
    watch(),
    ...Array.from({ length: 4 }, read),
    ...Array.from({ length: 2 }, write),
    authorise(),
    analyse(content),
  ]);
  const settled = samples.filter(({ minute }) => minute > minutes * WARM_SHARE);
  process.stdout.write(
    `${minutes} min, answers by status, and events: ` +
      `${[...counts].map(([status, number]) => `${status} ${number}`).join(', ')}\n`,
  );
  for (const [place, unit] of UNITS.entries()) {
    const growth = slopePerMinute(settled, place) * 10;
    const verdict = STORES.includes(unit) ? '' : ` (at most ${BAR}: ${growth <= BAR ? 'met' : 'MISSED'})`;
    process.stdout.write(
      `${unit}: ${settled[0]!.values[place]!.toFixed(1)} to ${settled.at(-1)!.values[place]!.toFixed(1)}, ` +
        `${growth.toFixed(2)} in ten minutes${verdict}\n`,
    );
  }
} finally {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
}
