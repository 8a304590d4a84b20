import { z } from 'zod';
import { receiptMembers } from '../../schema/contract/value-proofs.ts';
import type { Json } from '../../schema/rest-shape.ts';
import { objectIn, signCompact } from './compact-jws.ts';
import type { SignedStatement } from './signed-statement.ts';
import type { CurrentKey } from './signing-key-store.ts';

export const RECEIPT_TYPE = 'svc-receipt+jwt';

/** What the signature of a receipt says: the members of the value proof as REST shows it, and who signed when. */
const claimsSchema = receiptMembers.extend({
  iss: z.string().min(1),
  iat: z.int().min(0).max(253_402_300_799),
  jti: z.string().regex(/^rcpt_[0-9A-Za-z]{22}$/),
});

/** @param proof the value proof in REST's form, without its signature */
export async function signReceipt(proof: Json, issuer: string, key: CurrentKey): Promise<string> {
  const { receipt_id: jti, created_at: createdAt, ...rest } = proof;
  const iat = Math.floor(Date.parse(String(createdAt)) / 1000);
  const claims = { iss: issuer, iat, jti, receipt_id: jti, ...rest, created_at: createdAt };
  return signCompact(RECEIPT_TYPE, claimsSchema.parse(claims), key);
}

/** Null for a payload that does not say what a receipt must say. */
export function receiptStatement(payload: Json | null): SignedStatement | null {
  const { success, data } = claimsSchema.safeParse(payload);
  if (!success || data['jti'] !== data['receipt_id']) return null;
  const { jti, iss, iat } = data as { readonly jti: string; readonly iss: string; readonly iat: number };
  return { type: 'value_receipt', id: jti, revision: 1, issuer: iss, signedAt: new Date(iat * 1000), digest: null };
}

/** The value proof in a receipt of ours, as it was signed. */
export function proofIn(receipt: string): Json {
  const [, payload = ''] = receipt.split('.');
  const claims = objectIn(Buffer.from(payload, 'base64url'));
  if (claims === null) throw new Error('a receipt of ours holds no object');
  const { iss: _iss, iat: _iat, jti: _jti, ...proof } = claims;
  return { ...proof, signed_receipt: receipt };
}
