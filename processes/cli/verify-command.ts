import { buffer } from 'node:stream/consumers';
import { ProblemError } from '../../schema/problems.ts';
import type { Json } from '../../schema/rest-shape.ts';
import { checkSignedResult, type SignatureCheck, type SignatureReason } from '../../services/trust/signed-result.ts';
import { printable } from '../../report/terminal-text.ts';
import { BadInputError } from './bad-input-error.ts';
import { bytesOf, readKeys, strictJson } from './key-set.ts';

export interface VerifyOptions {
  /** File or URL. */
  readonly jwks: string;
  readonly issuer?: string;
  readonly json?: true;
}

/** Exit codes of the command, in the manner of grep. */
const GENUINE = 0;
const NOT_GENUINE = 1;
const NOT_FOUND_OUT = 2;

const MEANINGS: Readonly<Record<SignatureReason, string>> = {
  bad_signature: 'no key of this set made this signature',
  unknown_key: 'the key that it names is not in this set; get the set again, it may be out of date',
  revoked_key: 'its key was revoked; nothing that this key signed may be believed',
  wrong_issuer: 'somebody else signed it',
  digest_mismatch: 'the result is not the one that was signed; something in it was changed',
  superseded_revision: 'a later revision has replaced it',
  malformed_payload: 'what was signed is neither a result nor a receipt',
};

/** `liftgraph verify <file>`: checks a result on any machine, with the public keys alone. Returns the exit code. */
export async function runVerify(file: string, options: VerifyOptions): Promise<number> {
  try {
    const [{ jws, result }, keys] = await Promise.all([readSigned(file), readKeys(options.jwks)]);
    const { issuer } = options;
    const check = await checkSignedResult(jws, result, {
      findKey: async (kid) => keys.get(kid) ?? null,
      ...(issuer === undefined
        ? {}
        : { isIssuer: async (signedBy: string) => signedBy === issuer.replace(/\/+$/, '') }),
    });
    process.stdout.write(
      options.json === true
        ? `${JSON.stringify(asJson(check), undefined, 2)}\n`
        : asText(check)
            .map((line) => `${printable(line)}\n`)
            .join(''),
    );
    return check.valid ? GENUINE : NOT_GENUINE;
  } catch (error) {
    if (!(error instanceof BadInputError || error instanceof ProblemError)) throw error;
    process.stderr.write(`${printable(`error: ${error.message}`)}\n`);
    return NOT_FOUND_OUT;
  }
}

async function readSigned(file: string): Promise<{ readonly jws: string; readonly result: Json | undefined }> {
  const bytes = file === '-' ? await buffer(process.stdin) : await bytesOf(file);
  const text = bytes.toString('utf8').trim();
  if (!text.startsWith('{')) return { jws: text, result: undefined };
  const result = strictJson(bytes, file) as Json;
  const { signature } = result;
  if (typeof signature !== 'string')
    throw new BadInputError(
      `${file}: the result carries no signature. Give a completed result, as GET /v1/attribution/{id} shows it.`,
    );
  return { jws: signature, result };
}

function asText({ valid, reason, statement, environment, digestMatch, keyId }: SignatureCheck): readonly string[] {
  const isResult = statement?.type === 'attribution_result';
  const verdict = valid ? 'valid' : `NOT VALID: ${reason}: ${MEANINGS[reason!]}.`;
  const signed =
    statement === null
      ? []
      : [
          isResult ? `  result      ${statement.id}, revision ${statement.revision}` : `  receipt     ${statement.id}`,
          `  signed      ${statement.signedAt.toISOString()} by ${statement.issuer}, ${environment} data`,
        ];
  const comparison =
    digestMatch === null ? 'nothing: the signature came without its result' : 'the result is exactly what was signed';
  const compared = valid && isResult ? [`  compared    ${comparison}`] : [];
  const limits =
    valid && isResult
      ? ['  not known   whether a later revision exists, which the service alone can say: POST /v1/verify']
      : [];
  return [verdict, ...signed, ...(keyId === null ? [] : [`  key         ${keyId}`]), ...compared, ...limits];
}

/** As POST /verify answers, without what only the service knows. */
function asJson({ statement, ...check }: SignatureCheck): Json {
  return {
    valid: check.valid,
    signature_valid: check.signatureValid,
    digest_match: check.digestMatch,
    reason: check.reason,
    algorithm: check.algorithm,
    key_id: check.keyId,
    issuer: statement?.issuer ?? null,
    subject: statement === null ? null : { type: statement.type, id: statement.id, revision: statement.revision },
    signed_at: statement?.signedAt.toISOString() ?? null,
    environment: check.environment,
    payload: check.payload,
  };
}
