import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { HOSTILE, valuesOf, type JsonSchema } from './schema-values.ts';

/** Objects have no text of their own, and some no prototype that would give them one. */
const inAddress = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));

/** A request as it goes out. */
export interface FuzzRequest {
  readonly method: string;
  /** With query, percent-encoded or not. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | null;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: JsonSchema;
}

interface Reference {
  readonly $ref: string;
}

interface RequestBody {
  readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>>;
}

interface OperationObject {
  readonly parameters: readonly (Parameter | Reference)[];
  readonly requestBody?: RequestBody | Reference;
  readonly responses: Readonly<Record<string, unknown>>;
  readonly security?: readonly unknown[];
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly requestBodies: Readonly<Record<string, RequestBody>>;
  };
}

const openApi = JSON.parse(readFileSync(new URL('../../../schema/openapi.json', import.meta.url), 'utf8')) as OpenApi;

/** The statuses that the document declares for each `METHOD /path`. */
export const DECLARED: ReadonlyMap<string, ReadonlySet<number>> = new Map(
  Object.entries(openApi.paths).flatMap(([path, item]) =>
    Object.entries(item).map(
      ([method, { responses }]) =>
        [`${method.toUpperCase()} ${path}`, new Set(Object.keys(responses).map(Number))] as const,
    ),
  ),
);

/** What a request may refer to: things that exist, and the credentials of who may see them. */
export interface World {
  readonly keys: readonly string[];
  /** Ids by the collection in the path that they go into. */
  readonly ids: Readonly<Record<string, readonly string[]>>;
}

/** What computes or stores for milliseconds when it succeeds; a run has better use for its time. */
const COSTLY = /^\/(?:attribution|data-sources\/connect|data-sources\/\{id\}\/(?:records|sync))/;

const latin1 = (text: string): string =>
  text.replaceAll(/[^\u0021-\u007e\u00a1-\u00ff]/g, (character) =>
    encodeURIComponent(character.isWellFormed() ? character : '?'),
  );
const headerText = fc.string({ unit: fc.constantFrom(...'abcz019 ,;=*/"-_.ü'), maxLength: 30 });

/** Requests that follow the document more or less, seeded from outside. */
export function requests(world: World): fc.Arbitrary<FuzzRequest> {
  const all = Object.entries(openApi.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      weight: method === 'post' && COSTLY.test(path) ? 1 : 12,
      arbitrary: requestOf(path, method.toUpperCase(), operation, world),
    })),
  );
  return fc.oneof({ weight: 12, arbitrary: fc.oneof(...all) }, { weight: 1, arbitrary: strays });
}

const strays: fc.Arbitrary<FuzzRequest> = fc
  .record({
    method: fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'PROPFIND', 'TRACE'),
    path: fc.oneof(
      fc.constantFrom(
        '/',
        '/v1',
        '/v1/',
        '/v1//',
        '/docs',
        '/docs/errors/x',
        '/openapi.json',
        '/healthz',
        '/graphql',
        '/graphql?query={__typename}',
        '/.well-known/jwks.json',
        '/.well-known/x',
        '/v1/%',
        '/%00',
        '/v1/attribution/..',
        '//',
      ),
      fc.webPath({ size: 'small' }).map((path) => latin1(`/v1${path}`)),
    ),
    headers: fc.dictionary(
      fc.constantFrom('accept', 'content-type', 'x-nonce', 'origin', 'svc-api-version'),
      headerText,
      { maxKeys: 2 },
    ),
    body: fc.option(
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      { freq: 3 },
    ),
  })
  .map((request) =>
    ['GET', 'HEAD', 'TRACE', 'OPTIONS'].includes(request.method) ? { ...request, body: null } : request,
  );

/** What stands there, or what the reference there leads to. */
function standing<Thing extends object>(given: Thing | Reference, known: Readonly<Record<string, Thing>>): Thing {
  return '$ref' in given ? known[given.$ref.slice(given.$ref.lastIndexOf('/') + 1)]! : given;
}

