import { z } from 'zod';
import { billingPeriod, ofPeriod } from './billing-period.ts';
import { EXAMPLE_AGENT } from './issued-keys.ts';
import { noun } from './noun.ts';
import { id, idInPath, money } from './terms.ts';

const fees = money.meta({ description: 'Fees of analyses that are a share of the recovered revenue' });
const endpointUsage = z
  .object({
    endpoint: z.string().meta({ graph: 'Such as GET /attribution/{id}; POST /graphql for all of GraphQL.' }),
    calls: z.int().meta({ graph: 'Calls that were answered.' }),
    errors: z.int().meta({ description: 'Those of them that were answered with 4xx or 5xx' }),
    billable: z.int().meta({ description: 'Analyses that were charged, by whichever door they came' }),
    p95Ms: z.int().nullable().meta({
      rest: 'p95_ms',
      description: 'What 95 % of the calls did not take longer than, ms, up to 19 % too high; null without calls',
    }),
    platformFee: money.meta({ description: 'Fees of those analyses, floors included' }),
  })
  .meta({ id: 'EndpointUsage', graph: 'What one operation was used for.' });

/** What an agent has called and been charged; the order of the members is the order in every answer. */
export const agentUsage = z
  .object({
    agentId: id('agent').nullable().meta({ description: 'The agent of the account; null where it has none' }),
    ...ofPeriod,
    totalCalls: z.int().meta({ description: 'Calls that were answered, as breakdown adds up' }),
    billableAnalyses: z.int().meta({ description: 'Analyses that were charged' }),
    totalDeltaR: money.meta({ description: 'Recovered revenue, repetitions apart' }),
    platformFee: fees,
    totalPlatformFees: fees.meta({ onlyInRest: true, repeats: 'platformFee', deprecated: true }),
    floorFees: money.meta({ description: 'Fees of analyses that are the floor' }),
    planFees: money.meta({ description: 'Prices of plans that fell due, USD' }),
    totalBilled: money.meta({ description: 'platform_fee + floor_fees + plan_fees', graph: 'All fees together.' }),
    commissionEarned: money.meta({ description: 'Commissions of the period, less what was taken back' }),
    breakdown: z.array(endpointUsage).meta({ description: 'The busiest first' }),
  })
  .meta({ id: 'AgentUsage', graph: 'What an agent has called and been charged in a period, in one currency.' });

const example = {
  agent_id: EXAMPLE_AGENT,
  period: '2026-02',
  currency: 'USD',
  other_currencies: [],
  total_calls: 1_204,
  billable_analyses: 2,
  total_delta_r: 18_730.7,
  platform_fee: 936.49,
  total_platform_fees: 936.49,
  floor_fees: 0.1,
  plan_fees: 0,
  total_billed: 936.59,
  commission_earned: 187.3,
  breakdown: [
    { endpoint: 'GET /attribution/{id}', calls: 1_200, errors: 3, billable: 0, p95_ms: 14, platform_fee: 0 },
    { endpoint: 'POST /attribution', calls: 4, errors: 1, billable: 2, p95_ms: 1_725, platform_fee: 936.59 },
  ],
};

/** What both paths have in common. */
const reading = {
  method: 'GET',
  kind: 'read',
  action: 'billing:read',
  field: 'agentUsage',
  description:
    'Calls of the account with its keys and tokens, by operation; those of one process are booked every three ' +
    'seconds, so that the newest may be missing, and operations over WebSocket are not counted. Fees in one ' +
    'currency, as GET /billing/summary. A test key sees its own calls, and no fees.',
  graph:
    'What the agent of the account has called and been charged; a test key sees its own calls, and no fees. Errors: ' +
    'VALIDATION_ERROR, INSUFFICIENT_PERMISSIONS; RESOURCE_NOT_FOUND for the id of any other agent.',
  filter: billingPeriod,
  answer: { one: agentUsage },
  answered: 'The usage',
} as const;

export const agentUsages = noun({
  one: 'agentUsage',
  many: 'agent-usages',
  tag: 'Agents',
  record: agentUsage,
  example,
  operations: {
    getUsage: {
      ...reading,
      path: '/agents/usage',
      summary: 'Read what the calling agent has used',
      example: { query: { period: '2026-02' } },
    },
    getAgentUsage: {
      ...reading,
      path: '/agents/{agent_id}/usage',
      document: 'UsageOfAgent',
      summary: 'Read what an agent has used, which has to be the calling one',
      named: z.object({
        agentId: idInPath({
          description: 'The calling agent: agent_…, its UUID, or me',
          graph: 'Public id, UUID or me; the only agent that it can be is the account’s own.',
        }),
      }),
      example: { path: { agent_id: EXAMPLE_AGENT }, query: { period: '2026-02' } },
    },
  },
});
