import {
  exampleVerification,
  resultVerification,
  verificationRequest,
} from '../../schema/contract/result-verification.ts';
import { fromRest, restForm } from '../../schema/contract/rest-form.ts';
import { inOrder, objectAt } from '../members.ts';
import { operation } from '../operation.ts';
import { exampleAttribution } from '../representations/attribution-result.ts';
import { exampleTrust, trustEnvelope } from '../representations/trust-envelope.ts';

const answer = restForm(resultVerification).extend({ trust: trustEnvelope }).meta({ id: 'ResultVerification' });

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
    description:
      'Needs no key. A wrong signature is an answer: valid is false and reason says why. The same can be checked ' +
      'without this service, with the keys at /.well-known/jwks.json.',
    bodySchema: restForm(verificationRequest),
    success: { status: 200, description: 'What came of the check', schema: answer },
    problems: [],
    variables: ({ body }) => ({ input: fromRest(verificationRequest, body) }),
    present: (data) => inOrder(answer, objectAt(data, 'verify_result')),
    example: {
      body: { jws: exampleAttribution['signature'] },
      response: { ...exampleVerification, trust: exampleTrust(1) },
    },
  }),
];
