import { z } from 'zod';
import { API_VERSIONS, KEY_BONDS, KEY_ENVIRONMENTS, KEY_STATUSES, KEY_TYPES, MAX_GRACE_HOURS } from '../../schema/value-lists.ts';
import { isAddressRange } from '../../services/identity/keys/address-range.ts';
import { SCOPES } from '../../schema/principal.ts';
import { given, inOrder, nodesAt, objectAt } from '../members.ts';
import { operation, type Json } from '../operation.ts';
import { moment } from '../representations/moment.ts';
import { graphPage, meta, pageQuery, presentMeta } from '../representations/list.ts';
import { exampleTrust, trustEnvelope } from '../representations/trust-envelope.ts';

const LIVE_ID = 'key_01JQ2pT8vXrYmKcFhWbNdA';
const TEST_ID = 'key_01JQ2pT8vXrYmKcFhWbNdB';
const NEXT_ID = 'key_01JQ3qU9wYsZnLdGjXcPeC';
const PAIR_ID = 'kp_01JQ2pT8vXrYmKcFhWbNd9';

const key = z
  .object({
    id: z.string(),
    key_pair_id: z.string().nullable().meta({ description: 'Links a live key and its test twin; null for the key that an agent was registered with' }),
    name: z.string().nullable(),
    env: z.enum(KEY_ENVIRONMENTS),
    type: z.enum(KEY_TYPES),
    prefix: z.string(),
    last4: z.string(),
    scopes: z.array(z.enum(SCOPES)),
    allowed_ips: z.array(z.string()).nullable().meta({ description: 'CIDR ranges; null lets every address in' }),
    status: z.enum(KEY_STATUSES),
    created_at: z.iso.datetime(),
    last_used_at: z.iso.datetime().nullable(),
    expires_at: z.iso.datetime().nullable().meta({ description: 'By itself, or with what it ends with, as things are' }),
    ends_with: z.enum(KEY_BONDS).nullable().meta({ description: 'What else ends it, by its time or by revocation: the key that made it, or the grant of the token that did' }),
    rotated_to: z.string().nullable(),
    grace_ends_at: z.iso.datetime().nullable(),
  })
  .meta({ id: 'ApiKey' });

const newKey = z
  .object({
    id: z.string(),
    key: z.string().meta({ description: 'Shown only here' }),
    prefix: z.string(),
    last4: z.string(),
    env: z.enum(KEY_ENVIRONMENTS),
    type: z.enum(KEY_TYPES),
    created_at: z.iso.datetime(),
    expires_at: z.iso.datetime().nullable().meta({ description: 'A refresh of the grant that made it moves it' }),
  })
  .meta({ id: 'NewApiKey' });

const creation = z
  .object({
    name: z.string().trim().min(1).max(80).optional(),
    scopes: z.array(z.enum(SCOPES)).min(1, 'name at least one scope, or leave scopes out to get those of your own key').max(SCOPES.length).optional().meta({ description: 'At most those of the calling key, which are the default' }),
    allowed_ips: z
      .array(z.string().refine(isAddressRange, 'must be an IPv4 or IPv6 address, or a CIDR range such as 192.0.2.0/24'))
      .min(1, 'name at least one range, or leave allowed_ips out to let every address in')
      .max(100)
      .optional()
      .meta({ description: 'Addresses or CIDR ranges; on the plan enterprise only' }),
    expires_at: moment.optional().meta({ description: 'When both keys end by themselves; in the future, and no later than the key or token that makes them' }),
    api_version: z.enum(API_VERSIONS).optional().meta({ description: 'Version that requests follow where they send no SVC-API-Version' }),
  })
  .meta({ id: 'KeyRequest' })
  .default({});

const created = z.object({ key_pair_id: z.string(), name: z.string().nullable(), scopes: z.array(z.enum(SCOPES)), live: newKey, test: newKey, trust: trustEnvelope });

