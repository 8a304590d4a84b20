import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { execute, GraphQLError, subscribe, type ExecutionArgs, type ExecutionResult, type FormattedExecutionResult } from 'graphql';
import { makeServer, type Context, type SubscribePayload } from 'graphql-ws';
import { z } from 'zod';
import { ProblemError } from '../../schema/problems.ts';
import type { RequestContext } from '../auth/principal.ts';
import type { Logger } from '../telemetry/logs.ts';
import { crossingError, withCrossingErrors } from './crossing-errors.ts';
import { Documents } from './documents.ts';
import { PRINCIPAL_HEADER, type PrincipalTokens } from './principal-token.ts';
import type { Subgraph } from './subgraph-schema.ts';
import { SocketClosure, webSocketEndpoint } from './web-socket-endpoint.ts';

/** Answers a request of the gateway that is not a GraphQL operation, such as an upload; what it throws becomes the answer. */
export type StreamHandler = (request: IncomingMessage, response: ServerResponse, context: RequestContext) => Promise<void>;

/** By the start of their path. */
export type StreamHandlers = Readonly<Record<string, StreamHandler>>;

export interface SubgraphServerOptions {
  readonly subgraph: Subgraph;
  readonly tokens: PrincipalTokens;
  /** Loopback, or an address that only the gateway reaches. */
  readonly host: string;
  readonly port: number;
  readonly logger: Logger;
  readonly maxBodyBytes?: number;
  readonly streams?: StreamHandlers;
  /** What stands in front of it, such as the page of metrics. */
  readonly around?: (inside: RequestListener) => RequestListener;
}

export interface SubgraphServer {
  /** Where the gateway finds it; WebSockets at the same path. */
  readonly url: string;
  close(): Promise<void>;
}

/** Uploads may travel inside an operation, and the gateway has checked the size already. */
const MAX_BODY_BYTES = 32 * 1024 * 1024;
/** Where a subgraph process serves its graph, HTTP and WebSocket. */
export const SUBGRAPH_PATH = '/graphql';
const FORBIDDEN = 4403;

const requestSchema = z.object({
  query: z.string(),
  operationName: z.string().nullish(),
  variables: z.record(z.string(), z.unknown()).nullish(),
});
type GraphRequest = z.output<typeof requestSchema>;

/**
 * Serves one subgraph to the gateway, over HTTP and `graphql-transport-ws`. Who calls is what the gateway signed and
 * nothing else: no other header has any meaning here.
 */
export async function startSubgraphServer(options: SubgraphServerOptions): Promise<SubgraphServer> {
  const { subgraph, tokens, logger, maxBodyBytes = MAX_BODY_BYTES } = options;
  const documents = new Documents(subgraph.schema);
  const originOf = (context: RequestContext) => ({ subgraph: subgraph.name, requestId: context.requestId, logger });

  const argumentsFor = (request: GraphRequest, context: RequestContext): ExecutionArgs | { readonly errors: readonly GraphQLError[] } => {
    const checked = documents.check(request.query);
    if ('errors' in checked) return checked;
    return { schema: subgraph.schema, document: checked.document, operationName: request.operationName ?? null, variableValues: request.variables ?? null, contextValue: context };
  };

  const answer = async (request: IncomingMessage): Promise<{ status: number; body: object }> => {
    if (request.method !== 'POST' || request.url !== SUBGRAPH_PATH) return { status: 404, body: {} };
    const context = await tokens.verify(request.headers[PRINCIPAL_HEADER], subgraph.name);
    const args = argumentsFor(requestSchema.parse(JSON.parse(await readBody(request, maxBodyBytes))), context);
    return { status: 200, body: withCrossingErrors('errors' in args ? args : await execute(args), originOf(context)) };
  };

  const stream = async (handler: StreamHandler, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      await handler(request, response, await tokens.verify(request.headers[PRINCIPAL_HEADER], subgraph.name));
    } catch (error) {
      const { message, extensions } = crossingError(error, { subgraph: subgraph.name, requestId: 'unknown', logger });
      send(response, 422, { message, extensions });
    }
  };

  const listener: RequestListener = (request, response) => {
    const handler = Object.entries(options.streams ?? {}).find(([path]) => request.method === 'POST' && request.url?.startsWith(path) === true)?.[1];
    if (handler !== undefined) return void stream(handler, request, response);
    answer(request).then(
      ({ status, body }) => send(response, status, body),
      (error: unknown) => {
        const problem = error instanceof ProblemError ? error : new ProblemError('invalid_request', 'This request does not come from the gateway.');
        if (problem !== error) logger.warn({ err: error }, 'a request to the subgraph could not be read');
        send(response, problem.problem.status, { errors: [{ message: problem.message, extensions: problem.extensions }] });
      },
    );
  };
  // The gateway ends connections that nobody uses. If this side did so, too, a request could meet the end of its connection.
  const server = createServer({ keepAliveTimeout: 0 }, options.around?.(listener) ?? listener);

  const verify = (payload: SubscribePayload | Context['connectionParams']) => {
    const carrier = payload !== undefined && 'query' in payload ? payload['extensions'] : payload;
    return tokens.verify((carrier as Record<string, unknown> | null | undefined)?.[PRINCIPAL_HEADER], subgraph.name);
  };
  const endpoint = webSocketEndpoint(
    makeServer({
      onConnect: async (connection) => {
        await verify(connection.connectionParams).catch(() => {
          throw new SocketClosure(FORBIDDEN, 'Forbidden');
        });
      },
      onSubscribe: async (_connection, _id, payload) => {
        try {
          const context = await verify(payload);
          const args = argumentsFor(requestSchema.parse(payload), context);
          return 'errors' in args ? (withCrossingErrors(args, originOf(context)).errors ?? []) : args;
        } catch (error) {
          return [crossingError(error, { subgraph: subgraph.name, requestId: 'unknown', logger })];
        }
      },
      subscribe: async (args) => {
        const source = await subscribe(args);
        return Symbol.asyncIterator in source ? (source as AsyncGenerator<ExecutionResult>) : withCrossingErrors(source, originOf(args.contextValue as RequestContext));
      },
      onNext: (_connection, _id, _payload, args, result) => formatted(withCrossingErrors(result as ExecutionResult, originOf(args.contextValue as RequestContext))),
      onError: (_connection, id, _payload, errors) => errors.map((error) => crossingError(error, { subgraph: subgraph.name, requestId: id, logger }).toJSON()),
    }),
    { logger, pingIntervalMs: 15_000, maxMessageBytes: maxBodyBytes },
  );
  server.on('upgrade', (request, socket, head) => (request.url === SUBGRAPH_PATH ? endpoint.handleUpgrade(request, socket, head) : socket.destroy()));

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  const { address, family, port } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}${SUBGRAPH_PATH}`,
    async close() {
      await endpoint.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      });
    },
  };
}

function formatted({ errors, ...result }: ExecutionResult): FormattedExecutionResult<Record<string, unknown>, Record<string, unknown>> {
  return { ...result, ...(errors === undefined ? {} : { errors: errors.map((error) => error.toJSON()) }) } as FormattedExecutionResult<Record<string, unknown>, Record<string, unknown>>;
}

async function readBody(request: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) throw new ProblemError('payload_too_large', `The body is larger than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
