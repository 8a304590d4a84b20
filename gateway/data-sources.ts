import { RemoteGraphQLDataSource, type GraphQLDataSource, type GraphQLDataSourceProcessOptions } from '@apollo/gateway';
import { execute, GraphQLError, parse, type ExecutionResult } from 'graphql';
import { ProblemError } from '../schema/problems.ts';
import type { RequestContext } from '../schema/principal.ts';
import { withCrossingErrors } from '../platform/graph/crossing-errors.ts';
import { higherRisk, rootTrust, rootTrustOf, type RootTrust } from '../platform/graph/root-trust.ts';
import { PRINCIPAL_HEADER, type PrincipalTokens } from '../platform/graph/principal-token.ts';
import type { Subgraph } from '../platform/graph/subgraph-schema.ts';
import type { Logger } from '../platform/telemetry/logs.ts';
import { publicRequests } from './public-request.ts';
import { askedPaths } from './asked-paths.ts';

type Answer = Awaited<ReturnType<GraphQLDataSource['process']>>;

/** A subgraph that another process serves. `sdl` must be what that process runs. */
export interface RemoteSubgraph {
  readonly name: string;
  readonly sdl: string;
  /** Of its HTTP endpoint; WebSockets at the same address. */
  readonly url: string;
}

/** Executes the planner's own document on a schema in this process: neither printed, parsed nor validated again. */
export class InProcessDataSource implements GraphQLDataSource {
  readonly #subgraph: Subgraph;
  readonly #logger: Logger;

  constructor(subgraph: Subgraph, logger: Logger) {
    this.#subgraph = subgraph;
    this.#logger = logger;
  }

  async process(options: GraphQLDataSourceProcessOptions): Promise<Answer> {
    const { request, context } = options;
    const planned = 'document' in options ? options.document : undefined;
    const result: ExecutionResult = await execute({
      schema: this.#subgraph.schema,
      document: planned ?? parse(request.query ?? ''),
      variableValues: request.variables ?? null,
      operationName: request.operationName ?? null,
      contextValue: context,
    });
    const { requestId } = context as RequestContext;
    tellTrust(rootTrustOf(context as RequestContext));
    return withCrossingErrors(result, { subgraph: this.#subgraph.name, requestId, logger: this.#logger }) as Answer;
  }
}

/** Longest that a page waits for what only reads; its other parts wait with it. Mutations may have to call others. */
const READ_TIMEOUT_MS = 10_000;
/** How Apollo begins a request that only reads. */
const READING = /^\{"query":"(?:query\b|\{)/;

/** Asks a subgraph over HTTP; says who calls by a signed token and passes on nothing else of the request. */
export class RemoteDataSource extends RemoteGraphQLDataSource {
  readonly #subgraph: RemoteSubgraph;
  readonly #tokens: PrincipalTokens;
  readonly #logger: Logger;

  constructor(subgraph: RemoteSubgraph, tokens: PrincipalTokens, logger: Logger, timeoutMs: number) {
    super({ url: subgraph.url });
    this.#subgraph = subgraph;
    this.#tokens = tokens;
    this.#logger = logger;
    const limitMs = ({ body }: RequestInit) =>
      typeof body === 'string' && READING.test(body) ? Math.min(READ_TIMEOUT_MS, timeoutMs) : timeoutMs;
    this.fetcher = ((url: string, init: RequestInit) =>
      fetch(url, { ...init, signal: AbortSignal.timeout(limitMs(init)) })) as unknown as typeof this.fetcher;
  }

  override async willSendRequest({ request, context }: GraphQLDataSourceProcessOptions): Promise<void> {
    const headers = request.http!.headers;
    headers.set(PRINCIPAL_HEADER, await this.#tokens.sign(context as RequestContext, this.#subgraph.name));
    headers.set('x-request-id', (context as RequestContext).requestId);
  }

  /**
   * An error for each field that was asked for when the subgraph cannot be reached, or refuses us: others are answered.
   */
  override async process(options: GraphQLDataSourceProcessOptions): Promise<Answer> {
    try {
      const answer = await super.process(options);
      tellTrust(rootTrust.parse(answer.extensions?.['trust']));
      return answer;
    } catch (error) {
      this.#logger.error(
        { err: error, subgraph: this.#subgraph.name, requestId: (options.context as RequestContext).requestId },
        'a subgraph did not answer',
      );
      const { message, extensions } = unavailable(this.#subgraph.name, error);
      const { request } = options;
      const document = ('document' in options ? options.document : undefined) ?? parse(request.query ?? '');
      return {
        errors: askedPaths(document, request.variables ?? {}).map(
          (path) => new GraphQLError(message, { path, extensions: { ...extensions } }),
        ),
      } as unknown as Answer;
    }
  }
}

/** To the request from outside behind an operation, if there is one. */
function tellTrust(trust: RootTrust | null | undefined): void {
  const publicRequest = publicRequests.getStore();
  if (publicRequest !== undefined) publicRequest.trust = higherRisk(publicRequest.trust, trust);
}

/** Asks a subgraph for nothing. @throws where it does not answer */
export async function ping(subgraph: GraphQLDataSource): Promise<void> {
  const context: RequestContext = { requestId: 'health', principal: null, apiVersion: '' };
  const { errors } = await subgraph.process({
    kind: 'health check',
    request: { query: '{ __typename }' },
    context,
  } as GraphQLDataSourceProcessOptions);
  if (errors?.[0] !== undefined) throw new Error(errors[0].message);
}

/** What callers are told when a subgraph is out of reach. */
export function unavailable(subgraph: string, cause: unknown): ProblemError {
  return new ProblemError(
    'service_unavailable',
    `The ${subgraph} service cannot be reached at the moment. Try again in a few seconds.`,
    { retryAfterS: 2, cause },
  );
}
