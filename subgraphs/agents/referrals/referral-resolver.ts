import { Arg, Args, Ctx, ID, Resolver } from 'type-graphql';
import type { z } from 'zod';
import { referral, referralFilter, referrals } from '../../../schema/contract/referrals.ts';
import { assertAction } from '../../../schema/actions.ts';
import type { RequestContext } from '../../../schema/principal.ts';
import { connectionOf, PageArguments, parsePage } from '../../../platform/graph/connection.ts';
import { nounTypes, type Answered } from '../../../platform/graph/noun-types.ts';
import { parseFilter } from '../../../platform/graph/parse-input.ts';
import { presentRecord } from '../../../platform/graph/present-record.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import { requireOwnAgent } from '../../../services/identity/accounts/own-agent.ts';
import { homeOf } from '../../../services/identity/workspaces/workspace-store.ts';
import { recordEnvelope } from '../../../services/trust/envelope.ts';
import { ACTIVE_FROM_CENTS } from './accrue-referrals.ts';
import { ReferralStore, type Referral } from './referral-store.ts';

const { Record, Query, inputOf } = nounTypes(referrals);

/** The referrals of the agent of an account, which has one agent or none. */
@Resolver(() => Record)
export class ReferralResolver {
  readonly #database: Database;
  readonly #clock: () => Date;

  constructor(database: Database, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  // The rows of both paths ask for this field.
  @Query('listReferrals')
  async referrals(
    @Ctx() context: RequestContext,
    @Args(() => PageArguments) args: PageArguments,
    @Arg('agentId', () => ID, {
      nullable: true,
      description: 'Public id, UUID or me; the only agent that it can be is the account’s own.',
    })
    agentId?: string | null,
    @Arg('filter', inputOf('listReferrals'), { nullable: true }) filter?: object | null,
  ): Promise<Answered<typeof referrals, 'listReferrals'>> {
    const principal = assertAction(context.principal, 'referral:read');
    const { environment } = principal;
    // Whoever owns a workspace does not own the account.
    const accountId = homeOf(principal);
    const narrowed = parseFilter(referralFilter, filter);
    return this.#database.asTenant(accountId, async (em) => {
      if (agentId != null) await requireOwnAgent(em, agentId, accountId);
      const store = new ReferralStore(em, environment);
      const page = parsePage(args);
      const [rows, totalCount, totals] = [
        await store.list(narrowed, page),
        await store.count(narrowed),
        await store.totals(),
      ];
      const trust = recordEnvelope(rows.list.length, this.#clock(), context.apiVersion);
      return {
        ...connectionOf(rows.map(presentReferral), page, totalCount, trust),
        totalPending: totals.pending,
        totalActive: totals.active,
        totalChurned: totals.churned,
      };
    });
  }
}

/** As the graph shows it: public ids, money in major units, progress from 0 to 1. */
function presentReferral({
  accumulatedDeltaRCents,
  commissionEarnedCents,
  ...row
}: Referral): z.output<typeof referral> {
  return presentRecord(referral, row, {
    accumulatedDeltaR: accumulatedDeltaRCents / 100,
    commissionEarned: commissionEarnedCents / 100,
    // Of a churned one as far as it came.
    activationProgress: row.activatedAt !== null ? 1 : Math.min(1, accumulatedDeltaRCents / ACTIVE_FROM_CENTS),
  });
}
