import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { execute } from 'graphql';
import { ProblemError } from '../../schema/problems.ts';
import type { RequestContext } from '../../schema/principal.ts';
import type { Logger } from '../telemetry/logs.ts';
import type { PrincipalTokens } from './principal-token.ts';
import { rootTrustOf } from './root-trust.ts';
import { SubgraphOperations } from './subgraph-operations.ts';
import type { Subgraph } from './subgraph-schema.ts';
import { subgraphWebSocket } from './subgraph-web-socket.ts';

/**
 * Answers a request of the gateway that is not a GraphQL operation, such as an upload; what it throws becomes the
 * answer.
 */
export type StreamHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  context: RequestContext,
) => Promise<void>;

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

/**
 * Serves one subgraph to the gateway, over HTTP and `graphql-transport-ws`. Who calls is what the gateway signed and
 * nothing else: no other header has any meaning here.
 */
export async function startSubgraphServer(options: SubgraphServerOptions): Promise<SubgraphServer> {
  const { subgraph, tokens, logger, maxBodyBytes = MAX_BODY_BYTES } = options;
  const operations = new SubgraphOperations(subgraph, tokens, logger);
  const listener = httpListener(operations, options, maxBodyBytes);
  // The gateway ends connections that nobody uses. If this side did so, too, a request could meet the end of its
  // connection.
  const server = createServer({ keepAliveTimeout: 0 }, options.around?.(listener) ?? listener);
  const webSockets = subgraphWebSocket(operations, logger, maxBodyBytes);
  server.on('upgrade', (request, socket, head) =>
    request.url === SUBGRAPH_PATH ? webSockets.handleUpgrade(request, socket, head) : socket.destroy(),
  );

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  const { address, family, port } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}${SUBGRAPH_PATH}`,
    async close() {
      await webSockets.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      });
    },
  };
}

function httpListener(
  operations: SubgraphOperations,
  { streams = {}, logger }: SubgraphServerOptions,
  maxBodyBytes: number,
): RequestListener {
  const answer = async (request: IncomingMessage): Promise<{ status: number; body: object }> => {
    if (request.method !== 'POST' || request.url !== SUBGRAPH_PATH) return { status: 404, body: {} };
    const context = await operations.caller(request.headers);
    const args = operations.prepare(JSON.parse(await readBody(request, maxBodyBytes)), context);
    const result = operations.presented('errors' in args ? args : await execute(args), context);
    return { status: 200, body: { ...result, extensions: { trust: rootTrustOf(context) } } };
  };

  const stream = async (handler: StreamHandler, request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      await handler(request, response, await operations.caller(request.headers));
    } catch (error) {
      const { message, extensions } = operations.presentedError(error);
      // The rest of what was refused is not worth reading, and nobody would: the connection would stay open for it.
      if (!request.complete) response.setHeader('connection', 'close');
      send(response, 422, { message, extensions });
    }
  };

  return (request, response) => {
    const handler = Object.entries(streams).find(
      ([path]) => request.method === 'POST' && request.url?.startsWith(path) === true,
    )?.[1];
    if (handler !== undefined) return void stream(handler, request, response);
    answer(request).then(
      ({ status, body }) => send(response, status, body),
      (error: unknown) => {
        const problem =
          error instanceof ProblemError
            ? error
            : new ProblemError('invalid_request', 'This request does not come from the gateway.');
        if (problem !== error) logger.warn({ err: error }, 'a request to the subgraph could not be read');
        send(response, problem.problem.status, {
          errors: [{ message: problem.message, extensions: problem.extensions }],
        });
      },
    );
  };
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
