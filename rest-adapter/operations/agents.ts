import { z } from 'zod';
import { CAPABILITIES } from '../../schema/value-lists.ts';
import { MAX_REDIRECT_URI_LENGTH, MAX_REDIRECT_URIS, redirectUriFault } from '../../services/identity/oauth/redirect-uri.ts';
import { given, inOrder, objectAt } from '../members.ts';
import { operation, type Json } from '../operation.ts';
import { exampleTrust, trustEnvelope } from '../representations/trust-envelope.ts';

const rateLimits = z.object({ requests_per_minute: z.int(), daily_limit: z.int().nullable().meta({ description: 'Null means unlimited' }) });

/** Where notifications may go is judged behind the door, where its host is looked up. */
const callbackUrl = z.url({ protocol: /^https?$/, error: 'must be an https address' }).max(2048, 'must have at most 2,048 characters');

const redirectUri = z
  .string()
  .max(MAX_REDIRECT_URI_LENGTH)
  .superRefine((uri, context) => {
    const fault = redirectUriFault(uri);
    if (fault !== null) context.addIssue({ code: 'custom', message: fault, params: { code: 'invalid_redirect_uri' } });
  })
  .meta({ description: 'https, or http on 127.0.0.1 or localhost; no fragment' });

const registration = z
  .object({
    name: z.string().regex(/^[A-Za-z0-9-]{3,64}$/, 'must be 3 to 64 letters, digits or hyphens'),
    operator_id: z.string().trim().min(1).max(256).optional().meta({ description: 'Operator or organisation; this or operator_email' }),
    operator_email: z.email().max(320).optional(),
    capabilities: z.array(z.enum(CAPABILITIES)).min(1).max(CAPABILITIES.length).optional().meta({ default: ['attribution'] }),
    referral_code: z.string().regex(/^REF_[A-Z0-9_]{4,32}$/, 'must look like REF_ and 4 to 32 capitals, digits or _').optional(),
    callback_url: callbackUrl.optional().meta({ description: 'Receives commission notifications' }),
  })
  .refine((body) => body.operator_id !== undefined || body.operator_email !== undefined, {
    path: ['operator_id'],
    message: 'give operator_id or operator_email',
    params: { code: 'required' },
    // Also where another member is wrong, so that one answer tells of everything.
    when: ({ value, issues }) => typeof value === 'object' && value !== null && !issues.some(({ path }) => String(path?.[0]).startsWith('operator_')),
  });

const update = z.object({
  name: registration.shape.name.optional(),
  callback_url: callbackUrl.nullable().optional().meta({ description: 'Receives commission notifications; null removes it' }),
  redirect_uris: z.array(redirectUri).max(MAX_REDIRECT_URIS).optional().meta({ description: 'Where OAuth may send resource owners back to; replaces the whole list' }),
  public: z.boolean().optional().meta({ description: 'An OAuth client that cannot keep a secret: PKCE alone protects its codes' }),
});

const registered = z.object({
  agent_id: z.string(),
  api_key: z.string().meta({ description: 'Shown only here' }),
  referral_code: z.string(),
  tier: z.string(),
  rate_limits: rateLimits,
  trust_score: z.number(),
  name: z.string(),
  capabilities: z.array(z.enum(CAPABILITIES)),
  scopes: z.array(z.string()),
  callback_secret: z.string().optional().meta({ description: 'Signs the notifications to callback_url, where one was given; shown only here' }),
  created_at: z.iso.datetime(),
  trust: trustEnvelope,
});

const profile = z
  .object({
    agent_id: z.string(),
    agent_uuid: z.string(),
    name: z.string(),
    operator_id: z.string().nullable(),
    operator_email: z.string().nullable(),
    capabilities: z.array(z.enum(CAPABILITIES)),
    referral_code: z.string(),
    tier: z.string(),
    trust_score: z.number(),
    total_api_calls: z.int().optional(),
    total_calls: z.int().optional().meta({ deprecated: true }),
    total_delta_r_cents: z.int(),
    total_delta_r: z.int().meta({ deprecated: true }),
    active_referrals: z.int().meta({ description: 'Those that it made itself; they decide its tier' }),
    referral_count: z.int().meta({ deprecated: true }),
    next_tier: z.object({ name: z.string(), referrals_needed: z.int() }).nullable().meta({ description: 'The tier above; null at the highest' }),
    total_commission_earned_cents: z.int().optional(),
    rate_limits: rateLimits,
    callback_url: z.string().nullable().meta({ description: 'Receives commission notifications' }),
    redirect_uris: z.array(z.string()).meta({ description: 'Where OAuth may send resource owners back to' }),
    public: z.boolean().meta({ description: 'An OAuth client that cannot keep a secret' }),
    status: z.enum(['active', 'suspended', 'closed']),
    created_at: z.iso.datetime(),
    trust: trustEnvelope,
  })
  .meta({ id: 'AgentProfile' });

