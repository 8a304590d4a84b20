import { setTimeout as sleep } from 'node:timers/promises';
import Koa from 'koa';
import { Registry } from 'prom-client';
import { createGateway, GRAPHQL_PATH, type GatewayOptions } from '../gateway/server.ts';
import type { Admission } from '../services/identity/admission/admission.ts';
import type { FirstAccount } from '../services/identity/opening/first-account.ts';
import type { AnsweredCall, CallMeter } from '../services/identity/limits/call-meter.ts';
import type { Oauth } from '../services/identity/oauth/oauth.ts';
import type { Config } from './config/config.ts';
import type { Claims } from '../services/idempotency/claims.ts';
import { newRequestId } from '../platform/identifiers.ts';
import type { Logger } from '../platform/telemetry/logs.ts';
import { MetricsDoor, METRICS_PATH } from '../platform/telemetry/metrics-door.ts';
import { RequestMetrics } from '../platform/telemetry/request-metrics.ts';
import type { PublicKeyStore } from '../services/trust/signing-key-store.ts';
import { keySetOf } from '../services/trust/signing-key.ts';
import type { DoorConfig, ExportAttribution, IngestRecords, InspectRecords } from '../rest-adapter/call.ts';
import { mayOpenSocket } from '../rest-adapter/browser-rules.ts';
import { originOf } from '../rest-adapter/client-address.ts';
import { parserProblem, problemMessage } from '../rest-adapter/edge.ts';
import { rootUrl } from '../rest-adapter/links.ts';
import { createOverloadDoor } from '../rest-adapter/overload-door.ts';
import { readJson } from '../rest-adapter/read-json.ts';
import { isSandboxHost } from '../rest-adapter/sandbox-host.ts';
import { createRestDoor } from '../rest-adapter/server.ts';
import { deprecationHeaders, resolveApiVersion } from '../rest-adapter/versions.ts';
import type { HealthReport } from '../rest-adapter/representations/health-report.ts';
import { invoicePdf, type PrintedInvoice } from '../report/invoice-pdf.ts';
import { openCertificate } from './certificate.ts';
import { ConnectionMetrics } from './connection-metrics.ts';
import { listen } from './http-server.ts';
import { metricsPage } from './metrics-listener.ts';
import { isProbe, PROBE_PATHS, probes } from './probes.ts';

export interface PublicServerOptions {
  readonly config: Pick<
    Config,
    | 'host'
    | 'port'
    | 'publicBaseUrl'
    | 'sandboxBaseUrl'
    | 'uploadMaxBytes'
    | 'trustedProxyHops'
    | 'connectionsMax'
    | 'connectionsMaxPerAddress'
    | 'graphqlIntrospection'
  > &
    Partial<Pick<Config, 'corsOrigins' | 'retiredApiVersions' | 'tlsCertFile' | 'tlsKeyFile' | 'metricsToken'>> &
    Pick<DoorConfig, 'slowestReader'>;
  readonly subgraphs: GatewayOptions['subgraphs'];
  readonly admission: Admission;
  /** Makes the first account; there is no page for it when absent. */
  readonly firstAccount?: FirstAccount | null;
  /** Issues tokens. */
  readonly oauth: Oauth;
  readonly claims: Claims;
  /** Counts calls by operation; nobody does when absent. */
  readonly meter?: CallMeter;
  /** Signs who calls towards remote subgraphs; not needed without any. */
  readonly internalSecret?: string;
  readonly ingestRecords: IngestRecords;
  readonly inspectRecords: InspectRecords;
  readonly exportAttribution: ExportAttribution;
  /** Makes the check of everything that requests need. */
  readonly health: (pingSubgraphs: () => Promise<void>) => () => Promise<HealthReport>;
  /** Where the keys of signed results are. */
  readonly keys: Pick<PublicKeyStore, 'published'>;
  readonly logger: Logger;
  /** Where requests and operations are counted, and what `/metrics` shows; a fresh one when absent. */
  readonly registry?: Registry;
  readonly clock: () => Date;
}

/** The side of the service that faces clients, while it listens. */
export interface PublicServer {
  readonly port: number;
  /**
   * Says at /readyz that it is ending, goes on for `announceMs` so that load balancers notice, then answers what is
   * under way, ends streams with a hint to resume, and closes.
   */
  stop(announceMs?: number): Promise<void>;
}

/** How long requests under way may take to finish when the service stops. */
const DRAIN_MS = 12_000;
/** A GraphQL request is a mebibyte at most; whoever needs longer for it is slow on purpose. */
const GRAPH_BODY_TIMEOUT_MS = 15_000;

