import { ProblemError } from '../../schema/problems.ts';
import type { Principal } from '../../schema/principal.ts';
import { canonicalDigest } from '../trust/canonical-json.ts';

/** 1 to 255 printable ASCII characters (contract §0.11), blanks at the ends excepted, which HTTP takes away. */
const KEY_PATTERN = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

/**
 * The key of a request: `SVC-Idempotency-Key`, or its alias `Idempotency-Key`.
 * @throws ProblemError `invalid_request` for one of the wrong form, and for two that differ
 */
export function readIdempotencyKey(named: string | undefined, alias: string | undefined): string | undefined {
  const param = 'header:SVC-Idempotency-Key';
  if (named !== undefined && alias !== undefined && named !== alias) {
    throw new ProblemError('invalid_request', 'SVC-Idempotency-Key and Idempotency-Key differ. Send one of them.', {
      code: 'idempotency_key_mismatch',
      param,
    });
  }
  const key = named ?? alias;
  return key === undefined ? undefined : wellFormedKey(key, param);
}

/** @throws ProblemError `invalid_request` */
export function wellFormedKey(key: unknown, param: string): string {
  if (typeof key === 'string' && KEY_PATTERN.test(key)) return key;
  throw new ProblemError('invalid_request', 'An idempotency key has 1 to 255 printable ASCII characters.', {
    code: 'invalid_idempotency_key',
    param,
  });
}

/**
 * Whose keys these are: one namespace per account and environment, whichever credential is shown; an agent that acts
 * for somebody else, by a token or as a guest in a workspace, has one of its own there; strangers have one per address.
 */
export function claimScope(principal: Principal | null, clientAddress: string): string {
  if (principal === null) return `address ${clientAddress}`;
  const { accountId, environment, workspace, proof } = principal;
  const owner = `account ${accountId} ${environment}`;
  const caller = principal.agentId ?? principal.credentialId;
  if (workspace !== null) return `${owner} workspace ${workspace.id} ${caller}`;
  return proof === 'delegated' ? `${owner} agent ${caller}` : owner;
}

/**
 * What a caller may do, as part of what it asks for: a replay asks nobody, so a key that may do less would be told what
 * it could not have asked for itself, such as keys that can do more. What ends is told only what was told to what ends
 * with it, else it would find a key that outlives it.
 */
export function rightsOf(principal: Principal | null): Readonly<Record<string, unknown>> {
  const { scopes = [], proof = null, workspace = null, bond } = principal ?? {};
  return { scopes: scopes.toSorted(), proof, role: workspace?.role ?? null, ...(bond === undefined ? {} : { bond }) };
}

/** What two requests must share to count as the same one: SHA-256 of their canonical JSON (RFC 8785), hex. */
export function fingerprintOf(parts: Readonly<Record<string, unknown>>): string {
  return canonicalDigest(expressible(parts)).slice('sha256:'.length);
}

/**
 * `1e999` parses to Infinity, which canonical JSON has no form for: it is told apart by name. Whether it is taken,
 * validation says.
 */
function expressible(value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) return { number: String(value) };
  if (Array.isArray(value)) return value.map(expressible);
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, expressible(member)]))
    : value;
}

/** The parameters of a query string in an order of their own. */
export function sortedQuery(querystring: string): readonly (readonly [string, string])[] {
  return [...new URLSearchParams(querystring)].toSorted(
    ([name, value], [otherName, otherValue]) => compare(name, otherName) || compare(value, otherValue),
  );
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/** 4xx that a better request, or a later one, may get past: they are not kept, and neither is any 5xx. */
const NOT_KEPT: ReadonlySet<number> = new Set([400, 401, 403, 405, 406, 413, 415, 422, 429]);

/** Whether an answer of this status is kept for those who ask again (contract §0.11). */
export function isKept(status: number): boolean {
  return status >= 200 && status < 500 && !NOT_KEPT.has(status);
}

/** The problems of the claim itself are nobody's answer. */
export function isOfClaim(error: unknown): boolean {
  return (
    error instanceof ProblemError && (error.type === 'idempotency_conflict' || error.type === 'idempotency_in_progress')
  );
}

/** The key came before with another request. */
export function idempotencyConflict(): ProblemError {
  return new ProblemError(
    'idempotency_conflict',
    'This idempotency key was used with other parameters in the last 24 hours. Send the same request again, or ' +
      'another key.',
    { param: 'header:SVC-Idempotency-Key' },
  );
}

/** Another attempt holds the key. */
export function idempotencyInProgress(): ProblemError {
  return new ProblemError(
    'idempotency_in_progress',
    'The first request with this idempotency key is still running. Send the same request again in a moment, with a ' +
      'new nonce.',
    { param: 'header:SVC-Idempotency-Key', retryAfterS: 1 },
  );
}
