import type { ApolloServerPlugin } from '@apollo/server';
import { GraphQLError } from 'graphql';
import { ProblemError } from '../schema/problems.ts';
import type { Admission } from '../services/identity/admission/admission.ts';
import type { RequestContext } from '../schema/principal.ts';
import { problemIn } from '../platform/graph/crossing-errors.ts';
import { DocumentShapes } from './document-shape.ts';
import { unfitValuesIn } from './literal-values.ts';
import { assertSoundInput } from './operation-input.ts';
import { assertFittingVariables } from './operation-variables.ts';
import { assertWithinLimits, type OperationLimits } from './operation-limits.ts';
import type { PublicErrors } from './public-errors.ts';
import { publicRequests, type PublicRequest } from './public-request.ts';
import { limitStrangers } from './stranger-limits.ts';

/**
 * What a public operation must satisfy once it is parsed and validated: its limits, sound input, the nonce of a
 * mutation, fitting variables.
 */
export function publicRules(
  admission: Admission,
  limits: OperationLimits,
  publicErrors: PublicErrors,
): ApolloServerPlugin<RequestContext> {
  const shapes = new DocumentShapes(limits);
  return {
    unexpectedErrorProcessingRequest: async ({ error }) => {
      const publicRequest = publicRequests.getStore();
      if (publicRequest !== undefined) publicRequest.failure = error;
    },
    requestDidStart: async () => ({
      // Before the document is validated.
      didResolveSource: async ({ source }) => {
        if (publicRequests.getStore() === undefined) return;
        try {
          shapes.assertFitting(source);
        } catch (error) {
          // What is no GraphQL, Apollo Server says itself.
          if (error instanceof ProblemError) throw error;
        }
      },
      didResolveOperation: async ({ schema, document, operation, request }) => {
        const publicRequest = publicRequests.getStore();
        if (publicRequest === undefined) return;
        try {
          if (operation === undefined)
            throw new ProblemError(
              'invalid_request',
              'operationName must name one of the operations of the document.',
              { code: 'unknown_operation' },
            );
          if (operation.operation === 'subscription') {
            throw new ProblemError(
              'invalid_request',
              'Subscriptions go over WebSocket (graphql-transport-ws) at this address.',
              { code: 'websocket_required' },
            );
          }
          assertWithinLimits(schema, document, operation, request.variables ?? {}, limits);
          assertSoundInput(document, request.variables ?? {});
          await limitStrangers(admission, publicRequest, document, operation);
          if (operation.operation === 'mutation') {
            const { context, nonce } = publicRequest;
            await admission.consumeNonce(context.principal, context.origin.clientAddress, nonce);
          }
          assertFittingVariables(schema, operation, request.variables ?? {});
        } catch (error) {
          throw requestError(error);
        }
      },
      didEncounterErrors: async ({ errors, response, schema, document, request }) => {
        const publicRequest = publicRequests.getStore();
        // A result with `data` has run; a request without any runnable document is answered by its own status.
        if (publicRequest === undefined) return;
        publicRequest.refused = response.body === undefined && errors.every(isRequestError);
        const missing = errors.flatMap((error) => problemIn(error)?.problem.scope?.split(' ') ?? []);
        for (const scope of missing) publicRequest.missingScopes.add(scope);
        await noticeRefusals(admission, publicRequest, errors);
        if (document !== undefined && errors.every(isInvalidDocument))
          publicRequest.unfitValues = unfitValuesIn(schema, document, errors, request.variables ?? {});
      },
      willSendResponse: async ({ response }) => {
        const publicRequest = publicRequests.getStore();
        const problem = publicRequest?.unfitValues;
        if (publicRequest === undefined || problem === undefined) return;
        const presented = publicErrors.present(problem, publicRequest.context.requestId);
        response.body = { kind: 'single', singleResult: { errors: [presented] } };
        response.http.status = problem.problem.status;
      },
    }),
  };
}

/** Lets the audit log know of refusals that belong there, whoever made them. */
export async function noticeRefusals(
  admission: Admission,
  { context, credential }: PublicRequest,
  errors: readonly unknown[],
): Promise<void> {
  const { principal } = context;
  if (principal === null || credential === null) return;
  for (const problem of errors.flatMap((error) => problemIn(error) ?? []))
    await admission.noticeRefusal(problem, { principal, credential }, context);
}

const REQUEST_ERROR_CODES = new Set([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'BAD_USER_INPUT',
]);

function isInvalidDocument({ extensions }: GraphQLError): boolean {
  return extensions['code'] === 'GRAPHQL_VALIDATION_FAILED';
}

function isRequestError({ extensions }: GraphQLError): boolean {
  return extensions['refused'] === true || REQUEST_ERROR_CODES.has(String(extensions['code']));
}

/** Apollo Server takes the HTTP status from `extensions.http`. */
function requestError(error: unknown): unknown {
  if (!(error instanceof ProblemError)) return error;
  return new GraphQLError(error.message, {
    extensions: { ...error.extensions, refused: true, http: { status: error.problem.status } },
  });
}
