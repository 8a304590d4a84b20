/**
 * Every error type the service may answer with, its HTTP status and title.
 * The first eleven are the contract's; the others are additive and the set is closed.
 */
export const PROBLEM_TYPES = {
  invalid_api_key: { status: 401, title: 'The API key or token is malformed or unknown' },
  expired_api_key: { status: 401, title: 'The API key or token is revoked or expired' },
  rate_limit_exceeded: { status: 429, title: 'Too many requests' },
  missing_nonce: { status: 400, title: 'A state-changing request came without X-Nonce' },
  duplicate_nonce: { status: 409, title: 'The nonce was used before' },
  ip_not_allowed: { status: 403, title: 'The address is not on the allowlist of the key' },
  insufficient_permissions: { status: 403, title: 'The key lacks the scope or role' },
  resource_not_found: { status: 404, title: 'The resource does not exist' },
  validation_error: { status: 422, title: 'The request does not fit the schema' },
  internal_error: { status: 500, title: 'An unexpected error' },
  service_unavailable: { status: 503, title: 'A temporary outage' },
  idempotency_conflict: { status: 409, title: 'The idempotency key was used with other parameters' },
  idempotency_in_progress: { status: 409, title: 'The first request with this idempotency key is still running' },
  conflict: { status: 409, title: 'The request conflicts with the state of the resource' },
  unsupported_api_version: { status: 400, title: 'The requested API version is unknown or retired' },
  invalid_request: { status: 400, title: 'The request cannot be parsed' },
  invalid_grant: { status: 400, title: 'The grant is invalid, expired or used' },
  unsupported_grant_type: { status: 400, title: 'The grant type is not supported' },
  invalid_scope: { status: 400, title: 'A requested scope is unknown or not granted' },
  invalid_client: { status: 401, title: 'The client is unknown or its secret is wrong' },
  spend_limit_exceeded: { status: 402, title: 'The spend limit is reached' },
  payment_required: { status: 402, title: 'The plan or trial has lapsed' },
  method_not_allowed: { status: 405, title: 'The path does not take this method' },
  not_acceptable: { status: 406, title: 'None of the accepted media types can be produced' },
  payload_too_large: { status: 413, title: 'The body is larger than this operation takes' },
  unsupported_media_type: { status: 415, title: 'The body has a media type this operation does not take' },
  data_source_unavailable: { status: 409, title: 'The data source cannot be analysed now' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemType = keyof typeof PROBLEM_TYPES;

/** One rejected member of a request. `param` is a JSON Pointer, or `query:name`, `header:Name`, `path:name`. */
export interface ProblemDetail {
  readonly param: string;
  readonly code: string;
  readonly message: string;
}

/** Nobody reads more; a list of 100,000 unfit entries would be answered with fifty times its own size. */
export const MOST_DETAILS = 50;

/** A check of data quality, as REST shows it. */
export type QualityFinding = Readonly<Record<string, string | number | null>>;

export interface ProblemOptions {
  readonly code?: string;
  readonly param?: string;
  /** The first fifty are told. */
  readonly errors?: readonly ProblemDetail[];
  readonly retryAfterS?: number;
  /** Scopes that a key would need, apart by spaces (RFC 6750 §3). */
  readonly scope?: string;
  /** What is wrong with the rows that an analysis was asked of. */
  readonly dataQuality?: readonly QualityFinding[];
  /** Overrides the type's status: the three endpoints that answer 400 to a `validation_error`. */
  readonly status?: number;
  readonly cause?: unknown;
}

/** What crosses process and protocol borders of a problem; `extensions.problem` of a GraphQL error. */
export interface ProblemWire {
  readonly type: ProblemType;
  readonly status: number;
  readonly code?: string;
  readonly param?: string;
  readonly errors?: readonly ProblemDetail[];
  readonly retryAfterS?: number;
  /** Scopes that a key would need, apart by spaces (RFC 6750 §3). */
  readonly scope?: string;
  readonly dataQuality?: readonly QualityFinding[];
}

/**
 * The one base class of every error that a caller may see. Anything else that is thrown is masked
 * as `internal_error`. GraphQL serialises `extensions`, so a problem survives local and remote subgraphs alike.
 */
export class ProblemError extends Error {
  readonly type: ProblemType;
  readonly extensions: { readonly code: string; readonly problem: ProblemWire };

  constructor(type: ProblemType, message: string, options: ProblemOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ProblemError';
    this.type = type;
    const errors = (options.errors ?? (type === 'validation_error' ? [soleDetail(message, options)] : [])).slice(
      0,
      MOST_DETAILS,
    );
    this.extensions = {
      code: type.toUpperCase(),
      problem: {
        type,
        status: options.status ?? PROBLEM_TYPES[type].status,
        ...(options.code === undefined ? {} : { code: options.code }),
        ...(options.param === undefined ? {} : { param: options.param }),
        ...(errors.length === 0 ? {} : { errors }),
        ...(options.retryAfterS === undefined ? {} : { retryAfterS: options.retryAfterS }),
        ...(options.scope === undefined ? {} : { scope: options.scope }),
        ...(options.dataQuality === undefined ? {} : { dataQuality: options.dataQuality }),
      },
    };
  }

  get problem(): ProblemWire {
    return this.extensions.problem;
  }

  /** The same problem where the members that it names are called otherwise: one that names none is itself. */
  renaming(rename: (param: string) => string): ProblemError {
    const { type, param, errors, ...rest } = this.problem;
    if (param === undefined && errors === undefined) return this;
    return new ProblemError(type, this.message, {
      ...rest,
      cause: this.cause,
      ...(param === undefined ? {} : { param: rename(param) }),
      ...(errors === undefined ? {} : { errors: errors.map((detail) => ({ ...detail, param: rename(detail.param) })) }),
    });
  }

  /** Rebuilds a problem that crossed a border as GraphQL error; undefined when the error is no problem of ours. */
  static fromExtensions(
    message: string,
    extensions: Readonly<Record<string, unknown>> | undefined,
  ): ProblemError | undefined {
    const wire = extensions?.['problem'];
    if (typeof wire !== 'object' || wire === null) return undefined;
    const { type, ...options } = wire as ProblemWire;
    return type in PROBLEM_TYPES ? new ProblemError(type, message, options) : undefined;
  }
}

/**
 * A `validation_error` always lists what does not fit; one that was thrown without a list is about a single member, or
 * the body.
 */
function soleDetail(message: string, { param = '', code = 'invalid_value' }: ProblemOptions): ProblemDetail {
  return { param, code, message: message.replace(/^[a-z_.]+: /, '') };
}
