import { z } from 'zod';
import { ProblemError } from '../../../../schema/problems.ts';
import type { Json } from '../../../../schema/rest-shape.ts';
import { parseInput } from '../../../../platform/graph/parse-input.ts';
import { uuidFromPublicId } from '../../../../platform/identifiers.ts';
import type { Database } from '../../../../platform/postgres/database.ts';
import { checkSignedResult, type SignatureCheck } from '../../../../services/trust/signed-result.ts';
import { PublicKeyStore } from '../../../../services/trust/signing-key-store.ts';

/** A JWS of ours has about 500 characters. */
const LONGEST_JWS = 8_192;

const jws = z.string().min(1).max(LONGEST_JWS);
/** Passed on as it is: a copy could lose a member, such as `__proto__`, that the sender sees. */
const result = z.custom<Json>((value) => typeof value === 'object' && value !== null && !Array.isArray(value), 'must be a result: a JSON object');
const request = z.object({ jws: jws.nullish(), result: result.nullish() });

/**
 * Checks a signed result against the keys, the addresses and the revisions of this installation. Anyone may ask, and
 * learns nothing that the signature itself does not say, except whether it is out of date.
 * @throws ProblemError `validation_error` when there is no JWS to check
 */
export async function verifyResult(database: Database, input: unknown): Promise<SignatureCheck> {
  const { jws: given, result } = parseInput(request, input);
  const keys = new PublicKeyStore(database);
  return checkSignedResult(given ?? signatureOf(result ?? undefined), result ?? undefined, {
    findKey: (kid) => keys.find(kid),
    isIssuer: (issuer) => keys.isIssuer(issuer),
    currentRevision: (id) => currentRevision(database, id),
  });
}

function signatureOf(result: Json | undefined): string {
  if (result === undefined) throw missing('/jws', 'jws: give a signature in jws, a signed result in result, or both.');
  const signature = jws.safeParse(result['signature']);
  if (signature.success) return signature.data;
  throw missing('/result/signature', 'result.signature: the result carries no signature. It is not completed, or was completed before results were signed.');
}

function missing(param: string, message: string): ProblemError {
  return new ProblemError('validation_error', message, { code: 'required', param });
}

/** Across tenants, which is why the database answers this one question and no other. */
async function currentRevision(database: Database, id: string): Promise<number | null> {
  const uuid = uuidFromPublicId('attr', id);
  if (uuid === undefined) return null;
  const [row] = await database.asNobody((em) => em.execute<[{ revision: number | null }]>(`select attribution.current_revision(?) as revision`, [uuid]));
  return row.revision;
}
