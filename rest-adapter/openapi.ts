import { z } from 'zod';
import { OWN_META } from '../schema/contract/terms.ts';
import { API_VERSIONS } from '../schema/value-lists.ts';
import { ACTIONS } from '../schema/actions.ts';
import { SCOPES } from '../schema/principal.ts';
import { FORCIBLE_PROBLEMS, MAX_SANDBOX_DELAY_MS } from '../services/identity/admission/sandbox-wishes.ts';
import { CONTRACT, pathsOf } from './contract.ts';
import { DOWNLOAD_MEDIA_TYPES } from './download-media.ts';
import { headerName } from './header-name.ts';
import { needsBody, type Json, type Operation } from './operation.ts';
import { ErrorResponses } from './openapi/error-responses.ts';
import { HEADER_COMPONENTS, headersOf } from './openapi/headers.ts';
import { stepsOf } from './pipeline.ts';
import { errorBody, problemBody, oauthErrorBody } from './representations/error.ts';
import { claimIdempotencyKey, KEYED_METHODS } from './steps/claim-idempotency-key.ts';
import { CURRENT_VERSION } from './versions.ts';
import { WORKSPACE_HEADER } from './steps/authenticate.ts';

const UPLOAD_MEDIA_TYPES = ['text/csv', 'application/x-ndjson', 'application/vnd.apache.parquet'];

/**
 * The OpenAPI 3.1 document of the contract table. Zod schemas with an id become components.
 * @param publicBaseUrl ends in `/v1`
 */
