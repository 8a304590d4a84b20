import { Supergraph, operationFromDocument, type Schema } from '@apollo/federation-internals';
import { QueryPlanner, type PlanNode, type SubscriptionNode } from '@apollo/query-planner';
import type { DocumentNode, GraphQLSchema } from 'graphql';

/** Apollo's planner for what its gateway does not do itself. */
export interface Planner {
  readonly apiSchema: Schema;
  readonly supergraphSchema: GraphQLSchema;
  /** Which subgraph is asked for what, in which order; undefined for an operation that asks none. */
  plan(document: DocumentNode, operationName?: string): PlanNode | SubscriptionNode | undefined;
}

export function createPlanner(supergraphSdl: string): Planner {
  const supergraph = Supergraph.build(supergraphSdl);
  const apiSchema = supergraph.apiSchema();
  const planner = new QueryPlanner(supergraph, { exposeDocumentNodeInFetchNode: true });
  return {
    apiSchema,
    supergraphSchema: supergraph.schema.toGraphQLJSSchema(),
    plan: (document, operationName) => planner.buildQueryPlan(operationFromDocument(apiSchema, document, operationName === undefined ? {} : { operationName })).node,
  };
}
