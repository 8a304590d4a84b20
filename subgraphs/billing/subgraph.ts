import type { FeedServices } from '../../services/events/event-feed.ts';
import { buildSubgraph, type Subgraph } from '../../platform/graph/subgraph-schema.ts';
import {
  CommissionResolver,
  EarnedCommissionResolver,
  type CommissionServices,
} from './commissions/commission-resolver.ts';
import { commissionEarnedResolver } from './commissions/commission-earned-resolver.ts';
import { AttributionFeeResolver, BilledAttributionType } from './fees/attribution-fee-resolver.ts';
import { CreditedAgentType, RecoveredRevenueResolver } from './fees/recovered-revenue-resolver.ts';
import { AttributionProofResolver, ValueProofResolver } from './value-proofs/value-proof-resolver.ts';
import {
  AgentBillingResolver,
  AgentUsageResolver,
  BillingResolver,
  type BillingServices,
} from './usage/billing-resolver.ts';
import { InvoiceResolver } from './invoices/invoice-resolver.ts';
import { SubscriptionResolver } from './subscriptions/subscription-resolver.ts';
import type { SubscriptionServices } from './subscriptions/subscribe.ts';
import { SpendLimitResolver } from './spend-limits/spend-limit-resolver.ts';
import type { SpendLimitServices } from './spend-limits/set-spend-limit.ts';
import { PlanResolver, type PlanServices } from './plans/plan-resolver.ts';

/**
 * The billing subgraph: the price list, what analyses cost and the receipts of it, and what agents have to their credit
 * and earn.
 */
export function billingSubgraph(
  services: PlanServices &
    CommissionServices &
    FeedServices &
    SpendLimitServices &
    SubscriptionServices &
    BillingServices,
): Promise<Subgraph> {
  const { database } = services;
  const commissions = new CommissionResolver(services);
  return buildSubgraph({
    name: 'billing',
    resolvers: [
      new PlanResolver(services),
      new AttributionFeeResolver(database),
      new RecoveredRevenueResolver(database),
      new ValueProofResolver(services),
      new AttributionProofResolver(services),
      new BillingResolver(services),
      new AgentUsageResolver(services),
      new AgentBillingResolver(services),
      new SpendLimitResolver(services),
      new SubscriptionResolver(services),
      new InvoiceResolver(services),
      commissions,
      new EarnedCommissionResolver(services, commissions),
      commissionEarnedResolver(services),
    ],
    orphanedTypes: [BilledAttributionType, CreditedAgentType],
  });
}
