import { z } from 'zod';
import { agent, agentProfile } from './agent-profile.ts';
import { agentUpdate, capabilitiesRequest, closing, registration } from './agent-requests.ts';
import { EXAMPLE_AGENT } from './issued-keys.ts';
import { noun } from './noun.ts';
import { memberOf } from './rest-form.ts';
import { graphTypes, idInPath, moment } from './terms.ts';

const { id, referralCode, tier, rateLimits, trustScore, name, capabilities, createdAt } = agentProfile.shape;
const apiKey = z.string().meta({
  description: 'Shown only here',
  graph: 'The API key. Shown this once; only a salted hash is kept.',
});
const scopes = z.array(z.string()).meta({ graph: 'Scopes of the key.' });
const updatedAt = moment.meta({ graph: 'When they were replaced.' });

const registered = z
  .object({
    agent: memberOf(agent, 'The new agent.'),
    apiKey,
    scopes,
    callbackSecret: z.string().nullable().meta({
      graph: 'Signs the notifications to callbackUrl; null without one. Shown this once; it is kept sealed.',
    }),
  })
  .register(graphTypes, { name: 'RegisterAgentPayload', description: 'A new agent and its first key.' });
const registeredInRest = z.object({
  id,
  apiKey,
  referralCode,
  tier,
  rateLimits,
  trustScore,
  name,
  capabilities,
  scopes,
  callbackSecret: z.string().optional().meta({
    description: 'Signs the notifications to callback_url, where one was given; shown only here',
  }),
  createdAt,
});

const updated = z
  .object({
    agent: memberOf(agent, 'The calling agent.'),
    callbackSecret: z
      .string()
      .nullable()
      .meta({
        graph:
          'Signs the notifications to callbackUrl, where there was none before; null otherwise. Shown this once; it ' +
          'is kept sealed.',
      }),
  })
  .register(graphTypes, { name: 'UpdateAgentPayload', description: 'The agent as it is now.' });
const updatedInRest = agentProfile
  .extend({
    callbackSecret: z.string().optional().meta({
      description: 'Signs the notifications to callback_url; shown once, when the first address is set',
    }),
  })
  .meta({ id: 'UpdatedAgentProfile' });

const declared = z
  .object({ agent: memberOf(agent, 'The calling agent.'), updatedAt })
  .register(graphTypes, { name: 'UpdateCapabilitiesPayload', description: 'The agent with its new capabilities.' });
const declaredInRest = z.object({ id, capabilities, updatedAt }).meta({ id: 'CapabilitiesUpdate' });

const trust = 'Trust envelope of the agent.';

/** What anybody may know. */
const exampleFace = {
  agent_id: EXAMPLE_AGENT,
  name: 'spring-shop-agent',
  capabilities: ['attribution'],
  tier: 'discovery',
  trust_score: 0.5,
  created_at: '2026-01-31T17:58:00.000Z',
};
const exampleNewcomer = {
  agent_id: EXAMPLE_AGENT,
  name: exampleFace.name,
  capabilities: exampleFace.capabilities,
  referral_code: 'REF_K7PXQ2MNWB',
  tier: exampleFace.tier,
  trust_score: exampleFace.trust_score,
  rate_limits: { requests_per_minute: 60, daily_limit: 10_000 },
  created_at: exampleFace.created_at,
};
const example = {
  ...exampleNewcomer,
  agent_uuid: '019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10',
  operator_id: null,
  operator_email: 'ops@spring.example',
  total_api_calls: 51_204,
  total_calls: 51_204,
  total_delta_r_cents: 1_872_970,
  total_delta_r: 1_872_970,
  total_commission_earned_cents: 18_730,
  active_referrals: 3,
  referral_count: 3,
  next_tier: { name: 'partner', referrals_needed: 2 },
  callback_url: null,
  redirect_uris: [],
  public: false,
  status: 'active',
};
const exampleUpdate = {
  redirect_uris: ['https://spring.example/callback', 'http://127.0.0.1/callback'],
  public: false,
};
const fresh = {
  total_api_calls: 12,
  total_calls: 12,
  total_delta_r_cents: 0,
  total_delta_r: 0,
  total_commission_earned_cents: 0,
  active_referrals: 0,
  referral_count: 0,
};
const exampleDeclaration = { capabilities: ['attribution', 'journey'] };

