import type { ExecutionArgs, ExecutionResult, GraphQLError } from 'graphql';
import { z } from 'zod';
import type { RequestContext } from '../../schema/principal.ts';
import type { Logger } from '../telemetry/logs.ts';
import { crossingError, withCrossingErrors } from './crossing-errors.ts';
import { Documents } from './documents.ts';
import { PRINCIPAL_HEADER, type PrincipalTokens } from './principal-token.ts';
import type { Subgraph } from './subgraph-schema.ts';

const requestSchema = z.object({
  query: z.string(),
  operationName: z.string().nullish(),
  variables: z.record(z.string(), z.unknown()).nullish(),
});

/** Where names of headers lead to values: HTTP's own, or what a message of a WebSocket has in their place. */
type Headers = Readonly<Record<string, unknown>> | null | undefined;

/** The gateway's operations on one subgraph, alike over HTTP and WebSocket. */
export class SubgraphOperations {
  readonly #subgraph: Subgraph;
  readonly #tokens: PrincipalTokens;
  readonly #logger: Logger;
  readonly #documents: Documents;

  constructor(subgraph: Subgraph, tokens: PrincipalTokens, logger: Logger) {
    this.#subgraph = subgraph;
    this.#tokens = tokens;
    this.#logger = logger;
    this.#documents = new Documents(subgraph.schema);
  }

  /**
   * For whom the gateway asks: what it signed and nothing else. @throws when it signed nothing for this subgraph, or
   * too long ago
   */
  caller(headers: Headers): Promise<RequestContext> {
    return this.#tokens.verify(headers?.[PRINCIPAL_HEADER], this.#subgraph.name);
  }

  /**
   * An operation that is ready to run, or why its document is invalid. @throws ZodError for what is no operation at all
   */
  prepare(
    request: unknown,
    contextValue: RequestContext,
  ): ExecutionArgs | { readonly errors: readonly GraphQLError[] } {
    const { query, operationName, variables } = requestSchema.parse(request);
    const checked = this.#documents.check(query);
    if ('errors' in checked) return checked;
    return {
      schema: this.#subgraph.schema,
      document: checked.document,
      operationName: operationName ?? null,
      variableValues: variables ?? null,
      contextValue,
    };
  }

  /** A result as it may leave. */
  presented(result: ExecutionResult, { requestId }: RequestContext): ExecutionResult {
    return withCrossingErrors(result, { subgraph: this.#subgraph.name, requestId, logger: this.#logger });
  }

  /** The same for what was thrown. */
  presentedError(thrown: unknown, requestId = 'unknown'): GraphQLError {
    return crossingError(thrown, { subgraph: this.#subgraph.name, requestId, logger: this.#logger });
  }
}
