import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import Koa from 'koa';
import { ProblemError } from '../../schema/problems.ts';
import type { Admission, Admitted, Arrival, ShownCredential } from '../../services/identity/admission/admission.ts';
import type { Principal, RequestContext } from '../../schema/principal.ts';
import { OpenStreams } from '../../services/identity/admission/open-streams.ts';
import { RateLimitError, type RateWindow, type StrangerClass } from '../../services/identity/limits/rate-limits.ts';
import { principalTokens } from '../../platform/graph/principal-token.ts';
import { startSubgraphServer, type SubgraphServer } from '../../platform/graph/subgraph-server.ts';
import { newRequestId } from '../../platform/identifiers.ts';
import { createLogger } from '../../platform/telemetry/logs.ts';
import { createGateway, type Gateway, type GatewayOptions } from '../../gateway/server.ts';
import { readJson } from '../../rest-adapter/read-json.ts';
import { memoryClaims } from '../memory-claims.ts';
import { EventSource } from './event-source.ts';
import { toySubgraphs } from './toy-subgraphs.ts';

export const MODES = ['in process', 'remote'] as const;
export type Mode = (typeof MODES)[number];

export const PRINCIPAL: Principal = {
  kind: 'agent',
  accountId: '0190a000-0000-7000-8000-000000000001',
  agentId: null,
  credentialId: '0190a000-0000-7000-8000-000000000002',
  scopes: ['attribution:read'],
  environment: 'live',
  proof: 'secret',
  workspace: null,
};

/** What a door passes with each call. */
export function callerContext(principal: Principal | null = PRINCIPAL): RequestContext {
  return { requestId: 'req_test', principal, apiVersion: '2026-02-01' };
}

const USED_UP: RateWindow = { name: 'minute', limit: 60, remaining: 0, resetsInS: 3 };

/** Knows one good key, and one for each way to be refused. */
class ToyAdmission implements Admission {
  readonly nonces: string[] = [];
  readonly revoked = new Set<string>();
  /** Calls back those who hold a stream. */
  readonly watches = new Set<() => void>();
  readonly streams = new OpenStreams();
  /** Registrations that are left. */
  strangersLeft = 10;

  refuseWhenOverloaded(): void {}

  arrive(): () => void {
    return () => undefined;
  }

  admit({ authorization }: Arrival): Promise<Admitted> {
    if (authorization === 'Bearer elsewhere')
      return Promise.reject(new ProblemError('ip_not_allowed', 'not from here'));
    if (authorization === 'Bearer busy') return Promise.reject(new RateLimitError([USED_UP], USED_UP));
    if (authorization === 'Bearer early')
      return Promise.reject(new ProblemError('service_unavailable', 'The database is away.', { retryAfterS: 2 }));
    if (authorization !== 'Bearer good' || this.revoked.has(authorization))
      return Promise.reject(new ProblemError('invalid_api_key', 'The key is unknown.'));
    return Promise.resolve({
      principal: PRINCIPAL,
      pinnedVersion: null,
      windows: [{ name: 'minute', limit: 60, remaining: 41, resetsInS: 18 }],
      credential: { id: PRINCIPAL.credentialId, keyId: PRINCIPAL.credentialId, accountId: PRINCIPAL.accountId },
    });
  }

  async authenticate(arrival: Arrival): Promise<Principal> {
    return (await this.admit(arrival)).principal;
  }

  enterWorkspace(_principal: Principal, workspaceId: string): Promise<Principal> {
    return Promise.reject(new ProblemError('resource_not_found', `There is no workspace ${workspaceId}.`));
  }

  countStranger(rateClass: StrangerClass): Promise<readonly RateWindow[]> {
    if (rateClass === 'anonymous') return Promise.resolve([]);
    if (this.strangersLeft === 0) return Promise.reject(new RateLimitError([USED_UP], USED_UP));
    this.strangersLeft -= 1;
    return Promise.resolve([{ name: 'minute', limit: 10, remaining: this.strangersLeft, resetsInS: 18 }]);
  }

  whenEnded(_credential: unknown, ended: () => void): () => void {
    this.watches.add(ended);
    return () => this.watches.delete(ended);
  }

