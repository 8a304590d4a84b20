import { agent } from '../../../schema/contract/agent-profile.ts';
import { agents } from '../../../schema/contract/agents.ts';
import type { TrustEnvelope } from '../../../schema/trust-envelope.ts';
import type { GraphRecord } from '../../../platform/graph/contract-types.ts';
import { nounTypes } from '../../../platform/graph/noun-types.ts';
import { presentRecord } from '../../../platform/graph/present-record.ts';
import type { Profile } from './profile.ts';
import type { PublicFace } from './public-face.ts';

/** The graph's types of agents, which several resolvers add to. */
export const ofAgents = nounTypes(agents);
export type ShownAgent = GraphRecord<typeof agent>;

/** What concerns the agent alone. */
const CONCEALED = {
  agentUuid: null,
  operatorId: null,
  operatorEmail: null,
  referralCode: null,
  rateLimits: null,
  callbackUrl: null,
  redirectUris: null,
  public: null,
  status: null,
} as const;

/** Presents an agent to itself. */
export function presentAgent(profile: Profile, trust: TrustEnvelope): ShownAgent {
  const { perMinute, perDay } = profile.rateLimit;
  return {
    ...presentRecord(agent, profile, {
      agentUuid: profile.id,
      rateLimits: { requestsPerMinute: perMinute, dailyLimit: perDay },
      public: profile.isPublic,
    }),
    trust,
  };
}

/** Presents an agent to others. */
export function presentPublicFace(face: PublicFace, trust: TrustEnvelope): ShownAgent {
  return { ...presentRecord(agent, face, CONCEALED), trust };
}
