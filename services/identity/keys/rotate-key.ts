import { z } from 'zod';
import { AccountKeys, type ApiKeyRecord } from './account-keys.ts';
import { rotationRequest } from '../../../schema/contract/keys.ts';
import { assertCovers } from '../../../schema/actions.ts';
import { bondOf } from './key-bond.ts';
import { issuedApiKey, type IssuedApiKey } from './key-store.ts';
import type { Principal, RequestContext } from '../../../schema/principal.ts';
import { auditActor, recordAuditEvent } from '../../audit/audit-event.ts';
import { parseGraphInput } from '../../../platform/graph/parse-input.ts';
import type { Settle } from '../../idempotency/exactly-once.ts';
import { agentUuid, publicId, requireUuid, shownId, uuid, type Uuid } from '../../../platform/identifiers.ts';
import { ProblemError } from '../../../schema/problems.ts';
import { MAX_GRACE_HOURS } from '../../../schema/value-lists.ts';
import { lockKeys, type KeyServices } from './key-services.ts';

/** The key to rotate: by its own id, or as the one that an agent was given at its registration. */
export type KeyToRotate = { readonly keyId: string } | { readonly agentId: string };

export interface Rotation {
  readonly fresh: IssuedApiKey;
  readonly previousId: Uuid;
  /** When the previous key stops working. */
  readonly previousEndsAt: Date;
  /** Of the agent that the key is bound to; null without one. */
  readonly trustScore: number | null;
}

/** The rotation as a retry tells of it again. */
export const rotationEffect = z.object({
  fresh: issuedApiKey,
  previousId: uuid,
  previousEndsAt: z.coerce.date(),
  trustScore: z.number().nullable(),
});

/**
 * Replaces a key by another with the same scopes, allowlist, version and end. The old one works on for the grace. Two
 * keys of one line work at a time: where the named key is in its grace already, its successor is the one that is
 * replaced, and the named key ends now. The successor ends with what made the key, as the key does.
 * @throws ProblemError `resource_not_found`, `validation_error` (`key_ended`), `insufficient_permissions`
 *   (`missing_scope` when the key can do more than the caller's, `outlives_maker` when the caller ends, and the
 *   successor would not with it)
 */
export async function rotateKey(
  services: KeyServices,
  context: RequestContext,
  principal: Principal,
  which: KeyToRotate,
  rawInput: unknown,
  settle: Settle<z.output<typeof rotationEffect>>,
): Promise<Rotation> {
  const { graceHours } = parseGraphInput(rotationRequest, rawInput);
  const accountId = principal.accountId as Uuid;
  return services.database.asTenant(accountId, async (em) => {
    await lockKeys(em, principal);
    const keys = new AccountKeys(em, principal.environment);
    const old = await keys.current(
      'keyId' in which
        ? await keys.require(requireUuid('key', which.keyId, 'key'))
        : await requireAgentKey(keys, principal, which.agentId),
    );
    assertCovers(principal, old.scopes, 'path:id');
    if (!(await keys.endsWith(old, await bondOf(em, principal.credentialId)))) throw outlivesCaller(old.id);
    const { agentId, kind, bond, scopes, keyPairId, name, allowedIps, ownExpiresAt, apiVersion } = old;
    const fresh = await services.keys.create(em, {
      accountId,
      agentId,
      kind,
      bond,
      scopes,
      keyPairId,
      name,
      allowedIps,
      expiresAt: ownExpiresAt,
      apiVersion,
    });
    const previousEndsAt = await keys.replace(old.id, fresh.id, graceHours ?? MAX_GRACE_HOURS);
    // Rotating test keys makes nothing safer.
    if (agentId !== null && kind !== 'svc_test_sk') await services.agentScores.rewardRotation(em, agentId);
    await recordAuditEvent(em, context, {
      accountId,
      type: 'agent.key_rotated',
      actor: auditActor(principal),
      target: { type: 'key', id: publicId('key', old.id) },
      outcome: 'success',
      environment: principal.environment,
      details: { new_key_id: publicId('key', fresh.id), previous_key_expires_at: previousEndsAt.toISOString() },
    });
    const rotation = {
      fresh,
      previousId: old.id,
      previousEndsAt,
      trustScore: agentId === null ? null : await services.agentScores.trustScoreOf(em, agentId),
    };
    await settle(em, rotation);
    return rotation;
  });
}

function outlivesCaller(keyId: Uuid): ProblemError {
  const message =
    `The key or token that you use ends, and the successor of ${publicId('key', keyId)} would not end ` +
    `with it. Rotate it with the key itself, or with a key without an end.`;
  return new ProblemError('insufficient_permissions', message, { code: 'outlives_maker', param: 'path:id' });
}

/**
 * `me`, `agent_…` and the UUID name the caller's own agent; every other agent is as unknown as one that there is not.
 */
async function requireAgentKey(keys: AccountKeys, principal: Principal, id: string): Promise<ApiKeyRecord> {
  const wanted = id === 'me' ? principal.agentId : agentUuid(id);
  const key = wanted == null || wanted !== principal.agentId ? undefined : await keys.ofAgent(wanted as Uuid);
  if (key === undefined)
    throw new ProblemError(
      'resource_not_found',
      `There is no agent ${shownId(id)}, or it has no key that you may rotate.`,
    );
  return key;
}
