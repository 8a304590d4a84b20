import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { EARLIEST_DAY, MAX_AHEAD_HOURS } from '../schema/day-range.ts';
import { startComputeThreads, type ComputeThreads } from '../compute/threads.ts';
import { KeyStore } from '../services/identity/keys/key-store.ts';
import { RATE_CLASSES, type RateLimits } from '../services/identity/limits/rate-limits.ts';
import { DEFAULT_TIER_TABLE, type Billing } from '../processes/config/config.ts';
import { PostgresClaims, type ClaimsOptions } from '../services/idempotency/claims.ts';
import { principalTokens } from '../platform/graph/principal-token.ts';
import { startSubgraphServer } from '../platform/graph/subgraph-server.ts';
import { SEND_TIMEOUT_MS, SHOWN_RESPONSE_BYTES } from '../services/webhooks/send-message.ts';
import { createCaller } from '../platform/outgoing/caller.ts';
import { createLogger, type Logger } from '../platform/telemetry/logs.ts';
import { admissionServices } from '../processes/admission-services.ts';
import type { AuditPlaces } from '../processes/audit-services.ts';
import { localExports } from '../processes/exports-port.ts';
import { forwardExports, serveExports } from '../processes/exports-transport.ts';
import { MIGRATION_OWNERS, openBackingServices, type BackingServices } from '../processes/backing-services.ts';
import type { DiskWatch } from '../processes/disk-watch.ts';
import { healthOf } from '../processes/health.ts';
import { openPublicServer, type PublicServer, type PublicServerOptions } from '../processes/public-server.ts';
import { localRecords } from '../processes/records-port.ts';
import { forwardRecords, serveRecords } from '../processes/records-transport.ts';
import { buildSubgraphs, recordsPort } from '../processes/subgraph-set.ts';
import { startWorker } from '../processes/worker.ts';
import type { Connectors } from '../subgraphs/attribution/intake/connectors/registry.ts';
import { freePort } from './free-port.ts';
import { lookupFor } from './known-names.ts';
import { sized } from './run-length.ts';
import { createTestClickHouse, createTestDatabase, PATIENCE_MS } from './platform.ts';

/** How the house is laid out: everything in one process, or the subgraphs behind HTTP and WebSocket. */
export type Layout = 'one process' | 'subgraphs apart';
/** Each run has one: together they have both. */
export const LAYOUTS: readonly Layout[] = sized({ short: ['one process'], long: ['subgraphs apart'] });
export const BOTH_LAYOUTS: readonly Layout[] = ['one process', 'subgraphs apart'];

export interface House {
  /** `http://127.0.0.1:port`. */
  readonly root: string;
  readonly backing: BackingServices;
  /** Issues further keys to whoever has registered. */
  readonly keys: KeyStore;
  /** What keys and tokens are sealed under. */
  readonly keyPepper: Buffer;
  readonly ownerUrl: string;
  /** Where the parts of the audit log are that the database does not hold. */
  readonly auditPlaces: AuditPlaces;
  /** What the service knows and must never tell. */
  readonly secrets: readonly string[];
  /** Everything that was logged, one JSON object per line. */
  readonly log: () => string;
  stop(): Promise<void>;
}

export interface HouseOptions {
  /** Whether jobs are taken; true. */
  readonly withWorker?: boolean;
  /** Shorter leases and waits for idempotency keys. */
  readonly claims?: Pick<ClaimsOptions, 'leaseMs' | 'waitMs'>;
  /** The service's clock; the system's. */
  readonly clock?: () => Date;
  /** Those of the contract are in the way of most tests: without this nobody is limited. */
  readonly rateLimits?: RateLimits;
  /** `off` for a house whose accounts pay nothing; on. */
  readonly billing?: Billing;
  /** Opens the page of the first account. */
  readonly bootstrapToken?: string;
  /** Whether the address that the service tells others is the one it listens on; false. */
  readonly isPublic?: boolean;
  /** Settings of the doors that differ from a house's usual ones. */
  readonly config?: Partial<PublicServerOptions['config']>;
  /**
   * How webhooks go out: to private addresses, too, and for as long as they do unless said otherwise. Names of .example
   * lead to this machine.
   */
  readonly webhooks?: {
    readonly allowPrivate?: boolean;
    readonly timeoutMs?: number;
    readonly waitsMs?: readonly number[];
  };
  /** Watches the disk of the stores; nobody does when absent. */
  readonly disk?: DiskWatch;
  /** The types of data sources that it serves; those of every deployment. */
  readonly connectors?: Connectors;
  /** Of an exported file, where it is less than what every deployment allows. */
  readonly maxExportBytes?: number;
  /** What is logged; info. */
  readonly logLevel?: 'trace' | 'info';
}

const PUBLIC_BASE_URL = 'http://127.0.0.1:4000/v1';
const SANDBOX_BASE_URL = 'http://sandbox.example/v1';
const GENEROUS = Object.fromEntries(
  RATE_CLASSES.map((rateClass) => [rateClass, { perMinute: 1_000_000, perDay: null }]),
) as unknown as RateLimits;
/** What the signing keys of a house are sealed under. */
export const TEST_SECRET = 'a-secret-for-tests-that-nobody-else-uses';
const LEASE_S = 4;
const COMPUTE_THREADS = 2;
const CONNECTIONS = 5_000;
const UPLOAD_MAX_BYTES = 64 * 1024 * 1024;

