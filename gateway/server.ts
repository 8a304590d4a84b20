import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { GraphQLDataSource } from '@apollo/gateway';
import { GraphQLScalarType, type GraphQLSchema } from 'graphql';
import type { Middleware } from 'koa';
import { Registry } from 'prom-client';
import type { ProblemError } from '../schema/problems.ts';
import type { Admission } from '../services/identity/admission/admission.ts';
import type { AnsweredCall } from '../services/identity/limits/call-meter.ts';
import type { RequestOrigin } from '../schema/principal.ts';
import type { Claims } from '../services/idempotency/claims.ts';
import { principalTokens, type PrincipalTokens } from '../platform/graph/principal-token.ts';
import { SCALARS } from '../platform/graph/scalars.ts';
import type { Subgraph } from '../platform/graph/subgraph-schema.ts';
import type { Logger } from '../platform/telemetry/logs.ts';
import { apolloGateway, apolloServer } from './apollo-server.ts';
import { graphClient, type GraphClient } from './client.ts';
import { GraphMetrics } from './graph-metrics.ts';
import { idempotentMutations } from './idempotent-mutations.ts';
import { InProcessDataSource, ping, RemoteDataSource, type RemoteSubgraph } from './data-sources.ts';
import { inProcessEvents, OPENING_TIMEOUT_MS, remoteEvents, type SubgraphEvents } from './event-sources.ts';
import { httpDoor } from './http.ts';
import { DEFAULT_LIMITS, type OperationLimits } from './operation-limits.ts';
import { plannerBy } from './planner.ts';
import { PublicErrors } from './public-errors.ts';
import { publicRules } from './public-rules.ts';
import { soleOwners } from './sole-owners.ts';
import { federatedSubscriptions } from './subscriptions.ts';
import { supergraphOf } from './supergraph.ts';
import { webSocketDoor } from './web-socket.ts';

export interface GatewayConfig {
  /** Ends in `/v1`; errors link to the documentation beside it. */
  readonly publicBaseUrl: string;
  /** Also serves GraphiQL, which lives by it. */
  readonly graphqlIntrospection: boolean;
}

export interface GatewayOptions {
  /** In this process, or served by others; both kinds may be mixed. */
  readonly subgraphs: readonly (Subgraph | RemoteSubgraph)[];
  /** Signs who calls towards remote subgraphs; not needed without any. */
  readonly internalSecret?: string;
  readonly admission: Admission;
  /** Who may answer an idempotency key. */
  readonly claims: Claims;
  readonly config: GatewayConfig;
  readonly logger: Logger;
  /** Where operations are counted. */
  readonly registry?: Registry;
  readonly clock: () => Date;
  readonly newRequestId: () => string;
  /**
   * Where a request comes from, proxies that are believed taken into account; nonces of strangers are kept per address.
   */
  readonly originOf: (request: IncomingMessage) => RequestOrigin;
  /** Whether the sandbox's host was addressed. */
  readonly isSandboxHost: (request: IncomingMessage) => boolean;
  /** Resolves `SVC-API-Version`. @throws ProblemError `unsupported_api_version` */
  readonly resolveApiVersion: (header: string | undefined) => string;
  /** Headers that tell of a version's end; none when absent. */
  readonly versionHeaders?: (version: string) => Readonly<Record<string, string>>;
  /** Reads a JSON body within limits; undefined for an empty one. @throws ProblemError */
  readonly readJson: (request: IncomingMessage, maxBytes: number) => Promise<unknown>;
  /** Hears of each call over HTTP of somebody who is known, once it is answered. */
  readonly onAnswered?: ((call: AnsweredCall) => void) | undefined;
  /** The whole HTTP answer to a request that offers to become a WebSocket and cannot; a line of text when absent. */
  readonly refuseHandshake?: (problem: ProblemError) => string;
  /** Folder of the named documents that {@link GraphClient} speaks. */
  readonly documentsFolder?: string;
  readonly limits?: OperationLimits;
  /** Longest JSON body and WebSocket message; 1 MiB when absent. */
  readonly maxBodyBytes?: number;
  /** Longest wait for a remote subgraph; 30 000 when absent. */
  readonly subgraphTimeoutMs?: number;
}

export interface Gateway {
  readonly supergraphSdl: string;
  readonly apiSchema: GraphQLSchema;
  /** Answers `/graphql` and passes everything else on. */
  readonly middleware: Middleware;
  /** Whether this request, which offers to upgrade, is for the WebSocket door. */
  takesUpgrade(request: IncomingMessage): boolean;
  /** True when the upgrade was for `/graphql` and is taken care of. */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  readonly client: GraphClient;
  /** Resolves once every subgraph has answered. @throws where one cannot be reached */
  pingSubgraphs(): Promise<void>;
  /** Closes sockets and upstream connections. */
  close(): Promise<void>;
}

export const GRAPHQL_PATH = '/graphql';
const MAX_BODY_BYTES = 1024 * 1024;
const SUBGRAPH_TIMEOUT_MS = 30_000;

