import type { ProblemDetail, ProblemType } from '../schema/problems.ts';

/** Why an error happens, and what to do about it, for the person who reads `doc_url`. */
export interface Guidance {
  readonly cause: string;
  readonly cure: string;
  /** What an error of this type may say beyond its type: the members of the Error structure. */
  readonly example?: {
    readonly message: string;
    readonly code?: string;
    readonly param?: string;
    readonly errors?: readonly ProblemDetail[];
    readonly retry_after?: number;
  };
}

const BAD_RANGE = 'start must not be after end';

/** One entry per error type; the pages behind `doc_url` are made of them. */
export const ERROR_GUIDE: Readonly<Record<ProblemType, Guidance>> = {
  invalid_api_key: {
    cause: 'The Authorization header is missing, does not read “Bearer” and a key, or names a key that does not exist.',
    cure:
      'Send “Authorization: Bearer” followed by your whole key. Register an agent with POST /v1/agents/register ' +
      'if you have none; keys are shown only once.',
  },
  expired_api_key: {
    cause: 'The key was revoked or rotated, or the access token is older than an hour.',
    cure: 'Use the current key, or refresh the token.',
  },
  rate_limit_exceeded: {
    cause: 'More requests came in a minute or a day than your plan or tier allows.',
    cure: 'Wait for the seconds in Retry-After, then go on more slowly. The RateLimit headers say how much is left.',
    example: {
      message: 'More than 60 requests came in this minute. Go on in 18 s.',
      code: 'per_minute',
      retry_after: 18,
    },
  },
  missing_nonce: {
    cause: 'POST, PUT, PATCH and DELETE need the header X-Nonce, so that nobody can replay a request of yours.',
    cure: 'Send a fresh UUID in X-Nonce with every request, retries included.',
  },
  duplicate_nonce: {
    cause: 'The same X-Nonce came within the last 24 hours. Clients that repeat a request byte for byte run into this.',
    cure:
      'Make a new nonce for every attempt. To repeat an operation safely, keep the idempotency key and change ' +
      'the nonce.',
  },
  ip_not_allowed: {
    cause: 'The key has an allowlist of addresses, and the request came from another one.',
    cure: 'Send it from a listed address, or make a key with yours in allowed_ips.',
  },
  insufficient_permissions: {
    cause: 'The key is valid, but lacks the scope, or its owner the role, that this operation needs.',
    cure:
      'WWW-Authenticate names the scope: use a key that has it. Where error.code is role, ask an owner of the ' +
      'workspace for another role.',
  },
  resource_not_found: {
    cause: 'Nothing is at this address, or it belongs to another account; the two look the same on purpose.',
    cure: 'Check the id and the path. The operations are listed in the API reference.',
  },
  validation_error: {
    cause: 'The request is well-formed, but a value does not fit.',
    cure:
      'error.errors lists every value that does not fit: param says where, message says what is expected. What may ' +
      'be left out may also be null, which means the same. Three ' +
      'operations answer 400 with this type, as the interface has it: POST /v1/webhooks, PUT ' +
      '/v1/agents/me/capabilities and the start of a migration.',
    example: {
      message: `date_range: ${BAD_RANGE}`,
      code: 'invalid_range',
      param: '/date_range',
      errors: [{ param: '/date_range', code: 'invalid_range', message: BAD_RANGE }],
    },
  },
  internal_error: {
    cause: 'Something went wrong on our side that we did not expect.',
    cure: 'Try again. If it stays, report it with the request id: our logs hold the details under it.',
  },
  service_unavailable: {
    cause: 'Something that the service depends on does not answer at the moment.',
    cure:
      'Wait for the seconds in Retry-After and try again, a little longer each time. Use the same idempotency ' +
      'key, so that nothing happens twice.',
  },
  idempotency_conflict: {
    cause: 'This idempotency key was used before with another method, path, body or version.',
    cure: 'Derive the key from the business operation, so that another operation has another key.',
  },
  idempotency_in_progress: {
    cause: 'The first request with this idempotency key is still running.',
    cure: 'Wait for the seconds in Retry-After and repeat the request: you will get the first one’s answer.',
  },
  conflict: {
    cause:
      'The request makes sense, but not in the state that the resource is in. error.code says which: ' +
      'operator_already_registered, for example.',
    cure: 'Read the resource and decide anew.',
    example: {
      message: 'This operator has registered already. Use its key, or register under another operator.',
      code: 'operator_already_registered',
    },
  },
  unsupported_api_version: {
    cause: 'SVC-API-Version names a date that is no version of this API, or one whose support has ended.',
    cure: 'Send one of the versions that the message lists, or leave the header out to get the current one.',
  },
  invalid_request: {
    cause: 'The request cannot be read: broken JSON, a broken header, or a body that did not arrive whole.',
    cure: 'The message says what could not be read. Let a library write the JSON.',
  },
  invalid_grant: {
    cause: 'The authorization code, refresh token or secret is wrong, expired or used.',
    cure: 'Start the OAuth flow again. Each refresh token works once.',
  },
  unsupported_grant_type: {
    cause: 'grant_type is neither client_credentials, authorization_code nor refresh_token.',
    cure: 'Use one of these.',
  },
  invalid_scope: {
    cause: 'A requested scope does not exist, or the client may not have it.',
    cure: 'Ask for scopes that the agent has, or leave scope out to get all of them.',
  },
  invalid_client: {
    cause: 'The client id is unknown, or the secret does not belong to it.',
    cure: 'client_id is the agent id, client_secret its key.',
  },
  spend_limit_exceeded: {
    cause: 'The next billable call would pass the monthly limit that you set.',
    cure: 'Raise the limit with POST /v1/billing/spend-limit, or wait for the next month.',
  },
  payment_required: {
    cause: 'The plan or the trial has lapsed.',
    cure: 'Subscribe to a plan. GET /v1/billing/plans lists them.',
  },
  method_not_allowed: {
    cause: 'The address exists, but takes other methods.',
    cure: 'The Allow header lists them.',
  },
  not_acceptable: {
    cause: 'The Accept header excludes what this operation can answer with.',
    cure: 'Accept application/json, or text/event-stream where you ask for a stream.',
  },
  payload_too_large: {
    cause: 'The body is larger than this operation takes.',
    cure: 'Send large files to POST /v1/data-sources/{id}/records, which streams them.',
  },
  unsupported_media_type: {
    cause: 'Content-Type or Content-Encoding is not one that this operation reads.',
    cure:
      'Send JSON as application/json. Files go as text/csv, application/x-ndjson or ' +
      'application/vnd.apache.parquet, plain or gzip.',
  },
  data_source_unavailable: {
    cause: 'The data source is in error, or has no rows yet.',
    cure: 'GET /v1/data-sources/{id}/status says what is wrong. Upload rows or sync, then run the analysis again.',
  },
};