const grace = z
  .object({ grace_hours: z.int().min(0).max(MAX_GRACE_HOURS).optional().meta({ description: 'How long the old key works on', default: MAX_GRACE_HOURS }) })
  .meta({ id: 'KeyRotationRequest' })
  .default({});

const rotated = z
  .object({
    id: z.string(),
    key: z.string().meta({ description: 'Shown only here' }),
    prefix: z.string(),
    last4: z.string(),
    previous_key_id: z.string().meta({ description: 'The key that was replaced: the newest of its line, which may be a successor of the one in the path' }),
    previous_key_expires_at: z.iso.datetime(),
    rotated_at: z.iso.datetime(),
    trust_score: z.number().nullable().meta({ description: 'Of the agent behind the key; null for keys without one' }),
    trust: trustEnvelope,
  })
  .meta({ id: 'KeyRotation' });

const exampleKey = { id: LIVE_ID, key_pair_id: PAIR_ID, name: 'ci', env: 'live', type: 'sk', prefix: 'svc_live_sk_Ab12', last4: '9xYz' };
const exampleRotation: Json = {
  id: NEXT_ID, key: 'svc_live_sk_EXAMPLEexampleEXAMPLE6789', prefix: 'svc_live_sk_EXAM', last4: '6789', previous_key_id: LIVE_ID,
  previous_key_expires_at: '2026-02-02T09:30:00.000Z', rotated_at: '2026-02-01T09:30:00.000Z', trust_score: 0.55, trust: exampleTrust(1),
};

