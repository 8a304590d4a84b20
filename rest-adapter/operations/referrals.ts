import { z } from 'zod';
import { REFERRAL_STATUSES } from '../../schema/value-lists.ts';
import { given, inOrder, nodesAt, objectAt } from '../members.ts';
import { operation, type Json } from '../operation.ts';
import { graphPage, meta, pageParameters, presentMeta, queryInteger, withinReach } from '../representations/list.ts';
import { exampleTrust, trustEnvelope } from '../representations/trust-envelope.ts';

const referral = z
  .object({
    referred_agent_id: z.string(),
    referred_agent_name: z.string(),
    status: z.enum(REFERRAL_STATUSES),
    chain_depth: z.int().min(1).max(2),
    accumulated_delta_r: z.number().meta({ description: 'Recovered revenue of the referred agent that has counted so far, USD' }),
    activation_progress: z.number().min(0).max(1).meta({ description: 'Part of the 1,000 USD that make it active' }),
    commission_earned: z.number().optional(),
    created_at: z.iso.datetime(),
    activated_at: z.iso.datetime().nullable(),
    expires_at: z.iso.datetime().nullable().meta({ description: 'When its commissions end: 12 months after activation' }),
  })
  .meta({ id: 'Referral' });

const page = z.object({
  referrals: z.array(referral),
  total_active: z.int().meta({ description: 'Of both depths, whatever the filter, as the next two' }),
  total_pending: z.int(),
  total_churned: z.int(),
  meta,
  trust: trustEnvelope,
});

const query = withinReach(z.object({ ...pageParameters, status: z.enum(REFERRAL_STATUSES).optional(), depth: queryInteger(1, 2, '1: registered with your code; 2: with the code of such an agent.').optional() }));

const exampleReferral: Json = {
  referred_agent_id: 'agent_01JQ4bT2xKvWsNcHhYfMqE', referred_agent_name: 'summer-shop-agent', status: 'active', chain_depth: 1, accumulated_delta_r: 1_310.25, activation_progress: 1,
  created_at: '2026-01-12T08:15:00.000Z', activated_at: '2026-01-31T17:58:00.000Z', expires_at: '2027-01-31T17:58:00.000Z',
};

/** What both paths have in common. */
const list = {
  tag: 'Referrals',
  method: 'GET',
  kind: 'read',
  action: 'referral:read',
  document: 'Referrals',
  description: 'Newest first. Agents that registered with the code of the calling agent have depth 1 and count for its tier once they are active; those that registered with the code of one of them have depth 2. A test key sees none.',
  querySchema: query,
  success: { status: 200, description: 'A page of referrals', schema: page, headers: { Link: 'first, prev, next and last page' } },
  present: (data: Json, { query: asked }: { readonly query: z.output<typeof query> }) => {
    const { total_active, total_pending, total_churned, total_count, trust, ...connection } = objectAt(data, 'referrals');
    return { referrals: nodesAt(connection).map((node) => inOrder(referral, node)), total_active, total_pending, total_churned, meta: presentMeta(asked, Number(total_count)), trust };
  },
} as const;

const variablesOf = (asked: z.output<typeof query>, agentId?: string): Json => ({ ...given({ agentId }), ...graphPage(asked), filter: given({ status: asked.status, depth: asked.depth }) });
const exampleResponse: Json = { referrals: [exampleReferral], total_active: 1, total_pending: 4, total_churned: 0, meta: { page: 1, per_page: 20, total: 1, total_pages: 1 }, trust: exampleTrust(1) };

export const referralOperations = [
  operation({
    ...list,
    id: 'listReferrals',
    path: '/referrals',
    summary: 'List the referrals of the calling agent',
    problems: [],
    variables: ({ query: asked }) => variablesOf(asked),
    example: { query: { status: 'active' }, response: exampleResponse },
  }),
  operation({
    ...list,
    id: 'listAgentReferrals',
    path: '/agents/{agent_id}/referrals',
    summary: 'List the referrals of an agent, which has to be the calling one',
    pathSchema: z.object({ agent_id: z.string().meta({ description: 'The calling agent: agent_…, its UUID, or me' }) }),
    problems: ['resource_not_found'],
    variables: ({ path, query: asked }) => variablesOf(asked, path.agent_id),
    example: { path: { agent_id: 'agent_01JQ2jX9bLq7RtYpMwVsZe' }, query: { depth: '1' }, response: exampleResponse },
  }),
];
