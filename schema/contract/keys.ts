import { z } from 'zod';
import { isAddressRange } from '../address-range.ts';
import { SCOPES } from '../principal.ts';
import { API_VERSIONS, KEY_BONDS, KEY_STATUSES, MAX_GRACE_HOURS } from '../value-lists.ts';
import { exampleAgentRotation, examplePair, exampleRotation } from './issued-keys.ts';
import { EXAMPLE_AGENT, EXAMPLE_KEY, EXAMPLE_PAIR, EXAMPLE_SCOPES, MADE_AT } from './issued-keys.ts';
import { keyEnvironment, keyPair, keyType, rotation, scope } from './issued-keys.ts';
import { noun } from './noun.ts';
import { graphTypes, id, idInPath, inRest, moment, namedMoment } from './terms.ts';

const keyStatus = z.enum(KEY_STATUSES).register(graphTypes, {
  name: 'ApiKeyStatus',
  description:
    'ACTIVE and ROTATING keys work, the latter until the end of their grace; REVOKED and EXPIRED ones never again.',
});
const keyBond = z.enum(KEY_BONDS).register(graphTypes, {
  name: 'ApiKeyBond',
  description: 'KEY: it ends with the key that made it. GRANT: it ends with the grant of the token that made it.',
});
/** A text in the graph. */
const apiVersion = z.enum(API_VERSIONS).meta({ scalar: 'String' });

/** A key, as far as it may be shown; the order of the members is the order in every answer. */
export const apiKey = z
  .object({
    id: id('key').meta({ graph: 'Public id, key_ and 22 characters.' }),
    keyPairId: id('kp')
      .nullable()
      .meta({
        description: 'Links a live key and its test twin; null for the key that an agent was registered with',
        graph:
          'Links a live key and its test twin, kp_ and 22 characters; null for the key that an agent was ' +
          'registered with.',
      }),
    name: z.string().nullable().meta({ graph: 'What its makers call it.' }),
    env: keyEnvironment.meta({ graph: 'Where it leads; the key of an agent is live.' }),
    type: keyType.meta({ graph: 'SK.' }),
    prefix: z.string().meta({ graph: 'First 16 characters of the key.' }),
    last4: z.string().meta({ graph: 'Last 4 characters of the key.' }),
    scopes: z.array(scope).meta({ graph: 'What it may do.' }),
    allowedIps: z.array(z.string()).nullable().meta({
      description: 'CIDR ranges; null lets every address in',
      graph: 'CIDR ranges that it may be used from; null for anywhere.',
    }),
    status: keyStatus.meta({ graph: 'Status of the key, by the clock of the database.' }),
    createdAt: moment.meta({ graph: 'When it was made.' }),
    lastUsedAt: moment.nullable().meta({ graph: 'When it was last used, to the minute; null for never.' }),
    expiresAt: moment.nullable().meta({
      description: 'By itself, or with what it ends with, as things are',
      graph: 'When it ends by itself, or with what it ends with, as things are; null for never.',
    }),
    endsWith: keyBond.nullable().meta({
      description:
        'What else ends it, by its time or by revocation: the key that made it, or the grant of the token that did',
      graph: 'What else ends it, by its time or by revocation; null for nothing.',
    }),
    rotatedTo: id('key').nullable().meta({ graph: 'The key that replaced it.' }),
    graceEndsAt: moment.nullable().meta({ graph: 'Until when it works beside the key that replaced it.' }),
  })
  .meta({ id: 'ApiKey', graph: 'A key of the account, as far as it may be shown: never the key, never its hash.' });

export const keyRequest = z
  .object({
    name: z.string().trim().min(1).max(80).optional().meta({ graph: '1 to 80 characters, for people.' }),
    scopes: z
      .array(scope)
      .min(1, 'name at least one scope, or leave scopes out to get those of your own key')
      .max(SCOPES.length)
      .optional()
      .meta({
        description: 'At most those of the calling key, which are the default',
      }),
    allowedIps: z
      .array(z.string().refine(isAddressRange, 'must be an IPv4 or IPv6 address, or a CIDR range such as 192.0.2.0/24'))
      .min(1, 'name at least one range, or leave allowed_ips out to let every address in')
      .max(100)
      .optional()
      .meta({
        description: 'Addresses or CIDR ranges; on the plan enterprise only',
        graph: 'Addresses or CIDR ranges, up to 100; on the plan enterprise only.',
      }),
    expiresAt: namedMoment.optional().meta({
      description:
        'When both keys end by themselves; in the future, and no later than the key or token that makes them',
    }),
    apiVersion: apiVersion.optional().meta({
      description: 'Version that requests follow where they send no SVC-API-Version',
      graph: 'Dated version that requests follow where they name none.',
    }),
  })
  .meta({ id: 'KeyRequest', graph: 'A pair of keys to make; whatever is left out restricts nothing.' });

const revocation = z
  .object({
    id: id('key').meta({ graph: 'Public id of the key.' }),
    status: inRest(z.literal('revoked'), keyStatus.meta({ graph: 'REVOKED.' })),
    revokedAt: moment.meta({ graph: 'When it was revoked first.' }),
  })
  .register(graphTypes, { name: 'RevokeKeyPayload', description: 'The key that has ended.' });

export const rotationRequest = z
  .object({
    graceHours: z.int().min(0).max(MAX_GRACE_HOURS).optional().meta({
      description: 'How long the old key works on',
      default: MAX_GRACE_HOURS,
      graph: 'Hours that the replaced key works on, 0 to 24; 24 when nothing is said.',
    }),
  })
  .meta({ id: 'KeyRotationRequest', graph: 'A key to replace.' });

