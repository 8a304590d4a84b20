import type { ApolloServerPlugin } from '@apollo/server';
import { OperationTypeNode, type ExecutionResult, type GraphQLError } from 'graphql';
import { Counter, Histogram, type Registry } from 'prom-client';
import { ProblemError } from '../schema/problems.ts';
import type { RequestContext } from '../schema/principal.ts';
import type { GraphClient } from './client.ts';
import { EventStream } from './event-stream.ts';
import { publicRequests } from './public-request.ts';
import type { Subscriptions } from './subscriptions.ts';

/** Who says an operation: the REST door, by its named documents, or a client at `/graphql`. */
type Door = 'rest' | 'graphql';
/** Unknown where the document could not be parsed, or holds no such operation. */
type Kind = `${OperationTypeNode}` | 'unknown';

/** Clients name their operations as they like, and as often as they like anew: no name of theirs becomes a label. */
const ANY_DOCUMENT = '';

/** Counts what the graph is asked, and what goes wrong there by error type. Subscriptions count when they begin. */
export class GraphMetrics {
  readonly #operations: Counter<'door' | 'kind' | 'document' | 'outcome'>;
  readonly #errors: Counter<'door' | 'kind' | 'type'>;
  readonly #durations: Histogram<'door' | 'kind'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#operations = new Counter({
      name: 'liftgraph_graphql_operations_total',
      help:
        'Operations of the graph, by door (rest, graphql), kind, named document of the REST door, and outcome ' +
        '(ok, errors).',
      labelNames: ['door', 'kind', 'document', 'outcome'],
      registers,
    });
    this.#errors = new Counter({
      name: 'liftgraph_graphql_errors_total',
      help: 'Errors in answers of the graph, by error type.',
      labelNames: ['door', 'kind', 'type'],
      registers,
    });
    this.#durations = new Histogram({
      name: 'liftgraph_graphql_operation_duration_seconds',
      help: 'How long queries and mutations take in the graph.',
      labelNames: ['door', 'kind'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    });
  }

  /** Operations of clients over HTTP and WebSocket, other than subscriptions. */
  plugin(): ApolloServerPlugin<RequestContext> {
    return {
      requestDidStart: async () => {
        if (publicRequests.getStore() === undefined) return undefined;
        const startedMs = performance.now();
        return {
          willSendResponse: async ({ operation, errors = [] }) =>
            this.#done('graphql', operation?.operation ?? 'unknown', ANY_DOCUMENT, errors, startedMs),
        };
      },
    };
  }

  /** The same client, with what it says counted. */
  meteredClient(client: GraphClient): GraphClient {
    const kinds = new Map(client.operations.map((name) => [name, kindOf(client, name)]));
    return {
      ...client,
      execute: async (name, variables, context) => {
        const startedMs = performance.now();
        const kind = kinds.get(name) ?? 'unknown';
        try {
          const data = await client.execute(name, variables, context);
          this.#done('rest', kind, name, [], startedMs);
          return data;
        } catch (error) {
          this.#done('rest', kind, name, [error], startedMs);
          throw error;
        }
      },
    };
  }

  /** The same subscriptions, counted as those of a door. */
  meteredSubscriptions(subscriptions: Subscriptions, door: Door): Subscriptions {
    return {
      subscribe: async (request) => {
        const stream = await subscriptions.subscribe(request);
        this.#done(
          door,
          'subscription',
          door === 'rest' ? (request.operationName ?? ANY_DOCUMENT) : ANY_DOCUMENT,
          stream instanceof EventStream ? [] : ((stream as ExecutionResult).errors ?? []),
        );
        return stream;
      },
    };
  }

  #done(door: Door, kind: Kind, document: string, errors: readonly unknown[], startedMs?: number): void {
    this.#operations.inc({ door, kind, document, outcome: errors.length === 0 ? 'ok' : 'errors' });
    for (const error of errors) this.#errors.inc({ door, kind, type: typeOf(error) });
    if (startedMs !== undefined) this.#durations.observe({ door, kind }, (performance.now() - startedMs) / 1000);
  }
}

function kindOf(client: GraphClient, name: string): Kind {
  const [definition] = client.document(name).definitions;
  return definition?.kind === 'OperationDefinition' ? definition.operation : 'unknown';
}

/** Those of graphql-js itself are about documents that cannot be run. */
function typeOf(error: unknown): string {
  if (error instanceof ProblemError) return error.type;
  const { message, extensions } = error as Partial<GraphQLError>;
  return (
    ProblemError.fromExtensions(message ?? '', extensions)?.type ??
    (typeof extensions?.['code'] === 'string' && extensions['code'] !== 'INTERNAL_SERVER_ERROR'
      ? 'invalid_request'
      : 'internal_error')
  );
}
