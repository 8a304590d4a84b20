import { Field, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { enumOf } from '../../../../platform/graph/enum-of.ts';
import { DateTimeScalar, JsonScalar } from '../../../../platform/graph/scalars.ts';
import { TrustEnvelope as TrustEnvelopeType } from '../../../../platform/graph/trust-type.ts';
import type { TrustEnvelope } from '../../../../schema/trust-envelope.ts';
import { SIGNATURE_REASONS, type SignatureReason } from '../../../../services/trust/signed-result.ts';
import { EnvironmentEnum } from '../../../../platform/graph/environment-type.ts';

const ReasonEnum = enumOf(SIGNATURE_REASONS);
registerEnumType(ReasonEnum, { name: 'SignatureReason', description: 'Why a signed result is not believed.' });

@InputType('VerifyResultInput', { description: 'A signature, a signed result, or both.' })
export class VerifyResultInput {
  @Field(() => String, { nullable: true, description: 'JWS in compact serialization; the signature of the result when left out.' })
  jws?: string | null;
  @Field(() => JsonScalar, { nullable: true, description: 'A result as the REST door gave it; sections that include= adds may be there or not.' })
  result?: unknown;
}

@ObjectType('SignedSubject', { description: 'What a signature was made for.' })
export class SignedSubjectType {
  @Field(() => String, { description: 'attribution_result.' })
  type!: 'attribution_result';
  @Field(() => ID, { description: 'Public id of the result.' })
  id!: string;
  @Field(() => Int, { description: 'Revision of the result that was signed.' })
  revision!: number;
}

@ObjectType('ResultVerification', { description: 'Outcome of checking a signed result. Claims of the signature are repeated only where it is right.' })
export class ResultVerificationType {
  @Field(() => Boolean, { description: 'Whether the signature, and the result where it was given, are to be believed.' })
  valid!: boolean;
  @Field(() => Boolean, { description: 'Whether a published key made the signature over exactly this payload.' })
  signatureValid!: boolean;
  @Field(() => Boolean, { nullable: true, description: 'Whether the result given is the one that was signed; null when none was given, or nothing trustworthy to compare it with.' })
  digestMatch!: boolean | null;
  @Field(() => ReasonEnum, { nullable: true, description: 'Null when valid.' })
  reason!: SignatureReason | null;
  @Field(() => String, { description: 'As the header of the signature names it; EdDSA alone is accepted.' })
  algorithm!: string;
  @Field(() => String, { nullable: true, description: 'Key that the header names.' })
  keyId!: string | null;
  @Field(() => String, { nullable: true, description: 'Address of the service that signed.' })
  issuer!: string | null;
  @Field(() => SignedSubjectType, { nullable: true, description: 'What was signed.' })
  subject!: SignedSubjectType | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When it was signed, to the second.' })
  signedAt!: Date | null;
  @Field(() => EnvironmentEnum, { nullable: true, description: 'Whose data the figures rest on, by the key that signed them.' })
  environment!: 'live' | 'sandbox' | null;
  @Field(() => JsonScalar, { nullable: true, description: 'The claims of the signature.' })
  payload!: unknown;
  @Field(() => DateTimeScalar, { description: 'When this was checked.' })
  verifiedAt!: Date;
  @Field(() => TrustEnvelopeType, { description: 'Trust envelope of this answer.' })
  trust!: TrustEnvelope;
}
