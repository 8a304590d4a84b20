import type { ApolloServer } from '@apollo/server';
import { getOperationAST, GraphQLError, OperationTypeNode, type ExecutionArgs, type ExecutionResult, type FormattedExecutionResult, type GraphQLSchema } from 'graphql';
import { makeServer, type Context, type SubscribePayload } from 'graphql-ws';
import { ProblemError } from '../schema/problems.ts';
import type { ShownCredential } from '../platform/auth/admission.ts';
import type { RequestContext } from '../platform/auth/principal.ts';
import { withoutValue } from '../platform/graph/bad-values.ts';
import { Documents } from '../platform/graph/documents.ts';
import { SocketClosure, webSocketEndpoint, type SocketExtra, type WebSocketEndpoint } from '../platform/graph/web-socket-endpoint.ts';
import { wellFormedKey } from '../platform/idempotency/idempotency-key.ts';
import type { Logger } from '../platform/telemetry/logs.ts';
import { EventStream, tellingEnd } from './event-stream.ts';
import { assertSoundInput } from './operation-input.ts';
import { assertWithinLimits, type OperationLimits } from './operation-limits.ts';
import { invalidDocument, type PublicErrors } from './public-errors.ts';
import { headerOf, publicAdmission, type AdmittedRequest, type PublicAdmissionOptions } from './public-admission.ts';
import { publicRequests, type PublicRequest } from './public-request.ts';
import type { Subscriptions } from './subscriptions.ts';

export interface WebSocketDoorOptions extends PublicAdmissionOptions {
  readonly server: ApolloServer<RequestContext>;
  readonly subscriptions: Subscriptions;
  readonly apiSchema: GraphQLSchema;
  readonly limits: OperationLimits;
  readonly errors: PublicErrors;
  readonly logger: Logger;
  readonly newRequestId: () => string;
  /** Errors do not guess which names were meant. */
  readonly hidesSchema: boolean;
  readonly maxMessageBytes: number;
  readonly refuseHandshake?: ((problem: ProblemError) => string) | undefined;
}

/** Close codes of graphql-transport-ws. Clients do not retry after 4401, as they may after 4403. */
const UNAUTHORIZED = 4401;
const FORBIDDEN = 4403;
const TOO_MANY_REQUESTS = 4429;
/** Registered beside RFC 6455 (§11.7): clients come back later, as they are told nowhere else. */
const TRY_AGAIN_LATER = 1013;
const ACK_TIMEOUT_MS = 10_000;
const PING_INTERVAL_MS = 15_000;
const MAX_OPERATIONS_PER_SOCKET = 100;

/** What an operation carries from its check to its execution. */
interface SocketOperation {
  readonly request: PublicRequest;
  /** Null for a stranger. */
  readonly credential: ShownCredential | null;
  readonly payload: SubscribePayload;
}

type Connection = Context<Record<string, unknown>, SocketExtra>;

