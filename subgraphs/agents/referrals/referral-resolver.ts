import { Arg, Args, Ctx, ID, Query, Resolver } from 'type-graphql';
import { z } from 'zod';
import { ProblemError } from '../../../schema/problems.ts';
import { REFERRAL_STATUSES } from '../../../schema/value-lists.ts';
import { assertAction } from '../../../schema/actions.ts';
import type { RequestContext } from '../../../schema/principal.ts';
import { connectionOf, PageArguments, parsePage } from '../../../platform/graph/connection.ts';
import { parseInput } from '../../../platform/graph/parse-input.ts';
import { agentUuid, shownId } from '../../../platform/identifiers.ts';
import type { Database, SqlEntityManager } from '../../../platform/postgres/database.ts';
import { recordEnvelope } from '../../../services/trust/envelope.ts';
import { ReferralStore } from './referral-store.ts';
import { presentReferral, ReferralConnection, ReferralFilterInput, ReferralType } from './referral-type.ts';

const filterSchema = z.object({
  status: z.enum(REFERRAL_STATUSES).nullish().transform((status) => status ?? undefined),
  depth: z.int().min(1).max(2).nullish().transform((depth) => depth ?? undefined),
});

/** The referrals of the agent of an account, which has one agent or none. */
@Resolver(() => ReferralType)
export class ReferralResolver {
  readonly #database: Database;
  readonly #clock: () => Date;

  constructor(database: Database, clock: () => Date) {
    this.#database = database;
    this.#clock = clock;
  }

  @Query(() => ReferralConnection, { nullable: true, description: 'Referrals of the agent of the account, newest first; a test key sees none. Errors: VALIDATION_ERROR; RESOURCE_NOT_FOUND for the id of any other agent.' })
  async referrals(
    @Ctx() context: RequestContext,
    @Args(() => PageArguments) args: PageArguments,
    @Arg('agentId', () => ID, { nullable: true, description: 'Public id, UUID or me; the only agent that it can be is the account’s own.' }) agentId?: string | null,
    @Arg('filter', () => ReferralFilterInput, { nullable: true }) filter?: ReferralFilterInput | null,
  ): Promise<ReferralConnection> {
    const { accountId, environment } = assertAction(context.principal, 'referral:read');
    const narrowed = parseInput(filterSchema, filter ?? {});
    return this.#database.asTenant(accountId, async (em) => {
      if (agentId != null && agentId !== 'me') await requireOwnAgent(em, agentId);
      const store = new ReferralStore(em, environment);
      const page = await parsePage(args, () => store.count(narrowed));
      const [rows, totalCount, totals] = [await store.list(narrowed, page), await store.count(narrowed), await store.totals()];
      return {
        ...connectionOf(rows.map(presentReferral), page, totalCount, recordEnvelope(rows.length, this.#clock(), context.apiVersion)),
        totalPending: totals.pending,
        totalActive: totals.active,
        totalChurned: totals.churned,
      };
    });
  }
}

/** @throws ProblemError `resource_not_found`, for a foreign agent exactly as for an unknown one */
async function requireOwnAgent(em: SqlEntityManager, named: string): Promise<void> {
  const id = agentUuid(named);
  const own = id === undefined ? [] : await em.execute(`select 1 from agents.agents where id = ?`, [id]);
  if (own.length === 0) throw new ProblemError('resource_not_found', `There is no agent ${shownId(named)}, or it is not yours.`);
}
