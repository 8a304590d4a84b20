import { compactJws, verificationRequest } from '../../../../schema/contract/result-verification.ts';
import { ProblemError } from '../../../../schema/problems.ts';
import type { Json } from '../../../../schema/rest-shape.ts';
import { parseGraphInput } from '../../../../platform/graph/parse-input.ts';
import { uuidFromPublicId } from '../../../../platform/identifiers.ts';
import type { Database } from '../../../../platform/postgres/database.ts';
import { checkSignedResult, type SignatureCheck } from '../../../../services/trust/signed-result.ts';
import { PublicKeyStore } from '../../../../services/trust/signing-key-store.ts';

/**
 * Checks a signed result against the keys, the addresses and the revisions of this installation. Anyone may ask, and
 * learns nothing that the signature itself does not say, except whether it is out of date.
 * @throws ProblemError `validation_error` when there is no JWS to check
 */
export async function verifyResult(database: Database, input: unknown): Promise<SignatureCheck> {
  const given = parseGraphInput(verificationRequest, input);
  const { jws, result } = given as { readonly jws?: string; readonly result?: Json };
  const keys = new PublicKeyStore(database);
  return checkSignedResult(jws ?? signatureOf(result!), result, {
    findKey: (kid) => keys.find(kid),
    isIssuer: (issuer) => keys.isIssuer(issuer),
    currentRevision: (id) => currentRevision(database, id),
  });
}

/** @throws ProblemError `validation_error` when the result carries no signature */
function signatureOf(result: Json): string {
  const signature = compactJws.safeParse(result['signature']);
  if (signature.success) return signature.data;
  const message =
    'result.signature: the result carries no signature. It is not completed, or was completed before ' +
    'results were signed.';
  throw new ProblemError('validation_error', message, { code: 'required', param: '/result/signature' });
}

/** Across tenants, which is why the database answers this one question and no other. */
async function currentRevision(database: Database, id: string): Promise<number | null> {
  const uuid = uuidFromPublicId('attr', id);
  if (uuid === undefined) return null;
  const [row] = await database.asNobody((em) =>
    em.execute<[{ revision: number | null }]>(`select attribution.current_revision(?) as revision`, [uuid]),
  );
  return row.revision;
}
