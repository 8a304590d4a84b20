import { z } from 'zod';
import { AGENT_STATUSES, CAPABILITIES, TIERS } from '../value-lists.ts';
import { memberOf } from './rest-form.ts';
import { address, cents, graphTypes, id, inRest, moment, trustHere } from './terms.ts';

export const capability = z.enum(CAPABILITIES).register(graphTypes, {
  name: 'AgentCapability',
  description: 'Capabilities that an agent declares; descriptive only, scopes decide what it may do.',
});
/** REST leaves the list of tiers open. */
export const tier = inRest(
  z.string(),
  z.enum(TIERS).register(graphTypes, {
    name: 'AgentTier',
    description: 'Standing in the referral program, by number of active referrals.',
  }),
);
const agentStatus = z.enum(AGENT_STATUSES).register(graphTypes, {
  name: 'AgentStatus',
  description: 'Whether the agent may act.',
});

const calls = z.int().meta({ scalar: 'Float' });
export const rateLimits = z
  .object({
    requestsPerMinute: z.int().meta({ graph: 'Requests per minute.' }),
    dailyLimit: z.int().nullable().meta({
      description: 'Null means unlimited',
      graph: 'Requests per UTC day; null means unlimited.',
    }),
  })
  .register(graphTypes, { name: 'RateLimits', description: 'How often an agent may call.' });

export const nextTier = z
  .object({
    name: tier.meta({ graph: 'Its name.' }),
    referralsNeeded: z.int().meta({ graph: 'How many more active referrals it takes.' }),
  })
  .register(graphTypes, { name: 'NextTier', description: 'The tier above an agent’s.' });

/**
 * An agent as it sees itself in REST; the order of the members is the order in every answer. Some members have two
 * names, and some are not served yet.
 */
export const agentProfile = z
  .object({
    id: id('agent').meta({ rest: 'agent_id', graph: 'Public id, agent_ and 22 characters.' }),
    agentUuid: z.string().meta({ scalar: 'ID', graph: 'The UUID behind the public id.' }),
    name: z.string().meta({ graph: '3 to 64 letters, digits or hyphens; not necessarily unique.' }),
    operatorId: z.string().nullable().meta({ graph: 'Operator identifier given at registration.' }),
    operatorEmail: z.string().nullable().meta({ graph: 'Operator e-mail given at registration.' }),
    capabilities: z.array(capability).meta({ graph: 'The capabilities that the agent declares.' }),
    referralCode: z.string().meta({ graph: 'Code that other agents register with to be referred by this one.' }),
    tier: tier.meta({ graph: 'Standing in the referral program.' }),
    trustScore: z.number().meta({ graph: 'Between 0 and 1; starts at 0.5.' }),
    totalApiCalls: calls.meta({
      description: 'Live calls with the keys and tokens of its own account',
      graph: 'Live calls with the keys and tokens of its own account. Null for others.',
    }),
    totalCalls: calls.meta({ onlyInRest: true, repeats: 'totalApiCalls', deprecated: true }),
    totalDeltaRCents: cents,
    totalDeltaR: cents.meta({ onlyInRest: true, repeats: 'totalDeltaRCents', deprecated: true }),
    activeReferrals: z.int().meta({
      description: 'Those that it made itself; they decide its tier',
      graph: 'Active referrals that the agent made itself: they decide its tier. Null for others.',
    }),
    referralCount: z.int().meta({ onlyInRest: true, repeats: 'activeReferrals', deprecated: true }),
    nextTier: nextTier.nullable().meta({
      description: 'The tier above; null at the highest',
      graph: 'Null at the highest tier, and for others.',
    }),
    totalCommissionEarnedCents: cents.meta({
      description:
        'Commissions so far, less what was taken back, in USD; GET /commissions has those in other currencies',
    }),
    rateLimits: memberOf(
      rateLimits,
      'What its live calls are held to: numbers agreed with its account, else what its plan or tier allows.',
    ),
    callbackUrl: address.nullable().meta({
      description: 'Receives commission notifications',
      graph: 'https address that receives commission notifications; null where there is none, and for others.',
    }),
    redirectUris: z.array(address).meta({
      description: 'Where OAuth may send resource owners back to',
    }),
    public: z.boolean().meta({
      description: 'An OAuth client that cannot keep a secret',
      graph: 'Whether it is an OAuth client that cannot keep a secret, so that PKCE alone protects its codes.',
    }),
    status: agentStatus.meta({ graph: 'Whether the agent may act.' }),
    createdAt: moment.meta({ graph: 'When the agent registered.' }),
    trust: trustHere,
  })
  .meta({ id: 'AgentProfile' });

const { shape } = agentProfile;

/** An agent in the graph. What other resolvers and subgraphs add to it is not here. */
export const agent = z
  .object({
    id: shape.id,
    agentUuid: shape.agentUuid.nullable(),
    name: shape.name,
    operatorId: shape.operatorId,
    operatorEmail: shape.operatorEmail,
    capabilities: shape.capabilities,
    referralCode: shape.referralCode.nullable(),
    tier: shape.tier,
    trustScore: shape.trustScore,
    rateLimits: shape.rateLimits.nullable(),
    callbackUrl: shape.callbackUrl,
    redirectUris: shape.redirectUris.nullable(),
    public: shape.public.nullable(),
    status: shape.status.nullable(),
    createdAt: shape.createdAt,
  })
  .meta({
    id: 'Agent',
    graph: 'An AI agent in the registry. Members that concern the agent alone are null for others.',
  });
