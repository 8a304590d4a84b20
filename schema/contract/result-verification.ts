import { z } from 'zod';
import { SIGNATURE_REASONS, SIGNED_SUBJECTS } from '../value-lists.ts';
import { environment, graphTypes, moment } from './terms.ts';

const signatureReason = z.enum(SIGNATURE_REASONS).register(graphTypes, {
  name: 'SignatureReason',
  description: 'Why a signed result is not believed.',
});

const signedSubject = z
  .object({
    type: z
      .enum(SIGNED_SUBJECTS)
      .register(graphTypes, { name: 'SignedSubjectType', description: 'What signatures are made for.' })
      .meta({ graph: 'What it is.' }),
    id: z.string().meta({ scalar: 'ID', graph: 'Public id of the result, or of the receipt.' }),
    revision: z.int().meta({ graph: 'Revision of the result that was signed; a receipt has one alone.' }),
  })
  .register(graphTypes, { name: 'SignedSubject', description: 'What a signature was made for.' });

/** What came of checking a signed result; the order of the members is the order in every answer. */
export const resultVerification = z
  .object({
    valid: z.boolean().meta({ graph: 'Whether the signature, and the result where it was given, are to be believed.' }),
    signatureValid: z.boolean().meta({
      description: 'Whether a published key made the signature over exactly this payload',
    }),
    digestMatch: z
      .boolean()
      .nullable()
      .meta({
        description: 'Whether the result given is the one that was signed; null when none was given',
        graph:
          'Whether the result given is the one that was signed; null when none was given, or nothing trustworthy to ' +
          'compare it with.',
      }),
    reason: signatureReason.nullable().meta({ description: 'Null when valid' }),
    algorithm: z.string().meta({ graph: 'As the header of the signature names it; EdDSA alone is accepted.' }),
    keyId: z.string().nullable().meta({ graph: 'Key that the header names.' }),
    issuer: z.string().nullable().meta({ graph: 'Address of the service that signed.' }),
    subject: signedSubject.nullable().meta({ graph: 'What was signed.' }),
    signedAt: moment.nullable().meta({ graph: 'When it was signed, to the second.' }),
    environment: environment.nullable().meta({ graph: 'Whose data the figures rest on, by the key that signed them.' }),
    payload: z.record(z.string(), z.unknown()).nullable().meta({
      description: 'The claims of the signature; null unless the signature is right',
      graph: 'The claims of the signature.',
    }),
    verifiedAt: moment.meta({ graph: 'When this was checked.' }),
  })
  .meta({
    id: 'ResultVerification',
    graph: 'Outcome of checking a signed result. Claims of the signature are repeated only where it is right.',
  });

/** A JWS of ours has about 500 characters. */
export const compactJws = z.string().min(1).max(8_192);

/** Passed on as it is: a copy could lose a member, such as `__proto__`, that the sender sees. */
const signedResult = z.unknown().refine(isObject, 'must be a result: a JSON object');

function isObject(value: unknown): boolean {
  return value === undefined || (typeof value === 'object' && value !== null && !Array.isArray(value));
}

/** What is to be checked. */
export const verificationRequest = z
  .object({
    jws: compactJws.optional().meta({
      description: 'The signature; that of result when left out',
      graph: 'JWS in compact serialization; the signature of the result when left out.',
    }),
    result: signedResult.optional().meta({
      description: 'A result as it was received; sections that include= adds may be left out',
      openapi: { type: 'object', additionalProperties: true },
      graph: 'A result as the REST door gave it; sections that include= adds may be there or not.',
    }),
  })
  .refine(({ jws, result }) => jws !== undefined || result !== undefined, {
    path: ['jws'],
    message: 'give a signature in jws, a signed result in result, or both',
    params: { code: 'required' },
  })
  .meta({ graph: 'A signature, a signed result, or both.' });

const ISSUER = 'https://api.example';
const EXAMPLE_RESULT = 'attr_01JQ2m6Yw3TfK8sVbNcXrE';

/** The check of the analysis that the documentation shows, as REST tells of it. */
export const exampleVerification = {
  valid: true,
  signature_valid: true,
  digest_match: null,
  reason: null,
  algorithm: 'EdDSA',
  key_id: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
  issuer: ISSUER,
  subject: { type: 'attribution_result', id: EXAMPLE_RESULT, revision: 1 },
  signed_at: '2026-02-01T09:30:00.000Z',
  environment: 'live',
  payload: {
    iss: ISSUER,
    sub: EXAMPLE_RESULT,
    iat: 1_769_938_200,
    jti: '3f0c9a52-7d1e-4b8a-9c46-58f2d1a7e603',
    revision: 1,
    delta_r_cents: 1_872_970,
    digest: 'sha256:1e67cfa464483c295556063aec3e592b62860c8a6edefd3fcde1f595a8d26dad',
  },
  verified_at: '2026-02-01T10:00:00.000Z',
};
