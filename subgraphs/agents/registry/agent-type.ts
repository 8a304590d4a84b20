import { Directive, Field, Float, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { CAPABILITIES } from '../../../schema/value-lists.ts';
import { TIERS, type Tier } from '../../../services/identity/limits/tiers.ts';
import { enumOf } from '../../../platform/graph/enum-of.ts';
import { DateTimeScalar } from '../../../platform/graph/scalars.ts';
import { TrustEnvelope as TrustEnvelopeType } from '../../../platform/graph/trust-type.ts';
import { publicId } from '../../../platform/identifiers.ts';
import type { TrustEnvelope } from '../../../schema/trust-envelope.ts';
import type { Capability } from './agent.ts';
import type { PublicFace } from './public-face.ts';
import type { Profile } from './profile.ts';

const CapabilityEnum = enumOf(CAPABILITIES);
registerEnumType(CapabilityEnum, { name: 'AgentCapability', description: 'Capabilities that an agent declares; descriptive only, scopes decide what it may do.' });

export const TierEnum = enumOf(TIERS);
registerEnumType(TierEnum, { name: 'AgentTier', description: 'Standing in the referral program, by number of active referrals.' });

const AgentStatusEnum = enumOf(['active', 'suspended', 'closed'] as const);
registerEnumType(AgentStatusEnum, { name: 'AgentStatus', description: 'Whether the agent may act.' });

@ObjectType('RateLimits', { description: 'How often an agent may call.' })
export class RateLimitsType {
  @Field(() => Int, { description: 'Requests per minute.' })
  requestsPerMinute!: number;

  @Field(() => Int, { nullable: true, description: 'Requests per UTC day; null means unlimited.' })
  dailyLimit!: number | null;
}

/** What the GraphQL type Agent is made from: the stored agent, and whether the caller is that agent. */
@Directive('@key(fields: "id")')
@ObjectType('Agent', { description: 'An AI agent in the registry. Members that concern the agent alone are null for others.' })
export class AgentType {
  @Field(() => ID, { description: 'Public id, agent_ and 22 characters.' })
  id!: string;

  @Field(() => ID, { nullable: true, description: 'The UUID behind the public id.' })
  agentUuid!: string | null;

  @Field(() => String, { description: '3 to 64 letters, digits or hyphens; not necessarily unique.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Operator identifier given at registration.' })
  operatorId!: string | null;

  @Field(() => String, { nullable: true, description: 'Operator e-mail given at registration.' })
  operatorEmail!: string | null;

  @Field(() => [CapabilityEnum], { description: 'The capabilities that the agent declares.' })
  capabilities!: Capability[];

  @Field(() => String, { nullable: true, description: 'Code that other agents register with to be referred by this one.' })
  referralCode!: string | null;

  @Field(() => TierEnum, { description: 'Standing in the referral program.' })
  tier!: Tier;

  @Field(() => Float, { description: 'Between 0 and 1; starts at 0.5.' })
  trustScore!: number;

  @Field(() => RateLimitsType, { nullable: true, description: 'What its live calls are held to: numbers agreed with its account, else what its plan or tier allows.' })
  rateLimits!: RateLimitsType | null;

  @Field(() => String, { nullable: true, description: 'https address that receives commission notifications; null where there is none, and for others.' })
  callbackUrl!: string | null;

  @Field(() => [String], { nullable: true, description: 'Where OAuth may send resource owners back to.' })
  redirectUris!: string[] | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether it is an OAuth client that cannot keep a secret, so that PKCE alone protects its codes.' })
  public!: boolean | null;

  @Field(() => AgentStatusEnum, { nullable: true, description: 'Whether the agent may act.' })
  status!: 'active' | 'suspended' | 'closed' | null;

  @Field(() => DateTimeScalar, { description: 'When the agent registered.' })
  createdAt!: Date;

  @Field(() => TrustEnvelopeType, { description: 'Trust envelope of this record.' })
  trust!: TrustEnvelope;
}

@ObjectType('RegisterAgentPayload', { description: 'A new agent and its first key.' })
export class RegisterAgentPayload {
  @Field(() => AgentType, { description: 'The new agent.' })
  agent!: AgentType;

  @Field(() => String, { description: 'The API key. Shown this once; only a salted hash is kept.' })
  apiKey!: string;

  @Field(() => [String], { description: 'Scopes of the key.' })
  scopes!: string[];

  @Field(() => String, { nullable: true, description: 'Signs the notifications to callbackUrl; null without one. Shown this once; it is kept sealed.' })
  callbackSecret!: string | null;

  @Field(() => TrustEnvelopeType, { description: 'Trust envelope of the agent.' })
  trust!: TrustEnvelope;
}

@InputType('RegisterAgentInput', { description: 'Registration of an agent. One of operatorId and operatorEmail is required.' })
export class RegisterAgentInput {
  @Field(() => String, { description: '3 to 64 letters, digits or hyphens.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Operator or organisation identifier; one agent per operator.' })
  operatorId?: string | null;

  @Field(() => String, { nullable: true, description: 'Operator contact; one agent per operator.' })
  operatorEmail?: string | null;

  @Field(() => [CapabilityEnum], { nullable: true, description: 'Defaults to ATTRIBUTION.' })
  capabilities?: Capability[] | null;

  @Field(() => String, { nullable: true, description: 'Code of the agent that referred this one.' })
  referralCode?: string | null;

  @Field(() => String, { nullable: true, description: 'https address that receives commission notifications.' })
  callbackUrl?: string | null;
}

@InputType('UpdateAgentInput', { description: 'Changes to the calling agent; what is left out stays.' })
export class UpdateAgentInput {
  @Field(() => String, { nullable: true, description: '3 to 64 letters, digits or hyphens.' })
  name?: string | null;

  @Field(() => String, { nullable: true, description: 'https address that receives commission notifications; null removes it.' })
  callbackUrl?: string | null;

  @Field(() => [String], { nullable: true, description: 'Where OAuth may send resource owners back to: https, or http on 127.0.0.1 or localhost with any port. At most 10; an empty list removes them.' })
  redirectUris?: string[] | null;

  @Field(() => Boolean, { nullable: true, description: 'Whether it is an OAuth client that cannot keep a secret.' })
  public?: boolean | null;
}

@ObjectType('UpdateAgentPayload', { description: 'The agent as it is now.' })
export class UpdateAgentPayload {
  @Field(() => AgentType, { description: 'The calling agent.' })
  agent!: AgentType;

  @Field(() => String, { nullable: true, description: 'Signs the notifications to callbackUrl, where there was none before; null otherwise. Shown this once; it is kept sealed.' })
  callbackSecret!: string | null;

  @Field(() => TrustEnvelopeType, { description: 'Trust envelope of the agent.' })
  trust!: TrustEnvelope;
}

@InputType('UpdateCapabilitiesInput', { description: 'The capabilities that the calling agent declares.' })
export class UpdateCapabilitiesInput {
  @Field(() => [CapabilityEnum], { description: 'At least one; replaces all that were there.' })
  capabilities!: Capability[];
}

@ObjectType('UpdateCapabilitiesPayload', { description: 'The agent with its new capabilities.' })
export class UpdateCapabilitiesPayload {
  @Field(() => AgentType, { description: 'The calling agent.' })
  agent!: AgentType;

  @Field(() => DateTimeScalar, { description: 'When they were replaced.' })
  updatedAt!: Date;

  @Field(() => TrustEnvelopeType, { description: 'Trust envelope of the agent.' })
  trust!: TrustEnvelope;
}

/** Presents an agent to itself. */
export function presentAgent(agent: Profile, trust: TrustEnvelope): AgentType {
  const { perMinute, perDay } = agent.rateLimit;
  return {
    ...presentPublicFace(agent, trust),
    agentUuid: agent.id,
    operatorId: agent.operatorId ?? null,
    operatorEmail: agent.operatorEmail ?? null,
    referralCode: agent.referralCode,
    rateLimits: { requestsPerMinute: perMinute, dailyLimit: perDay },
    callbackUrl: agent.callbackUrl ?? null,
    redirectUris: [...agent.redirectUris],
    public: agent.isPublic,
    status: agent.status,
  };
}

/** Presents an agent to others. */
export function presentPublicFace({ id, name, capabilities, tier, trustScore, createdAt }: PublicFace, trust: TrustEnvelope): AgentType {
  return { id: publicId('agent', id), name, capabilities, tier, trustScore, createdAt, agentUuid: null, operatorId: null, operatorEmail: null, referralCode: null, rateLimits: null, callbackUrl: null, redirectUris: null, public: null, status: null, trust };
}
