import { Arg, Args, Ctx, FieldResolver, ID, Resolver, Root } from 'type-graphql';
import type { z } from 'zod';
import { agentProfile } from '../../../schema/contract/agent-profile.ts';
import {
  commission,
  commissionFilter,
  commissions,
  commissionVerifyRequest,
} from '../../../schema/contract/commissions.ts';
import { assertAction } from '../../../schema/actions.ts';
import { parsePeriod } from '../../../schema/period.ts';
import type { RequestContext } from '../../../schema/principal.ts';
import { connectionOf, PageArguments, parsePage } from '../../../platform/graph/connection.ts';
import { descriptionOf } from '../../../platform/graph/contract-types.ts';
import { nounTypes, type Answered } from '../../../platform/graph/noun-types.ts';
import { parseFilter, parseGraphInput } from '../../../platform/graph/parse-input.ts';
import { presentRecord } from '../../../platform/graph/present-record.ts';
import { CentsScalar } from '../../../platform/graph/scalars.ts';
import { requireUuid, type Uuid } from '../../../platform/identifiers.ts';
import { wholeAccount, type Database } from '../../../platform/postgres/database.ts';
import type { AuditLog } from '../../../services/audit/audit-log.ts';
import { auditActor, recordAuditEvent } from '../../../services/audit/audit-event.ts';
import { requireOwnAgent } from '../../../services/identity/accounts/own-agent.ts';
import { homeOf } from '../../../services/identity/workspaces/workspace-store.ts';
import { recordEnvelope } from '../../../services/trust/envelope.ts';
import { chargingNow } from '../fees/charging-clock.ts';
import { CreditedAgentType } from '../fees/recovered-revenue-resolver.ts';
import { CommissionStore, type SettledCommission } from './commission-store.ts';
import { checkCommissionChain, checkEntry } from './verify-commission.ts';

export interface CommissionServices {
  readonly database: Database;
  readonly auditLog: AuditLog;
  readonly clock: () => Date;
}

/** The contract's largest `limit` for this list. */
const LARGEST_PAGE = 200;

const { Record, Query, Mutation, inputOf, answerOf } = nounTypes(commissions);
type Answer<Id extends keyof typeof commissions.operations> = Promise<Answered<typeof commissions, Id>>;

/** The commission ledger of the agent of an account, which has one agent or none. */
@Resolver(() => Record)
export class CommissionResolver {
  readonly #services: CommissionServices;

  constructor(services: CommissionServices) {
    this.#services = services;
  }

  // The rows of both paths ask for this field.
  @Query('listCommissions')
  async commissions(
    @Ctx() context: RequestContext,
    @Args(() => PageArguments) args: PageArguments,
    @Arg('agentId', () => ID, {
      nullable: true,
      description: 'Public id, UUID or me; the only agent that it can be is the account’s own.',
    })
    agentId?: string | null,
    @Arg('filter', inputOf('listCommissions'), { nullable: true }) filter?: object | null,
  ): Answer<'listCommissions'> {
    const principal = assertAction(context.principal, 'referral:read');
    // Whoever owns a workspace does not own the account, and the ledger is the account's.
    const [accountId, { environment }] = [homeOf(principal), principal];
    const { period: named = 'month', currency, ...wanted } = parseFilter(commissionFilter, filter);
    const page = parsePage(args, { largest: LARGEST_PAGE });
    const scope = wholeAccount({ accountId: accountId as Uuid, environment: 'live' });
    return this.#services.database.asTenant(scope, async (em) => {
      if (agentId != null) await requireOwnAgent(em, agentId, accountId);
      const period = parsePeriod(named, await chargingNow(em))!;
      const store = new CommissionStore(em, environment);
      const rows = await store.list({ ...wanted, period }, page);
      const total = await store.count({ ...wanted, period });
      const trust = recordEnvelope(rows.list.length, this.#services.clock(), context.apiVersion);
      return {
        ...connectionOf(rows.map(presentCommission), page, total, trust),
        ...(await store.totals(period, currency)),
        nextPayout: await store.nextPayout(),
        period: period.name,
      };
    });
  }

  @Mutation('verifyCommission')
  async verifyCommission(
    @Ctx() context: RequestContext,
    @Arg('input', inputOf('verifyCommission')) input: object,
  ): Answer<'verifyCommission'> {
    const principal = assertAction(context.principal, 'referral:read');
    const { commissionId, receiptId, ledgerHash, expectedHash } = parseGraphInput(commissionVerifyRequest, input);
    const { database, auditLog, clock } = this.#services;
    const accountId = homeOf(principal) as Uuid;
    const named = (commissionId ?? receiptId)!;
    const entry = await checkEntry(database, principal, named, ledgerHash ?? expectedHash ?? null);
    const chain = await checkCommissionChain({ database, auditLog }, accountId);
    await database.asTenant(accountId, (em) =>
      recordAuditEvent(em, context, {
        accountId,
        type: 'commission.verified',
        severity: chain.intact ? 'info' : 'critical',
        actor: auditActor(principal),
        target: { type: 'commission', id: named },
        outcome: entry.valid && chain.intact ? 'success' : 'failure',
        environment: principal.environment,
        details: { valid: entry.valid, chain_intact: chain.intact, chain_length: chain.length },
      }),
    );
    const verifiedAt = clock();
    return {
      valid: entry.valid,
      chainIntact: chain.intact,
      commissionId: named,
      verifiedAt,
      computedHash: entry.computedHash,
      chainLength: chain.length,
      firstBrokenSequence: chain.firstBrokenSequence,
      trust: recordEnvelope(1, verifiedAt, context.apiVersion),
    };
  }
}

/** What billing knows of the commissions of an agent. */
@Resolver(() => CreditedAgentType)
export class EarnedCommissionResolver {
  readonly #database: Database;
  readonly #commissions: CommissionResolver;

  constructor({ database }: CommissionServices, commissions: CommissionResolver) {
    this.#database = database;
    this.#commissions = commissions;
  }

  @FieldResolver(() => CentsScalar, {
    nullable: true,
    description: descriptionOf(agentProfile.shape.totalCommissionEarnedCents),
  })
  async totalCommissionEarnedCents(
    @Root() agent: CreditedAgentType,
    @Ctx() context: RequestContext,
  ): Promise<number | null> {
    const principal = assertAction(context.principal, 'agent:readSelf');
    // Row level security shows the agent of the account and no other.
    const [row] = await this.#database.askAs<{ cents: string }>(homeOf(principal), {
      name: 'billing.earned_by',
      text: 'select billing.earned_by(id) as cents from agents.agents where id = $1',
      values: [requireUuid('agent', agent.id, 'agent')],
    });
    return row === undefined ? null : Number(row.cents);
  }

  @FieldResolver(answerOf('listCommissions'), {
    nullable: true,
    description:
      'The commission ledger of the agent of the account, newest first; for others an error. ' +
      'It takes the scope referrals:read.',
  })
  commissions(
    @Root() { id }: CreditedAgentType,
    @Ctx() context: RequestContext,
    @Args(() => PageArguments) args: PageArguments,
    @Arg('filter', inputOf('listCommissions'), { nullable: true }) filter?: object | null,
  ): Answer<'listCommissions'> {
    assertAction(context.principal, 'referral:read');
    return this.#commissions.commissions(context, args, id, filter);
  }
}

/** As the graph shows it: public ids, and rates as shares. */
export function presentCommission(entry: SettledCommission): z.output<typeof commission> {
  return presentRecord(commission, entry, {
    rate: entry.rate / 10_000,
  });
}
