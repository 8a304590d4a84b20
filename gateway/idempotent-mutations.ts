import {
  HeaderMap,
  type ApolloServerPlugin,
  type GraphQLRequestContextWillSendResponse,
  type GraphQLResponse,
} from '@apollo/server';
import type { DocumentNode, FormattedExecutionResult, OperationDefinitionNode } from 'graphql';
import { ProblemError } from '../schema/problems.ts';
import type { RequestContext } from '../schema/principal.ts';
import type { Claims, Taken } from '../services/idempotency/claims.ts';
import { claimScope, fingerprintOf, isKept, rightsOf } from '../services/idempotency/idempotency-key.ts';
import type { PublicErrors } from './public-errors.ts';
import { keptResult, publicRequests, type KeptResult, type PublicRequest } from './public-request.ts';
import { rootFields } from './root-fields.ts';

/**
 * Mutations with an idempotency key, over HTTP and WebSocket alike: one that was answered before is answered as it was
 * then, without being executed. Runs behind the rules for public operations, so behind the nonce.
 */
export function idempotentMutations(claims: Claims, errors: PublicErrors): ApolloServerPlugin<RequestContext> {
  const refusal = (error: unknown, publicRequest: PublicRequest): GraphQLResponse => {
    const presented = errors.present(error, publicRequest.context.requestId);
    const { http_status: status, retry_after: retryAfter } = presented.extensions as {
      http_status: number;
      retry_after?: number;
    };
    publicRequest.refused = true;
    const headers = new HeaderMap(retryAfter === undefined ? [] : [['retry-after', String(retryAfter)]]);
    return { http: { status, headers }, body: { kind: 'single', singleResult: { errors: [presented] } } };
  };

  return {
    // Nothing is sent then, so nobody else would end the claim.
    unexpectedErrorProcessingRequest: async () => publicRequests.getStore()?.held?.giveUp(),
    requestDidStart: async () => ({
      async responseForOperation({ document, operation, operationName, request, source, contextValue }) {
        const publicRequest = publicRequests.getStore();
        if (publicRequest?.idempotencyKey === undefined || operation.operation !== 'mutation') return null;
        try {
          assertOneMutation(document, operation);
          const { context, idempotencyKey: key } = publicRequest;
          const fingerprint = fingerprintOf({
            document: source,
            operationName: operationName ?? null,
            variables: request.variables ?? {},
            version: context.apiVersion,
            rights: rightsOf(context.principal),
          });
          const taken: Taken<KeptResult> = await claims.take(
            { scope: claimScope(context.principal, context.origin.clientAddress), key, fingerprint },
            keptResult,
          );
          if ('answer' in taken) {
            publicRequest.trust = taken.answer.trust;
            return replay(taken.answer, request.http !== undefined);
          }
          publicRequest.held = taken.held;
          // The context of this execution alone: Apollo Server made it for this request.
          Object.assign(contextValue, { idempotency: taken.held.claim });
          return null;
        } catch (error) {
          return refusal(error, publicRequest);
        }
      },
      async willSendResponse({ request, response }) {
        const publicRequest = publicRequests.getStore();
        const held = publicRequest?.held;
        if (publicRequest === undefined || held === undefined) return;
        delete publicRequest.held;
        try {
          const answer = keptOf(response, publicRequest.trust);
          if (answer === null) return await held.giveUp();
          const others = await held.keep(answer);
          if (others !== null) publicRequest.trust = others.trust;
          if (others !== null) Object.assign(response, replay(others, request.http !== undefined));
        } catch (error) {
          Object.assign(response, refusal(error, publicRequest));
        }
      },
    }),
  };
}

/** One key stands for one effect; several in one document would each need a record of their own. */
function assertOneMutation(document: DocumentNode, operation: OperationDefinitionNode): void {
  const mutations = rootFields(document, operation.selectionSet).filter(({ name }) => !name.value.startsWith('__'));
  // Fields of one response name are one.
  if (new Set(mutations.map(({ alias, name }) => (alias ?? name).value)).size > 1) {
    throw new ProblemError(
      'invalid_request',
      'An idempotency key covers one mutation. Send the others in requests of their own, each with a key.',
      { code: 'one_mutation_per_key' },
    );
  }
}

/** Null for a result that a later try may better: one with any error that is not kept over REST either. */
function keptOf(
  { body, http }: GraphQLRequestContextWillSendResponse<RequestContext>['response'],
  trust: KeptResult['trust'],
): KeptResult | null {
  if (body.kind !== 'single') return null;
  const { singleResult } = body;
  const statuses = (singleResult.errors ?? []).map(({ extensions }) => Number(extensions?.['http_status'] ?? 500));
  if (
    !statuses.every(isKept) ||
    singleResult.errors?.some(({ extensions }) => String(extensions?.['type']).startsWith('idempotency_')) === true
  )
    return null;
  return {
    ...(http.status === undefined ? {} : { status: http.status }),
    result: singleResult as Record<string, unknown>,
    trust,
  };
}

/** Over HTTP a header says that nothing happened this time; a message of a WebSocket has its extensions for that. */
function replay({ status, result }: KeptResult, overHttp: boolean): GraphQLResponse {
  const singleResult = (
    overHttp ? result : { ...result, extensions: { idempotentReplayed: true } }
  ) as FormattedExecutionResult;
  return {
    http: {
      ...(status === undefined ? {} : { status }),
      headers: new HeaderMap([['svc-idempotent-replayed', 'true']]),
    },
    body: { kind: 'single', singleResult },
  };
}
