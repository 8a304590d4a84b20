import { Field, Float, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { KEY_BONDS, KEY_ENVIRONMENTS, KEY_STATUSES, KEY_TYPES } from '../../../schema/value-lists.ts';
import type { ApiKeyRecord, KeyStatus } from './account-keys.ts';
import type { ApiKeyKind } from './api-key.ts';
import { boundTo } from './key-bond.ts';
import type { IssuedApiKey } from './key-store.ts';
import { connectionType } from '../../../platform/graph/connection.ts';
import { enumOf } from '../../../platform/graph/enum-of.ts';
import { DateTimeScalar } from '../../../platform/graph/scalars.ts';
import { TrustEnvelope as TrustEnvelopeType } from '../../../platform/graph/trust-type.ts';
import { publicId, type Uuid } from '../../../platform/identifiers.ts';
import type { TrustEnvelope } from '../../../schema/trust-envelope.ts';

type KeyEnvironment = (typeof KEY_ENVIRONMENTS)[number];
type KeyType = (typeof KEY_TYPES)[number];

const KeyEnvironmentEnum = enumOf(KEY_ENVIRONMENTS);
registerEnumType(KeyEnvironmentEnum, { name: 'ApiKeyEnvironment', description: 'LIVE works on data of your own, TEST leads to the sandbox.' });
const KeyTypeEnum = enumOf(KEY_TYPES);
registerEnumType(KeyTypeEnum, { name: 'ApiKeyType', description: 'SK is secret; PK, publishable, is not issued yet.' });
const KeyStatusEnum = enumOf(KEY_STATUSES);
registerEnumType(KeyStatusEnum, { name: 'ApiKeyStatus', description: 'ACTIVE and ROTATING keys work, the latter until the end of their grace; REVOKED and EXPIRED ones never again.' });
const KeyBondEnum = enumOf(KEY_BONDS);
registerEnumType(KeyBondEnum, { name: 'ApiKeyBond', description: 'KEY: it ends with the key that made it. GRANT: it ends with the grant of the token that made it.' });

@ObjectType('ApiKey', { description: 'A key of the account, as far as it may be shown: never the key, never its hash.' })
export class ApiKeyType {
  @Field(() => ID, { description: 'Public id, key_ and 22 characters.' })
  id!: string;
  @Field(() => ID, { nullable: true, description: 'Links a live key and its test twin, kp_ and 22 characters; null for the key that an agent was registered with.' })
  keyPairId!: string | null;
  @Field(() => String, { nullable: true, description: 'What its makers call it.' })
  name!: string | null;
  @Field(() => KeyEnvironmentEnum, { description: 'Where it leads; the key of an agent is live.' })
  env!: KeyEnvironment;
  @Field(() => KeyTypeEnum, { description: 'SK.' })
  type!: KeyType;
  @Field(() => String, { description: 'First 16 characters of the key.' })
  prefix!: string;
  @Field(() => String, { description: 'Last 4 characters of the key.' })
  last4!: string;
  @Field(() => [String], { description: 'What it may do.' })
  scopes!: readonly string[];
  @Field(() => [String], { nullable: true, description: 'CIDR ranges that it may be used from; null for anywhere.' })
  allowedIps!: readonly string[] | null;
  @Field(() => KeyStatusEnum, { description: 'Status of the key, by the clock of the database.' })
  status!: KeyStatus;
  @Field(() => DateTimeScalar, { description: 'When it was made.' })
  createdAt!: Date;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When it was last used, to the minute; null for never.' })
  lastUsedAt!: Date | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When it ends by itself, or with what it ends with, as things are; null for never.' })
  expiresAt!: Date | null;
  @Field(() => KeyBondEnum, { nullable: true, description: 'What else ends it, by its time or by revocation; null for nothing.' })
  endsWith!: (typeof KEY_BONDS)[number] | null;
  @Field(() => ID, { nullable: true, description: 'The key that replaced it.' })
  rotatedTo!: string | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'Until when it works beside the key that replaced it.' })
  graceEndsAt!: Date | null;
}

export const ApiKeyConnection = connectionType('ApiKey', () => ApiKeyType);

@ObjectType('NewApiKey', { description: 'A key that was just made.' })
export class NewApiKeyType {
  @Field(() => ID, { description: 'Public id, key_ and 22 characters.' })
  id!: string;
  @Field(() => String, { description: 'The key. Shown this once; only a salted hash is kept.' })
  key!: string;
  @Field(() => String, { description: 'First 16 characters of the key.' })
  prefix!: string;
  @Field(() => String, { description: 'Last 4 characters of the key.' })
  last4!: string;
  @Field(() => KeyEnvironmentEnum, { description: 'Where it leads.' })
  env!: KeyEnvironment;
  @Field(() => KeyTypeEnum, { description: 'SK.' })
  type!: KeyType;
  @Field(() => DateTimeScalar, { description: 'When it was made.' })
  createdAt!: Date;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When it ends; a refresh of the grant that made it moves that. Null for never.' })
  expiresAt!: Date | null;
}

