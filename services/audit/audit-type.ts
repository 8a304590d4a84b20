import { Field, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import type { Environment } from '../../schema/principal.ts';
import { BREAK_REASONS } from './audit-chain.ts';
import { AUDIT_ACTOR_TYPES, AUDIT_SEVERITIES, type AuditActor, type AuditSeverity } from './audit-event.ts';
import type { ChainVerification } from './audit-log.ts';
import { connectionType } from '../../platform/graph/connection.ts';
import { enumOf } from '../../platform/graph/enum-of.ts';
import { DateTimeScalar, JsonScalar } from '../../platform/graph/scalars.ts';
import { TrustEnvelope as TrustEnvelopeType } from '../../platform/graph/trust-type.ts';
import type { TrustEnvelope } from '../../schema/trust-envelope.ts';
import { EnvironmentEnum } from '../../platform/graph/environment-type.ts';

export const AUDIT_OUTCOMES = ['success', 'failure'] as const;

const SeverityEnum = enumOf(AUDIT_SEVERITIES);
registerEnumType(SeverityEnum, { name: 'AuditSeverity', description: 'How much attention an event of the audit log asks for.' });
const ActorTypeEnum = enumOf(AUDIT_ACTOR_TYPES);
registerEnumType(ActorTypeEnum, { name: 'AuditActorType', description: 'What kind of caller acted.' });
const OutcomeEnum = enumOf(AUDIT_OUTCOMES);
registerEnumType(OutcomeEnum, { name: 'AuditOutcome', description: 'Whether what was tried happened.' });
const ReasonEnum = enumOf([...BREAK_REASONS, 'heads_missing'] as const);
registerEnumType(ReasonEnum, {
  name: 'ChainBreakReason',
  description:
    'MISSING: an entry is not there. ALTERED: an entry is not what was sealed. HEAD_MISMATCH: an entry is not what a signed head saw. HEAD_UNPROVEN: a line of the heads file was signed by nobody here. HEADS_MISSING: heads that were signed are not in the heads file.',
});

@ObjectType('AuditActor', { description: 'Who acted.' })
class AuditActorType {
  @Field(() => ActorTypeEnum, { description: 'What kind of caller.' })
  type!: AuditActor['type'];
  @Field(() => ID, { nullable: true, description: 'Public id of the agent or key; null for the system and for strangers.' })
  id!: string | null;
  @Field(() => String, { nullable: true, description: 'HMAC-SHA-256 of the address under a key of the installation: equal for equal addresses.' })
  ipHash!: string | null;
  @Field(() => String, { nullable: true, description: 'As the client called itself, at most 256 characters.' })
  userAgent!: string | null;
}

@ObjectType('AuditTarget', { description: 'What was acted on.' })
class AuditTargetType {
  @Field(() => String, { description: 'Kind of thing, for example attribution.' })
  type!: string;
  @Field(() => ID, { description: 'Its public id.' })
  id!: string;
}

@ObjectType('AuditEvent', { description: 'One entry of the audit log. The log is append-only and hash-chained: hash = SHA-256(previousHash, line feed, canonical JSON of the entry as REST shows it, without hash).' })
export class AuditEventType {
  @Field(() => String, { description: 'The chain that it belongs to; it is part of what is hashed.' })
  chainId!: string;
  @Field(() => Int, { description: 'Place in the chain, from 1, without gaps.' })
  sequence!: number;
  @Field(() => ID, { description: 'Public id, aud_ and 22 characters.' })
  eventId!: string;
  @Field(() => String, { description: 'What happened, for example agent.registered.' })
  eventType!: string;
  @Field(() => SeverityEnum, { description: 'How much attention it asks for.' })
  severity!: AuditSeverity;
  @Field(() => DateTimeScalar, { description: 'When it happened, by the clock of the database.' })
  occurredAt!: Date;
  @Field(() => AuditActorType, { description: 'Who acted.' })
  actor!: AuditActorType;
  @Field(() => AuditTargetType, { nullable: true, description: 'What was acted on.' })
  target!: AuditTargetType | null;
  @Field(() => OutcomeEnum, { description: 'Whether it happened.' })
  outcome!: (typeof AUDIT_OUTCOMES)[number];
  @Field(() => EnvironmentEnum, { description: 'Live data, or the sandbox.' })
  environment!: Environment;
  @Field(() => String, { description: 'The request in which it happened.' })
  requestId!: string;
  @Field(() => JsonScalar, { description: 'What the type of the event adds.' })
  details!: Readonly<Record<string, unknown>>;
  @Field(() => String, { description: 'Hash of the entry before; sha256: and 64 zeros for the first.' })
  previousHash!: string;
  @Field(() => String, { description: 'sha256: and 64 hexadecimal digits.' })
  hash!: string;
}

const Page = connectionType('AuditEvent', () => AuditEventType);

@ObjectType('AuditEventConnection', { description: 'One page of the audit log, the newest first.' })
export class AuditEventConnection extends Page {
  @Field(() => Boolean, { description: 'Whether every entry of the page has its hash and is linked to its neighbours. verifyAuditChain checks the rest.' })
  chainVerified!: boolean;
}

@InputType('AuditEventFilter', { description: 'Narrows the audit log.' })
export class AuditEventFilterInput {
  @Field(() => String, { nullable: true, description: 'Only this type.' })
  eventType?: string | null;
  @Field(() => SeverityEnum, { nullable: true, description: 'Only this severity.' })
  severity?: AuditSeverity | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'Not before this moment.' })
  since?: Date | null;
  @Field(() => ID, { nullable: true, description: 'Only what this agent or key did.' })
  actorId?: string | null;
  @Field(() => Int, { nullable: true, description: 'Only entries before this one: the next page while the log grows.' })
  beforeSequence?: number | null;
}

@InputType('VerifyAuditChainInput', { description: 'A range of the chain.' })
export class VerifyAuditChainInput {
  @Field(() => Int, { nullable: true, description: 'First entry; 1 when nothing is said.' })
  startSequence?: number | null;
  @Field(() => Int, { nullable: true, description: 'Last entry; the last of all when nothing is said or there are fewer.' })
  endSequence?: number | null;
}

@ObjectType('AuditChainVerification', { description: 'What came of checking a range of the chain.' })
export class AuditChainVerificationType {
  @Field(() => Boolean, { description: 'Whether every entry has its hash, is linked to the one before, and is what the signed heads saw.' })
  chainIntact!: boolean;
  @Field(() => Int, { description: 'Entries found right, up to the first that is not.' })
  entriesVerified!: number;
  @Field(() => DateTimeScalar, { description: 'When it was checked.' })
  verifiedAt!: Date;
  @Field(() => Int, { nullable: true, description: 'First entry that is not right.' })
  firstBrokenSequence!: number | null;
  @Field(() => ReasonEnum, { nullable: true, description: 'What is wrong; null for an intact chain.' })
  reason!: ChainVerification['reason'];
  @Field(() => Int, { description: 'Signed heads in the range that the chain agrees with.' })
  headsMatched!: number;
  @Field(() => Int, { nullable: true, description: 'Last entry that a signed head vouches for; null where none was signed yet.' })
  signedThrough!: number | null;
  @Field(() => TrustEnvelopeType, { description: 'Trust envelope of the answer.' })
  trust!: TrustEnvelope;
}
