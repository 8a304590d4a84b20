import type { Json, Operation } from '../operation.ts';

/** Of every answer. */
const COMMON_HEADERS = {
  'X-Request-Id': 'Id of the request, as in errors and logs',
  'SVC-API-Version': 'Version that the answer follows',
  'SVC-HREI-Score': 'trust.hrei_score of the answer; absent where it has not been measured',
  'SVC-HREI-Risk': 'trust.risk_level of the answer; absent where it has not been measured',
  Deprecation: 'Since when the version that the answer follows is deprecated (RFC 9745); absent for others',
  Sunset: 'When that version ends (RFC 8594)',
  Link: 'rel="deprecation": the versions and their ends (RFC 8288)',
} as const;

/** Of every answer to a call that was counted. */
const RATE_HEADERS = {
  'RateLimit-Policy': 'Windows that the call was counted in: q calls in w seconds',
  RateLimit: 'What is left of each window (r), and in how many seconds (t) it begins anew',
  'X-RateLimit-Limit': 'Calls in the window that binds',
  'X-RateLimit-Remaining': 'What is left of it',
  'X-RateLimit-Reset': 'Seconds until it begins anew',
} as const;

/** Of every answer to a caller who showed a key or token. */
const CALLER_HEADERS = { 'SVC-Environment': '`sandbox` for test keys; absent for others' } as const;

/** Of some refusals. */
const REFUSAL_HEADERS = {
  'Retry-After': 'Whole seconds after which another try makes sense; at least 1',
  'WWW-Authenticate': 'How to be let in (RFC 6750, RFC 9728)',
} as const;

/** Of pages of lists; stands under its own name in the components, as it says more than the usual `Link`. */
const PAGE_LINKS = {
  PageLinks:
    'rel="first", "prev", "next" and "last": the pages of the list (RFC 8288); also rel="deprecation", see Link',
} as const;

const HEADERS = { ...COMMON_HEADERS, ...RATE_HEADERS, ...CALLER_HEADERS, ...REFUSAL_HEADERS, ...PAGE_LINKS };

/** The headers that responses refer to. */
export const HEADER_COMPONENTS: Json = Object.fromEntries(
  Object.entries(HEADERS).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
);

/** What an operation counts its calls by. */
export type Audience = 'callers' | 'strangers' | 'anyone';

/** `callers` show a key, `strangers` are counted by their address, `anyone` is not counted. */
export function audienceOf({ action, strangerLimit }: Operation): Audience {
  if (action !== null) return 'callers';
  return strangerLimit === undefined ? 'anyone' : 'strangers';
}

/** The headers of an operation's answers, but for those of its own. */
export function headersOf(operation: Operation): Json {
  const audience = audienceOf(operation);
  return referred({
    ...COMMON_HEADERS,
    ...(audience === 'anyone' ? {} : RATE_HEADERS),
    ...(audience === 'callers' ? CALLER_HEADERS : {}),
  });
}

/** The headers of a refusal before anybody knows who is calling: it is counted by its address. */
export function strangersHeaders(operation: Operation): Json {
  return referred({ ...COMMON_HEADERS, ...(audienceOf(operation) === 'anyone' ? {} : RATE_HEADERS) });
}

/** Those that only refusals have, as far as `named`. */
export function refusalHeaders(named: Readonly<Record<keyof typeof REFUSAL_HEADERS, boolean>>): Json {
  return referred(Object.fromEntries(Object.entries(named).filter(([, isThere]) => isThere)));
}

/** `Link` of a page. */
export const PAGE_LINK_HEADER: Json = { Link: { $ref: '#/components/headers/PageLinks' } };

function referred(headers: Readonly<Record<string, unknown>>): Json {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