export const keyOperations = [
  operation({
    id: 'createKey',
    tag: 'Keys',
    method: 'POST',
    path: '/keys',
    kind: 'write',
    action: 'key:create',
    document: 'CreateKey',
    summary: 'Create a pair of keys',
    description: 'A live key and its test twin for the sandbox; both are shown only in this answer. They act for whom the calling key acts, and may do no more than it; made by a token or by a key that ends, they end with its grant or with it. Needs a live secret key or a token of client_credentials.',
    bodySchema: creation,
    success: { status: 201, description: 'The pair', schema: created },
    problems: [],
    variables: ({ body }) => ({ input: given({ name: body.name, scopes: body.scopes, allowedIps: body.allowed_ips, expiresAt: body.expires_at, apiVersion: body.api_version }) }),
    present: (data) => inOrder(created, objectAt(data, 'create_key')),
    example: {
      body: { name: 'ci', scopes: ['attribution:read', 'attribution:write'] },
      response: {
        key_pair_id: PAIR_ID, name: 'ci', scopes: ['attribution:read', 'attribution:write'],
        live: { id: LIVE_ID, key: 'svc_live_sk_EXAMPLEexampleEXAMPLE12345', prefix: 'svc_live_sk_EXAM', last4: '2345', env: 'live', type: 'sk', created_at: '2026-01-31T18:02:00.000Z', expires_at: null },
        test: { id: TEST_ID, key: 'svc_test_sk_EXAMPLEexampleEXAMPLE54321', prefix: 'svc_test_sk_EXAM', last4: '4321', env: 'test', type: 'sk', created_at: '2026-01-31T18:02:00.000Z', expires_at: null },
        trust: exampleTrust(2),
      },
    },
  }),
  operation({
    id: 'listKeys',
    tag: 'Keys',
    method: 'GET',
    path: '/keys',
    kind: 'read',
    action: 'key:read',
    document: 'Keys',
    summary: 'List the keys of the account',
    description: 'Newest first, ended ones included; never the keys themselves, nor their hashes. A test key sees test keys alone.',
    querySchema: pageQuery,
    success: { status: 200, description: 'A page of keys', schema: z.object({ keys: z.array(key), meta, trust: trustEnvelope }), headers: { Link: 'first, prev, next and last page' } },
    problems: [],
    variables: ({ query }) => graphPage(query),
    present: (data, { query }) => {
      const connection = objectAt(data, 'keys');
      return { keys: nodesAt(connection).map((node) => inOrder(key, node)), meta: presentMeta(query, Number(connection['total_count'])), trust: connection['trust'] };
    },
    example: {
      response: {
        keys: [{ ...exampleKey, scopes: ['attribution:read', 'attribution:write'], allowed_ips: null, status: 'active', created_at: '2026-01-31T18:02:00.000Z', last_used_at: null, expires_at: null, ends_with: null, rotated_to: null, grace_ends_at: null }],
        meta: { page: 1, per_page: 20, total: 1, total_pages: 1 },
        trust: exampleTrust(1),
      },
    },
  }),
  operation({
    id: 'revokeKey',
    tag: 'Keys',
    method: 'DELETE',
    path: '/keys/{id}',
    kind: 'write',
    action: 'key:write',
    document: 'RevokeKey',
    summary: 'Revoke a key',
    description: 'It ends at once and for ever, and with it every token that it was shown for and every key that ends with it, open streams included. A second time changes nothing. Your own key may be revoked as well.',
    pathSchema: z.object({ id: z.string().meta({ description: 'Key, key_…' }) }),
    success: { status: 200, description: 'The key has ended', schema: z.object({ id: z.string(), status: z.literal('revoked'), revoked_at: z.iso.datetime(), trust: trustEnvelope }) },
    problems: ['resource_not_found'],
    variables: ({ path }) => ({ input: { id: path.id } }),
    present: (data) => objectAt(data, 'revoke_key'),
    example: { path: { id: LIVE_ID }, response: { id: LIVE_ID, status: 'revoked', revoked_at: '2026-02-01T09:30:00.000Z', trust: exampleTrust(1) } },
  }),
  operation({
    id: 'rotateKey',
    tag: 'Keys',
    method: 'POST',
    path: '/keys/{id}/rotate',
    kind: 'write',
    action: 'key:write',
    document: 'RotateKey',
    summary: 'Replace a key by another',
    description: 'The new key, shown only here, has the scopes, allowlist, version and end of the old one, which works on for grace_hours. Tokens, and keys that end, rotate what ends with them. Rotating a key that was rotated before ends the older grace.',
    pathSchema: z.object({ id: z.string().meta({ description: 'Key, key_…' }) }),
    bodySchema: grace,
    success: { status: 200, description: 'The new key', schema: rotated },
    problems: ['resource_not_found'],
    variables: ({ path, body }) => ({ input: given({ id: path.id, graceHours: body.grace_hours }) }),
    present: (data) => objectAt(data, 'rotate_key'),
    example: { path: { id: LIVE_ID }, body: { grace_hours: 24 }, response: exampleRotation },
  }),
  operation({
    id: 'rotateAgentKey',
    tag: 'Keys',
    method: 'POST',
    path: '/agents/{id}/keys/rotate',
    kind: 'write',
    action: 'key:write',
    document: 'RotateAgentKey',
    summary: 'Replace the key of the calling agent',
    description: 'Rotates the key that the agent was registered with, svc_agent_sk_…, as POST /keys/{id}/rotate does with any key.',
    pathSchema: z.object({ id: z.string().meta({ description: 'The calling agent: agent_…, its UUID, or me' }) }),
    bodySchema: grace,
    success: { status: 200, description: 'The new key', schema: rotated },
    problems: ['resource_not_found'],
    variables: ({ path, body }) => ({ input: given({ agentId: path.id, graceHours: body.grace_hours }) }),
    present: (data) => objectAt(data, 'rotate_agent_key'),
    example: {
      path: { id: 'agent_01JQ2jX9bLq7RtYpMwVsZe' },
      body: { grace_hours: 24 },
      response: { ...exampleRotation, key: 'svc_agent_sk_EXAMPLEexampleEXAMPLE678', prefix: 'svc_agent_sk_EXA', last4: '5678' },
    },
  }),
];
