import { ApolloGateway, type GraphQLDataSource } from '@apollo/gateway';
import { ApolloServer, type ApolloServerPlugin } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import type { DocumentNode, ExecutionResult } from 'graphql';
import type { RequestContext } from '../schema/principal.ts';
import { KeptTexts } from '../platform/graph/kept-texts.ts';
import type { Logger } from '../platform/telemetry/logs.ts';
import type { OperationLimits } from './operation-limits.ts';
import { problemBehind, type PublicErrors } from './public-errors.ts';
import { publicRequests } from './public-request.ts';
import { withCompletionErrors } from './value-completion.ts';

/** Plans and executes operations on the supergraph over these upstreams, by the names of their subgraphs. */
export function apolloGateway(
  supergraphSdl: string,
  dataSources: Readonly<Record<string, GraphQLDataSource>>,
  logger: Logger,
): ApolloGateway {
  // Read by @apollo/gateway when a gateway is made.
  process.env['APOLLO_TELEMETRY_DISABLED'] = 'true';
  const gateway = new ApolloGateway({
    supergraphSdl,
    buildService: ({ name }) => dataSources[name]!,
    queryPlannerConfig: { exposeDocumentNodeInFetchNode: true },
    // Composition has done so, now or before it was printed.
    validateSupergraph: false,
    logger,
  });
  const { executor } = gateway;
  gateway.executor = async (request) =>
    withCompletionErrors(
      (await executor(request)) as ExecutionResult,
      (request.context as RequestContext).requestId,
      logger,
    ) as Awaited<ReturnType<typeof executor>>;
  return gateway;
}

export interface ApolloServerSetup {
  readonly gateway: ApolloGateway;
  /** Whether clients may read the schema, by introspection or by what errors suggest. */
  readonly introspection: boolean;
  readonly limits: Pick<OperationLimits, 'maxTokens' | 'maxComments'>;
  readonly plugins: readonly ApolloServerPlugin<RequestContext>[];
  readonly errors: PublicErrors;
  readonly logger: Logger;
}

/** Apollo Server with nothing on that the public could use against us; not started yet. */
export function apolloServer({
  gateway,
  introspection,
  limits: { maxTokens, maxComments },
  plugins,
  errors,
  logger,
}: ApolloServerSetup): ApolloServer<RequestContext> {
  return new ApolloServer<RequestContext>({
    gateway,
    introspection,
    hideSchemaDetailsFromClientErrors: !introspection,
    parseOptions: { maxTokens, maxComments },
    documentStore: new ParsedDocuments(),
    includeStacktraceInErrorResponses: false,
    allowBatchedHttpRequests: false,
    // A page of another site can send none of these without being asked first whether it may (CORS).
    csrfPrevention: { requestHeaders: ['Authorization', 'Apollo-Require-Preflight', 'X-Apollo-Operation-Name'] },
    persistedQueries: false,
    stopOnTerminationSignals: false,
    logger,
    plugins: [
      ...plugins,
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
    ],
    formatError: (_formatted, error) => {
      const request = publicRequests.getStore();
      if (request !== undefined) return errors.present(error, request.context.requestId);
      const problem = problemBehind(error, 'unknown', logger);
      return { message: problem.message, extensions: { ...problem.extensions } };
    },
  });
}

/**
 * Documents that Apollo Server has parsed and validated. Its own store goes by what a document is as JSON, which counts
 * neither its text nor its tokens: a hundred strange ones took gigabytes.
 */
class ParsedDocuments {
  readonly #kept = new KeptTexts<DocumentNode>();

  async get(key: string): Promise<DocumentNode | undefined> {
    return this.#kept.get(key);
  }

  async set(key: string, document: DocumentNode): Promise<void> {
    this.#kept.keep(key, document, document.loc?.source.body.length ?? 0);
  }

  async delete(key: string): Promise<void> {
    this.#kept.forget(key);
  }
}
