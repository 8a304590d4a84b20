import { z } from 'zod';
import { given, inOrder, objectAt } from '../members.ts';
import { operation } from '../operation.ts';
import { exampleAttribution } from '../representations/attribution-result.ts';
import { exampleVerification, resultVerification } from '../representations/result-verification.ts';

const request = z
  .object({
    jws: z.string().min(1).max(8192).optional().meta({ description: 'The signature; that of result when left out' }),
    // Passed on as it is: a copy could lose a member that the sender sees.
    result: z.unknown().refine(isObject, 'must be a result: a JSON object').optional().meta({ description: 'A result as it was received; sections that include= adds may be left out', openapi: { type: 'object', additionalProperties: true } }),
  })
  .refine(({ jws, result }) => jws !== undefined || result !== undefined, { path: ['jws'], message: 'give a signature in jws, a signed result in result, or both', params: { code: 'required' } });

function isObject(value: unknown): boolean {
  return value === undefined || (typeof value === 'object' && value !== null && !Array.isArray(value));
}

export const verificationOperations = [
  operation({
    id: 'verifyResult',
    tag: 'Verification',
    method: 'POST',
    path: '/verify',
    kind: 'publicWrite',
    action: null,
    strangerLimit: 'anonymous',
    document: 'VerifyResult',
    summary: 'Check a signed result',
    description: 'Needs no key. A wrong signature is an answer: valid is false and reason says why. The same can be checked without this service, with the keys at /.well-known/jwks.json.',
    bodySchema: request,
    success: { status: 200, description: 'What came of the check', schema: resultVerification },
    problems: [],
    variables: ({ body }) => ({ input: given({ jws: body.jws, result: body.result }) }),
    present: (data) => inOrder(resultVerification, objectAt(data, 'verify_result')),
    example: { body: { jws: exampleAttribution['signature'] }, response: exampleVerification },
  }),
];