  async noticeRefusal(): Promise<void> {}

  openStream(credential: ShownCredential): () => void {
    return this.streams.open(credential);
  }

  consumeNonce(principal: Principal | null, clientAddress: string, nonce: string | undefined): Promise<void> {
    if (nonce === undefined)
      return Promise.reject(new ProblemError('missing_nonce', 'X-Nonce is missing.', { param: 'header:X-Nonce' }));
    const entry = `${principal?.credentialId ?? clientAddress} ${nonce}`;
    if (this.nonces.includes(entry)) return Promise.reject(new ProblemError('duplicate_nonce', 'The nonce was used.'));
    this.nonces.push(entry);
    return Promise.resolve();
  }
}

export interface ToyGateway {
  readonly gateway: Gateway;
  readonly admission: ToyAdmission;
  readonly events: EventSource;
  /** Batches of author ids that were read. */
  readonly reads: string[][];
  readonly logs: string[];
  readonly url: string;
  readonly subgraphServers: readonly SubgraphServer[];
  close(): Promise<void>;
}

export const SECRET = 'a secret of the tests, long enough for HS256';
const DOCUMENTS = join(import.meta.dirname, 'documents');

/** A gateway over the toy subgraphs, listening on a port of its own. */
export async function startToyGateway(mode: Mode, overrides: Partial<GatewayOptions> = {}): Promise<ToyGateway> {
  const events = new EventSource();
  const reads: string[][] = [];
  const logs: string[] = [];
  const clock = () => new Date();
  const logger = createLogger({
    level: 'warn',
    format: 'json',
    destination: { write: (line) => void logs.push(line) },
  });
  const subgraphs = await toySubgraphs(events, reads);
  const tokens = principalTokens(SECRET, clock);
  const subgraphServers =
    mode === 'remote'
      ? await Promise.all(
          subgraphs.map((subgraph) => startSubgraphServer({ subgraph, tokens, host: '127.0.0.1', port: 0, logger })),
        )
      : [];
  const admission = new ToyAdmission();
  const gateway = await createGateway({
    subgraphs:
      mode === 'remote'
        ? subgraphs.map(({ name, sdl }, index) => ({ name, sdl, url: subgraphServers[index]!.url }))
        : subgraphs,
    internalSecret: SECRET,
    admission,
    claims: memoryClaims(),
    logger,
    clock,
    newRequestId,
    config: { publicBaseUrl: 'https://api.example/v1', graphqlIntrospection: true },
    originOf: (request) => ({ clientAddress: request.socket.remoteAddress ?? 'unknown', userAgent: null }),
    isSandboxHost: () => false,
    resolveApiVersion: (header) => {
      if (header === undefined || header === '2025-11-01') return header ?? '2026-02-01';
      throw new ProblemError('unsupported_api_version', 'There is no such version.');
    },
    readJson: (request, maxBytes) => readJson(request, { maxBytes, idleTimeoutMs: 5_000, totalTimeoutMs: 5_000 }),
    documentsFolder: DOCUMENTS,
    ...overrides,
  }).catch(async (error: unknown) => {
    await Promise.all(subgraphServers.map((subgraph) => subgraph.close()));
    throw error;
  });
  const app = new Koa();
  app.use(gateway.middleware);
  const server = createServer(app.callback());
  server.on('upgrade', (request, socket, head) => gateway.handleUpgrade(request, socket, head) || socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
  return {
    gateway,
    admission,
    events,
    reads,
    logs,
    url,
    subgraphServers,
    async close() {
      await gateway.close();
      await closed(server);
      await Promise.all(subgraphServers.map((subgraph) => subgraph.close()));
    },
  };
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

export interface PostOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly accept?: string;
}

export interface PublicError {
  readonly message: string;
  readonly path?: readonly (string | number)[];
  readonly extensions: Readonly<Record<string, unknown>>;
}

export interface PublicAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: { readonly data?: Record<string, unknown> | null; readonly errors?: readonly PublicError[] };
}

export async function post(
  url: string,
  body: unknown,
  { headers = {}, accept = 'application/graphql-response+json' }: PostOptions = {},
): Promise<PublicAnswer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as PublicAnswer['body'] };
}
