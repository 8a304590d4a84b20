import { z } from 'zod';
import { signedMembers, signedMembersWithFee } from '../../schema/attribution-result.ts';
import { ProblemError } from '../../schema/problems.ts';
import type { Json } from '../../schema/rest-shape.ts';
import type { SIGNATURE_REASONS } from '../../schema/value-lists.ts';
import type { Environment } from '../../schema/principal.ts';
import { canonicalDigest } from './canonical-json.ts';
import { jwsHeader, objectIn, signCompact, verifiedPayload } from './compact-jws.ts';
import type { CurrentKey } from './signing-key-store.ts';
import { RECEIPT_TYPE, receiptStatement } from './signed-receipt.ts';
import type { SignedStatement } from './signed-statement.ts';
import { environmentOf, type SigningKey } from './signing-key.ts';

const TYPE = 'svc-result+jwt';

/** What a signature says of a result. */
const claimsSchema = z.object({
  /** Address of the service that signed, without `/v1`. */
  iss: z.string().min(1),
  /** Public id of the result. */
  sub: z.string().regex(/^attr_[0-9A-Za-z]{22}$/),
  /** Seconds since the epoch. */
  iat: z.int().min(0).max(253_402_300_799),
  jti: z.string().min(1),
  revision: z.int().min(1),
  delta_r_cents: z.int().min(0),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
});
/** The payload of a result's signature. */
export type ResultClaims = z.output<typeof claimsSchema>;

/** Why a signed result is not believed, the first of them that holds. */
export type SignatureReason = (typeof SIGNATURE_REASONS)[number];

/**
 * What came of a check. Nothing of a payload is repeated before its signature has proved right: until then it is null.
 */
export interface SignatureCheck {
  readonly valid: boolean;
  readonly reason: SignatureReason | null;
  readonly signatureValid: boolean;
  /** null when no result was given, or nothing trustworthy to compare it with. */
  readonly digestMatch: boolean | null;
  /** As the header names them. */
  readonly algorithm: string;
  readonly keyId: string | null;
  readonly payload: Json | null;
  /** What was signed, where the payload says what one of its kind must say. */
  readonly statement: SignedStatement | null;
  readonly environment: Environment | null;
}

/** Whom to believe. What is left out is not checked. */
export interface TrustAnchors {
  findKey(kid: string): Promise<Pick<SigningKey, 'x' | 'status'> | null>;
  isIssuer?(issuer: string): Promise<boolean>;
  /** The revision that a result has now; null where there is none of this id. */
  currentRevision?(id: string): Promise<number | null>;
}

/**
 * Digest of a result in REST's form: SHA-256 over the canonical JSON (RFC 8785) of the members that a signature covers.
 */
export function resultDigest(result: Json): string {
  return canonicalDigest(signedMembers(result));
}

/** Signs: a compact JWS (RFC 7515) by Ed25519 (RFC 8037). */
export async function signClaims(claims: ResultClaims, key: CurrentKey): Promise<string> {
  return signCompact(TYPE, claims, key);
}

/**
 * Checks a signature and, where it is given, the result that it was made for. A wrong signature is an answer.
 * @param result in REST's form, as a client received it
 * @throws ProblemError `validation_error` for what is not a JWS in compact serialization
 */
export async function checkSignedResult(
  jws: string,
  result: Json | undefined,
  anchors: TrustAnchors,
): Promise<SignatureCheck> {
  const { alg, kid } = headerOf(jws);
  const unproven = {
    valid: false,
    signatureValid: false,
    digestMatch: null,
    algorithm: alg,
    keyId: kid,
    payload: null,
    statement: null,
    environment: null,
  };
  if (kid === null) return { ...unproven, reason: 'unknown_key' };
  const key = await anchors.findKey(kid);
  if (key === null) return { ...unproven, reason: 'unknown_key' };
  const verified = await verifiedPayload(jws, key.x);
  if (verified === null) return { ...unproven, reason: 'bad_signature' };

  const payload = objectIn(verified.payload);
  const statement = statementOf(verified.type, payload);
  const digestMatch = result === undefined || statement === null ? null : isOf(result, statement);
  const reason = key.status === 'revoked' ? 'revoked_key' : await reasonAgainst(statement, digestMatch, anchors);
  return {
    valid: reason === null,
    reason,
    signatureValid: true,
    digestMatch,
    algorithm: alg,
    keyId: kid,
    payload,
    statement,
    environment: environmentOf(kid),
  };
}

function statementOf(type: string | undefined, payload: Json | null): SignedStatement | null {
  if (type === RECEIPT_TYPE) return receiptStatement(payload);
  const { success, data } = claimsSchema.safeParse(payload);
  if (!success || type !== TYPE) return null;
  const { iss: issuer, sub: id, iat, revision, digest } = data;
  return { type: 'attribution_result', id, revision, issuer, signedAt: new Date(iat * 1000), digest };
}

/** A receipt says all of itself, and nothing of a result beside it. */
function isOf(result: Json, { digest }: SignedStatement): boolean {
  return digest !== null && hasDigest(result, digest);
}

/** One operation may ask of the same result under many names, and a large one takes a tenth of a second. */
const digests = new WeakMap<Json, readonly string[]>();

/** A result with a number beyond the doubles, which JSON can write and nothing of ours can have said, has no digest. */
function hasDigest(result: Json, digest: string): boolean {
  try {
    const own = digests.get(result) ?? [resultDigest(result)];
    digests.set(result, own);
    if (own.includes(digest) || own.length > 1) return own.includes(digest);
    const all = [...own, ...earlierForms(result).map(canonicalDigest)];
    digests.set(result, all);
    return all.includes(digest);
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/** What earlier releases covered of such a result: those whose results named their fee, or not their workspace. */
function earlierForms(result: Json): Json[] {
  const { workspace_id: _, ...unplaced } = result;
  const others = 'workspace_id' in result ? [signedMembers(unplaced), signedMembersWithFee(unplaced)] : [];
  return [signedMembersWithFee(result), ...others].filter((form) => form !== null);
}

async function reasonAgainst(
  statement: SignedStatement | null,
  digestMatch: boolean | null,
  { isIssuer, currentRevision }: TrustAnchors,
): Promise<SignatureReason | null> {
  if (statement === null) return 'malformed_payload';
  const { type, id, revision, issuer } = statement;
  if (isIssuer !== undefined && !(await isIssuer(issuer))) return 'wrong_issuer';
  if (digestMatch === false) return 'digest_mismatch';
  const current = type === 'attribution_result' ? await currentRevision?.(id) : null;
  return (current ?? revision) > revision ? 'superseded_revision' : null;
}

/** @throws ProblemError `validation_error` */
function headerOf(jws: string): { readonly alg: string; readonly kid: string | null } {
  const header = jwsHeader(jws);
  if (header !== null) return header;
  throw new ProblemError(
    'validation_error',
    'jws: not a JWS in compact serialization: three base64url parts separated by dots, the first a JSON ' +
      'object with alg.',
    { code: 'not_a_jws', param: '/jws' },
  );
}
