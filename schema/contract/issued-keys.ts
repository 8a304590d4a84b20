import { z } from 'zod';
import { SCOPES } from '../principal.ts';
import { KEY_ENVIRONMENTS, KEY_TYPES } from '../value-lists.ts';
import { memberOf } from './rest-form.ts';
import { graphTypes, id, moment } from './terms.ts';

/* What shows a key itself, once. */

export const keyEnvironment = z.enum(KEY_ENVIRONMENTS).register(graphTypes, {
  name: 'ApiKeyEnvironment',
  description: 'LIVE works on data of your own, TEST leads to the sandbox.',
});
export const keyType = z.enum(KEY_TYPES).register(graphTypes, {
  name: 'ApiKeyType',
  description: 'SK is secret; PK, publishable, is not issued yet.',
});
/** The graph keeps scopes as texts. */
export const scope = z.enum(SCOPES).meta({ scalar: 'String' });

/** A key that was just made, the secret included. */
export const newKey = z
  .object({
    id: id('key').meta({ graph: 'Public id, key_ and 22 characters.' }),
    key: z.string().meta({
      description: 'Shown only here',
      graph: 'The key. Shown this once; only a salted hash is kept.',
    }),
    prefix: z.string().meta({ graph: 'First 16 characters of the key.' }),
    last4: z.string().meta({ graph: 'Last 4 characters of the key.' }),
    env: keyEnvironment.meta({ graph: 'Where it leads.' }),
    type: keyType.meta({ graph: 'SK.' }),
    createdAt: moment.meta({ graph: 'When it was made.' }),
    expiresAt: moment.nullable().meta({
      description: 'A refresh of the grant that made it moves it',
      graph: 'When it ends; a refresh of the grant that made it moves that. Null for never.',
    }),
  })
  .meta({ id: 'NewApiKey' })
  .register(graphTypes, { name: 'NewApiKey', description: 'A key that was just made.' });

export const keyPair = z
  .object({
    keyPairId: id('kp').meta({ graph: 'Links the two, kp_ and 22 characters.' }),
    name: z.string().nullable().meta({ graph: 'What its makers call it.' }),
    scopes: z.array(scope).meta({ graph: 'What both may do.' }),
    live: memberOf(newKey, 'Works on data of your own.'),
    test: memberOf(newKey, 'Leads to the sandbox.'),
  })
  .register(graphTypes, { name: 'CreateKeyPayload', description: 'A live key and its test twin.' });

export const rotation = z
  .object({
    id: id('key').meta({ graph: 'Public id of the new key.' }),
    key: z.string().meta({
      description: 'Shown only here',
      graph: 'The new key. Shown this once; only a salted hash is kept.',
    }),
    prefix: z.string().meta({ graph: 'First 16 characters of the new key.' }),
    last4: z.string().meta({ graph: 'Last 4 characters of the new key.' }),
    previousKeyId: id('key').meta({
      description: 'The key that was replaced: the newest of its line, which may be a successor of the one in the path',
      graph:
        'Public id of the key that was replaced: the newest of its line, which may be a successor of the one that ' +
        'was named.',
    }),
    previousKeyExpiresAt: moment.meta({ graph: 'When the replaced key stops working.' }),
    rotatedAt: moment.meta({ graph: 'When the new key was made.' }),
    trustScore: z.number().nullable().meta({
      description: 'Of the agent behind the key; null for keys without one',
      graph: 'Trust score of the agent behind the key, 0 to 1; null for keys without one.',
    }),
  })
  .meta({ id: 'KeyRotation' })
  .register(graphTypes, {
    name: 'RotateKeyPayload',
    description: 'The new key, and what becomes of the one that it replaces.',
  });

export const EXAMPLE_AGENT = 'agent_01JQ2jX9bLq7RtYpMwVsZe';
export const EXAMPLE_KEY = 'key_01JQ2pT8vXrYmKcFhWbNdA';
export const EXAMPLE_PAIR = 'kp_01JQ2pT8vXrYmKcFhWbNd9';
export const EXAMPLE_SCOPES = ['attribution:read', 'attribution:write'];
export const MADE_AT = '2026-01-31T18:02:00.000Z';
const exampleTwin = { type: 'sk', created_at: MADE_AT, expires_at: null };
export const examplePair = {
  key_pair_id: EXAMPLE_PAIR,
  name: 'ci',
  scopes: EXAMPLE_SCOPES,
  live: {
    id: EXAMPLE_KEY,
    key: 'svc_live_sk_EXAMPLEexampleEXAMPLE12345',
    prefix: 'svc_live_sk_EXAM',
    last4: '2345',
    env: 'live',
    ...exampleTwin,
  },
  test: {
    id: 'key_01JQ2pT8vXrYmKcFhWbNdB',
    key: 'svc_test_sk_EXAMPLEexampleEXAMPLE54321',
    prefix: 'svc_test_sk_EXAM',
    last4: '4321',
    env: 'test',
    ...exampleTwin,
  },
};
export const exampleRotation = {
  id: 'key_01JQ3qU9wYsZnLdGjXcPeC',
  key: 'svc_live_sk_EXAMPLEexampleEXAMPLE6789',
  prefix: 'svc_live_sk_EXAM',
  last4: '6789',
  previous_key_id: EXAMPLE_KEY,
  previous_key_expires_at: '2026-02-02T09:30:00.000Z',
  rotated_at: '2026-02-01T09:30:00.000Z',
  trust_score: 0.55,
};
export const exampleAgentRotation = {
  ...exampleRotation,
  key: 'svc_agent_sk_EXAMPLEexampleEXAMPLE678',
  prefix: 'svc_agent_sk_EXA',
  last4: '5678',
};
