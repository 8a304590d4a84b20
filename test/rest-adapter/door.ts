import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { Readable } from 'node:stream';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { pino } from 'pino';
import { ProblemError } from '../../schema/problems.ts';
import type { Admission } from '../../services/identity/admission/admission.ts';
import { OpenStreams } from '../../services/identity/admission/open-streams.ts';
import type { Oauth } from '../../services/identity/oauth/oauth.ts';
import { SCOPES, type Principal, type Scope } from '../../schema/principal.ts';
import { newRequestId } from '../../platform/identifiers.ts';
import { EXAMPLE_INSPECTION } from '../../schema/contract/inspection.ts';
import type { Door, DoorConfig, ExportAttribution, IngestRecords, InspectRecords } from '../../rest-adapter/call.ts';
import type { HealthReport } from '../../rest-adapter/representations/health-report.ts';
import { createRestDoor, HTTP_SERVER_OPTIONS, type RestDoor } from '../../rest-adapter/server.ts';
import { memoryClaims } from '../memory-claims.ts';
import { graphClient, type Resolvers } from './graph.ts';
import { NOW, shop } from './shop.ts';

export const KEY = 'Bearer all';

/** `Bearer all` may do everything, `Bearer none` nothing, `Bearer test` is a sandbox key; nonces are kept in a set. */
export function memoryAdmission(): Admission & { readonly log: string[]; readonly watches: ReadonlySet<() => void> } {
  const used = new Set<string>();
  const log: string[] = [];
  const watches = new Set<() => void>();
  const streams = new OpenStreams();
  return {
    log,
    watches,
    refuseWhenOverloaded: () => undefined,
    arrive: () => () => undefined,
    async admit({ authorization }) {
      log.push('admit');
      const scopes = { 'Bearer all': SCOPES, 'Bearer none': [] as readonly Scope[], 'Bearer test': SCOPES }[
        authorization ?? ''
      ];
      if (authorization === 'Bearer expired') throw new ProblemError('expired_api_key', 'The key has expired.');
      if (scopes === undefined) throw new ProblemError('invalid_api_key', 'The key is unknown.');
      const principal: Principal = {
        kind: 'agent',
        accountId: 'a',
        agentId: 'b',
        credentialId: authorization!,
        scopes,
        environment: authorization === 'Bearer test' ? 'sandbox' : 'live',
        proof: 'secret',
        workspace: null,
      };
      return {
        principal,
        pinnedVersion: authorization === 'Bearer test' ? '2025-11-01' : null,
        windows: [
          { name: 'minute', limit: 60, remaining: 41, resetsInS: 18 },
          { name: 'day', limit: 10_000, remaining: 9_120, resetsInS: 40_211 },
        ],
        credential: { id: authorization!, keyId: authorization!, accountId: principal.accountId },
      };
    },
    async authenticate(arrival) {
      return (await this.admit(arrival)).principal;
    },
    async enterWorkspace(_principal, workspaceId) {
      throw new ProblemError('resource_not_found', `There is no workspace ${workspaceId}.`);
    },
    async countStranger(rateClass) {
      log.push(rateClass);
      return [{ name: 'minute', limit: 10, remaining: 9, resetsInS: 18 }];
    },
    whenEnded(_credential, ended) {
      watches.add(ended);
      return () => watches.delete(ended);
    },
    noticeRefusal: async () => undefined,
    openStream: (credential) => streams.open(credential),
    async consumeNonce(principal, clientAddress, nonce) {
      log.push('nonce');
      if (nonce === undefined) throw new ProblemError('missing_nonce', 'Send X-Nonce.', { param: 'header:X-Nonce' });
      const key = `${principal?.credentialId ?? clientAddress} ${nonce}`;
      if (used.has(key)) throw new ProblemError('duplicate_nonce', 'Used before.');
      used.add(key);
    },
  };
}

/** Gives whoever asks a token, and sends every resource owner away. */
const memoryOauth: Oauth = {
  tokens: {
    exchange: async () => ({
      accessToken: `svc_at_${'a'.repeat(43)}`,
      refreshToken: `svc_rt_${'r'.repeat(43)}`,
      expiresInS: 3600,
      scopes: ['attribution:read'],
    }),
    revoke: async () => undefined,
  },
  authorizations: {
    examine: async () => ({ outcome: 'refused', message: 'Nobody is registered.' }),
    approve: async () => 'https://app.example/callback?code=c',
    deny: () => 'https://app.example/callback?error=access_denied',
  },
};

