import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { AccountKeys } from './account-keys.ts';
import type { RequestContext } from '../../../schema/principal.ts';
import { connectionOf, PageArguments, parsePage, type Connection } from '../../../platform/graph/connection.ts';
import { exactlyOnce } from '../../idempotency/exactly-once.ts';
import { publicId } from '../../../platform/identifiers.ts';
import { type TrustEnvelope } from '../../../schema/trust-envelope.ts';
import { recordEnvelope } from '../../trust/envelope.ts';
import { createKeyPair, keyPairEffect, type CreatedKeyPair } from './create-key-pair.ts';
import { assertKeyManager, type KeyServices } from './key-services.ts';
import {
  ApiKeyConnection,
  ApiKeyType,
  CreateKeyInput,
  CreateKeyPayload,
  presentKey,
  presentNewKey,
  RevokeKeyInput,
  RevokeKeyPayload,
  RotateAgentKeyInput,
  RotateKeyInput,
  RotateKeyPayload,
} from './key-type.ts';
import { revocationEffect, revokeKey } from './revoke-key.ts';
import { rotateKey, rotationEffect, type Rotation } from './rotate-key.ts';

@Resolver(() => ApiKeyType)
export class KeyResolver {
  readonly #services: KeyServices;

  constructor(services: KeyServices) {
    this.#services = services;
  }

  @Query(() => ApiKeyConnection, { nullable: true, description: 'Keys of the account, newest first, ended ones included; a test key sees test keys alone. Errors: INSUFFICIENT_PERMISSIONS.' })
  async keys(@Ctx() context: RequestContext, @Args(() => PageArguments) args: PageArguments): Promise<Connection<ApiKeyType>> {
    const principal = assertKeyManager(context, 'key:read');
    return this.#services.database.asTenant(principal.accountId, async (em) => {
      const keys = new AccountKeys(em, principal.environment);
      const page = await parsePage(args, () => keys.count());
      const [rows, totalCount] = [await keys.list(page), await keys.count()];
      return connectionOf(rows.map(presentKey), page, totalCount, this.#trust(context, rows.length));
    });
  }

  @Mutation(() => CreateKeyPayload, { nullable: true, description: 'Makes a live key and its test twin; they act for whom the caller acts. Errors: VALIDATION_ERROR (requires_enterprise, outlives_maker, exceeds_maker), INSUFFICIENT_PERMISSIONS (missing_scope, live_key_required).' })
  async createKey(@Ctx() context: RequestContext, @Arg('input', () => CreateKeyInput) input: CreateKeyInput): Promise<CreateKeyPayload> {
    const principal = assertKeyManager(context, 'key:create');
    const pair = await exactlyOnce(this.#services.database, context, {
      effect: keyPairEffect,
      act: (settle) => createKeyPair(this.#services, context, principal, input, settle),
      recall: (made): Promise<CreatedKeyPair> => Promise.resolve(made),
    });
    return { keyPairId: publicId('kp', pair.keyPairId), name: pair.name, scopes: pair.scopes, live: presentNewKey(pair.live), test: presentNewKey(pair.test), trust: this.#trust(context, 2) };
  }

  @Mutation(() => RevokeKeyPayload, { nullable: true, description: 'Ends a key at once, with every token that it was shown for and every key that ends with it; a second time changes nothing. Errors: RESOURCE_NOT_FOUND.' })
  async revokeKey(@Ctx() context: RequestContext, @Arg('input', () => RevokeKeyInput) { id }: RevokeKeyInput): Promise<RevokeKeyPayload> {
    const principal = assertKeyManager(context, 'key:write');
    const revokedAt = await exactlyOnce(this.#services.database, context, {
      effect: revocationEffect,
      needsRoom: false,
      act: (settle) => revokeKey(this.#services, context, principal, id, settle),
      recall: (ended) => Promise.resolve(ended.revokedAt),
    });
    return { id, status: 'revoked', revokedAt, trust: this.#trust(context, 1) };
  }

  @Mutation(() => RotateKeyPayload, { nullable: true, description: 'Replaces a key; the old one works on for the grace. Errors: RESOURCE_NOT_FOUND, VALIDATION_ERROR (key_ended), INSUFFICIENT_PERMISSIONS (missing_scope, outlives_maker).' })
  async rotateKey(@Ctx() context: RequestContext, @Arg('input', () => RotateKeyInput) { id, graceHours }: RotateKeyInput): Promise<RotateKeyPayload> {
    const principal = assertKeyManager(context, 'key:write');
    const rotation = await exactlyOnce(this.#services.database, context, {
      effect: rotationEffect,
      act: (settle) => rotateKey(this.#services, context, principal, { keyId: id }, { graceHours }, settle),
      recall: (made): Promise<Rotation> => Promise.resolve(made),
    });
    return this.#present(rotation, context);
  }

  @Mutation(() => RotateKeyPayload, { nullable: true, description: 'Replaces the key that the calling agent was registered with. Errors: RESOURCE_NOT_FOUND, VALIDATION_ERROR (key_ended), INSUFFICIENT_PERMISSIONS (missing_scope, outlives_maker).' })
  async rotateAgentKey(@Ctx() context: RequestContext, @Arg('input', () => RotateAgentKeyInput) { agentId, graceHours }: RotateAgentKeyInput): Promise<RotateKeyPayload> {
    const principal = assertKeyManager(context, 'key:write');
    const rotation = await exactlyOnce(this.#services.database, context, {
      effect: rotationEffect,
      act: (settle) => rotateKey(this.#services, context, principal, { agentId }, { graceHours }, settle),
      recall: (made): Promise<Rotation> => Promise.resolve(made),
    });
    return this.#present(rotation, context);
  }

  #present({ fresh, previousId, previousEndsAt, trustScore }: Rotation, context: RequestContext): RotateKeyPayload {
    const { id, key, prefix, last4, createdAt } = presentNewKey(fresh);
    return { id, key, prefix, last4, previousKeyId: publicId('key', previousId), previousKeyExpiresAt: previousEndsAt, rotatedAt: createdAt, trustScore, trust: this.#trust(context, 1) };
  }

  #trust(context: RequestContext, records: number): TrustEnvelope {
    return recordEnvelope(records, this.#services.clock(), context.apiVersion);
  }
}
