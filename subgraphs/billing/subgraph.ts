import { buildSubgraph, type Subgraph } from '../../platform/graph/subgraph-schema.ts';
import { AttributionFeeResolver, BilledAttributionType } from './fees/attribution-fee-resolver.ts';
import { CreditedAgentType, RecoveredRevenueResolver } from './fees/recovered-revenue-resolver.ts';
import { PlanResolver, type PlanServices } from './plans/plan-resolver.ts';

/** The billing subgraph: the price list, what analyses cost, and what recovered revenue agents have to their credit. */
export function billingSubgraph(services: PlanServices): Promise<Subgraph> {
  const { database } = services;
  return buildSubgraph({
    name: 'billing',
    resolvers: [
      new PlanResolver(services),
      new AttributionFeeResolver(database),
      new RecoveredRevenueResolver(database),
    ],
    orphanedTypes: [BilledAttributionType, CreditedAgentType],
  });
}