export const agents = noun({
  one: 'agent',
  many: 'agents',
  tag: 'Agents',
  record: agent,
  shows: agentProfile,
  isEntity: true,
  example,
  operations: {
    registerAgent: {
      method: 'POST',
      path: '/agents/register',
      kind: 'publicWrite',
      action: null,
      summary: 'Register an agent and receive its key',
      description:
        'One agent per operator. The key and, where a callback_url was given, the callback secret are shown only in ' +
        'this answer.',
      graph:
        'Registers an agent and issues its first key; public. Errors: VALIDATION_ERROR, CONFLICT ' +
        '(operator_already_registered).',
      input: registration,
      answer: { outcome: registered, trust, inRest: { shows: registeredInRest, flat: 'agent' } },
      status: 201,
      answered: 'The agent and its key',
      problems: ['conflict'],
      example: {
        body: { name: example.name, operator_email: example.operator_email, capabilities: example.capabilities },
        response: {
          ...exampleNewcomer,
          api_key: 'svc_agent_sk_EXAMPLEexampleEXAMPLE12345',
          scopes: ['attribution:read', 'attribution:write', 'billing:read'],
        },
      },
    },
    getOwnAgent: {
      method: 'GET',
      path: '/agents/me',
      kind: 'read',
      action: 'agent:readSelf',
      field: 'me',
      summary: 'Read the profile of the calling agent',
      description:
        'Where listings of the contract name a member differently, both names are served; the second one is marked ' +
        'deprecated.',
      graph: 'The calling agent. Errors: INVALID_API_KEY; RESOURCE_NOT_FOUND for a key that is bound to no agent.',
      answer: { one: agent },
      answered: 'The profile',
      problems: ['resource_not_found'],
    },
    updateOwnAgent: {
      method: 'PATCH',
      path: '/agents/me',
      kind: 'write',
      action: 'agent:write',
      field: 'updateAgent',
      summary: 'Change the calling agent',
      description:
        'Members that are left out stay as they are. redirect_uris are where GET /v1/oauth/authorize may send ' +
        'resource owners back to; on 127.0.0.1 and localhost any port will do (RFC 8252). A test key changes how ' +
        'the sandbox shows the agent, and nothing else.',
      graph:
        'Changes the calling agent; with a test key, how the sandbox shows it. Errors: VALIDATION_ERROR; ' +
        'INSUFFICIENT_PERMISSIONS (outlives_maker); RESOURCE_NOT_FOUND for a key that is bound to no agent.',
      input: agentUpdate,
      answer: { outcome: updated, trust, inRest: { shows: updatedInRest, flat: 'agent' } },
      answered: 'The profile as it is now',
      problems: ['resource_not_found'],
      example: {
        body: exampleUpdate,
        response: { ...example, ...fresh, next_tier: { name: 'partner', referrals_needed: 5 }, ...exampleUpdate },
      },
    },
    closeAgent: {
      method: 'DELETE',
      path: '/agents/me',
      kind: 'write',
      action: 'agent:close',
      summary: 'Close the account of the calling agent',
      description:
        'Every key and token of the account ends at once, this one included, and cannot be had back. Commissions ' +
        'that were earned are paid on the usual days; those of its referrers on it that are younger than 90 days are ' +
        'taken back. Ledgers, invoices and the audit log stay.',
      graph:
        'Closes the account of the calling agent and ends every key and token of it. Errors: ' +
        'INSUFFICIENT_PERMISSIONS (secret_required, live_key_required), RESOURCE_NOT_FOUND for a key that is bound ' +
        'to no agent.',
      input: closing,
      bodyOptional: true,
      answer: {
        gone: agent,
        description: 'The agent that was closed.',
        id: 'Public id of the agent that is closed.',
      },
      answered: 'It is closed',
      problems: ['resource_not_found'],
      example: { body: { confirm: EXAMPLE_AGENT, reason: 'moved to another platform' } },
    },
    getAgent: {
      method: 'GET',
      path: '/agents/{agent_id}',
      kind: 'read',
      action: 'agent:read',
      field: 'agent',
      summary: 'Read the profile of an agent',
      description:
        'Your own agent comes whole; of others you see what identifies them: name, capabilities, tier, trust score ' +
        'and age.',
      graph:
        'An agent by public id, UUID or me: whole to itself, its public face to others. Errors: RESOURCE_NOT_FOUND.',
      named: z.object({
        id: idInPath({
          rest: 'agent_id',
          description: 'Agent: agent_…, its UUID, or me',
          graph: 'Public id, UUID or me.',
        }),
      }),
      answer: { one: agent },
      answered: 'The profile',
      example: { response: exampleFace },
    },
    updateCapabilities: {
      method: 'PUT',
      path: '/agents/me/capabilities',
      kind: 'write',
      action: 'agent:write',
      summary: 'Say what the calling agent does',
      description: 'Replaces all capabilities. They describe the agent to others; scopes decide what it may do.',
      graph:
        'Replaces the capabilities that the calling agent declares; with a test key, what the sandbox says. Errors: ' +
        'VALIDATION_ERROR, RESOURCE_NOT_FOUND for a key that is bound to no agent.',
      input: capabilitiesRequest,
      badInputStatus: 400,
      answer: { outcome: declared, trust, inRest: { shows: declaredInRest, flat: 'agent' } },
      answered: 'The capabilities as they are now',
      problems: ['resource_not_found'],
      example: {
        body: exampleDeclaration,
        response: { agent_id: EXAMPLE_AGENT, ...exampleDeclaration, updated_at: '2026-02-01T09:20:11.000Z' },
      },
    },
  },
});