/**
 * Starts the graph: composes the subgraphs, checks the named documents against the result, opens no port.
 * @throws CompositionError, NamedDocumentsError
 */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const { admission, config, logger, limits = DEFAULT_LIMITS, maxBodyBytes = MAX_BODY_BYTES } = options;
  const { graphqlIntrospection: introspection } = config;
  const rootUrl = config.publicBaseUrl.replace(/\/v1$/, '');
  const supergraphSdl = supergraphOf(
    options.subgraphs.map((subgraph) => ({
      name: subgraph.name,
      sdl: subgraph.sdl,
      url: 'url' in subgraph ? subgraph.url : `http://${subgraph.name}.invalid/`,
    })),
  );
  const upstreams = connectUpstreams(options);
  const errors = new PublicErrors(rootUrl, logger);
  const metrics = new GraphMetrics(options.registry ?? new Registry());
  const gateway = apolloGateway(supergraphSdl, upstreams.dataSources, logger);
  const server = apolloServer({
    gateway,
    introspection,
    limits,
    plugins: [publicRules(admission, limits, errors), idempotentMutations(options.claims, errors), metrics.plugin()],
    errors,
    logger,
  });
  await server.start();
  const apiSchema = gateway.schema!;
  adoptScalars(apiSchema);

  // The gateway's own, which it shows to nobody else by another name: one more of the same supergraph costs every start
  // a quarter of a second.
  const planner = plannerBy(gateway.__testing().queryPlanner!);
  const subscriptions = federatedSubscriptions({
    planner,
    apiSchema,
    dataSources: upstreams.dataSources,
    events: upstreams.events,
    logger,
  });
  const shared = {
    server,
    admission,
    errors,
    logger,
    newRequestId: options.newRequestId,
    originOf: options.originOf,
    isSandboxHost: options.isSandboxHost,
    resolveApiVersion: options.resolveApiVersion,
  };
  const webSockets = webSocketDoor({
    ...shared,
    subscriptions: metrics.meteredSubscriptions(subscriptions, 'graphql'),
    apiSchema,
    limits,
    hidesSchema: !introspection,
    maxMessageBytes: maxBodyBytes,
    refuseHandshake: options.refuseHandshake,
  });
  return {
    supergraphSdl,
    apiSchema,
    middleware: httpDoor({
      ...shared,
      path: GRAPHQL_PATH,
      rootUrl,
      versionHeaders: options.versionHeaders ?? (() => ({})),
      readJson: options.readJson,
      maxBodyBytes,
      graphiql: introspection,
      onAnswered: options.onAnswered,
    }),
    takesUpgrade,
    handleUpgrade(request, socket, head) {
      if (!takesUpgrade(request)) return false;
      webSockets.handleUpgrade(request, socket, head);
      return true;
    },
    client: metrics.meteredClient(
      graphClient({
        server,
        subscriptions: metrics.meteredSubscriptions(subscriptions, 'rest'),
        ownerOf: soleOwners(planner, upstreams.dataSources),
        apiSchema,
        documentsFolder: options.documentsFolder,
      }),
    ),
    async pingSubgraphs() {
      await Promise.all(Object.values(upstreams.dataSources).map(ping));
    },
    async close() {
      await webSockets.close();
      await Promise.all(Object.values(upstreams.events).map((events) => events.close()));
      await server.stop();
    },
  };
}

interface Upstreams {
  readonly dataSources: Readonly<Record<string, GraphQLDataSource>>;
  readonly events: Readonly<Record<string, SubgraphEvents>>;
}

function connectUpstreams({
  subgraphs,
  internalSecret,
  clock,
  logger,
  subgraphTimeoutMs = SUBGRAPH_TIMEOUT_MS,
}: GatewayOptions): Upstreams {
  const tokens = (): PrincipalTokens => {
    if (internalSecret === undefined) throw new Error('Remote subgraphs need internalSecret');
    return principalTokens(internalSecret, clock);
  };
  const dataSources: Record<string, GraphQLDataSource> = {};
  const events: Record<string, SubgraphEvents> = {};
  for (const subgraph of subgraphs) {
    const isRemote = 'url' in subgraph;
    dataSources[subgraph.name] = isRemote
      ? new RemoteDataSource(subgraph, tokens(), logger, subgraphTimeoutMs)
      : new InProcessDataSource(subgraph, logger);
    events[subgraph.name] = isRemote
      ? remoteEvents(subgraph, tokens(), Math.min(OPENING_TIMEOUT_MS, subgraphTimeoutMs))
      : inProcessEvents(subgraph);
  }
  return { dataSources, events };
}

/**
 * A schema made from SDL takes any value for a custom scalar. With the real ones a bad value is refused at the door,
 * before any subgraph is asked.
 */
function adoptScalars(schema: GraphQLSchema): void {
  for (const { name, parseValue, parseLiteral } of SCALARS) {
    const type = schema.getType(name);
    if (type instanceof GraphQLScalarType) Object.assign(type, { parseValue, parseLiteral });
  }
}

/** RFC 6455 §4.1; another method is a request like any other, whose offer to upgrade is ignored. */
function takesUpgrade({ method, url, headers }: IncomingMessage): boolean {
  return method === 'GET' && url?.split('?', 1)[0] === GRAPHQL_PATH && headers.upgrade?.toLowerCase() === 'websocket';
}