/** With the secret of a callback address where there was none before. */
const updatedProfile = profile.extend({ callback_secret: z.string().optional().meta({ description: 'Signs the notifications to callback_url; shown once, when the first address is set' }) }).meta({ id: 'UpdatedAgentProfile' });

function presentProfile({ id, ...agent }: Json): Json {
  const values: Json = { agent_id: id, ...agent, total_calls: agent['total_api_calls'], total_delta_r: agent['total_delta_r_cents'], referral_count: agent['active_referrals'] };
  return inOrder(profile, values);
}

/** An agent as it shows itself to others; the members that only the agent itself sees follow. */
const seenAgent = profile
  .partial()
  .required({ agent_id: true, name: true, capabilities: true, tier: true, trust_score: true, created_at: true, trust: true })
  .meta({ id: 'SeenAgent', description: 'Others see agent_id, name, capabilities, tier, trust_score and created_at.' });

const PUBLIC_MEMBERS: ReadonlySet<string> = new Set(['agent_id', 'name', 'capabilities', 'tier', 'trust_score', 'created_at', 'trust']);

function presentSeen(agent: Json): Json {
  const whole = presentProfile(agent);
  return agent['agent_uuid'] != null ? whole : Object.fromEntries(Object.entries(whole).filter(([name]) => PUBLIC_MEMBERS.has(name)));
}

const capabilitiesUpdate = z.object({ capabilities: z.array(z.enum(CAPABILITIES)).min(1, 'name at least one capability').max(CAPABILITIES.length) }).meta({ id: 'CapabilitiesRequest' });

const updatedCapabilities = z.object({ agent_id: z.string(), capabilities: z.array(z.enum(CAPABILITIES)), updated_at: z.iso.datetime(), trust: trustEnvelope }).meta({ id: 'CapabilitiesUpdate' });

const exampleAgent = {
  agent_id: 'agent_01JQ2jX9bLq7RtYpMwVsZe',
  name: 'spring-shop-agent',
  capabilities: ['attribution'],
  referral_code: 'REF_K7PXQ2MNWB',
  tier: 'discovery',
  trust_score: 0.5,
  rate_limits: { requests_per_minute: 60, daily_limit: 10_000 },
  created_at: '2026-01-31T17:58:00.000Z',
};

