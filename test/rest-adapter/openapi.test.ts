import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { PROBLEM_TYPES, type ProblemType } from '../../schema/problems.ts';
import { CONTRACT, pathsOf } from '../../rest-adapter/contract.ts';
import { ERROR_GUIDE } from '../../rest-adapter/error-guide.ts';
import { buildOpenApi } from '../../rest-adapter/openapi.ts';
import { problemsOf } from '../../rest-adapter/pipeline.ts';
import { keptOpenApi } from '../../rest-adapter/write-openapi.ts';
import { openDoor, type TestDoor } from './door.ts';

type JsonObject = Record<string, unknown>;
interface OperationObject {
  readonly operationId: string;
  readonly parameters: {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: JsonObject;
    readonly example?: unknown;
  }[];
  readonly requestBody?: BodyObject | { readonly $ref: string };
  readonly responses: Record<string, ResponseObject | { readonly $ref: string }>;
  readonly security?: unknown[];
}
interface BodyObject {
  readonly content: Record<string, { readonly schema: JsonObject; readonly example?: unknown }>;
}
interface ResponseObject {
  readonly description: string;
  readonly headers?: Record<string, unknown>;
  readonly content?: Record<string, { readonly schema: JsonObject; readonly example?: unknown }>;
}

const openApi = JSON.parse(JSON.stringify(buildOpenApi('https://api.example/v1'))) as {
  openapi: string;
  paths: Record<string, Record<string, OperationObject>>;
  components: {
    schemas: Record<string, JsonObject>;
    parameters: Record<string, JsonObject>;
    requestBodies: Record<string, BodyObject>;
    responses: Record<string, ResponseObject>;
    headers: Record<string, JsonObject>;
  };
};
const entries = Object.entries(openApi.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
);

/** The response of an operation to a status, wherever it stands. */
function responseOf({ responses }: OperationObject, status: number | string): ResponseObject | undefined {
  const response = responses[String(status)];
  return response !== undefined && '$ref' in response
    ? openApi.components.responses[response.$ref.slice('#/components/responses/'.length)]
    : response;
}

/** The body that an operation takes, wherever it stands. */
function bodyOf({ requestBody }: OperationObject): BodyObject | undefined {
  return requestBody !== undefined && '$ref' in requestBody
    ? openApi.components.requestBodies[requestBody.$ref.slice('#/components/requestBodies/'.length)]
    : requestBody;
}

/** Validates by the published JSON Schema, not by the schema it was made from. */
function validator(schema: JsonObject) {
  const withDefinitions = JSON.parse(
    JSON.stringify({ ...schema, $defs: openApi.components.schemas }).replaceAll('#/components/schemas/', '#/$defs/'),
  ) as Parameters<typeof z.fromJSONSchema>[0];
  return z.fromJSONSchema(withDefinitions);
}

test('schema/openapi.json is what the contract says', () => {
  const kept = readFileSync(new URL('../../schema/openapi.json', import.meta.url), 'utf8');
  // When this fails on purpose: node --import ./processes/typescript-hook.mjs rest-adapter/write-openapi.ts
  expect(
    kept === keptOpenApi()
      ? 'up to date'
      : 'outdated: run  node --import ./processes/typescript-hook.mjs rest-adapter/write-openapi.ts',
  ).toBe('up to date');
});

test('each row has an entry, and each entry a row', () => {
  const rows = CONTRACT.flatMap((operation) => pathsOf(operation).map((path) => `${operation.method} ${path}`));
  expect(entries.map(([name]) => name).toSorted()).toEqual(rows.toSorted());
});

