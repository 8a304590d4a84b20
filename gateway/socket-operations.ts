import type { ApolloServer } from '@apollo/server';
import {
  getOperationAST,
  GraphQLError,
  parse,
  OperationTypeNode,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLSchema,
} from 'graphql';
import type { Context, SubscribePayload } from 'graphql-ws';
import { ProblemError } from '../schema/problems.ts';
import type { RequestContext } from '../schema/principal.ts';
import { withoutValue } from '../platform/graph/bad-values.ts';
import { Documents } from '../platform/graph/documents.ts';
import type { SocketExtra } from '../platform/graph/web-socket-endpoint.ts';
import { wellFormedKey } from '../services/idempotency/idempotency-key.ts';
import { DocumentShapes } from './document-shape.ts';
import { EventStream, tellingEnd } from './event-stream.ts';
import { unfitValuesIn } from './literal-values.ts';
import { assertSoundInput } from './operation-input.ts';
import { assertFittingVariables } from './operation-variables.ts';
import { assertWithinLimits, type OperationLimits } from './operation-limits.ts';
import { headerOf, publicAdmission, type PublicAdmissionOptions } from './public-admission.ts';
import { invalidDocument, type PublicErrors } from './public-errors.ts';
import { noticeRefusals } from './public-rules.ts';
import { publicRequests, type PublicRequest } from './public-request.ts';
import type { Subscriptions } from './subscriptions.ts';

export type Connection = Context<Record<string, unknown>, SocketExtra>;

export interface SocketOperationsOptions extends PublicAdmissionOptions {
  readonly server: ApolloServer<RequestContext>;
  readonly subscriptions: Subscriptions;
  readonly apiSchema: GraphQLSchema;
  readonly limits: OperationLimits;
  readonly errors: PublicErrors;
  /** Errors do not guess which names were meant. */
  readonly hidesSchema: boolean;
}

/** What an operation carries from its check to its execution. */
interface SocketOperation {
  readonly request: PublicRequest;
  /** of a query or mutation, which is answered by then */
  readonly answer: ExecutionResult | null;
}

const MAX_OPERATIONS_PER_SOCKET = 100;

/** The public's operations over WebSocket: queries and mutations through Apollo Server, subscriptions beside it. */
export class SocketOperations {
  readonly #options: SocketOperationsOptions;
  readonly #admit: ReturnType<typeof publicAdmission>;
  readonly #documents: Documents;
  readonly #shapes: DocumentShapes;