export const agentOperations = [
  operation({
    id: 'registerAgent',
    tag: 'Agents',
    method: 'POST',
    path: '/agents/register',
    kind: 'publicWrite',
    action: null,
    strangerLimit: 'register',
    document: 'RegisterAgent',
    summary: 'Register an agent and receive its key',
    description: 'One agent per operator. The key and, where a callback_url was given, the callback secret are shown only in this answer.',
    bodySchema: registration,
    success: { status: 201, description: 'The agent and its key', schema: registered },
    problems: ['conflict'],
    variables: ({ body }) => ({
      input: given({
        name: body.name,
        operatorId: body.operator_id,
        operatorEmail: body.operator_email,
        capabilities: body.capabilities,
        referralCode: body.referral_code,
        callbackUrl: body.callback_url,
      }),
    }),
    present: (data) => {
      const { agent, trust, callback_secret, ...rest } = objectAt(data, 'register_agent');
      const { id, ...members } = agent as Json;
      const values: Json = { agent_id: id, ...members, ...rest, callback_secret: callback_secret ?? undefined, trust };
      return inOrder(registered, values);
    },
    example: {
      body: { name: 'spring-shop-agent', operator_email: 'ops@spring.example', capabilities: ['attribution'] },
      response: { ...exampleAgent, api_key: 'svc_agent_sk_EXAMPLEexampleEXAMPLE12345', scopes: ['attribution:read', 'attribution:write', 'billing:read'], trust: exampleTrust(1) },
    },
  }),
  operation({
    id: 'getOwnAgent',
    tag: 'Agents',
    method: 'GET',
    path: '/agents/me',
    kind: 'read',
    action: 'agent:readSelf',
    document: 'Me',
    summary: 'Read the profile of the calling agent',
    description: 'Where listings of the contract name a member differently, both names are served; the second one is marked deprecated.',
    success: { status: 200, description: 'The profile', schema: profile },
    problems: ['resource_not_found'],
    isResource: true,
    variables: () => ({}),
    present: (data) => presentProfile(objectAt(data, 'me')),
    example: {
      response: {
        ...exampleAgent, agent_uuid: '019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10', operator_id: null, operator_email: 'ops@spring.example',
        total_delta_r_cents: 1_872_970, total_delta_r: 1_872_970, active_referrals: 3, referral_count: 3, next_tier: { name: 'partner', referrals_needed: 2 }, callback_url: null, redirect_uris: [], public: false, status: 'active', trust: exampleTrust(1),
      },
    },
  }),
  operation({
    id: 'updateOwnAgent',
    tag: 'Agents',
    method: 'PATCH',
    path: '/agents/me',
    kind: 'write',
    action: 'agent:write',
    document: 'UpdateAgent',
    summary: 'Change the calling agent',
    description: 'Members that are left out stay as they are. redirect_uris are where GET /v1/oauth/authorize may send resource owners back to; on 127.0.0.1 and localhost any port will do (RFC 8252). A test key changes how the sandbox shows the agent, and nothing else.',
    bodySchema: update,
    success: { status: 200, description: 'The profile as it is now', schema: updatedProfile },
    problems: ['resource_not_found'],
    variables: ({ body }) => ({ input: given({ name: body.name, callbackUrl: body.callback_url, redirectUris: body.redirect_uris, public: body.public }) }),
    present: (data) => {
      const { agent, callback_secret, trust } = objectAt(data, 'update_agent');
      return { ...presentProfile({ ...(agent as Json), trust }), ...(callback_secret == null ? {} : { callback_secret }) };
    },
    example: {
      body: { redirect_uris: ['https://spring.example/callback', 'http://127.0.0.1/callback'], public: false },
      response: {
        ...exampleAgent, agent_uuid: '019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10', operator_id: null, operator_email: 'ops@spring.example', total_delta_r_cents: 0, total_delta_r: 0, active_referrals: 0, referral_count: 0,
        next_tier: { name: 'partner', referrals_needed: 5 },
        callback_url: null, redirect_uris: ['https://spring.example/callback', 'http://127.0.0.1/callback'], public: false, status: 'active', trust: exampleTrust(1),
      },
    },
  }),
  operation({
    id: 'getAgent',
    tag: 'Agents',
    method: 'GET',
    path: '/agents/{agent_id}',
    kind: 'read',
    action: 'agent:read',
    document: 'Agent',
    summary: 'Read the profile of an agent',
    description: 'Your own agent comes whole; of others you see what identifies them: name, capabilities, tier, trust score and age.',
    pathSchema: z.object({ agent_id: z.string().meta({ description: 'Agent: agent_…, its UUID, or me' }) }),
    success: { status: 200, description: 'The profile', schema: seenAgent },
    problems: ['resource_not_found'],
    isResource: true,
    variables: ({ path }) => ({ id: path.agent_id }),
    present: (data) => presentSeen(objectAt(data, 'agent')),
    example: {
      path: { agent_id: exampleAgent.agent_id },
      response: { agent_id: exampleAgent.agent_id, name: exampleAgent.name, capabilities: exampleAgent.capabilities, tier: exampleAgent.tier, trust_score: exampleAgent.trust_score, created_at: exampleAgent.created_at, trust: exampleTrust(1) },
    },
  }),
  operation({
    id: 'updateCapabilities',
    tag: 'Agents',
    method: 'PUT',
    path: '/agents/me/capabilities',
    kind: 'write',
    action: 'agent:write',
    document: 'UpdateCapabilities',
    summary: 'Say what the calling agent does',
    description: 'Replaces all capabilities. They describe the agent to others; scopes decide what it may do.',
    bodySchema: capabilitiesUpdate,
    badBodyStatus: 400,
    success: { status: 200, description: 'The capabilities as they are now', schema: updatedCapabilities },
    problems: ['resource_not_found'],
    variables: ({ body }) => ({ input: { capabilities: body.capabilities } }),
    present: (data) => {
      const { agent, updated_at, trust } = objectAt(data, 'update_capabilities');
      const { id, capabilities } = agent as Json;
      return { agent_id: id, capabilities, updated_at, trust };
    },
    example: {
      body: { capabilities: ['attribution', 'journey'] },
      response: { agent_id: exampleAgent.agent_id, capabilities: ['attribution', 'journey'], updated_at: '2026-02-01T09:20:11.000Z', trust: exampleTrust(1) },
    },
  }),
];