const namedAgent = idInPath({
  rest: 'id',
  description: 'The calling agent: agent_…, its UUID, or me',
  graph: 'agent_…, its UUID, or me: the agent of the calling key.',
});
const rotated = { outcome: rotation, trust: 'Trust envelope of the record.' } as const;

const example = {
  id: EXAMPLE_KEY,
  key_pair_id: EXAMPLE_PAIR,
  name: 'ci',
  env: 'live',
  type: 'sk',
  prefix: 'svc_live_sk_Ab12',
  last4: '9xYz',
  scopes: EXAMPLE_SCOPES,
  allowed_ips: null,
  status: 'active',
  created_at: MADE_AT,
  last_used_at: null,
  expires_at: null,
  ends_with: null,
  rotated_to: null,
  grace_ends_at: null,
};
export const keys = noun({
  one: 'key',
  many: 'keys',
  tag: 'Keys',
  record: apiKey,
  withoutTrust: true,
  example,
  operations: {
    createKey: {
      method: 'POST',
      path: '/keys',
      kind: 'write',
      action: 'key:create',
      summary: 'Create a pair of keys',
      description:
        'A live key and its test twin for the sandbox; both are shown only in this answer. They act for whom the ' +
        'calling key acts, and may do no more than it; made by a token or by a key that ends, they end with its ' +
        'grant or with it. Needs a live secret key or a token of client_credentials.',
      graph:
        'Makes a live key and its test twin; they act for whom the caller acts. Errors: VALIDATION_ERROR ' +
        '(requires_enterprise, outlives_maker, exceeds_maker), INSUFFICIENT_PERMISSIONS (missing_scope, ' +
        'live_key_required).',
      input: keyRequest,
      bodyOptional: true,
      answer: { outcome: keyPair, trust: 'Trust envelope of the records.' },
      status: 201,
      answered: 'The pair',
      example: { body: { name: 'ci', scopes: EXAMPLE_SCOPES }, response: examplePair, records: 2 },
    },
    listKeys: {
      method: 'GET',
      path: '/keys',
      kind: 'read',
      action: 'key:read',
      field: 'keys',
      summary: 'List the keys of the account',
      description:
        'Newest first, ended ones included; never the keys themselves, nor their hashes. A test key sees ' +
        'test keys alone.',
      graph:
        'Keys of the account, newest first, ended ones included; a test key sees test keys alone. Errors: ' +
        'INSUFFICIENT_PERMISSIONS.',
      answer: { page: apiKey },
      answered: 'A page of keys',
    },
    revokeKey: {
      method: 'DELETE',
      path: '/keys/{id}',
      kind: 'write',
      action: 'key:write',
      summary: 'Revoke a key',
      description:
        'It ends at once and for ever, and with it every token that it was shown for and every key that ends with ' +
        'it, open streams included. A second time changes nothing. Your own key may be revoked as well.',
      graph:
        'Ends a key at once, with every token that it was shown for and every key that ends with it; a second time ' +
        'changes nothing. Errors: RESOURCE_NOT_FOUND.',
      named: z
        .object({ id: idInPath({ description: 'Key, key_…', graph: 'Public id of the key; your own will do.' }) })
        .meta({ graph: 'A key to end.' }),
      answer: { outcome: revocation, trust: 'Trust envelope of the record.' },
      answered: 'The key has ended',
      example: { response: { id: example.id, status: 'revoked', revoked_at: '2026-02-01T09:30:00.000Z' } },
    },
    rotateKey: {
      method: 'POST',
      path: '/keys/{id}/rotate',
      kind: 'write',
      action: 'key:write',
      summary: 'Replace a key by another',
      description:
        'The new key, shown only here, has the scopes, allowlist, version and end of the old one, which works on ' +
        'for grace_hours. Tokens, and keys that end, rotate what ends with them. Rotating a key that was rotated ' +
        'before ends the older grace.',
      graph:
        'Replaces a key; the old one works on for the grace. Errors: RESOURCE_NOT_FOUND, VALIDATION_ERROR ' +
        '(key_ended), INSUFFICIENT_PERMISSIONS (missing_scope, outlives_maker).',
      input: rotationRequest,
      bodyOptional: true,
      answer: rotated,
      answered: 'The new key',
      example: { body: { grace_hours: 24 }, response: exampleRotation },
    },
    rotateAgentKey: {
      method: 'POST',
      path: '/agents/{id}/keys/rotate',
      kind: 'write',
      action: 'key:write',
      summary: 'Replace the key of the calling agent',
      description:
        'Rotates the key that the agent was registered with, svc_agent_sk_…, as POST /keys/{id}/rotate ' +
        'does with any key.',
      graph:
        'Replaces the key that the calling agent was registered with. Errors: RESOURCE_NOT_FOUND, VALIDATION_ERROR ' +
        '(key_ended), INSUFFICIENT_PERMISSIONS (missing_scope, outlives_maker).',
      named: z.object({ agentId: namedAgent }).meta({ graph: 'The agent whose own key, svc_agent_sk_…, is replaced.' }),
      input: rotationRequest,
      bodyOptional: true,
      answer: rotated,
      answered: 'The new key',
      example: { path: { id: EXAMPLE_AGENT }, body: { grace_hours: 24 }, response: exampleAgentRotation },
    },
  },
});
