import { Arg, Args, Ctx, Resolver } from 'type-graphql';
import type { z } from 'zod';
import { AccountKeys, type ApiKeyRecord } from './account-keys.ts';
import type { ApiKeyKind } from './api-key.ts';
import { boundTo } from './key-bond.ts';
import type { IssuedApiKey } from './key-store.ts';
import type { RequestContext } from '../../../schema/principal.ts';
import { apiKey, keys } from '../../../schema/contract/keys.ts';
import type { newKey } from '../../../schema/contract/issued-keys.ts';
import { connectionOf, PageArguments, parsePage } from '../../../platform/graph/connection.ts';
import { nounTypes, type Answered } from '../../../platform/graph/noun-types.ts';
import { presentRecord } from '../../../platform/graph/present-record.ts';
import { exactlyOnce } from '../../idempotency/exactly-once.ts';
import { publicId } from '../../../platform/identifiers.ts';
import { type TrustEnvelope } from '../../../schema/trust-envelope.ts';
import { recordEnvelope } from '../../trust/envelope.ts';
import { createKeyPair, keyPairEffect, type CreatedKeyPair } from './create-key-pair.ts';
import { assertKeyManager, type KeyServices } from './key-services.ts';
import { revocationEffect, revokeKey } from './revoke-key.ts';
import { rotateKey, rotationEffect, type Rotation } from './rotate-key.ts';

const { Record, Query, Mutation, inputOf } = nounTypes(keys);
type Answer<Id extends keyof typeof keys.operations> = Promise<Answered<typeof keys, Id>>;

@Resolver(() => Record)
export class KeyResolver {
  readonly #services: KeyServices;

  constructor(services: KeyServices) {
    this.#services = services;
  }

  @Query('listKeys')
  async keys(@Ctx() context: RequestContext, @Args(() => PageArguments) args: PageArguments): Answer<'listKeys'> {
    const principal = assertKeyManager(context, 'key:read');
    return this.#services.database.asTenant(principal.accountId, async (em) => {
      const ofAccount = new AccountKeys(em, principal.environment);
      const page = parsePage(args);
      const [rows, totalCount] = [await ofAccount.list(page), await ofAccount.count()];
      return connectionOf(rows.map(presentKey), page, totalCount, this.#trust(context, rows.list.length));
    });
  }

  @Mutation('createKey')
  async createKey(
    @Ctx() context: RequestContext,
    @Arg('input', inputOf('createKey')) input: object,
  ): Answer<'createKey'> {
    const principal = assertKeyManager(context, 'key:create');
    const pair = await exactlyOnce(this.#services.database, context, {
      effect: keyPairEffect,
      act: (settle) => createKeyPair(this.#services, context, principal, input, settle),
      recall: (made): Promise<CreatedKeyPair> => Promise.resolve(made),
    });
    return {
      keyPairId: publicId('kp', pair.keyPairId),
      name: pair.name,
      scopes: [...pair.scopes],
      live: presentNewKey(pair.live),
      test: presentNewKey(pair.test),
      trust: this.#trust(context, 2),
    };
  }

  @Mutation('revokeKey')
  async revokeKey(
    @Ctx() context: RequestContext,
    @Arg('input', inputOf('revokeKey')) { id }: { id: string },
  ): Answer<'revokeKey'> {
    const principal = assertKeyManager(context, 'key:write');
    const revokedAt = await exactlyOnce(this.#services.database, context, {
      effect: revocationEffect,
      needsRoom: false,
      act: (settle) => revokeKey(this.#services, context, principal, id, settle),
      recall: (ended) => Promise.resolve(ended.revokedAt),
    });
    return { id, status: 'revoked', revokedAt, trust: this.#trust(context, 1) };
  }

  @Mutation('rotateKey')
  async rotateKey(
    @Ctx() context: RequestContext,
    @Arg('input', inputOf('rotateKey')) { id, ...grace }: { id: string },
  ): Answer<'rotateKey'> {
    const principal = assertKeyManager(context, 'key:write');
    const rotation = await exactlyOnce(this.#services.database, context, {
      effect: rotationEffect,
      act: (settle) => rotateKey(this.#services, context, principal, { keyId: id }, grace, settle),
      recall: (made): Promise<Rotation> => Promise.resolve(made),
    });
    return this.#present(rotation, context);
  }

  @Mutation('rotateAgentKey')
  async rotateAgentKey(
    @Ctx() context: RequestContext,
    @Arg('input', inputOf('rotateAgentKey')) { agentId, ...grace }: { agentId: string },
  ): Answer<'rotateAgentKey'> {
    const principal = assertKeyManager(context, 'key:write');
    const rotation = await exactlyOnce(this.#services.database, context, {
      effect: rotationEffect,
      act: (settle) => rotateKey(this.#services, context, principal, { agentId }, grace, settle),
      recall: (made): Promise<Rotation> => Promise.resolve(made),
    });
    return this.#present(rotation, context);
  }

  #present(
    { fresh, previousId, previousEndsAt, trustScore }: Rotation,
    context: RequestContext,
  ): Awaited<Answer<'rotateKey'>> {
    const { id, key, prefix, last4, createdAt } = presentNewKey(fresh);
    return {
      id,
      key,
      prefix,
      last4,
      previousKeyId: publicId('key', previousId),
      previousKeyExpiresAt: previousEndsAt,
      rotatedAt: createdAt,
      trustScore,
      trust: this.#trust(context, 1),
    };
  }

  #trust(context: RequestContext, records: number): TrustEnvelope {
    return recordEnvelope(records, this.#services.clock(), context.apiVersion);
  }
}

/** Shows a stored key. */
function presentKey(key: ApiKeyRecord): z.output<typeof apiKey> {
  return presentRecord(apiKey, key, { ...classOf(key.kind), prefix: key.displayPrefix, endsWith: boundTo(key.bond) });
}

/** Shows a fresh key, the secret included. */
function presentNewKey({
  id,
  secret,
  kind,
  displayPrefix,
  last4,
  createdAt,
  expiresAt,
}: IssuedApiKey): z.output<typeof newKey> {
  return { id: publicId('key', id), key: secret, prefix: displayPrefix, last4, ...classOf(kind), createdAt, expiresAt };
}

function classOf(kind: ApiKeyKind): { env: 'live' | 'test'; type: 'sk' } {
  return { env: kind === 'svc_test_sk' ? 'test' : 'live', type: 'sk' };
}
