import { operationFromDocument, type Schema } from '@apollo/federation-internals';
import type { PlanNode, QueryPlanner, SubscriptionNode } from '@apollo/query-planner';
import type { DocumentNode, GraphQLSchema } from 'graphql';

/** Apollo's planner for what its gateway does not do itself. */
export interface Planner {
  readonly apiSchema: Schema;
  readonly supergraphSchema: GraphQLSchema;
  /** Which subgraph is asked for what, in which order; undefined for an operation that asks none. */
  plan(document: DocumentNode, operationName?: string): PlanNode | SubscriptionNode | undefined;
}

/** A {@link Planner} on Apollo's own, so that the supergraph is parsed once. */
export function plannerBy(planner: QueryPlanner): Planner {
  const { supergraph } = planner;
  const apiSchema = supergraph.apiSchema();
  let supergraphSchema: GraphQLSchema | undefined;
  return {
    apiSchema,
    get supergraphSchema() {
      return (supergraphSchema ??= supergraph.schema.toGraphQLJSSchema());
    },
    plan: (document, operationName) =>
      planner.buildQueryPlan(
        operationFromDocument(apiSchema, document, operationName === undefined ? {} : { operationName }),
      ).node,
  };
}