test('operation ids are unique', () => {
  const ids = entries.map(([, { operationId }]) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
});

test('every reference leads somewhere, and every component is used', () => {
  const text = JSON.stringify(openApi);
  for (const kind of ['schemas', 'parameters', 'requestBodies', 'responses', 'headers'] as const) {
    const references = new Set(
      [...text.matchAll(new RegExp(`"#/components/${kind}/([^"]+)"`, 'g'))].map(([, name]) => name!),
    );
    expect(Object.keys(openApi.components[kind]).toSorted()).toEqual([...references].toSorted());
    // OpenAPI 3.1, Components Object.
    for (const name of references) expect(name).toMatch(/^[\w.-]+$/);
  }
  const references = Object.keys(openApi.components.schemas);
  for (const name of ['AttributionResult', 'ChannelImpact', 'TrustEnvelope', 'Meta', 'Error'])
    expect(references).toContain(name);
  expect(text).not.toContain('#/$defs/');
});

test('members with defaults stand in request bodies, and in no schema that answers share', () => {
  const withDefaults = Object.entries(openApi.components.schemas).filter(([, { properties }]) =>
    Object.values((properties ?? {}) as Record<string, JsonObject>).some((member) => 'default' in member),
  );
  expect(withDefaults.map(([name]) => name)).toEqual([]);
  expect(openApi.components.requestBodies).toMatchObject({
    AttributionRequest: {
      content: { 'application/json': { schema: { properties: { lookback_window_days: { default: 30 } } } } },
    },
  });
});

test('an upload shows every form that it takes, and what may be said of it in a form', () => {
  const upload = openApi.paths['/data-sources/{id}/records']!['post']!;
  const { content } = bodyOf(upload)!;
  expect(Object.keys(content)).toContain('application/vnd.openxmlformats-officedocument.spreadsheetml.sheet');
  const { properties } = content['multipart/form-data']!.schema as { properties: Record<string, JsonObject> };
  expect(properties).toMatchObject({ options: { $ref: '#/components/schemas/UploadOptions' } });
});

test('a parameter of a query shows its default', () => {
  const { parameters } = openApi.paths['/experiments/designs']!['get']!;
  expect(parameters.find(({ name }) => name === 'power')?.schema).toMatchObject({ type: 'number', default: 0.8 });
});

test('pages of lists are described once: their envelope, their parameters, their links', () => {
  const pages = entries.filter(([, operation]) => operation.parameters.some(({ name }) => name === undefined));
  expect(pages.length).toBeGreaterThan(10);
  for (const [, operation] of pages) {
    const { headers, content } = responseOf(operation, 200)!;
    expect(headers?.['Link']).toEqual({ $ref: '#/components/headers/PageLinks' });
    expect(content?.['application/json']?.schema['allOf']).toContainEqual({
      $ref: '#/components/schemas/ListEnvelope',
    });
    expect(operation.parameters).toContainEqual({ $ref: '#/components/parameters/Page' });
  }
  expect(JSON.stringify(openApi.paths)).not.toContain('#/components/schemas/Meta');
});

test('what only those get who ask for it is no content of a response, but stands beside', () => {
  for (const [name, operation] of entries)
    for (const status of Object.keys(operation.responses)) {
      const { content = {} } = responseOf(operation, status)!;
      if ('application/json' in content) expect([name, content]).not.toHaveProperty(['1', 'text/event-stream']);
      expect([name, content]).not.toHaveProperty(['1', 'application/problem+json']);
    }
  expect(openApi).toHaveProperty([
    'x-content-on-request',
    'application/problem+json',
    'schema',
    'properties',
    'detail',
  ]);
  expect(openApi.paths['/attribution']!['post']!.responses['200']).toHaveProperty([
    'x-content-on-request',
    'text/event-stream',
  ]);
});

describe.each(entries)('%s', (name, operation) => {
  const row = CONTRACT.find((candidate) => pathsOf(candidate).some((path) => `${candidate.method} ${path}` === name))!;

  test('declares every problem of its steps and of its row, under its status', () => {
    for (const type of new Set<ProblemType>([...problemsOf(row.kind), ...row.problems])) {
      const { status } =
        type === 'validation_error' && row.badBodyStatus !== undefined
          ? { status: row.badBodyStatus }
          : PROBLEM_TYPES[type];
      expect(responseOf(operation, status)?.description).toContain(`\`${type}\``);
    }
  });

  test('tells of the headers of its refusals', () => {
    const headersAt = (status: number) => Object.keys(responseOf(operation, status)?.headers ?? {});
    for (const status of Object.keys(operation.responses))
      expect(headersAt(Number(status))).toEqual(
        expect.arrayContaining(['X-Request-Id', 'SVC-API-Version', 'SVC-HREI-Score', 'Deprecation']),
      );
    expect(headersAt(503)).toContain('Retry-After');
    if (row.action !== null) {
      expect(headersAt(401)).toContain('WWW-Authenticate');
      expect(headersAt(429)).toEqual(expect.arrayContaining(['Retry-After', 'RateLimit', 'SVC-Environment']));
    }
  });

  test('has all path variables as required parameters', () => {
    const variables = [...name.matchAll(/\{(\w+)\}/g)].map(([, variable]) => variable);
    expect(
      operation.parameters
        .filter((parameter) => parameter.in === 'path' && parameter.required)
        .map((parameter) => parameter.name),
    ).toEqual(variables);
  });

  test('has examples that fit the published schemas', () => {
    const media = [
      ...Object.values(bodyOf(operation)?.content ?? {}),
      ...Object.keys(operation.responses).flatMap((status) =>
        Object.values(responseOf(operation, status)?.content ?? {}),
      ),
    ];
    for (const { schema, example } of media)
      if (example !== undefined) expect(validator(schema).safeParse(example)).toMatchObject({ success: true });
    const json = bodyOf(operation)?.content['application/json'];
    expect(json !== undefined).toBe(row.bodySchema !== undefined);
    if (json !== undefined) expect(json.example).toBeDefined();
    if (row.success.schema !== null)
      expect(responseOf(operation, row.success.status)?.content?.['application/json']?.example).toBeDefined();
  });

  test('refuses by its published schemas what is no example', () => {
    const schema = responseOf(operation, row.success.status)?.content?.['application/json']?.schema;
    if (schema !== undefined) expect(validator(schema).safeParse({}).success).toBe(false);
  });

  test('asks for a key unless it is public', () => {
    expect(operation.security).toEqual(row.action === null ? [] : undefined);
  });
});

describe('served', () => {
  let door: TestDoor;
  beforeAll(async () => {
    door = await openDoor();
  });
  afterAll(() => door[Symbol.asyncDispose]());
  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${door.url}${path}`, { headers });

  test('the document, cacheable', async () => {
    const response = await get('/openapi.json');
    expect(response.headers.get('content-type')).toContain('application/json');
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    expect(response.headers.get('svc-hrei-score')).toBeNull();
    expect(await response.json()).toEqual(openApi);
    const again = await get('/openapi.json', {
      'if-none-match': response.headers.get('etag')!,
      'cache-control': 'max-age=0',
    });
    expect(again.status).toBe(304);
  });

  test('the bare address leads to the reference, below whatever prefix a proxy adds', async () => {
    const response = await get('/');
    expect(response.redirected).toBe(true);
    expect(new URL(response.url).pathname).toBe('/docs');
  });

  test('the reference, from this server alone', async () => {
    const response = await get('/docs');
    expect(response.headers.get('content-security-policy')).toContain("script-src 'self'");
    const html = await response.text();
    expect(html).not.toMatch(/https?:\/\//);
    const addresses = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(
      ([, address]) => new URL(address!, `${door.url}/docs`).pathname,
    );
    expect(addresses.filter((address) => address.startsWith('/docs/assets/'))).toHaveLength(4);
    // GraphiQL is the gateway's.
    for (const address of addresses.filter((each) => each !== '/graphql')) {
      const asset = await get(address);
      expect(asset.status).toBe(200);
      expect((await asset.arrayBuffer()).byteLength).toBeGreaterThan(100);
    }
  });

  test.each([
    '/docs/assets/../../package.json',
    '/docs/assets/package.json',
    '/docs/assets/%2e%2e%2fpackage.json',
    '/docs/errors/nothing',
    '/docs/errors/constructor',
    '/elsewhere',
  ])('%s is not served', async (path) => {
    expect((await get(path)).status).toBe(404);
  });

  test.each(Object.keys(PROBLEM_TYPES) as ProblemType[])('the page of %s has cause and cure', async (type) => {
    const response = await get(`/docs/errors/${type}`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toContain('text/html');
    const html = (await response.text()).replaceAll('&amp;', '&').replaceAll('&quot;', '"');
    expect(html).toContain(ERROR_GUIDE[type].cause);
    expect(html).toContain(ERROR_GUIDE[type].cure);
    expect(html).not.toMatch(/https?:\/\//);
  });

  test('doc_url of an error resolves', async () => {
    const { error } = (await (await door.call('GET', '/v1/nowhere')).json()) as { error: { doc_url: string } };
    expect((await get(new URL(error.doc_url).pathname)).status).toBe(200);
    expect((await get('/docs/errors')).status).toBe(200);
    expect((await (await get('/docs/errors/validation_error')).text()).replaceAll('&quot;', '"')).toMatch(
      /"errors": \[\s*\{\s*"param": "\/date_range"/,
    );
    expect(await (await get('/docs/versions')).text()).toContain(
      'deprecated on 2026-02-01, supported until 2027-02-01',
    );
  });

  test('links of the pages resolve', async () => {
    for (const page of ['/docs/errors/conflict', '/docs/errors', '/docs/versions']) {
      const html = await (await get(page)).text();
      for (const [, address] of html.matchAll(/<a href="([^"]+)"/g))
        expect((await get(new URL(address!, `${door.url}${page}`).pathname)).status).toBe(200);
    }
  });
});
