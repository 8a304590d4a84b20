import { buildOperationContext, executeQueryPlan, type GraphQLDataSource } from '@apollo/gateway';
import type { QueryPlan, SubscriptionNode } from '@apollo/query-planner';
import type { DocumentNode, ExecutionResult, GraphQLSchema } from 'graphql';
import type { RequestContext } from '../schema/principal.ts';
import { crossingError, withCrossingErrors } from '../platform/graph/crossing-errors.ts';
import { freshContext } from '../platform/graph/request-context.ts';
import type { Logger } from '../platform/telemetry/logs.ts';
import type { SubgraphEvents } from './event-sources.ts';
import { EventStream } from './event-stream.ts';
import { assertFittingVariables } from './operation-variables.ts';
import type { Planner } from './planner.ts';
import { withCompletionErrors } from './value-completion.ts';

/** A subscription that was parsed, validated and found within the limits. */
export interface SubscriptionRequest {
  readonly document: DocumentNode;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly context: RequestContext;
}

export interface SubscriptionsOptions {
  readonly planner: Planner;
  readonly apiSchema: GraphQLSchema;
  readonly dataSources: Readonly<Record<string, GraphQLDataSource>>;
  readonly events: Readonly<Record<string, SubgraphEvents>>;
  readonly logger: Logger;
}

/** Executes federated subscriptions. Every error in a result is a problem, or masked as one. */
export interface Subscriptions {
  /** A stream of results, or one result with errors where the subscription is refused. Never rejects. */
  subscribe(request: SubscriptionRequest): Promise<EventStream<ExecutionResult, ExecutionResult> | ExecutionResult>;
}

interface PlannedSubscription {
  readonly operation: ReturnType<typeof buildOperationContext>;
  readonly primary: SubscriptionNode['primary'];
  /** What runs for every event: the event itself, then all that other subgraphs add to it. */
  readonly perEvent: QueryPlan;
}

/**
 * ApolloGateway composes subscriptions and plans them, but does not execute them. A plan is `{primary, rest}`: the
 * owning subgraph answers `primary` with a stream, and each of its events is run through Apollo's executor as
 * `Sequence[primary, rest]`, with a data source that answers `primary` from the event.
 */
export function federatedSubscriptions({
  planner,
  apiSchema,
  dataSources,
  events,
  logger,
}: SubscriptionsOptions): Subscriptions {
  const plans = new WeakMap<DocumentNode, Map<string | undefined, PlannedSubscription>>();

  const plan = (document: DocumentNode, operationName: string | undefined): PlannedSubscription => {
    const node = planner.plan(document, operationName);
    if (node?.kind !== 'Subscription')
      throw new Error(`planned ${node?.kind ?? 'nothing'} where a subscription was expected`);
    const { primary, rest } = node;
    return {
      operation: buildOperationContext({
        schema: apiSchema,
        operationDocument: document,
        ...(operationName === undefined ? {} : { operationName }),
      }),
      primary,
      perEvent: {
        kind: 'QueryPlan',
        node: rest === undefined ? primary : { kind: 'Sequence', nodes: [primary, rest] },
      },
    };
  };

  /** Plans live as long as their document does. */
  const planned = (document: DocumentNode, operationName: string | undefined): PlannedSubscription => {
    const ofDocument = plans.get(document) ?? new Map<string | undefined, PlannedSubscription>();
    plans.set(document, ofDocument);
    const known = ofDocument.get(operationName) ?? plan(document, operationName);
    ofDocument.set(operationName, known);
    return known;
  };

  const complete = async (
    event: ExecutionResult,
    subscription: PlannedSubscription,
    { variables, context }: SubscriptionRequest,
  ): Promise<ExecutionResult> => {
    const { operation, primary, perEvent } = subscription;
    const owner = dataSources[primary.serviceName]!;
    const origin = { subgraph: primary.serviceName, requestId: context.requestId, logger };
    const answering: GraphQLDataSource = {
      process: async (options) =>
        options.request.query === primary.operation
          ? (withCrossingErrors(event, origin) as Awaited<ReturnType<GraphQLDataSource['process']>>)
          : owner.process(options),
    };
    const executorContext = {
      request: { variables },
      context: freshContext(context),
      metrics: {},
      logger,
    } as unknown as Parameters<typeof executeQueryPlan>[2];
    const result = await executeQueryPlan(
      perEvent,
      { ...dataSources, [primary.serviceName]: answering },
      executorContext,
      operation,
      planner.supergraphSchema,
      planner.apiSchema,
    );
    return withCompletionErrors(withCrossingErrors(result as ExecutionResult, origin), context.requestId, logger);
  };

  return {
    async subscribe(request) {
      const { document, operationName, variables, context } = request;
      const broken =
        (subgraph: string) =>
        (reason: unknown): ExecutionResult => ({
          errors: [crossingError(reason, { subgraph, requestId: context.requestId, logger })],
        });
      try {
        const subscription = planned(document, operationName);
        const { primary, operation } = subscription;
        assertFittingVariables(apiSchema, operation.operation, variables);
        const source = await events[primary.serviceName]!.open({
          document: primary.operationDocumentNode!,
          query: primary.operation,
          operationName: primary.operationName,
          variables: Object.fromEntries(
            (primary.variableUsages ?? []).filter((name) => name in variables).map((name) => [name, variables[name]]),
          ),
          context: freshContext(context),
        });
        if (!('next' in source))
          return withCrossingErrors(source, { subgraph: primary.serviceName, requestId: context.requestId, logger });
        return new EventStream(source, (event) => complete(event, subscription, request), broken(primary.serviceName));
      } catch (error) {
        return broken('gateway')(error);
      }
    },
  };
}