@InputType('CreateKeyInput', { description: 'A pair of keys to make; whatever is left out restricts nothing.' })
export class CreateKeyInput {
  @Field(() => String, { nullable: true, description: '1 to 80 characters, for people.' })
  name?: string | null;
  @Field(() => [String], { nullable: true, description: 'At most those of the calling key, which are the default.' })
  scopes?: string[] | null;
  @Field(() => [String], { nullable: true, description: 'Addresses or CIDR ranges, up to 100; on the plan enterprise only.' })
  allowedIps?: string[] | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When both keys end by themselves; in the future, and no later than the key or token that makes them.' })
  expiresAt?: Date | null;
  @Field(() => String, { nullable: true, description: 'Dated version that requests follow where they name none.' })
  apiVersion?: string | null;
}

@ObjectType('CreateKeyPayload', { description: 'A live key and its test twin.' })
export class CreateKeyPayload {
  @Field(() => ID, { description: 'Links the two, kp_ and 22 characters.' })
  keyPairId!: string;
  @Field(() => String, { nullable: true, description: 'What its makers call it.' })
  name!: string | null;
  @Field(() => [String], { description: 'What both may do.' })
  scopes!: readonly string[];
  @Field(() => NewApiKeyType, { description: 'Works on data of your own.' })
  live!: NewApiKeyType;
  @Field(() => NewApiKeyType, { description: 'Leads to the sandbox.' })
  test!: NewApiKeyType;
  @Field(() => TrustEnvelopeType, { description: 'Trust envelope of the records.' })
  trust!: TrustEnvelope;
}

@InputType('RevokeKeyInput', { description: 'A key to end.' })
export class RevokeKeyInput {
  @Field(() => ID, { description: 'Public id of the key; your own will do.' })
  id!: string;
}

@ObjectType('RevokeKeyPayload', { description: 'The key that has ended.' })
export class RevokeKeyPayload {
  @Field(() => ID, { description: 'Public id of the key.' })
  id!: string;
  @Field(() => KeyStatusEnum, { description: 'REVOKED.' })
  status!: KeyStatus;
  @Field(() => DateTimeScalar, { description: 'When it was revoked first.' })
  revokedAt!: Date;
  @Field(() => TrustEnvelopeType, { description: 'Trust envelope of the record.' })
  trust!: TrustEnvelope;
}

@InputType('RotateKeyInput', { description: 'A key to replace.' })
export class RotateKeyInput {
  @Field(() => ID, { description: 'Public id of the key.' })
  id!: string;
  @Field(() => Int, { nullable: true, description: 'Hours that the replaced key works on, 0 to 24; 24 when nothing is said.' })
  graceHours?: number | null;
}

@InputType('RotateAgentKeyInput', { description: 'The agent whose own key, svc_agent_sk_…, is replaced.' })
export class RotateAgentKeyInput {
  @Field(() => ID, { description: 'agent_…, its UUID, or me: the agent of the calling key.' })
  agentId!: string;
  @Field(() => Int, { nullable: true, description: 'Hours that the replaced key works on, 0 to 24; 24 when nothing is said.' })
  graceHours?: number | null;
}

@ObjectType('RotateKeyPayload', { description: 'The new key, and what becomes of the one that it replaces.' })
export class RotateKeyPayload {
  @Field(() => ID, { description: 'Public id of the new key.' })
  id!: string;
  @Field(() => String, { description: 'The new key. Shown this once; only a salted hash is kept.' })
  key!: string;
  @Field(() => String, { description: 'First 16 characters of the new key.' })
  prefix!: string;
  @Field(() => String, { description: 'Last 4 characters of the new key.' })
  last4!: string;
  @Field(() => ID, { description: 'Public id of the key that was replaced: the newest of its line, which may be a successor of the one that was named.' })
  previousKeyId!: string;
  @Field(() => DateTimeScalar, { description: 'When the replaced key stops working.' })
  previousKeyExpiresAt!: Date;
  @Field(() => DateTimeScalar, { description: 'When the new key was made.' })
  rotatedAt!: Date;
  @Field(() => Float, { nullable: true, description: 'Trust score of the agent behind the key, 0 to 1; null for keys without one.' })
  trustScore!: number | null;
  @Field(() => TrustEnvelopeType, { description: 'Trust envelope of the record.' })
  trust!: TrustEnvelope;
}

/** Shows a stored key. */
export function presentKey(key: ApiKeyRecord): ApiKeyType {
  const { name, last4, scopes, allowedIps, status, createdAt, lastUsedAt, expiresAt, graceEndsAt } = key;
  return {
    id: publicId('key', key.id),
    keyPairId: idOrNull('kp', key.keyPairId),
    name,
    ...classOf(key.kind),
    prefix: key.displayPrefix,
    last4,
    scopes,
    allowedIps,
    status,
    createdAt,
    lastUsedAt,
    expiresAt,
    endsWith: boundTo(key.bond),
    rotatedTo: idOrNull('key', key.rotatedTo),
    graceEndsAt,
  };
}

/** Shows a fresh key, the secret included. */
export function presentNewKey({ id, secret, kind, displayPrefix, last4, createdAt, expiresAt }: IssuedApiKey): NewApiKeyType {
  return { id: publicId('key', id), key: secret, prefix: displayPrefix, last4, ...classOf(kind), createdAt, expiresAt };
}

function classOf(kind: ApiKeyKind): { env: KeyEnvironment; type: KeyType } {
  return { env: kind === 'svc_test_sk' ? 'test' : 'live', type: 'sk' };
}

function idOrNull(prefix: 'kp' | 'key', uuid: Uuid | null): string | null {
  return uuid === null ? null : publicId(prefix, uuid);
}
