import { ApolloGateway, type GraphQLDataSource } from '@apollo/gateway';
import { ApolloServer, type ApolloServerPlugin } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import type { ExecutionResult } from 'graphql';
import type { RequestContext } from '../schema/principal.ts';
import type { Logger } from '../platform/telemetry/logs.ts';
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
  readonly maxTokens: number;
  readonly plugins: readonly ApolloServerPlugin<RequestContext>[];
  readonly errors: PublicErrors;
  readonly logger: Logger;
}

/** Apollo Server with nothing on that the public could use against us; not started yet. */
export function apolloServer({
  gateway,
  introspection,
  maxTokens,
  plugins,
  errors,
  logger,
}: ApolloServerSetup): ApolloServer<RequestContext> {
  return new ApolloServer<RequestContext>({
    gateway,
    introspection,
    hideSchemaDetailsFromClientErrors: !introspection,
    parseOptions: { maxTokens },
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