/** The side of the service that faces clients: the gateway, the doors and the probes on one port. */
export async function openPublicServer(options: PublicServerOptions): Promise<PublicServer> {
  const { config, admission, claims, logger, clock, registry = new Registry() } = options;
  const requests = new RequestMetrics(registry, [...PROBE_PATHS, METRICS_PATH, GRAPHQL_PATH]);
  const onAnswered = (call: AnsweredCall) => options.meter?.count(call);
  let draining = false;
  const gateway = await createGateway({
    subgraphs: options.subgraphs,
    admission,
    claims,
    logger,
    registry,
    clock,
    newRequestId,
    config,
    onAnswered,
    originOf: (request) => originOf(request, config.trustedProxyHops),
    isSandboxHost: (request) => isSandboxHost(config.sandboxBaseUrl, request.headers.host),
    resolveApiVersion: (asked) => resolveApiVersion(asked, { versions: config.retiredApiVersions ?? [], now: clock() }),
    versionHeaders: (version) => deprecationHeaders(version, rootUrl(config.publicBaseUrl)),
    readJson: (request, maxBytes) =>
      readJson(request, { maxBytes, idleTimeoutMs: GRAPH_BODY_TIMEOUT_MS, totalTimeoutMs: GRAPH_BODY_TIMEOUT_MS }),
    refuseHandshake: (problem) => problemMessage(problem, newRequestId(), config.publicBaseUrl),
    ...(options.internalSecret === undefined ? {} : { internalSecret: options.internalSecret }),
  });
  const health = options.health(() => gateway.pingSubgraphs());
  const rest = createRestDoor({
    client: gateway.client,
    admission,
    claims,
    firstAccount: options.firstAccount ?? null,
    oauth: options.oauth,
    ingestRecords: options.ingestRecords,
    inspectRecords: options.inspectRecords,
    exportAttribution: options.exportAttribution,
    health,
    renderings: {
      invoice: async (invoice) => ({
        fileName: `${String(invoice['invoice_id'])}.pdf`,
        bytes: await invoicePdf(invoice as never as PrintedInvoice, rootUrl(config.publicBaseUrl)),
      }),
    },
    keySet: async () => keySetOf(await options.keys.published()),
    config,
    logger,
    onMatched: (request, { id, path }) => requests.tell(request, { operation: id, route: `/v1${path}` }),
    onAnswered,
    clock,
    newRequestId,
  });

  const app = new Koa();
  app.silent = true;
  app.on('error', (error) => logger.error({ err: error }, 'an answer could not be written'));
  app.use(rest.edge);
  app.use(probes(health, () => draining));
  app.use(metricsPage(new MetricsDoor({ registry, token: config.metricsToken, publicBaseUrl: config.publicBaseUrl })));
  app.use(rest.middleware);
  app.use(gateway.middleware);
  app.use(rest.unmatched([...PROBE_PATHS, METRICS_PATH]));
  // After the last `use`: the callback takes the middleware as it stands.
  const certificate =
    config.tlsCertFile === undefined || config.tlsKeyFile === undefined
      ? undefined
      : openCertificate({ certFile: config.tlsCertFile, keyFile: config.tlsKeyFile, logger });
  const server = await listen({
    host: config.host,
    port: config.port,
    handler: requests.measured(
      createOverloadDoor({ publicBaseUrl: config.publicBaseUrl, newRequestId, admission }, app.callback()),
    ),
    mayUpgrade: (request) =>
      gateway.takesUpgrade(request) &&
      mayOpenSocket(request.headers.origin, request.headers.host, config.publicBaseUrl, config.corsOrigins ?? []),
    upgrade: (request, socket, head) => void (gateway.handleUpgrade(request, socket, head) || socket.destroy()),
    limits: { max: config.connectionsMax, maxPerAddress: config.connectionsMaxPerAddress },
    isProbe,
    refusal: (code) => problemMessage(parserProblem(code), newRequestId(), config.publicBaseUrl),
    metrics: new ConnectionMetrics(registry),
    ...(certificate === undefined ? {} : { certificate }),
  });
  return {
    port: server.port,
    async stop(announceMs = 0) {
      draining = true;
      server.announceEnd();
      if (announceMs > 0) await sleep(announceMs);
      rest.close();
      const cutOff = await server.drain(DRAIN_MS);
      certificate?.close();
      // Requests under way needed the gateway to the last.
      await gateway.close();
      await options.meter?.close();
      logger.info({ cutOff }, 'the server has stopped');
    },
  };
}
