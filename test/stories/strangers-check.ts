import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { compactVerify, createRemoteJWKSet, jwtVerify, type JWTPayload } from 'jose';
import type { Json } from '../house.ts';

export const ISSUER = 'http://127.0.0.1:4000';

/** What a stranger's program does, from the documentation alone: nothing of ours is imported. */
export function strangersDigest(result: Json): string {
  const {
    signature: _signature,
    trust: _trust,
    progress: _progress,
    platform_fee_cents: _fee,
    billed: _billed,
    time_series: _series,
    model_breakdown: _breakdown,
    comparison: _comparison,
    diagnostics: _diagnostics,
    campaigns: _campaigns,
    ...signed
  } = result;
  return `sha256:${createHash('sha256').update(canonicalize(signed)!).digest('hex')}`;
}

/** The payload of a signature, checked with the keys at their public address. */
export async function strangersCheck(root: string, result: Json): Promise<JWTPayload> {
  const keys = createRemoteJWKSet(new URL(`${root}/.well-known/jwks.json`));
  const signature = String(result['signature']);
  const { protectedHeader } = await compactVerify(signature, keys);
  expect(protectedHeader).toMatchObject({ alg: 'EdDSA', typ: 'svc-result+jwt' });
  const { payload } = await jwtVerify(signature, keys, {
    issuer: ISSUER,
    subject: String(result['id']),
    typ: 'svc-result+jwt',
  });
  return payload;
}