/** GraphQL over WebSocket (graphql-transport-ws): queries and mutations through Apollo Server, subscriptions beside it. */
export function webSocketDoor(options: WebSocketDoorOptions): WebSocketEndpoint {
  const { server, subscriptions, apiSchema, admission, limits, errors, logger } = options;
  const admit = publicAdmission(options);
  const documents = new Documents(apiSchema, { maxTokens: limits.maxTokens, hidesSchema: options.hidesSchema });

  /** The key is asked for, and the call counted, anew with each operation: one revoked meanwhile opens nothing more. */
  const admitted = (connection: Connection, requestId: string, extensions: Readonly<Record<string, unknown>> = {}): Promise<AdmittedRequest> => {
    const { request } = connection.extra;
    // Named like the header, whose case does not matter either: many clients are told to write Authorization. Programs may send the header itself; pages cannot.
    const shown = (...wanted: readonly string[]): string | undefined => {
      const value = Object.entries(connection.connectionParams ?? {}).find(([name]) => wanted.includes(name.toLowerCase()))?.[1];
      return value === undefined || value === null ? headerOf(request, wanted[0]!) : String(value);
    };
    const { nonce, idempotencyKey: key } = extensions;
    const idempotencyKey = key === undefined || key === null ? undefined : wellFormedKey(key, 'extensions:idempotencyKey');
    return admit(request, { requestId, authorization: shown('authorization'), version: shown('svc-api-version'), workspaceId: shown('svc-workspace', 'workspace')?.trim() || undefined, nonce: typeof nonce === 'string' ? nonce : undefined, idempotencyKey, wishes: { delay: textOf(extensions['sandboxDelay']), force: textOf(extensions['sandboxForce']) } });
  };

  const prepare = async (connection: Connection, payload: SubscribePayload, requestId: string): Promise<ExecutionArgs> => {
    if (Object.keys(connection.subscriptions).length > MAX_OPERATIONS_PER_SOCKET) {
      throw new ProblemError('rate_limit_exceeded', `At most ${MAX_OPERATIONS_PER_SOCKET} operations run on one socket.`, { code: 'concurrency', retryAfterS: 1 });
    }
    if (typeof payload.query !== 'string') throw new ProblemError('invalid_request', 'query must be a string.');
    const { request, credential } = await admitted(connection, requestId, payload.extensions ?? undefined);
    const document = checkedDocument(documents, payload.query);
    const operation = getOperationAST(document, payload.operationName);
    if (operation === undefined || operation === null) throw new ProblemError('invalid_request', 'operationName must name one of the operations of the document.', { code: 'unknown_operation' });
    const variables = payload.variables ?? {};
    if (operation.operation === OperationTypeNode.SUBSCRIPTION) {
      assertWithinLimits(apiSchema, document, operation, variables, limits);
      assertSoundInput(document, variables);
    }
    const contextValue: SocketOperation = { request, credential, payload };
    return { schema: apiSchema, document, operationName: payload.operationName ?? null, variableValues: variables, contextValue };
  };

  const presented = (result: ExecutionResult, requestId: string): ExecutionResult =>
    result.errors === undefined ? result : { ...result, errors: result.errors.map((error) => errors.present(error, requestId)) as unknown as GraphQLError[] };

  const subscribe = async (args: ExecutionArgs) => {
    const { request, credential } = args.contextValue as SocketOperation;
    const { requestId } = request.context;
    let close: () => void;
    try {
      close = credential === null ? () => undefined : admission.openStream(credential);
    } catch (error) {
      return presented({ errors: [error as GraphQLError] }, requestId);
    }
    const stream = await subscriptions.subscribe({ document: args.document, operationName: args.operationName ?? undefined, variables: args.variableValues ?? {}, context: request.context });
    if (!(stream instanceof EventStream)) {
      close();
      return presented(stream, requestId);
    }
    return new EventStream<ExecutionResult, ExecutionResult>(tellingEnd(stream, close), (result) => presented(result, requestId), (reason) => presented({ errors: [reason as GraphQLError] }, requestId));
  };

  const execute = async (args: ExecutionArgs): Promise<ExecutionResult> => {
    const { request, payload } = args.contextValue as SocketOperation;
    const operation = { query: payload.query, variables: payload.variables ?? {}, ...(typeof payload.operationName === 'string' ? { operationName: payload.operationName } : {}) };
    const response = await publicRequests.run(request, () => server.executeOperation(operation, { contextValue: request.context }));
    if (response.body.kind !== 'single') throw new Error('the graph has no incremental delivery');
    return response.body.singleResult as ExecutionResult;
  };

  const protocol = makeServer<Record<string, unknown>, SocketExtra>({
    connectionInitWaitTimeout: ACK_TIMEOUT_MS,
    onConnect: async (connection) => {
      try {
        const { credential } = await admitted(connection, options.newRequestId(), undefined);
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
      const requestId = options.newRequestId();
      try {
        // Everything is under this guard: what throws from a hook would close the socket with all its other streams.
        return await prepare(connection, payload, requestId);
      } catch (error) {
        const { message, extensions = {} } = errors.present(error, requestId);
        return [new GraphQLError(message, { extensions })];
      }
    },
    execute,
    subscribe: subscribe as (args: ExecutionArgs) => Promise<AsyncGenerator<Record<string, unknown>>>,
    // Results are presented already; without these two graphql-ws would want GraphQLError instances.
    onNext: (_connection, _id, _payload, _args, result) => result as FormattedExecutionResult<Record<string, unknown>, Record<string, unknown>>,
    onError: (_connection, _id, _payload, refused) => refused.map((error) => error.toJSON()),
  });
  return webSocketEndpoint(protocol, { logger, pingIntervalMs: PING_INTERVAL_MS, maxMessageBytes: options.maxMessageBytes, refuseHandshake: options.refuseHandshake });
}

function textOf(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : String(value);
}

function checkedDocument(documents: Documents, query: string): ExecutionArgs['document'] {
  const checked = ((): ReturnType<Documents['check']> => {
    try {
      return documents.check(query);
    } catch (error) {
      if (error instanceof GraphQLError) throw new ProblemError('invalid_request', withoutValue(error.message), { code: 'syntax' });
      throw error;
    }
  })();
  if ('document' in checked) return checked.document;
  throw invalidDocument(checked.errors[0]!);
}

function closure(error: unknown): unknown {
  if (!(error instanceof ProblemError)) return error;
  const { status } = error.problem;
  const closeCode = status === 401 ? UNAUTHORIZED : status === 429 ? TOO_MANY_REQUESTS : status === 503 ? TRY_AGAIN_LATER : FORBIDDEN;
  return new SocketClosure(closeCode, error.type);
}
