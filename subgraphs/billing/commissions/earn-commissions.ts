import { z } from 'zod';
import type { EventConsumer } from '../../../services/events/relay.ts';
import { uuidFromPublicId, type Uuid } from '../../../platform/identifiers.ts';
import { actingFor } from '../../../platform/postgres/acting-for.ts';
import { wholeAccount, type SqlEntityManager } from '../../../platform/postgres/database.ts';
import type { PubSub } from '../../../platform/postgres/pub-sub.ts';
import type { Tier } from '../../../schema/value-lists.ts';
import { USUAL_CURRENCY } from '../ledger/ledger.ts';
import { appendCommission } from './append-commission.ts';
import { commissionsOn, type CommissionTerms, type Earner } from './commission-rules.ts';

export interface CommissionServices extends CommissionTerms {
  readonly pubSub: PubSub;
}

const finished = z.object({ id: z.string() });

/**
 * Credits what a fee earns, in the transaction that charges it: comes after the charge and after referrals, since the
 * analysis that makes a referral active earns already. An analysis that cost nothing earns nothing.
 */
export function earnCommissions({ pubSub, ...terms }: CommissionServices): EventConsumer {
  return async (em, { type, environment, data, accountId }) => {
    if (type !== 'attribution.completed' || environment !== 'live') return;
    const analysisId = uuidFromPublicId('attr', finished.parse(data).id);
    if (analysisId === undefined) throw new Error(`an event of the account ${accountId} has an id that is none`);
    const charge = await feeOf(em, analysisId);
    if (charge === undefined) return;
    const earners = await earnersOf(em, charge.agentId);
    // In one order, so that two analyses with the same agents never wait for each other.
    const earned = commissionsOn(charge.feeCents, accountId, earners, terms).toSorted((one, other) =>
      one.earner.accountId < other.earner.accountId ? -1 : 1,
    );
    for (const { earner, amountCents, rate, ...commission } of earned) {
      await actingFor(em, wholeAccount({ accountId: earner.accountId, environment: 'live' }), () =>
        appendCommission(em, pubSub, earner, {
          ...commission,
          sourceAgentId: charge.agentId,
          analysisId,
          amountCents: Number(amountCents),
          currency: charge.currency,
          deltaRCents: charge.deltaRCents,
          rate: Number(rate),
          reverses: null,
        }),
      );
    }
  };
}

interface ChargedFee {
  readonly agentId: Uuid;
  readonly feeCents: bigint;
  readonly currency: string;
  readonly deltaRCents: number;
}

/** What an analysis was charged, unless nothing, no agent served it, or it has earned before. */
async function feeOf(em: SqlEntityManager, analysisId: Uuid): Promise<ChargedFee | undefined> {
  const [charge] = await em.execute<{ agent: Uuid; fee: string; currency: string | null; delta: string }[]>(
    `select agent_id as agent, fee_cents as fee, currency, delta_r_cents as delta from billing.charges
     where analysis_id = ? and fee_cents > 0 and agent_id is not null and not billing.has_earned(analysis_id)`,
    [analysisId],
  );
  if (charge === undefined) return undefined;
  return {
    agentId: charge.agent,
    feeCents: BigInt(charge.fee),
    currency: charge.currency ?? USUAL_CURRENCY,
    deltaRCents: Number(charge.delta),
  };
}

interface EarnerRow {
  readonly account_id: Uuid;
  readonly agent_id: Uuid;
  readonly chain_depth: 0 | 1 | 2;
  readonly tier: Tier;
  readonly months_active: number;
}

async function earnersOf(em: SqlEntityManager, agentId: Uuid): Promise<Earner[]> {
  const rows = await em.execute<EarnerRow[]>(`select * from agents.earners(?::uuid)`, [agentId]);
  return rows.map((row) => ({
    accountId: row.account_id,
    agentId: row.agent_id,
    chainDepth: row.chain_depth,
    tier: row.tier,
    monthsActive: row.months_active,
  }));
}
