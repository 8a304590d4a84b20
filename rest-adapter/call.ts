import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { Context } from 'koa';
import type { Logger } from 'pino';
import type { z } from 'zod';
import type { uploadReport } from '../schema/contract/ingest.ts';
import type { Inspection } from '../schema/contract/inspection.ts';
import type { UploadOptions } from '../schema/contract/upload-options.ts';
import type { ProblemType } from '../schema/problems.ts';
import type { AnsweredCall } from '../services/identity/limits/call-meter.ts';
import type { Admission, Admitted } from '../services/identity/admission/admission.ts';
import type { FirstAccount } from '../services/identity/opening/first-account.ts';
import type { Oauth } from '../services/identity/oauth/oauth.ts';
import type { Environment, Principal, RequestContext, RequestOrigin } from '../schema/principal.ts';
import type { Coalescer } from '../platform/coalescer.ts';
import type { Claims, HeldClaim } from '../services/idempotency/claims.ts';
import type { KeySet } from '../services/trust/signing-key.ts';
import type { GraphClient } from '../gateway/client.ts';
import { originOf } from './client-address.ts';
import type { AskedFile } from './download-media.ts';
import type { Json, Operation, Rendering, ValidRequest } from './operation.ts';
import type { HealthReport } from './representations/health-report.ts';
import type { KeptAnswer } from './kept-answer.ts';
import type { Pace } from './readers-pace.ts';
import { addressedEnvironment } from '../services/identity/admission/addressed-environment.ts';
import { isSandboxHost } from './sandbox-host.ts';
import { CURRENT_VERSION, resolveApiVersion, type ApiVersion } from './versions.ts';
import { bodyInVersion, VERSION_CHANGES } from './versions/version-chain.ts';
import type { VersionChange } from './versions/version-change.ts';

/** A file, or rows, on their way in. The body is a stream and is read once. */
export interface RecordUpload {
  readonly mediaType:
    | 'text/csv'
    | 'application/x-ndjson'
    | 'application/vnd.apache.parquet'
    | 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
    | 'application/json';
  readonly contentEncoding: 'identity' | 'gzip';
  readonly fileName?: string;
  /** What the sender says of the rows. */
  readonly options: UploadOptions;
  readonly body: AsyncIterable<Uint8Array>;
}

/** What came of an upload. */
export interface IngestOutcome extends z.output<typeof uploadReport> {
  /** Tells whether another upload brings the same content; null where it was not read to its end. Not shown. */
  readonly contentDigest?: string | null;
}

/**
 * Stores the rows of an upload.
 * @throws ProblemError `resource_not_found`, `validation_error` (unrecognised columns, wrong currency), `conflict`.
 */
export type IngestRecords = (
  context: RequestContext,
  dataSourceId: string,
  upload: RecordUpload,
) => Promise<IngestOutcome>;

/**
 * Says how the rows of an upload would be read; nothing is stored.
 * @throws ProblemError `resource_not_found`, `validation_error` where nothing can be made of them.
 */
export type InspectRecords = (
  context: RequestContext,
  dataSourceId: string,
  upload: RecordUpload,
) => Promise<Inspection>;

/** The ways of rows into the attribution subgraph. */
export interface RecordsDoor {
  readonly ingestRecords: IngestRecords;
  readonly inspectRecords: InspectRecords;
}

/** What makes the bytes of an upload what they are. */
export function contentKind({
  mediaType,
  contentEncoding,
}: Pick<RecordUpload, 'mediaType' | 'contentEncoding'>): string {
  return `${mediaType} ${contentEncoding}`;
}

