import { GraphQLError, subscribe, type DocumentNode, type ExecutionResult, type GraphQLFormattedError } from 'graphql';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import type { RequestContext } from '../schema/principal.ts';
import { PRINCIPAL_HEADER, type PrincipalTokens } from '../platform/graph/principal-token.ts';
import type { Subgraph } from '../platform/graph/subgraph-schema.ts';
import { unavailable, type RemoteSubgraph } from './data-sources.ts';
import { EventQueue } from './event-queue.ts';

/** The part of a subscription that its owning subgraph answers. */
export interface SourceRequest {
  readonly document: DocumentNode;
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly context: RequestContext;
}

/** Opens a stream of raw events at a subgraph; a result instead of a stream is a refusal. */
export interface SubgraphEvents {
  open(request: SourceRequest): Promise<AsyncIterator<ExecutionResult> | ExecutionResult>;
  close(): Promise<void>;
}

/** Events of a subgraph in this process. */
export function inProcessEvents(subgraph: Subgraph): SubgraphEvents {
  return {
    open: async ({ document, operationName, variables, context }) =>
      subscribe({
        schema: subgraph.schema,
        document,
        operationName: operationName ?? null,
        variableValues: variables,
        contextValue: context,
      }),
    close: () => Promise.resolve(),
  };
}

/** A subgraph that is frozen takes connections, since the kernel does, and says nothing on them. */
export const OPENING_TIMEOUT_MS = 5_000;
/** A subgraph that does not answer a ping this long is lost. */
const PONG_TIMEOUT_MS = 5_000;
const PING_INTERVAL_MS = 10_000;

/**
 * Events of a subgraph in another process: one socket shared by all its streams, opened on demand. Since the socket
 * is shared, each operation brings its own signed principal, in its extensions.
 */
export function remoteEvents(
  subgraph: RemoteSubgraph,
  tokens: PrincipalTokens,
  openingTimeoutMs: number,
): SubgraphEvents {
  let pongDeadline: NodeJS.Timeout | undefined;
  let socket: WebSocket | undefined;
  const client = createClient({
    url: subgraph.url.replace(/^http/, 'ws'),
    webSocketImpl: class extends WebSocket {
      constructor(url: string, protocols: string) {
        super(url, protocols, { handshakeTimeout: openingTimeoutMs });
      }
    },
    connectionAckWaitTimeout: openingTimeoutMs,
    // A stream that broke tells its reader, who knows where to resume; repeating it here would repeat or lose events.
    retryAttempts: 0,
    keepAlive: PING_INTERVAL_MS,
    connectionParams: async () => ({
      [PRINCIPAL_HEADER]: await tokens.sign({ requestId: 'socket', principal: null, apiVersion: '' }, subgraph.name),
    }),
    on: {
      opened: (opened) => (socket = opened as WebSocket),
      ping: (received) => {
        if (!received) pongDeadline = setTimeout(() => socket?.terminate(), PONG_TIMEOUT_MS);
      },
      pong: () => clearTimeout(pongDeadline),
      closed: () => clearTimeout(pongDeadline),
    },
  });
  return {
    async open({ query, operationName, variables, context }) {
      const token = await tokens.sign(context, subgraph.name);
      const stop: { now?: () => void } = {};
      const queue = new EventQueue<ExecutionResult>(() => stop.now?.());
      stop.now = client.subscribe(
        { query, operationName: operationName ?? null, variables, extensions: { [PRINCIPAL_HEADER]: token } },
        {
          next: ({ data, errors }) =>
            queue.push({ data: data ?? null, ...(errors === undefined ? {} : { errors: errors.map(revived) }) }),
          // A list is what the subgraph said of the operation; anything else happened to the socket.
          error: (reason) =>
            queue.fail(
              Array.isArray(reason) ? revived(reason[0] as GraphQLFormattedError) : unavailable(subgraph.name, reason),
            ),
          complete: () => queue.end(),
        },
      );
      return queue;
    },
    close: async () => client.dispose(),
  };
}

/** An error as it came off the wire. */
function revived({ message, path, extensions }: GraphQLFormattedError): GraphQLError {
  return new GraphQLError(message, {
    ...(path === undefined ? {} : { path }),
    ...(extensions === undefined ? {} : { extensions }),
  });
}
