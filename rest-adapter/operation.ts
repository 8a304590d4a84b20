import type { z } from 'zod';
import type { ProblemType } from '../schema/problems.ts';
import type { Json } from '../schema/rest-shape.ts';
import type { Action } from '../schema/actions.ts';
import type { StrangerClass } from '../services/identity/limits/rate-limits.ts';
import type { AskedFile, DownloadFormat } from './download-media.ts';

export type { Json };

/**
 * What an operation is like; the columns of the pipeline's table. `insight` reads what may have to be computed first,
 * and waits for it. `job` starts work that may outlast the request, `stream` watches such work, `feed` what happens,
 * without an end, `upload` streams its body, `download` its answer. `oauth` asks the authorization server,
 * and takes forms beside JSON.
 */
export type OperationKind =
  | 'read'
  | 'insight'
  | 'write'
  | 'job'
  | 'upload'
  | 'download'
  | 'stream'
  | 'feed'
  | 'publicRead'
  | 'publicWrite'
  | 'oauth';

/** A request after validation: what `variables` and `present` of a row may rely on. */
export interface ValidRequest<Path = Json, Query = Json, Headers = Json, Body = unknown> {
  readonly path: Path;
  readonly query: Query;
  readonly headers: Headers;
  readonly body: Body;
}

/** One request and its answer, as the documentation shows them and the contract tests replay them. */
export interface OperationExample {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Absent where the answer has no body or is a stream. */
  readonly response?: Json;
}

/** The usual answer of an operation. */
export interface Success {
  readonly status: 200 | 201 | 202 | 204;
  readonly description: string;
  /** Null where the answer has no body. */
  readonly schema: z.ZodObject | null;
  /** Response headers beyond those that every answer carries, with their meaning. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * The same answer under another status, where less happened than usual, or has not happened yet; `applies` reads the
 * document's data.
 */
export interface LesserSuccess {
  readonly status: 200 | 202;
  readonly description: string;
  applies(data: Json): boolean;
}

/**
 * A body of its own for those who ask for it: by `Prefer: return=representation` (RFC 7240 §4.2) where the usual answer
 * has none, or by a parameter.
 */
export interface Representation {
  readonly description: string;
  /** The parameter that asks for it, where no `Prefer` does. */
  readonly askedBy?: string;
  readonly schema: z.ZodObject;
  present(data: Json): Json;
  readonly example: Json;
}

/** Work that outlasts its request: how to watch it, to read it again, and to show it. */
export interface Job {
  /** Subscription document; its events carry `sequence`, `kind` and, unless `$result` is false, `result`. */
  readonly progressDocument: string;
  /** Query document of the resource that the work fills in. */
  readonly resourceDocument: string;
  /** Path of the resource below the base URL. */
  resourcePath(id: string): string;
  /** Shows the resource, `shaped` being the root field of either document. */
  present(shaped: Json): Json;
}

/** A file that a resource can be had as, by `Accept`. */
export interface Rendering {
  readonly name: 'invoice';
  readonly mediaType: 'application/pdf';
}

/** What an operation of kind `download` answers with. */
export interface Download<Query = Json> {
  readonly formats: readonly DownloadFormat[];
  /** The file that a request asks for. */
  asked(query: Query): AskedFile;
}

/** One row of the contract: all that routing, checks, validation, documentation and tests need to know. */
export interface Operation<
  Path extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Headers extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
> {
  /** camelCase, unique; the OpenAPI operationId. */
  readonly id: string;
  readonly tag: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the base URL; `{name}` stands for one segment. */
  readonly path: string;
  /** Further paths of the same operation, where listings of the interface disagree. */
  readonly variantPaths?: readonly string[];
  readonly kind: OperationKind;
  /** Null for public operations. */
  readonly action: Action | null;
  /** What calls of a public operation are counted as, by the client's address; not at all when absent. */
  readonly strangerLimit?: StrangerClass;
  /** Named GraphQL document that the operation says; null where a port answers instead. */
  readonly document: string | null;
  readonly summary: string;
  readonly description: string;
  readonly pathSchema?: Path;
  /** What problems call the parameters of the path, and their names in it. */
  readonly pathNames?: Readonly<Record<string, string>>;
  readonly querySchema?: Query;
  /** Lower-case header names. */
  readonly headerSchema?: Headers;
  readonly bodySchema?: Body;
  /** Largest JSON body in bytes; 1 MiB when absent. */
  readonly bodyLimitBytes?: number;
  readonly success: Success;
  readonly lesserSuccess?: LesserSuccess;
  /** Answered with 200. */
  readonly representation?: Representation;
  /** Status of a body that does not fit the schema, where the contract's own listing has another than 422. */
  readonly badBodyStatus?: 400;
  /** Problems beyond those that the steps of the kind declare. */
  readonly problems: readonly ProblemType[];
  /** The answer shows one resource, so that it carries an ETag. */
  readonly isResource?: boolean;
  readonly job?: Job;
  /** Of kind `read` alone. */
  readonly rendering?: Rendering;
  /** Of kind `download` alone. */
  readonly download?: Download<z.output<Query>>;
  /** What an operation of kind `oauth` asks the authorization server for. */
  readonly tokenEndpoint?: 'exchange' | 'revoke';
  /** GraphQL variables with camelCase names; enum values stay as the contract writes them. */
  variables(request: ValidRequest<z.output<Path>, z.output<Query>, z.output<Headers>, z.output<Body>>): Json;
  /**
   * Shapes the document's data (snake_case by now) into the body, or into the id, event and data of a feed's event;
   * null for an empty answer. Links start with `baseUrl`.
   */
  present(
    data: Json,
    request: ValidRequest<z.output<Path>, z.output<Query>, z.output<Headers>, z.output<Body>>,
    baseUrl: string,
  ): Json | null;
  /** Path below the base URL for the Location header. */
  location?(
    body: Json,
    request: ValidRequest<z.output<Path>, z.output<Query>, z.output<Headers>, z.output<Body>>,
  ): string;
  readonly example: OperationExample;
}

/** Whether a request without a body is refused; a body schema that takes nothing makes the body optional. */
export function needsBody({ bodySchema }: Operation): boolean {
  return bodySchema !== undefined && !bodySchema.safeParse(undefined).success;
}

/** Writes a row with its schemas inferred; the table itself holds rows of any schema. */
export function operation<
  Path extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Query extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Headers extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Body extends z.ZodType = z.ZodUndefined,
>(row: Operation<Path, Query, Headers, Body>): Operation {
  return row as unknown as Operation;
}
