import type { z } from 'zod';
import type { agentUsage } from '../../../schema/contract/agent-usages.ts';
import type { billingPeriod } from '../../../schema/contract/billing-period.ts';
import { parsePeriod } from '../../../schema/period.ts';
import { publicId, type Uuid } from '../../../platform/identifiers.ts';
import type { SqlEntityManager, TenantScope } from '../../../platform/postgres/database.ts';
import { endpointCalls } from '../../../services/identity/limits/endpoint-calls.ts';
import { chargingNow } from '../fees/charging-clock.ts';
import { feesOf, periodFigures, shownCents } from '../fees/period-figures.ts';
import { commissionsEarned, currenciesBeside } from './commissions-earned.ts';

/** Where analyses are asked for over REST; what they cost stands there, whichever door they came by. */
const ANALYSES = 'POST /attribution';

type Shown = z.output<typeof agentUsage>;

/** What an account has called and been charged in a period; `em` acts for the whole of it. */
export async function usageOf(
  em: SqlEntityManager,
  { accountId, environment }: TenantScope,
  { period, currency }: z.output<typeof billingPeriod>,
): Promise<Shown> {
  const asked = parsePeriod(period ?? 'month', await chargingNow(em))!;
  const figures = await periodFigures(em, environment, asked, currency);
  const calls = await endpointCalls(em, asked);
  const fees = feesOf(figures);
  const earned = await commissionsEarned(em, environment, asked);
  // An account has one agent or none.
  const [agent] = await em.execute<{ id: Uuid }[]>('select id from agents.agents where account_id = ?', [accountId]);
  return {
    agentId: agent === undefined ? null : publicId('agent', agent.id),
    period: asked.name,
    currency: figures.currency,
    otherCurrencies: currenciesBeside(figures, earned),
    totalCalls: calls.reduce((sum, each) => sum + each.calls, 0),
    billableAnalyses: figures.billable,
    totalDeltaR: major(figures.deltaRCents),
    platformFee: major(figures.platformFeeCents),
    totalPlatformFees: major(figures.platformFeeCents),
    floorFees: major(figures.floorFeeCents),
    planFees: major(figures.planFeeCents),
    totalBilled: major(fees + figures.planFeeCents),
    commissionEarned: major(earned.get(figures.currency) ?? 0n),
    breakdown: withAnalyses(calls, figures.billable).map(({ endpoint, ...each }) => ({
      endpoint,
      ...each,
      billable: endpoint === ANALYSES ? figures.billable : 0,
      platformFee: endpoint === ANALYSES ? major(fees) : 0,
    })),
  };
}

type Calls = Awaited<ReturnType<typeof endpointCalls>>;

/** What was charged has to stand somewhere, also where all analyses came over GraphQL or before calls were counted. */
function withAnalyses(calls: Calls, billable: number): Calls {
  if (billable === 0 || calls.some(({ endpoint }) => endpoint === ANALYSES)) return calls;
  return [...calls, { endpoint: ANALYSES, calls: 0, errors: 0, p95Ms: null }];
}

/** Cents in whole units, for members whose names do not say cents. */
const major = (cents: bigint): number => shownCents(cents) / 100;
