import { z } from 'zod';
import { keyRequest } from '../../../schema/contract/keys.ts';
import { assertCovers } from '../../../schema/actions.ts';
import { bondOf, boundTo } from './key-bond.ts';
import { issuedApiKey, type IssuedKeyPair } from './key-store.ts';
import { SCOPES, type Plan, type Principal, type RequestContext, type Scope } from '../../../schema/principal.ts';
import { auditActor, recordAuditEvent } from '../../audit/audit-event.ts';
import { parseGraphInput } from '../../../platform/graph/parse-input.ts';
import type { Settle } from '../../idempotency/exactly-once.ts';
import { publicId, uuid, type Uuid } from '../../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';
import { ProblemError } from '../../../schema/problems.ts';
import { lockKeys, type KeyServices } from './key-services.ts';

/** The pair as a retry tells of it again. */
export const keyPairEffect = z.object({
  keyPairId: uuid,
  live: issuedApiKey,
  test: issuedApiKey,
  name: z.string().nullable(),
  scopes: z.array(z.enum(SCOPES)),
});

export interface CreatedKeyPair extends IssuedKeyPair {
  readonly name: string | null;
  readonly scopes: readonly Scope[];
}

/**
 * Creates a live key and its test twin. They act for whom the caller acts: a key of an agent makes keys of that agent.
 * Made by a token or a key that ends, they end with it at the latest, and are used from no more addresses.
 * @throws ProblemError `validation_error` (with code `requires_enterprise` for an allowlist on another plan,
 *   `in_the_past` for an end that is over, `outlives_maker` for one behind the caller's, `exceeds_maker` for addresses
 *   beyond the caller's), `insufficient_permissions` / `missing_scope`
 */
export async function createKeyPair(
  services: KeyServices,
  context: RequestContext,
  principal: Principal,
  rawInput: unknown,
  settle: Settle<z.output<typeof keyPairEffect>>,
): Promise<CreatedKeyPair> {
  const input = parseGraphInput(keyRequest, rawInput);
  const scopes = [...new Set(input.scopes ?? principal.scopes)];
  assertCovers(principal, scopes, '/scopes');
  const accountId = principal.accountId as Uuid;
  return services.database.asTenant(accountId, async (em) => {
    const { plan } = await lockKeys(em, principal);
    if (input.allowedIps !== undefined) assertAllowlists(plan);
    const { endsAt, allowedIps: makersIps, ...bond } = await bondOf(em, principal.credentialId);
    if (input.allowedIps !== undefined && makersIps !== null) await assertWithin(em, input.allowedIps, makersIps);
    if (input.expiresAt !== undefined) {
      await assertAhead(em, input.expiresAt);
      if (endsAt !== null && input.expiresAt > endsAt)
        throw invalid(
          '/expires_at',
          'outlives_maker',
          `what the key or token of this request makes works until ${endsAt.toISOString()} at the latest; name an ` +
            `earlier moment, or leave expires_at out`,
        );
    }
    const { name = null, allowedIps, expiresAt, apiVersion } = input;
    const pair = await services.keys.createPair(em, {
      accountId,
      agentId: principal.agentId as Uuid | null,
      bond,
      scopes,
      name,
      allowedIps: allowedIps ?? makersIps,
      expiresAt: expiresAt ?? null,
      apiVersion: apiVersion ?? null,
    });
    if (principal.agentId !== null && input.scopes !== undefined)
      await services.agentScores.rewardNarrowScopes(em, principal.agentId, scopes);
    await recordAuditEvent(em, context, {
      accountId,
      // Another key is another answer to what may be done with this account.
      type: 'agent.scope_changed',
      actor: auditActor(principal),
      target: { type: 'key_pair', id: publicId('kp', pair.keyPairId) },
      outcome: 'success',
      environment: principal.environment,
      details: {
        change: 'key_pair_created',
        key_ids: [publicId('key', pair.live.id), publicId('key', pair.test.id)],
        scopes,
        ends_with: boundTo(bond),
        expires_at: pair.live.expiresAt?.toISOString() ?? null,
      },
    });
    await settle(em, { ...pair, name, scopes });
    return { ...pair, name, scopes };
  });
}

function assertAllowlists(plan: Plan): void {
  if (plan === 'enterprise') return;
  throw invalid(
    '/allowed_ips',
    'requires_enterprise',
    `allowlists come with the plan enterprise, and this account is on ${plan}; leave allowed_ips out or ` +
      `change the plan`,
  );
}

/** Ranges of a key lie within those of its maker. */
async function assertWithin(em: SqlEntityManager, ranges: readonly string[], makers: readonly string[]): Promise<void> {
  const [row] = await em.execute<[{ within: boolean }]>(
    `select bool_and(exists (select from jsonb_array_elements_text(?::jsonb) maker where network(range::inet) <<= ` +
      `maker::inet)) as within from jsonb_array_elements_text(?::jsonb) range`,
    [JSON.stringify(makers), JSON.stringify(ranges)],
  );
  if (!row.within)
    throw invalid(
      '/allowed_ips',
      'exceeds_maker',
      `the key or token of this request may be used from ${makers.join(', ')} alone; name parts of that, or leave ` +
        `allowed_ips out`,
    );
}

/** By the database's clock, which also judges the end when it comes. */
async function assertAhead(em: SqlEntityManager, moment: Date): Promise<void> {
  const [row] = await em.execute<[{ ahead: boolean }]>(`select ?::timestamptz > auth.clock() as ahead`, [
    moment.toISOString(),
  ]);
  if (!row.ahead) throw invalid('/expires_at', 'in_the_past', 'must lie in the future');
}

function invalid(param: string, code: string, message: string): ProblemError {
  return new ProblemError('validation_error', `${param.slice(1)}: ${message}.`, {
    code,
    param,
    errors: [{ param, code, message }],
  });
}