  constructor(options: SocketOperationsOptions) {
    this.#options = options;
    this.#admit = publicAdmission(options);
    this.#shapes = new DocumentShapes(options.limits);
    this.#documents = new Documents(options.apiSchema, {
      maxTokens: options.limits.maxTokens,
      maxComments: options.limits.maxComments,
      hidesSchema: options.hidesSchema,
    });
  }

  /**
   * Asks for the key and counts the call, anew with each operation: one revoked meanwhile opens nothing more.
   * @param extensions of the operation's message; none when the socket is opened
   * @throws ProblemError as REST and HTTP refuse
   */
  admit(
    connection: Connection,
    requestId: string,
    extensions: Readonly<Record<string, unknown>> = {},
  ): Promise<PublicRequest> {
    const { request } = connection.extra;
    // Named like the header, whose case does not matter either: many clients are told to write Authorization. Programs
    // may send the header itself; pages cannot.
    const shown = (...wanted: readonly string[]): string | undefined => {
      const value = Object.entries(connection.connectionParams ?? {}).find(([name]) =>
        wanted.includes(name.toLowerCase()),
      )?.[1];
      return value === undefined || value === null ? headerOf(request, wanted[0]!) : String(value);
    };
    const { nonce, idempotencyKey: key } = extensions;
    return this.#admit(request, {
      requestId,
      authorization: shown('authorization'),
      version: shown('svc-api-version'),
      workspaceId: shown('svc-workspace', 'workspace')?.trim() || undefined,
      nonce: typeof nonce === 'string' ? nonce : undefined,
      idempotencyKey: key === undefined || key === null ? undefined : wellFormedKey(key, 'extensions:idempotencyKey'),
      wishes: { delay: textOf(extensions['sandboxDelay']), force: textOf(extensions['sandboxForce']) },
    });
  }

  /**
   * What {@link execute} and {@link subscribe} take, or the errors of a query or mutation that was refused before it
   * was executed: only here can graphql-ws still send them as the protocol's `error`.
   * @throws ProblemError when the operation is not to run
   */
  async prepare(
    connection: Connection,
    payload: SubscribePayload,
    requestId: string,
  ): Promise<ExecutionArgs | readonly GraphQLError[]> {
    const { apiSchema: schema, limits } = this.#options;
    if (Object.keys(connection.subscriptions).length > MAX_OPERATIONS_PER_SOCKET) {
      throw new ProblemError(
        'rate_limit_exceeded',
        `At most ${MAX_OPERATIONS_PER_SOCKET} operations run on one socket.`,
        { code: 'concurrency', retryAfterS: 1 },
      );
    }
    if (typeof payload.query !== 'string') throw new ProblemError('invalid_request', 'query must be a string.');
    const request = await this.admit(connection, requestId, payload.extensions ?? undefined);
    const document = this.#checked(payload.query, payload.variables ?? {});
    const operation = getOperationAST(document, payload.operationName);
    if (operation === undefined || operation === null)
      throw new ProblemError('invalid_request', 'operationName must name one of the operations of the document.', {
        code: 'unknown_operation',
      });
    const variables = payload.variables ?? {};
    let answer: ExecutionResult | null = null;
    if (operation.operation === OperationTypeNode.SUBSCRIPTION) {
      assertWithinLimits(schema, document, operation, variables, limits);
      assertSoundInput(document, variables);
      assertFittingVariables(schema, operation, variables);
    } else {
      // Apollo Server's plugin asserts the same of these.
      answer = await this.#answer(request, payload);
      if (answer.data === undefined)
        return (answer.errors ?? []).map(({ message, extensions }) => new GraphQLError(message, { extensions }));
    }
    const contextValue: SocketOperation = { request, answer };
    return { schema, document, operationName: payload.operationName ?? null, variableValues: variables, contextValue };
  }

  /** The answer of a query or mutation. */
  execute({ contextValue }: ExecutionArgs): ExecutionResult {
    return (contextValue as SocketOperation).answer!;
  }

  async #answer(request: PublicRequest, payload: SubscribePayload): Promise<ExecutionResult> {
    const operation = {
      query: payload.query,
      variables: payload.variables ?? {},
      ...(typeof payload.operationName === 'string' ? { operationName: payload.operationName } : {}),
    };
    const response = await publicRequests.run(request, () =>
      this.#options.server.executeOperation(operation, { contextValue: request.context }),
    );
    if (response.body.kind !== 'single') throw new Error('the graph has no incremental delivery');
    return response.body.singleResult as ExecutionResult;
  }

  /** Opens the stream of a subscription, or tells why not. */
  async subscribe({
    document,
    operationName,
    variableValues,
    contextValue,
  }: ExecutionArgs): Promise<EventStream<ExecutionResult, ExecutionResult> | ExecutionResult> {
    const { subscriptions, admission } = this.#options;
    const { request } = contextValue as SocketOperation;
    const { credential, context } = request;
    const { requestId } = context;
    let close: () => void;
    try {
      close = credential === null ? () => undefined : admission.openStream(credential);
    } catch (error) {
      await noticeRefusals(admission, request, [error]);
      return this.#presented({ errors: [error as GraphQLError] }, requestId);
    }
    const stream = await subscriptions.subscribe({
      document,
      operationName: operationName ?? undefined,
      variables: variableValues ?? {},
      context: request.context,
    });
    if (!(stream instanceof EventStream)) {
      close();
      return this.#presented(stream, requestId);
    }
    return new EventStream<ExecutionResult, ExecutionResult>(
      tellingEnd(stream, close),
      (result) => this.#presented(result, requestId),
      (reason) => this.#presented({ errors: [reason as GraphQLError] }, requestId),
    );
  }

  #presented(result: ExecutionResult, requestId: string): ExecutionResult {
    return result.errors === undefined
      ? result
      : {
          ...result,
          errors: result.errors.map((error) =>
            this.#options.errors.present(error, requestId),
          ) as unknown as GraphQLError[],
        };
  }

  #checked(query: string, variables: Readonly<Record<string, unknown>>): DocumentNode {
    const checked = ((): ReturnType<Documents['check']> => {
      try {
        this.#shapes.assertFitting(query);
        return this.#documents.check(query);
      } catch (error) {
        if (error instanceof GraphQLError)
          throw new ProblemError('invalid_request', withoutValue(error.message), { code: 'syntax' });
        throw error;
      }
    })();
    if ('document' in checked) return checked.document;
    const { apiSchema } = this.#options;
    throw (
      unfitValuesIn(apiSchema, parse(query, this.#options.limits), checked.errors, variables) ??
      invalidDocument(checked.errors[0]!)
    );
  }
}

function textOf(value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : String(value);
}
