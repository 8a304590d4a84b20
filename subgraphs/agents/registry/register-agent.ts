import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { registration } from '../../../schema/contract/agent-requests.ts';
import { ProblemError } from '../../../schema/problems.ts';
import { createAccount } from '../../../services/identity/accounts/account-store.ts';
import { UNBOUND } from '../../../services/identity/keys/key-bond.ts';
import type { RequestContext } from '../../../schema/principal.ts';
import { auditActor, recordAuditEvent } from '../../../services/audit/audit-event.ts';
import type { Settle } from '../../../services/idempotency/exactly-once.ts';
import { newUuid, publicId, uuid, type Uuid } from '../../../platform/identifiers.ts';
import { parseGraphInput } from '../../../platform/graph/parse-input.ts';
import { Agent } from './agent.ts';
import { assertCallableAddress } from '../../../platform/outgoing/callable-address.ts';
import { callbackScope, setCallback } from './callback.ts';
import type { RegistryServices } from './registry-services.ts';

const REFERRAL_ALPHABET = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const REFERRAL_LENGTH = 10;

const DEFAULT_CAPABILITIES = ['attribution'] as const;

/** What a registration leaves for whoever must tell of it again. */
export const registrationEffect = z.object({
  accountId: uuid,
  agentId: uuid,
  apiKey: z.string(),
  callbackSecret: z.string().nullable(),
});
export type RegistrationEffect = z.output<typeof registrationEffect>;

export interface RegisteredAgent {
  readonly agent: Agent;
  /** Shown once; only its salted hash is stored. */
  readonly apiKey: string;
  /** Signs the notifications to its callback address; shown once. Null without such an address. */
  readonly callbackSecret: string | null;
}

/**
 * Registers an agent with a new account of its own, and issues its first key, in one transaction.
 * @throws ProblemError `validation_error` for a bad or unknown member, `conflict` / `operator_already_registered`.
 */
export async function registerAgent(
  services: RegistryServices,
  context: RequestContext,
  rawInput: unknown,
  settle: Settle<RegistrationEffect>,
): Promise<RegisteredAgent> {
  const input = parseGraphInput(registration, rawInput);
  const { callbackUrl } = input;
  if (callbackUrl !== undefined) await assertCallableAddress(services.outgoing, callbackUrl, '/callback_url', 422);
  const now = services.clock();
  const accountId = newUuid(now.getTime());
  return services.database.asTenant(callbackScope(accountId), async (em) => {
    let referredBy: Uuid | null = null;
    if (input.referralCode !== undefined) {
      const [row] = await em.execute<[{ id: Uuid | null }]>(`select agents.find_referrer(?) as id`, [
        input.referralCode,
      ]);
      if (row.id === null)
        throw new ProblemError(
          'validation_error',
          `referral_code: there is no agent with the code ${input.referralCode}.`,
          { code: 'unknown_referral_code', param: '/referral_code' },
        );
      referredBy = row.id;
    }
    const operator = {
      operatorId: input.operatorId ?? null,
      operatorEmail: input.operatorEmail?.toLowerCase() ?? null,
    };
    await createAccount(em, { accountId, ...operator, plan: services.newcomersPlan, tier: 'discovery' });
    const agent = em.create(Agent, {
      id: newUuid(now.getTime()),
      accountId,
      ...operator,
      name: input.name,
      capabilities: [...new Set(input.capabilities ?? DEFAULT_CAPABILITIES)],
      referralCode: newReferralCode(),
      referredBy,
      callbackUrl: callbackUrl ?? null,
      createdAt: now,
    });
    await em.flush();
    if (referredBy !== null) await em.execute(`select agents.record_referrals(?)`, [agent.id]);
    const apiKey = await services.keys.issue(em, { accountId, agentId: agent.id, kind: 'svc_agent_sk', bond: UNBOUND });
    await recordAuditEvent(em, context, {
      accountId,
      type: 'agent.registered',
      actor: auditActor(context.principal),
      target: { type: 'agent', id: publicId('agent', agent.id) },
      outcome: 'success',
      environment: 'live',
      details: {
        capabilities: agent.capabilities,
        referred_by: referredBy === null ? null : publicId('agent', referredBy),
      },
    });
    const callbackSecret = await setCallback(
      em,
      services.endpointSecrets,
      accountId,
      callbackUrl ?? null,
      context.apiVersion,
    );
    await settle(em, { accountId, agentId: agent.id as Uuid, apiKey, callbackSecret });
    return { agent, apiKey, callbackSecret };
  });
}

function newReferralCode(): string {
  let code = 'REF_';
  for (let i = 0; i < REFERRAL_LENGTH; i += 1) code += REFERRAL_ALPHABET[randomInt(REFERRAL_ALPHABET.length)]!;
  return code;
}