/** Of all houses of this process: a thread that has run the models before runs them in half of the time. */
let threads: ComputeThreads | undefined;

// Outside of openHouse: what these give to resolvers, type-graphql keeps forever, and closures in there would keep the
// whole house.
const systemClock = (): Date => new Date();

function loggerToMemory(level: 'trace' | 'info'): { readonly logger: Logger; readonly text: () => string } {
  const lines: string[] = [];
  const destination = new Writable({ write: (chunk, _encoding, done) => (lines.push(String(chunk)), done()) });
  return { logger: createLogger({ level, format: 'json', destination }), text: () => lines.join('') };
}

/** The whole service on the test servers, with a database of its own, on a free port. */
export async function openHouse(layout: Layout, options: HouseOptions = {}): Promise<House> {
  const clock = options.clock ?? systemClock;
  const billing = options.billing ?? 'on';
  const disk = options.disk === undefined ? {} : { disk: options.disk };
  const exportsOf = (stores: BackingServices) =>
    localExports(options.maxExportBytes === undefined ? stores : { ...stores, maxBytes: options.maxExportBytes });
  const connectors = options.connectors === undefined ? {} : { connectors: options.connectors };
  const { logger, text: log } = loggerToMemory(options.logLevel ?? 'info');
  const [database, clickhouse] = await Promise.all([createTestDatabase(MIGRATION_OWNERS), createTestClickHouse()]);
  const dataDir = mkdtempSync(join(tmpdir(), 'liftgraph-house-'));
  const backing = await openBackingServices({
    config: {
      databasePoolMax: 8,
      jobLeaseS: LEASE_S,
      dataDir,
      diskReserveBytes: 0,
      rowsEarliestDay: EARLIEST_DAY,
      rowsMaxAheadHours: MAX_AHEAD_HOURS,
    },
    database,
    clickhouse,
    applicationName: 'house',
    logger,
    databaseTimeoutMs: PATIENCE_MS,
    ...disk,
  });
  const keyPepper = Buffer.from(randomBytes(32).toString('base64url'));
  const keys = new KeyStore(backing.database, keyPepper);
  const places: AuditPlaces = {
    headsFile: join(dataDir, 'audit-heads.ndjson'),
    archiveDirectory: join(dataDir, 'audit-archive'),
  };
  const outgoing = createCaller({
    allowPrivate: options.webhooks?.allowPrivate ?? true,
    timeoutMs: options.webhooks?.timeoutMs ?? SEND_TIMEOUT_MS,
    maxResponseBytes: SHOWN_RESPONSE_BYTES,
    lookup: lookupFor(options.webhooks?.allowPrivate ?? true),
  });
  const subgraphs = await buildSubgraphs({
    backing,
    keyPepper,
    keyEncryptionKey: TEST_SECRET,
    outgoing,
    auditPlaces: places,
    ...connectors,
    clock,
    config: { billing },
  });
  const records = recordsPort({ backing, clock });
  const worker =
    options.withWorker === false
      ? null
      : await startWorker({
          backing,
          config: {
            computeThreads: COMPUTE_THREADS,
            jobConcurrency: 2,
            jobLeaseS: LEASE_S,
            publicBaseUrl: PUBLIC_BASE_URL,
            signingKeyDays: 0,
            auditHeadsFile: places.headsFile,
            auditArchiveDir: places.archiveDirectory,
            dataDir,
            tierTable: DEFAULT_TIER_TABLE,
            commissionDecay: 'none',
          },
          threads: (threads ??= startComputeThreads(COMPUTE_THREADS)),
          keyEncryptionKey: TEST_SECRET,
          outgoing,
          ...connectors,
          logger,
          clock,
          ...(options.webhooks?.waitsMs === undefined ? {} : { deliveryWaitsMs: options.webhooks.waitsMs }),
        });

  const internalSecret = randomBytes(32).toString('hex');
  const tokens = principalTokens(internalSecret, clock);
  const servers =
    layout === 'one process'
      ? []
      : await Promise.all(
          subgraphs.map((subgraph) =>
            startSubgraphServer({
              subgraph,
              tokens,
              host: '127.0.0.1',
              port: 0,
              logger,
              streams: {
                ...serveRecords(localRecords(backing.database, records)),
                ...serveExports(exportsOf(backing)),
              },
            }),
          ),
        );
  const remote = subgraphs.map(({ name, sdl }, index) => ({ name, sdl, url: servers[index]?.url ?? '' }));
  const port = options.isPublic === true ? await freePort() : 0;
  const publicBaseUrl = port === 0 ? PUBLIC_BASE_URL : `http://127.0.0.1:${port}/v1`;
  let publicServer: PublicServer | null = await openPublicServer({
    ...admissionServices({
      backing,
      config: {
        rateLimits: options.rateLimits ?? GENEROUS,
        billing,
        bootstrapToken: options.bootstrapToken,
        publicBaseUrl,
      },
      keyPepper,
      keyEncryptionKey: TEST_SECRET,
      logger,
    }),
    ...(options.claims === undefined
      ? {}
      : { claims: new PostgresClaims({ ...backing, secret: TEST_SECRET, logger, ...options.claims }) }),
    config: {
      host: '127.0.0.1',
      port,
      publicBaseUrl,
      sandboxBaseUrl: SANDBOX_BASE_URL,
      uploadMaxBytes: UPLOAD_MAX_BYTES,
      trustedProxyHops: 0,
      connectionsMax: CONNECTIONS,
      connectionsMaxPerAddress: CONNECTIONS,
      graphqlIntrospection: true,
      ...options.config,
    },
    subgraphs: layout === 'one process' ? subgraphs : remote,
    internalSecret,
    ...(layout === 'one process'
      ? localRecords(backing.database, records)
      : forwardRecords(remote.find(({ name }) => name === 'attribution')!.url, tokens)),
    exportAttribution:
      layout === 'one process'
        ? exportsOf(backing)
        : forwardExports(remote.find(({ name }) => name === 'attribution')!.url, tokens),
    health: (pingSubgraphs) =>
      healthOf({ pingSubgraphs, backing, pool: worker?.pool ?? null, ...disk, uptimeSeconds: () => 1 }),
    registry: backing.registry,
    logger,
    clock,
  });
  return {
    root: `${options.config?.tlsCertFile === undefined ? 'http' : 'https'}://127.0.0.1:${publicServer.port}`,
    backing,
    keys,
    keyPepper,
    ownerUrl: database.ownerUrl,
    auditPlaces: places,
    secrets: [
      TEST_SECRET,
      internalSecret,
      keyPepper.toString('latin1'),
      new URL(database.ownerUrl).password,
      new URL(database.applicationUrl).password,
    ],
    log,
    async stop() {
      await publicServer?.stop();
      // Variables of test files outlive the files: what they hold of a house that is closed is small without this.
      publicServer = null;
      await Promise.all(servers.map((server) => server.close()));
      await worker?.close();
      await backing.close();
      await outgoing.close();
      await Promise.all([database.drop(), clickhouse.drop()]);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** A parsed JSON body that a test looks into; turn leaves into text or numbers with String and Number. */
export interface Json {
  readonly [member: string]: Json;
}

/** An answer of the REST door, its body parsed. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The body as it came. */
  readonly text: string;
  readonly body: Json;
}

/** A caller of the REST door and the graph, with a key of its own. */
export class Caller {
  readonly #root: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly key: string | null;

  constructor(root: string, key: string | null, headers: Readonly<Record<string, string>> = {}) {
    this.#root = root;
    this.key = key;
    this.#headers = headers;
  }

  /** The same caller, acting in a workspace with every request. */
  in(workspaceId: string): Caller {
    return new Caller(this.#root, this.key, { ...this.#headers, 'svc-workspace': workspaceId });
  }

  /** Registers a fresh agent, and so a fresh tenant. */
  static async register(root: string): Promise<Caller> {
    const answer = await new Caller(root, null).registerAnother();
    if (answer.status !== 201)
      throw new Error(`registration was answered with ${answer.status}: ${JSON.stringify(answer.body)}`);
    return new Caller(root, String(answer.body['api_key']));
  }

  /** What a stranger who registers at the same doors is answered. */
  registerAnother(members: object = {}): Promise<Answer> {
    const stranger = new Caller(this.#root, null);
    return stranger.post('/agents/register', { name: 'test-agent', operator_id: randomUUID(), ...members });
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('GET', path, undefined, headers);
  }

  post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.send('POST', path, JSON.stringify(body), { 'content-type': 'application/json', ...headers });
  }

  delete(path: string): Promise<Answer> {
    return this.send('DELETE', path);
  }

  /** Any request below `/v1`, with the key and a fresh nonce. */
  async send(method: string, path: string, body?: BodyInit, headers: Record<string, string> = {}): Promise<Answer> {
    const response = await this.open(method, path, body, headers);
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: text === '' ? {} : (JSON.parse(text) as Json),
    };
  }

  /** The response itself, for streams. */
  open(method: string, path: string, body?: BodyInit, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.#root}/v1${path}`, {
      method,
      headers: {
        ...(this.key === null ? {} : { authorization: `Bearer ${this.key}` }),
        ...(method === 'GET' ? {} : { 'x-nonce': randomUUID() }),
        ...this.#headers,
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    });
  }

  /** Says a GraphQL operation over HTTP. */
  async graphql(
    query: string,
    variables: Record<string, unknown> = {},
  ): Promise<{ data?: Json | null; errors?: readonly { message: string; extensions: Record<string, unknown> }[] }> {
    const response = await fetch(`${this.#root}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(this.key === null ? {} : { authorization: `Bearer ${this.key}` }),
        'x-nonce': randomUUID(),
        ...this.#headers,
      },
      body: JSON.stringify({ query, variables }),
    });
    return (await response.json()) as never;
  }
}
