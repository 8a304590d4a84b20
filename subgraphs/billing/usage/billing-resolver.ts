import { Arg, Ctx, Directive, FieldResolver, ID, Resolver, Root } from 'type-graphql';
import type { z } from 'zod';
import { agentUsages } from '../../../schema/contract/agent-usages.ts';
import { billingPeriod } from '../../../schema/contract/billing-period.ts';
import { billingSummaries } from '../../../schema/contract/billing-summaries.ts';
import { billingUsages } from '../../../schema/contract/billing-usages.ts';
import { assertAction } from '../../../schema/actions.ts';
import type { Principal, RequestContext } from '../../../schema/principal.ts';
import { nounTypes, type Answered } from '../../../platform/graph/noun-types.ts';
import { parseFilter } from '../../../platform/graph/parse-input.ts';
import { wholeAccount, type Database, type TenantScope } from '../../../platform/postgres/database.ts';
import { requireOwnAgent } from '../../../services/identity/accounts/own-agent.ts';
import { homeOf } from '../../../services/identity/workspaces/workspace-store.ts';
import { recordEnvelope } from '../../../services/trust/envelope.ts';
import { CreditedAgentType } from '../fees/recovered-revenue-resolver.ts';
import { usageOf } from './agent-usage.ts';
import { summarize } from './billing-summary.ts';
import { currentUsage } from './billing-usage.ts';

export interface BillingServices {
  readonly database: Database;
  readonly clock: () => Date;
}

const ofSummaries = nounTypes(billingSummaries);
const ofUsages = nounTypes(billingUsages);
const ofAgentUsages = nounTypes(agentUsages);
type Summary = Answered<typeof billingSummaries, 'getBillingSummary'>;

/** Of all the rows that a summary adds up the record is one claim. */
const CLAIMS = 1;

/** The bill and the running month of an account. */
@Resolver()
export class BillingResolver {
  readonly #services: BillingServices;

  constructor(services: BillingServices) {
    this.#services = services;
  }

  @ofSummaries.Query('getBillingSummary')
  async billingSummary(
    @Ctx() context: RequestContext,
    @Arg('filter', ofSummaries.inputOf('getBillingSummary'), { nullable: true }) filter?: object | null,
  ): Promise<Summary> {
    const principal = assertAction(context.principal, 'billing:read');
    const asked = parseFilter(billingPeriod, filter);
    const { database, clock } = this.#services;
    const summary = await database.asTenant(principal, (em) => summarize(em, principal, asked));
    return { ...summary, trust: recordEnvelope(CLAIMS, clock(), context.apiVersion) };
  }

  @ofUsages.Query('getBillingUsage')
  async billingUsage(
    @Ctx() context: RequestContext,
    @Arg('filter', ofUsages.inputOf('getBillingUsage'), { nullable: true }) filter?: object | null,
  ): Promise<Answered<typeof billingUsages, 'getBillingUsage'>> {
    const principal = assertAction(context.principal, 'billing:read');
    const asked = parseFilter(billingUsages.operations.getBillingUsage.filter, filter);
    const { database, clock } = this.#services;
    const usage = await database.asTenant(principal, (em) => currentUsage(em, principal, asked.currency));
    return { ...usage, trust: recordEnvelope(CLAIMS, clock(), context.apiVersion) };
  }
}

/** What the agent of an account has called and been charged. */
@Resolver(() => ofAgentUsages.Record)
export class AgentUsageResolver {
  readonly #services: BillingServices;

  constructor(services: BillingServices) {
    this.#services = services;
  }

  // The rows of both paths ask for this field.
  @ofAgentUsages.Query('getUsage')
  async agentUsage(
    @Ctx() context: RequestContext,
    @Arg('agentId', () => ID, {
      nullable: true,
      description: 'Public id, UUID or me; the only agent that it can be is the account’s own.',
    })
    agentId?: string | null,
    @Arg('filter', ofAgentUsages.inputOf('getUsage'), { nullable: true }) filter?: object | null,
  ): Promise<Answered<typeof agentUsages, 'getUsage'>> {
    const principal = assertAction(context.principal, 'billing:read');
    const asked = parseFilter(billingPeriod, filter);
    const { database, clock } = this.#services;
    const home = homeScope(principal);
    const usage = await database.asTenant(home, async (em) => {
      if (agentId != null) await requireOwnAgent(em, agentId, home.accountId);
      return usageOf(em, home, asked);
    });
    return { ...usage, trust: recordEnvelope(CLAIMS, clock(), context.apiVersion) };
  }
}

/** All of the account that the caller came from, wherever it acts. */
function homeScope(principal: Principal): TenantScope {
  return wholeAccount({ accountId: homeOf(principal), environment: principal.environment });
}

/** The bill of the account behind an agent, which it alone sees. */
@Resolver(() => CreditedAgentType)
export class AgentBillingResolver {
  readonly #services: BillingServices;

  constructor(services: BillingServices) {
    this.#services = services;
  }

  @Directive('@requires(fields: "agentUuid")')
  @FieldResolver(() => ofSummaries.Record, {
    nullable: true,
    description:
      'The bill of its account in a period, the running month unless told; null for every agent but one’s own. It ' +
      'takes the scope billing:read.',
  })
  async billingSummary(
    @Root() { agentUuid }: CreditedAgentType,
    @Ctx() context: RequestContext,
    @Arg('filter', ofSummaries.inputOf('getBillingSummary'), { nullable: true }) filter?: object | null,
  ): Promise<Summary | null> {
    const principal = assertAction(context.principal, 'billing:read');
    const asked: z.output<typeof billingPeriod> = parseFilter(billingPeriod, filter);
    // One's own agent alone has a UUID to be seen, and an account has one agent.
    if (agentUuid == null) return null;
    const { database, clock } = this.#services;
    const home = homeScope(principal);
    const summary = await database.asTenant(home, (em) => summarize(em, home, asked));
    return { ...summary, trust: recordEnvelope(CLAIMS, clock(), context.apiVersion) };
  }
}