export function buildOpenApi(publicBaseUrl: string): Json {
  const components = new Components();
  const errors = new ErrorResponses({
    error: components.schemaOf(errorBody),
    problem: components.schemaOf(problemBody),
    oauthError: components.schemaOf(oauthErrorBody),
  });
  const paths: Record<string, Json> = {};
  for (const operation of CONTRACT) {
    for (const [index, path] of pathsOf(operation).entries()) {
      const item = (paths[path] ??= {});
      item[operation.method.toLowerCase()] = operationObject(operation, index, components, errors);
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
        'error type a page at its doc_url.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicBaseUrl }],
    security: [{ bearer: [] }, { oauth: [] }],
    tags: [...new Set(CONTRACT.map(({ tag }) => tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas: components.schemas,
      responses: errors.responses,
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

function operationObject(operation: Operation, variant: number, components: Components, errors: ErrorResponses): Json {
  const scope = operation.action === null ? null : ACTIONS[operation.action].scope;
  return {
    // Ids are unique in a document, so a variant path has one of its own.
    operationId: variant === 0 ? operation.id : `${operation.id}Variant${variant}`,
    tags: [operation.tag],
    summary: operation.summary,
    description: scope === null ? operation.description : `${operation.description}\n\nNeeds the scope \`${scope}\`.`,
    ...(operation.action === null ? { security: [] } : {}),
    parameters: parametersOf(operation, components),
    ...(operation.bodySchema === undefined ? {} : { requestBody: requestBody(operation, components) }),
    responses: { ...successResponses(operation, components), ...errors.of(operation) },
  };
}

function parametersOf(operation: Operation, components: Components): Json[] {
  const steps = new Set(stepsOf(operation.kind).map(({ name }) => name));
  const parameters: Json[] = [
    ...fields(operation.pathSchema, 'path', operation.example.path, components),
    ...fields(operation.querySchema, 'query', operation.example.query, components),
    ...fields(operation.headerSchema, 'header', operation.example.headers, components),
    {
      name: 'SVC-API-Version',
      in: 'header',
      required: false,
      schema: { type: 'string', enum: [...API_VERSIONS], default: CURRENT_VERSION },
    },
  ];
  if (operation.action !== null) {
    parameters.push({
      name: WORKSPACE_HEADER,
      in: 'header',
      required: false,
      description:
        'Workspace to act in, ws_…: for the account that owns it, with your role there. Without it you act for your ' +
        'own account.',
      schema: { type: 'string' },
    });
  }
  if (steps.has('consume-nonce')) {
    parameters.push({
      name: 'X-Nonce',
      in: 'header',
      required: operation.kind !== 'oauth',
      description:
        operation.kind === 'oauth' ? 'Needed with JSON; forms do without' : 'Fresh for every request; a UUID will do',
      schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{8,128}$' },
      example: '6f1d2c3b-8a49-4c0e-9d57-1b2e3f405162',
    });
  }
  if (steps.has('grant-sandbox-wishes')) {
    parameters.push({
      name: 'SVC-Sandbox-Force',
      in: 'header',
      required: false,
      description: 'Answers with this error; ignored with live keys',
      schema: { type: 'string', enum: [...FORCIBLE_PROBLEMS] },
    });
    if (operation.kind === 'job')
      parameters.push({
        name: 'SVC-Sandbox-Delay',
        in: 'header',
        required: false,
        description: 'Milliseconds that the job takes longer, so that it can be watched; ignored with live keys',
        schema: { type: 'integer', minimum: 0, maximum: MAX_SANDBOX_DELAY_MS },
      });
  }
  if (takesIdempotencyKey(operation)) {
    const description =
      'Sent again within 24 hours, the same request has no second effect and gets the same answer. Derive it from ' +
      'what the request is about, or draw a UUID; keep it for retries, with a new X-Nonce each';
    parameters.push({
      name: 'SVC-Idempotency-Key',
      in: 'header',
      required: false,
      description,
      schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]+$' },
    });
  }
  if (operation.representation !== undefined)
    parameters.push({
      name: 'Prefer',
      in: 'header',
      required: false,
      description: 'return=representation asks for an answer with a body',
      schema: { type: 'string' },
    });
  if (operation.isResource === true)
    parameters.push({ name: 'If-None-Match', in: 'header', required: false, schema: { type: 'string' } });
  return parameters;
}

/** By its steps, as all else; a deletion that is sent again needs none (contract §9.6). */
function takesIdempotencyKey(operation: Operation): boolean {
  return KEYED_METHODS.has(operation.method) && stepsOf(operation.kind).includes(claimIdempotencyKey);
}

function fields(
  schema: z.ZodObject | undefined,
  place: 'path' | 'query' | 'header',
  example: Readonly<Record<string, string>> | undefined,
  components: Components,
): Json[] {
  const object = schema === undefined ? {} : components.schemaOf(schema);
  const required = (object['required'] ?? []) as readonly string[];
  return Object.entries((object['properties'] ?? {}) as Record<string, Json>).map(
    ([name, { description, ...property }]) => ({
      name: place === 'header' ? headerName(name) : name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: property,
      ...(property['type'] === 'array' ? { style: 'form', explode: false } : {}),
      ...(example?.[name] === undefined ? {} : { example: example[name] }),
    }),
  );
}

function requestBody(operation: Operation, components: Components): Json {
  const files =
    operation.kind === 'upload'
      ? UPLOAD_MEDIA_TYPES.map((type) => [type, { schema: { type: 'string', format: 'binary' } }])
      : [];
  const form =
    operation.kind === 'upload'
      ? [
          [
            'multipart/form-data',
            {
              schema: {
                type: 'object',
                required: ['file'],
                properties: { file: { type: 'string', format: 'binary' } },
              },
            },
          ],
        ]
      : [];
  const schema = components.schemaOf(operation.bodySchema!);
  const oauthForm =
    operation.kind === 'oauth'
      ? [['application/x-www-form-urlencoded', { schema, example: operation.example.body }]]
      : [];
  return {
    required: needsBody(operation),
    content: {
      'application/json': { schema, example: operation.example.body },
      ...Object.fromEntries([...files, ...form, ...oauthForm]),
    },
  };
}

function successResponses(operation: Operation, components: Components): Json {
  const { success, kind, example, representation } = operation;
  const headers = {
    ...headersOf(operation),
    ...(operation.location === undefined
      ? {}
      : { Location: { description: 'Where to read what was made', schema: { type: 'string' } } }),
    ...Object.fromEntries(
      Object.entries(success.headers ?? {}).map(([name, description]) => [
        name,
        { description, schema: { type: 'string' } },
      ]),
    ),
    ...(takesIdempotencyKey(operation)
      ? {
          'SVC-Idempotent-Replayed': {
            description: '`true` where the answer was given before, and nothing happened this time',
            schema: { type: 'string', enum: ['true'] },
          },
        }
      : {}),
    ...(operation.isResource === true
      ? { ETag: { description: 'For If-None-Match', schema: { type: 'string' } } }
      : {}),
  };
  const told =
    kind === 'feed'
      ? 'Events named by their types, as webhooks tell them'
      : 'Events progress, channel_result, result and error';
  const events = {
    'text/event-stream': { schema: { type: 'string', description: `${told}; id is what Last-Event-ID resumes from` } },
  };
  const content = {
    ...(success.schema === null
      ? {}
      : { 'application/json': { schema: components.schemaOf(success.schema), example: example.response } }),
    ...(kind === 'stream' || kind === 'feed' || kind === 'job' ? events : {}),
    ...(kind === 'download'
      ? Object.fromEntries(
          Object.values(DOWNLOAD_MEDIA_TYPES).map((type) => [
            type.split(';', 1)[0],
            { schema: { type: 'string', format: 'binary' } },
          ]),
        )
      : {}),
  };
  return {
    [success.status]: {
      description: success.description,
      headers,
      ...(Object.keys(content).length === 0 ? {} : { content }),
    },
    ...(operation.lesserSuccess === undefined
      ? {}
      : { [operation.lesserSuccess.status]: { description: operation.lesserSuccess.description, headers, content } }),
    ...(representation === undefined
      ? {}
      : {
          200: {
            description: representation.description,
            headers: {
              ...headers,
              'Preference-Applied': { description: 'return=representation', schema: { type: 'string' } },
            },
            content: {
              'application/json': {
                schema: components.schemaOf(representation.schema),
                example: representation.example,
              },
            },
          },
        }),
    ...(kind === 'stream'
      ? {
          204: { description: 'The last event was seen; there is nothing more to come', headers: headersOf(operation) },
        }
      : {}),
    ...(operation.isResource === true
      ? { 304: { description: 'Unchanged since the ETag in If-None-Match', headers } }
      : {}),
  };
}

/** Collects the schemas that have an id, and refers to them. */
class Components {
  readonly schemas: Record<string, Json> = {};

  schemaOf(schema: z.ZodType): Json {
    const { properties, $defs } = z.toJSONSchema(z.object({ it: schema }), {
      io: 'input',
      override: ({ jsonSchema }) => {
        const { openapi } = jsonSchema as { openapi?: Json };
        for (const key of OWN_META) delete (jsonSchema as Json)[key];
        // Patterns behind a format only repeat it.
        if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
        if (openapi === undefined) return;
        const { description } = jsonSchema;
        for (const key of Object.keys(jsonSchema)) delete (jsonSchema as Json)[key];
        Object.assign(jsonSchema, openapi, description === undefined ? {} : { description });
      },
    });
    for (const [name, definition] of Object.entries($defs ?? {})) this.schemas[name] ??= referring(definition) as Json;
    return referring(properties!['it']) as Json;
  }
}

/** Points references at the components of the document. */
function referring(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(referring);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      key === '$ref' && typeof member === 'string'
        ? member.replace('#/$defs/', '#/components/schemas/')
        : referring(member),
    ]),
  );
}
