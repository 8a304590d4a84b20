import { subscribe, type ExecutionArgs, type ExecutionResult, type FormattedExecutionResult } from 'graphql';
import { makeServer } from 'graphql-ws';
import type { RequestContext } from '../../schema/principal.ts';
import type { Logger } from '../telemetry/logs.ts';
import type { SubgraphOperations } from './subgraph-operations.ts';
import { SocketClosure, webSocketEndpoint, type WebSocketEndpoint } from './web-socket-endpoint.ts';

type Formatted = FormattedExecutionResult<Record<string, unknown>, Record<string, unknown>>;

const FORBIDDEN = 4403;
const PING_INTERVAL_MS = 15_000;

/** One subgraph over `graphql-transport-ws`; each message of the gateway says in its extensions for whom it asks. */
export function subgraphWebSocket(
  operations: SubgraphOperations,
  logger: Logger,
  maxMessageBytes: number,
): WebSocketEndpoint {
  const presented = (result: ExecutionResult, args: ExecutionArgs): ExecutionResult =>
    operations.presented(result, args.contextValue as RequestContext);
  const protocol = makeServer({
    onConnect: async ({ connectionParams }) => {
      await operations.caller(connectionParams).catch(() => {
        throw new SocketClosure(FORBIDDEN, 'Forbidden');
      });
    },
    onSubscribe: async (_connection, _id, payload) => {
      try {
        const context = await operations.caller(payload.extensions);
        const args = operations.prepare(payload, context);
        return 'errors' in args ? (operations.presented(args, context).errors ?? []) : args;
      } catch (error) {
        return [operations.presentedError(error)];
      }
    },
    subscribe: async (args) => {
      const source = await subscribe(args);
      return Symbol.asyncIterator in source ? (source as AsyncGenerator<ExecutionResult>) : presented(source, args);
    },
    onNext: (_connection, _id, _payload, args, result) => formatted(presented(result as ExecutionResult, args)),
    onError: (_connection, id, _payload, errors) =>
      errors.map((error) => operations.presentedError(error, id).toJSON()),
  });
  return webSocketEndpoint(protocol, { logger, pingIntervalMs: PING_INTERVAL_MS, maxMessageBytes });
}

function formatted({ errors, ...result }: ExecutionResult): Formatted {
  return { ...result, ...(errors === undefined ? {} : { errors: errors.map((error) => error.toJSON()) }) } as Formatted;
}
