import { GraphQLError, type ExecutionArgs, type ExecutionResult, type FormattedExecutionResult } from 'graphql';
import { makeServer } from 'graphql-ws';
import { ProblemError } from '../schema/problems.ts';
import {
  SocketClosure,
  webSocketEndpoint,
  type SocketExtra,
  type WebSocketEndpoint,
} from '../platform/graph/web-socket-endpoint.ts';
import type { Logger } from '../platform/telemetry/logs.ts';
import { SocketOperations, type SocketOperationsOptions } from './socket-operations.ts';

export interface WebSocketDoorOptions extends SocketOperationsOptions {
  readonly logger: Logger;
  readonly newRequestId: () => string;
  readonly maxMessageBytes: number;
  readonly refuseHandshake?: ((problem: ProblemError) => string) | undefined;
}

type Formatted = FormattedExecutionResult<Record<string, unknown>, Record<string, unknown>>;

/** Close codes of graphql-transport-ws. Clients do not retry after 4401, as they may after 4403. */
const UNAUTHORIZED = 4401;
const FORBIDDEN = 4403;
const TOO_MANY_REQUESTS = 4429;
/** Registered beside RFC 6455 (§11.7): clients come back later, as they are told nowhere else. */
const TRY_AGAIN_LATER = 1013;
const ACK_TIMEOUT_MS = 10_000;
const PING_INTERVAL_MS = 15_000;

/** GraphQL over WebSocket (graphql-transport-ws). A socket is closed when the credential that opened it ends. */
export function webSocketDoor(options: WebSocketDoorOptions): WebSocketEndpoint {
  const { admission, errors, logger, newRequestId, maxMessageBytes, refuseHandshake } = options;
  const operations = new SocketOperations(options);
  const protocol = makeServer<Record<string, unknown>, SocketExtra>({
    connectionInitWaitTimeout: ACK_TIMEOUT_MS,
    onConnect: async (connection) => {
      try {
        const { credential } = await operations.admit(connection, newRequestId());
        if (credential === null) return;
        const { socketClosed, close } = connection.extra;
        const forget = admission.whenEnded(credential, () => close(UNAUTHORIZED, 'expired_api_key'));
        socketClosed.addEventListener('abort', forget, { once: true });
        // It may have gone while its key was looked up.
        if (socketClosed.aborted) forget();
      } catch (error) {
        throw closure(error);
      }
    },
    onSubscribe: async (connection, _id, payload) => {
      const requestId = newRequestId();
      try {
        // Everything is under this guard: what throws from a hook would close the socket with all its other streams.
        return await operations.prepare(connection, payload, requestId);
      } catch (error) {
        const { message, extensions = {} } = errors.present(error, requestId);
        return [new GraphQLError(message, { extensions })];
      }
    },
    execute: (args: ExecutionArgs): ExecutionResult => operations.execute(args),
    subscribe: (args: ExecutionArgs) => operations.subscribe(args) as Promise<AsyncGenerator<Record<string, unknown>>>,
    // Results are presented already; without these two graphql-ws would want GraphQLError instances.
    onNext: (_connection, _id, _payload, _args, result) => result as Formatted,
    onError: (_connection, _id, _payload, refused) => refused.map((error) => error.toJSON()),
  });
  const pace = { pingIntervalMs: PING_INTERVAL_MS, maxMessageBytes };
  return webSocketEndpoint(protocol, { logger, ...pace, newRequestId, refuseHandshake });
}

function closure(error: unknown): unknown {
  if (!(error instanceof ProblemError)) return error;
  const { status } = error.problem;
  const closeCode =
    status === 401 ? UNAUTHORIZED : status === 429 ? TOO_MANY_REQUESTS : status === 503 ? TRY_AGAIN_LATER : FORBIDDEN;
  return new SocketClosure(closeCode, error.type);
}