export interface TestDoor extends AsyncDisposable {
  readonly url: string;
  readonly server: Server;
  readonly door: RestDoor;
  readonly client: ReturnType<typeof graphClient>;
  readonly admission: ReturnType<typeof memoryAdmission>;
  readonly claims: ReturnType<typeof memoryClaims>;
  /** Log lines, parsed. */
  readonly logs: {
    readonly msg: string;
    readonly level: number;
    readonly requestId?: string;
    readonly err?: { readonly message: string };
  }[];
  /** A request with a key, a fresh nonce and, for objects, a JSON body; `headers` with the value null are left out. */
  call(
    method: string,
    path: string,
    options?: { body?: unknown; headers?: Record<string, string | null>; signal?: AbortSignal },
  ): Promise<Response>;
}

/** The door behind a real HTTP server on a free port. */
export async function openDoor(
  options: {
    resolvers?: Resolvers;
    ingestRecords?: IngestRecords;
    inspectRecords?: InspectRecords;
    exportAttribution?: ExportAttribution;
    health?: () => Promise<HealthReport>;
    oauth?: Oauth;
    keySet?: Door['keySet'];
    versionChanges?: Door['versionChanges'];
    clock?: () => Date;
    config?: Partial<DoorConfig>;
  } = {},
): Promise<TestDoor> {
  const client = graphClient(shop(options.resolvers));
  const admission = memoryAdmission();
  const claims = memoryClaims();
  const logs: TestDoor['logs'] = [];
  const door = createRestDoor({
    client,
    admission,
    oauth: options.oauth ?? memoryOauth,
    claims,
    ingestRecords: options.ingestRecords ?? drainRecords,
    inspectRecords: options.inspectRecords ?? drainInspection,
    exportAttribution: options.exportAttribution ?? nameOfExport,
    firstAccount: null,
    health:
      options.health ??
      (async () => ({
        status: 'ok',
        version: '0.1.0',
        environment: 'live',
        uptimeSeconds: 12.7,
        checks: { database: { status: 'ok', latencyMs: 2 }, compute_pool: { status: 'ok', threads: 2, queueDepth: 0 } },
      })),
    keySet: options.keySet ?? (async () => ({ keys: [] })),
    config: {
      publicBaseUrl: 'https://api.example/v1',
      uploadMaxBytes: 4 * 1024 ** 2,
      trustedProxyHops: 0,
      ...options.config,
    },
    logger: pino({ level: 'debug' }, { write: (line: string) => void logs.push(JSON.parse(line)) }),
    clock: options.clock ?? (() => NOW),
    ...(options.versionChanges === undefined ? {} : { versionChanges: options.versionChanges }),
    newRequestId,
  });
  const koa = new Koa();
  koa.on('error', (error: Error) => void logs.push({ msg: `koa: ${error.message}`, level: 20 }));
  koa.use(door.edge);
  koa.use(door.middleware);
  koa.use(door.unmatched());
  const server = createServer(HTTP_SERVER_OPTIONS, koa.callback());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    server,
    door,
    client,
    admission,
    claims,
    logs,
    call(method, path, { body, headers = {}, signal } = {}) {
      const isJson =
        body !== undefined &&
        typeof body !== 'string' &&
        !(body instanceof Uint8Array) &&
        !(body instanceof ReadableStream) &&
        !(body instanceof FormData);
      const all: Record<string, string | null> = {
        authorization: KEY,
        'x-nonce': randomUUID(),
        ...(isJson ? { 'content-type': 'application/json' } : {}),
        ...headers,
      };
      return fetch(`${url}${path}`, {
        method,
        headers: Object.fromEntries(
          Object.entries(all).filter((header): header is [string, string] => header[1] !== null),
        ),
        ...(body === undefined
          ? {}
          : { body: (isJson ? JSON.stringify(body) : body) as RequestInit['body'] & {}, duplex: 'half' }),
        ...(signal === undefined ? {} : { signal }),
      } as RequestInit);
    },
    async [Symbol.asyncDispose]() {
      door.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const drainInspection: InspectRecords = async (_context, _id, { body }) => {
  let bytes = 0;
  for await (const chunk of body) bytes += chunk.length;
  return { ...EXAMPLE_INSPECTION, accepted: bytes };
};

const drainRecords: IngestRecords = async (_context, _id, { body }) => {
  let bytes = 0;
  for await (const chunk of body) bytes += chunk.length;
  return {
    status: 'completed',
    failure: null,
    kind: 'touchpoints',
    accepted: bytes,
    rejected: 0,
    errors: [],
    warnings: [],
  };
};

const nameOfExport: ExportAttribution = async (_context, id, { format, level }) => ({
  fileName: `${id}-${level}.${format}`,
  body: Readable.from([Buffer.from(`${id} ${level} ${format}`)]),
});
