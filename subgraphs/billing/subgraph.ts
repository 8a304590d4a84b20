import { buildSubgraph, type Subgraph } from '../../platform/graph/subgraph-schema.ts';
import { AttributionFeeResolver, BilledAttributionType } from './fees/attribution-fee-resolver.ts';
import { PlanResolver, type PlanServices } from './plans/plan-resolver.ts';

/** The billing subgraph: the price list, and the fee that every analysis carries. */
export function billingSubgraph(services: PlanServices): Promise<Subgraph> {
  return buildSubgraph({
    name: 'billing',
    resolvers: [new PlanResolver(services), AttributionFeeResolver],
    orphanedTypes: [BilledAttributionType],
  });
}
