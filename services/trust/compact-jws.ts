import { createPublicKey } from 'node:crypto';
import { compactVerify, CompactSign, errors } from 'jose';
import { z } from 'zod';
import type { Json } from '../../schema/rest-shape.ts';
import type { CurrentKey } from './signing-key-store.ts';

/** The one algorithm that there is: Ed25519 (RFC 8037). */
const ALGORITHM = 'EdDSA';

/**
 * Signs claims: a compact JWS (RFC 7515). `type` keeps signatures of one purpose from serving another (RFC 8725 §3.11).
 */
export async function signCompact(type: string, claims: object, key: CurrentKey): Promise<string> {
  return new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ alg: ALGORITHM, typ: type, kid: key.kid })
    .sign(key.privateKey);
}

/** What a signature covers, once it has proved right. */
export interface VerifiedPayload {
  readonly payload: Uint8Array;
  readonly type: string | undefined;
}

/** Null where the signature does not hold under this key (base64url, RFC 8037 §2) and the one algorithm. */
export async function verifiedPayload(jws: string, x: string): Promise<VerifiedPayload | null> {
  // Base64url has several spellings of some bytes; whoever changed a signature must not find it right all the same.
  const signature = jws.slice(jws.lastIndexOf('.') + 1);
  if (Buffer.from(signature, 'base64url').toString('base64url') !== signature) return null;
  try {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
    const { payload, protectedHeader } = await compactVerify(jws, key, { algorithms: [ALGORITHM] });
    // We sign without extensions of the header; one that is critical would change what was signed (RFC 7515 §4.1.11).
    return protectedHeader.crit === undefined ? { payload, type: protectedHeader.typ } : null;
  } catch (error) {
    if (error instanceof errors.JOSEError) return null;
    throw error;
  }
}

const headerSchema = z.object({ alg: z.string(), kid: z.string().optional().catch(undefined) });
const COMPACT_JWS = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/** What the header of a compact JWS says of its key; null for anything else. */
export function jwsHeader(text: string): { readonly alg: string; readonly kid: string | null } | null {
  const header = COMPACT_JWS.test(text)
    ? headerSchema.safeParse(objectIn(Buffer.from(text.slice(0, text.indexOf('.')), 'base64url')))
    : undefined;
  return header?.success === true ? { alg: header.data.alg, kid: header.data.kid ?? null } : null;
}

/** The JSON object that these bytes are; null for anything else. */
export function objectIn(bytes: Uint8Array): Json | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
  } catch {
    return null;
  }
}
