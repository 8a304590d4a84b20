import { z } from 'zod';
import { REFERRAL_STATUSES } from '../value-lists.ts';
import { EXAMPLE_AGENT } from './issued-keys.ts';
import { noun } from './noun.ts';
import { queryInteger } from './query-integer.ts';
import { graphTypes, id, idInPath, inRest, moment, money } from './terms.ts';

const status = z.enum(REFERRAL_STATUSES).register(graphTypes, {
  name: 'ReferralStatus',
  description:
    'PENDING until its agent has recovered 1,000 USD, then ACTIVE; CHURNED for ever once it has been quiet for 90 ' +
    'days or closed its account.',
});

/** An agent that was referred; the order of the members is the order in every answer. */
export const referral = z
  .object({
    referredAgentId: id('agent').meta({ graph: 'Public id of the referred agent.' }),
    referredAgentName: z.string().meta({ graph: 'What the referred agent calls itself.' }),
    status: status.meta({ graph: 'Where the referral is in its life.' }),
    chainDepth: z.int().min(1).max(2).meta({
      graph: '1 for an agent that registered with your code, 2 for one that registered with the code of such an agent.',
    }),
    accumulatedDeltaR: money.meta({
      description: 'Recovered revenue of the referred agent that has counted so far, USD',
    }),
    activationProgress: z.number().min(0).max(1).meta({
      description: 'Part of the 1,000 USD that make it active',
      graph: 'How far it is on the way to being active, in [0, 1].',
    }),
    commissionEarned: money.meta({
      description: 'What it has earned its referrer so far, less what was taken back, USD',
    }),
    createdAt: moment.meta({ graph: 'When the referred agent registered.' }),
    activatedAt: moment.nullable().meta({ graph: 'When it became active; null before.' }),
    expiresAt: moment.nullable().meta({
      description: 'When its commissions end: 12 months after activation',
      graph: 'When its commissions end: 12 months after activation; null before.',
    }),
  })
  .meta({
    id: 'Referral',
    graph: 'An agent that registered with a referral code, as its referrer and the referrer of that one see it.',
  });

export const referralFilter = z
  .object({
    status: status.optional().meta({ graph: 'Only these.' }),
    depth: inRest(
      queryInteger(1, 2, '1: registered with your code; 2: with the code of such an agent.'),
      z.int().min(1).max(2).meta({ graph: 'Only those of depth 1 or 2.' }),
    ).optional(),
  })
  .meta({ graph: 'Narrows the list of referrals.' });

const beside = z
  .object({
    totalActive: z.int().meta({
      description: 'Of both depths, whatever the filter, as the next two',
      graph: 'Active ones, of both depths.',
    }),
    totalPending: z.int().meta({ graph: 'Pending ones, of both depths.' }),
    totalChurned: z.int().meta({ graph: 'Churned ones, of both depths.' }),
  })
  .meta({ graph: 'One page of referrals, the newest first; the totals are of all referrals, whatever the filter.' });

/** What both paths have in common. */
const list = {
  method: 'GET',
  kind: 'read',
  action: 'referral:read',
  field: 'referrals',
  description:
    'Newest first. Agents that registered with the code of the calling agent have depth 1 and count for its tier ' +
    'once they are active; those that registered with the code of one of them have depth 2. A test key sees none.',
  graph:
    'Referrals of the agent of the account, newest first; a test key sees none. Errors: VALIDATION_ERROR; ' +
    'RESOURCE_NOT_FOUND for the id of any other agent.',
  filter: referralFilter,
  answer: { page: referral, beside },
  answered: 'A page of referrals',
} as const;
const totals = { total_active: 1, total_pending: 4, total_churned: 0 };

export const referrals = noun({
  one: 'referral',
  many: 'referrals',
  tag: 'Referrals',
  record: referral,
  withoutTrust: true,
  example: {
    referred_agent_id: 'agent_01JQ4bT2xKvWsNcHhYfMqE',
    referred_agent_name: 'summer-shop-agent',
    status: 'active',
    chain_depth: 1,
    accumulated_delta_r: 1_310.25,
    activation_progress: 1,
    commission_earned: 6.55,
    created_at: '2026-01-12T08:15:00.000Z',
    activated_at: '2026-01-31T17:58:00.000Z',
    expires_at: '2027-01-31T17:58:00.000Z',
  },
  operations: {
    listReferrals: {
      ...list,
      path: '/referrals',
      summary: 'List the referrals of the calling agent',
      example: { query: { status: 'active' }, response: totals },
    },
    listAgentReferrals: {
      ...list,
      path: '/agents/{agent_id}/referrals',
      document: 'AgentReferrals',
      summary: 'List the referrals of an agent, which has to be the calling one',
      named: z.object({
        agentId: idInPath({
          description: 'The calling agent: agent_…, its UUID, or me',
          graph: 'Public id, UUID or me; the only agent that it can be is the account’s own.',
        }),
      }),
      example: { path: { agent_id: EXAMPLE_AGENT }, query: { depth: '1' }, response: totals },
    },
  },
});