/** A file on its way out. */
export interface ExportedFile {
  /** Plain ASCII. */
  readonly fileName: string;
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * A completed analysis as a file; resolves when nothing can fail any more but the connection. The signal tells that
 * nobody waits.
 * @throws ProblemError `resource_not_found`, `conflict` (not_ready), `data_source_unavailable`, `validation_error` (no
 * such level).
 */
export type ExportAttribution = (
  context: RequestContext,
  id: string,
  request: AskedFile & { readonly signal: AbortSignal },
) => Promise<ExportedFile>;

/** The settings that the REST door needs. */
export interface DoorConfig {
  /** Ends in `/v1`; what clients see. */
  readonly publicBaseUrl: string;
  /** Ends in `/v1`; its host takes test keys only. */
  readonly sandboxBaseUrl?: string | undefined;
  readonly uploadMaxBytes: number;
  /** Proxies in front of us whose `X-Forwarded-For` entries are believed, counted from the right. */
  readonly trustedProxyHops: number;
  /** Silence on an event stream before a comment keeps it open; 15 000 when absent. */
  readonly heartbeatMs?: number;
  /** Longest pause within a body, and longest time for each MiB that a JSON body may have; 15 000 when absent. */
  readonly bodyTimeoutMs?: number;
  /** Web pages of other origins that may speak to the service; none when absent. */
  readonly corsOrigins?: readonly string[];
  /** Versions that are answered no more, once their sunset has passed; none when absent. */
  readonly retiredApiVersions?: readonly string[];
  /** The slowest that a file may be read; {@link SLOWEST_READER} when absent. */
  readonly slowestReader?: Pace;
}

/** By what is made: the answer as a file. */
export type Renderings = Readonly<
  Record<Rendering['name'], (body: Json) => Promise<{ readonly fileName: string; readonly bytes: Buffer }>>
>;

/** All that the steps may reach. */
export interface Door extends RecordsDoor {
  readonly client: GraphClient;
  readonly admission: Admission;
  readonly oauth: Oauth;
  readonly claims: Claims;
  readonly exportAttribution: ExportAttribution;
  readonly health: () => Promise<HealthReport>;
  /** Make files of answers; none are offered when absent. */
  readonly renderings?: Renderings;
  /** Makes the first account; null where the installation has no token for it. */
  readonly firstAccount: FirstAccount | null;
  /** The keys that signed results are verified with. */
  readonly keySet: () => Promise<KeySet>;
  readonly config: DoorConfig;
  /** What the dated versions changed; {@link VERSION_CHANGES} when absent. */
  readonly versionChanges?: readonly VersionChange[];
  readonly logger: Logger;
  /** Hears which operation a request turned out to be for, before anything is done for it. */
  readonly onMatched?: (request: IncomingMessage, operation: Operation) => void;
  /** Hears of each call of somebody who is known, once it is answered; a stream when it begins. */
  readonly onAnswered?: (call: AnsweredCall) => void;
  readonly clock: () => Date;
  readonly newRequestId: () => string;
  /** Reads once for all who ask the same at the same time. */
  readonly reads: Coalescer<Call, Answer>;
  /** Aborted when the server goes down: waits and streams end, requests do not. */
  readonly closing: AbortSignal;
}

/** What goes back: a JSON body, a stream of events, a file (a stream with a media type), or nothing. */
export interface Answer {
  readonly status: number;
  readonly body: Json | Readable | null;
  readonly mediaType?: string;
  /** The envelope of a body that cannot carry it. */
  readonly trust?: unknown;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The outcome of matching a request against the table; `allow` lists the methods of a known path, `failure` is what
 * went wrong outside the table.
 */
export type Route =
  | { readonly operation: Operation; readonly path: Readonly<Record<string, string>> }
  | { readonly operation: null; readonly allow: readonly string[]; readonly failure?: unknown };

/** One request on its way through the pipeline; each step fills in what it finds out. */
export class Call {
  readonly http: Context;
  readonly door: Door;
  readonly route: Route;
  readonly origin: RequestOrigin;
  requestId = '';
  apiVersion: string = CURRENT_VERSION;
  /** Null for public operations, and until the caller is known. */
  admitted: Admitted | null = null;
  /** What a test key asked for its jobs. */
  sandboxDelayMs: number | undefined = undefined;
  /** The JSON body as it came, undefined where there was none. */
  body: unknown = undefined;
  /** The body of an upload of rows as JSON, as it came. */
  bodyBytes: Buffer | undefined = undefined;
  /** What this request holds where it came with an idempotency key. */
  held: HeldClaim<KeptAnswer> | null = null;
  /** Of the content that was streamed in, where an answer hangs on it. */
  contentDigest: string | null = null;
  request: ValidRequest = { path: {}, query: {}, headers: {}, body: undefined };
  answer: Answer | null = null;

  constructor(http: Context, door: Door, route: Route) {
    this.http = http;
    this.door = door;
    this.route = route;
    this.origin = originOf(http.req, door.config.trustedProxyHops);
  }

  get principal(): Principal | null {
    return this.admitted?.principal ?? null;
  }

  /** Whose data the call is about. */
  get environment(): Environment {
    const onSandboxHost = isSandboxHost(this.door.config.sandboxBaseUrl, this.http.get('Host'));
    return this.principal?.environment ?? addressedEnvironment(onSandboxHost, this.http.get('Authorization'));
  }

  /** The address that the caller speaks to, `/v1` included: links in answers stay there. */
  get baseUrl(): string {
    const { publicBaseUrl, sandboxBaseUrl } = this.door.config;
    return sandboxBaseUrl !== undefined && isSandboxHost(sandboxBaseUrl, this.http.get('Host'))
      ? sandboxBaseUrl
      : publicBaseUrl;
  }

  /** The matched row. Steps behind the match rely on it. */
  get operation(): Operation {
    if (this.route.operation === null) throw new Error(`no operation matches ${this.http.method} ${this.http.path}`);
    return this.route.operation;
  }

  /** The graph is asked in the newest version; `respond` takes the answer back to the caller's (see versions/). */
  get context(): RequestContext {
    const { requestId, principal, origin, sandboxDelayMs } = this;
    return {
      requestId,
      principal,
      apiVersion: CURRENT_VERSION,
      callerVersion: this.apiVersion,
      origin,
      ...(sandboxDelayMs === undefined ? {} : { sandboxDelayMs }),
      ...(this.held === null ? {} : { idempotency: this.held.claim }),
    };
  }

  /** Calls back when the key or token that was shown has ended; the returned function cancels the watch. */
  whenEnded(ended: () => void): () => void {
    return this.admitted === null ? () => undefined : this.door.admission.whenEnded(this.admitted.credential, ended);
  }

  /**
   * Counts a stream of the caller's until the returned function is called. @throws ProblemError `rate_limit_exceeded`
   */
  openStream(): () => void {
    return this.admitted === null ? () => undefined : this.door.admission.openStream(this.admitted.credential);
  }

  /**
   * The version behind a name, as long as this installation serves it. @throws ProblemError `unsupported_api_version`
   */
  resolveVersion(named: string): ApiVersion {
    return resolveApiVersion(named, { versions: this.door.config.retiredApiVersions ?? [], now: this.door.clock() });
  }

  /** A body in the newest shape as the caller's version has it. */
  inVersion(body: Json): Json {
    return bodyInVersion(body, this.apiVersion, this.door.versionChanges ?? VERSION_CHANGES);
  }

  get logger(): Logger {
    return this.door.logger.child({ requestId: this.requestId });
  }
}

/** One step: does its part, then lets the rest happen. `problems` are those that it may answer with. */
export interface Step {
  readonly name: string;
  readonly problems: readonly ProblemType[];
  run(call: Call, next: () => Promise<void>): Promise<void>;
}
