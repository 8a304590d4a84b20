import { ACTIONS } from '../schema/actions.ts';
import { SCOPES } from '../schema/principal.ts';
import { CONTRACT, pathsOf } from './contract.ts';
import { rootUrl } from './links.ts';
import type { Json, Operation } from './operation.ts';
import { ON_REQUEST } from './openapi/alternatives.ts';
import { answersOf } from './openapi/answers.ts';
import { Components } from './openapi/components.ts';
import { ErrorResponses } from './openapi/error-responses.ts';
import { HEADER_COMPONENTS } from './openapi/headers.ts';
import { parameterComponents, parametersOf } from './openapi/parameters.ts';
import { RequestBodies } from './openapi/request-bodies.ts';
import { tagsOf } from './openapi/tags.ts';
import { WEBHOOK_RESPONSES, webhookParameters, webhooksOf } from './openapi/webhooks.ts';
import { errorBody, problemBody, oauthErrorBody } from './representations/error.ts';

/**
 * The OpenAPI 3.1 document of the contract table. Zod schemas with an id become components.
 * @param publicBaseUrl ends in `/v1`
 */
export function buildOpenApi(publicBaseUrl: string): Json {
  const components = new Components();
  const bodies = new RequestBodies(components);
  const errors = new ErrorResponses({
    error: components.schemaOf(errorBody),
    oauthError: components.schemaOf(oauthErrorBody),
  });
  const paths: Record<string, Json> = {};
  for (const operation of CONTRACT) {
    for (const [index, path] of pathsOf(operation).entries()) {
      const item = (paths[path] ??= {});
      item[operation.method.toLowerCase()] = operationObject(operation, index, { components, bodies, errors });
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Liftgraph',
      version: '1.0.0',
      summary: 'Causal marketing attribution for e-commerce',
      description:
        'Every answer carries a trust envelope. State-changing requests need a fresh X-Nonce, and with an ' +
        'SVC-Idempotency-Key they may be sent again without a second effect. Errors have one structure, and each ' +
        'error type a page at its doc_url; with Accept: application/problem+json they come as RFC 9457 problem ' +
        'details.',
      // Who runs the service is nothing that it knows; its pages are where to begin.
      contact: { name: 'This installation', url: `${rootUrl(publicBaseUrl)}/docs` },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicBaseUrl }],
    security: [{ bearer: [] }, { oauth: [] }],
    tags: tagsOf(CONTRACT.map(({ tag }) => tag)),
    paths,
    webhooks: webhooksOf(components),
    [ON_REQUEST]: { 'application/problem+json': { schema: components.schemaOf(problemBody) } },
    components: {
      schemas: components.schemas,
      parameters: { ...parameterComponents(components), ...webhookParameters(components) },
      requestBodies: bodies.requestBodies,
      responses: { ...errors.responses, ...WEBHOOK_RESPONSES },
      headers: HEADER_COMPONENTS,
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key (svc_agent_sk_…, svc_live_sk_…, svc_test_sk_…) or an access token',
        },
        oauth: oauthScheme(publicBaseUrl),
      },
    },
  };
}

function oauthScheme(publicBaseUrl: string): Json {
  const scopes = Object.fromEntries(SCOPES.map((scope) => [scope, `Operations that need ${scope}`]));
  const common = {
    tokenUrl: `${publicBaseUrl}/oauth/token`,
    refreshUrl: `${publicBaseUrl}/oauth/token/refresh`,
    scopes,
  };
  return {
    type: 'oauth2',
    description: 'Tokens for agents. PKCE with S256 is required.',
    flows: {
      clientCredentials: common,
      authorizationCode: { authorizationUrl: `${publicBaseUrl}/oauth/authorize`, ...common },
    },
  };
}

/** What the operations share. */
interface SharedParts {
  readonly components: Components;
  readonly bodies: RequestBodies;
  readonly errors: ErrorResponses;
}

function operationObject(operation: Operation, variant: number, { components, bodies, errors }: SharedParts): Json {
  const scope = operation.action === null ? null : ACTIONS[operation.action].scope;
  return {
    // Ids are unique in a document, so a variant path has one of its own.
    operationId: variant === 0 ? operation.id : `${operation.id}Variant${variant}`,
    tags: [operation.tag],
    summary: operation.summary,
    description: scope === null ? operation.description : `${operation.description}\n\nNeeds the scope \`${scope}\`.`,
    ...(operation.action === null ? { security: [] } : {}),
    parameters: parametersOf(operation, components),
    ...(operation.bodySchema === undefined ? {} : { requestBody: bodies.of(operation) }),
    responses: { ...answersOf(operation, components), ...errors.of(operation) },
  };
}
