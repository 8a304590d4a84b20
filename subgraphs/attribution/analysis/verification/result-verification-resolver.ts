import { Arg, Ctx, Query, Resolver } from 'type-graphql';
import { resultVerification, verificationRequest } from '../../../../schema/contract/result-verification.ts';
import type { RequestContext } from '../../../../schema/principal.ts';
import { inputTypeOf, objectTypeOf, type GraphRecord } from '../../../../platform/graph/contract-types.ts';
import type { Database } from '../../../../platform/postgres/database.ts';
import { recordEnvelope } from '../../../../services/trust/envelope.ts';
import { verifyResult } from './verify-result.ts';

const ResultVerification = objectTypeOf(resultVerification, 'Trust envelope of this answer.');
const VerifyResultInput = inputTypeOf('VerifyResultInput', verificationRequest);

@Resolver(() => ResultVerification)
export class ResultVerificationResolver {
  readonly #database: Database;
  readonly #clock: () => Date;

  constructor({ database, clock }: { readonly database: Database; readonly clock: () => Date }) {
    this.#database = database;
    this.#clock = clock;
  }

  @Query(() => ResultVerification, {
    nullable: true,
    description:
      'Checks a signed result; needs no key. A wrong signature is an answer. Errors: VALIDATION_ERROR for anything ' +
      'that is not a JWS.',
  })
  async verifyResult(
    @Ctx() context: RequestContext,
    @Arg('input', () => VerifyResultInput) input: object,
  ): Promise<GraphRecord<typeof resultVerification>> {
    const { statement, ...check } = await verifyResult(this.#database, input);
    const now = this.#clock();
    return {
      ...check,
      issuer: statement?.issuer ?? null,
      subject: statement,
      signedAt: statement?.signedAt ?? null,
      verifiedAt: now,
      trust: recordEnvelope(1, now, context.apiVersion),
    };
  }
}