function requestOf(path: string, method: string, operation: OperationObject, world: World): fc.Arbitrary<FuzzRequest> {
  const { schemas, ...shared } = openApi.components;
  const { requestBody } = operation;
  const query = operation.parameters
    .map((each) => standing(each, shared.parameters))
    .filter((parameter) => parameter.in === 'query');
  const collection = path.split('/')[1]!;
  const known = world.ids[collection] ?? [];
  // What exists is read, not deleted, or soon nothing would; keys that are rotated end.
  const isEnding = method === 'DELETE' || path.endsWith('/rotate');
  const endsItsCaller = method === 'DELETE' && !path.includes('{');
  const id = fc.oneof(
    { weight: isEnding ? 0 : 8, arbitrary: known.length === 0 ? fc.constant('x') : fc.constantFrom(...known) },
    {
      weight: 2,
      arbitrary: fc
        .constantFrom(...HOSTILE)
        .map((value) => latin1(encodeURIComponent(String(value).toWellFormed().slice(0, 200)))),
    },
    { weight: 1, arbitrary: fc.constantFrom('%', '%ff', '..%2f', '%2e%2e', '%00') },
  );
  const values = fc.record(
    Object.fromEntries(query.map(({ name, schema }) => [name, reusing(valuesOf(schema, schemas), name, world)])),
    { requiredKeys: [] },
  );
  const content = Object.entries(requestBody === undefined ? {} : standing(requestBody, shared.requestBodies).content);
  const body =
    content.length === 0
      ? fc.option(fc.constant({ type: 'application/json', bytes: Buffer.from('{}') }), { freq: 20 })
      : fc.oneof(...content.map(([type, { schema }]) => bodyOf(type, schema, schemas, world)));
  return fc
    .record({
      id,
      values,
      body,
      key: fc.oneof(
        // What ends without a name ends whoever asks: nobody does.
        { weight: endsItsCaller ? 0 : 9, arbitrary: fc.constantFrom(...world.keys.map((key) => `Bearer ${key}`)) },
        {
          weight: 1,
          arbitrary: fc.constantFrom(
            '',
            'Bearer',
            'Bearer x',
            'Basic eDp5',
            `Bearer svc_agent_sk_${'A'.repeat(24)}`,
            `Bearer ${'y'.repeat(3_000)}`,
          ),
        },
      ),
      nonce: fc.oneof(
        { weight: 12, arbitrary: fc.uuid() },
        { weight: 1, arbitrary: fc.constantFrom('', 'short', 'nonce-0001', 'ü'.repeat(20)) },
      ),
      extra: fc.dictionary(
        fc.constantFrom(
          'accept',
          'prefer',
          'if-none-match',
          'last-event-id',
          'svc-api-version',
          'content-encoding',
          'svc-idempotency-key',
          'cookie',
          'x-forwarded-for',
        ),
        headerText,
        { maxKeys: 1 },
      ),
      hasExtra: fc.integer({ min: 0, max: 5 }),
    })
    .map(({ id: given, values: parameters, body: sent, key, nonce, extra, hasExtra }) => {
      const pairs = Object.entries(parameters).flatMap(([name, value]) =>
        Array.isArray(value) ? [[name, value.map(inAddress).join(',')]] : [[name, inAddress(value)]],
      );
      const search = new URLSearchParams(pairs.map(([name, value]) => [name!, value!.toWellFormed()])).toString();
      return {
        method,
        path: `/v1${path.replace(/\{\w+\}/, () => given)}${search === '' ? '' : `?${search}`}`,
        // A run that is waited for would wait for its time to be up.
        headers: {
          ...(key === '' ? {} : { authorization: key }),
          ...(method === 'GET' || nonce === '' ? {} : { 'x-nonce': nonce }),
          prefer: 'wait=0',
          ...(sent === null ? {} : { 'content-type': sent.type }),
          ...(hasExtra === 0 ? extra : {}),
        },
        body: sent?.bytes ?? null,
      };
    });
}

/** Members and parameters that name things mostly name things that exist. */
function reusing(values: fc.Arbitrary<unknown>, name: string, world: World): fc.Arbitrary<unknown> {
  const known =
    name === 'data_source_id' ? world.ids['data-sources'] : name === 'agent_id' ? world.ids['agents'] : undefined;
  return known === undefined || known.length === 0
    ? values
    : fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...known) }, { weight: 1, arbitrary: values });
}

const CSV = [
  'user_id,timestamp,channel,cost\nu1,2026-01-05T10:00:00Z,email,1\n',
  'user_id,timestamp\n',
  'a,b\n1,2\n',
  '"',
  '\ufeffuser_id,timestamp,channel\n',
  'user_id,timestamp,channel,cost\nu1,never,"x,1\n',
];

/** Objects without a prototype have no text of their own. */
function formText(member: unknown): string {
  return typeof member === 'object' ? JSON.stringify(member) : String(member);
}

function bodyOf(
  type: string,
  schema: JsonSchema,
  schemas: OpenApi['components']['schemas'],
  world: World,
): fc.Arbitrary<{ type: string; bytes: Buffer }> {
  if (type === 'application/x-www-form-urlencoded')
    return valuesOf(schema, schemas).map((value) => ({
      type,
      bytes: Buffer.from(
        new URLSearchParams(
          Object.entries(Object(value) as object).map(([name, member]) => [name, formText(member).toWellFormed()]),
        ).toString(),
      ),
    }));
  if (type !== 'application/json')
    return fc
      .oneof(
        fc.constantFrom(...CSV).map((text) => Buffer.from(text)),
        fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
      )
      .map((bytes) => ({ type: type === 'multipart/form-data' ? `${type}; boundary=b` : type, bytes }));
  const json = valuesOf(schema, schemas).chain((value) =>
    isObject(value) && 'data_source_id' in value
      ? reusing(fc.constant(value['data_source_id']), 'data_source_id', world).map((id) => ({
          ...value,
          data_source_id: id,
        }))
      : fc.constant(value),
  );
  return fc
    .tuple(
      json.map((value) => JSON.stringify(value) ?? ''),
      fc.integer({ min: 0, max: 60 }),
      fc.nat(),
    )
    .map(([text, fault, place]) => ({
      type: fault === 60 ? 'text/plain' : 'application/json',
      bytes: spoiled(text, fault, place),
    }));
}

/** One body in six is not valid JSON, each in its own way. */
function spoiled(text: string, fault: number, place: number): Buffer {
  const at = text.length === 0 ? 0 : place % text.length;
  switch (fault) {
    case 0:
      return Buffer.from(text.slice(0, at));
    case 1:
      return Buffer.from(`\ufeff${text}`);
    case 2:
      return Buffer.concat([Buffer.from(text.slice(0, at)), Buffer.of(0xff), Buffer.from(text.slice(at))]);
    case 3:
      return Buffer.from(text.replace('{', '{"model":1,"model":2,'));
    case 4:
      return Buffer.from(text.replace(/"[^"]*"$/, '"\\ud800"'));
    case 5:
      return Buffer.from(text.replace(/\d+/, '1e999'));
    case 6:
      return Buffer.from(`${'['.repeat(10_000)}${']'.repeat(10_000)}`);
    case 7:
      return Buffer.from(text.replace(/:/, ':'.repeat(2)));
    case 8:
      return Buffer.from(text.slice(0, at) + text.slice(at + 1));
    case 9:
      return Buffer.from(text.replace(/\d+/, '9'.repeat(400)));
    default:
      return Buffer.from(text);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
