import type { z } from 'zod';
import { ACTIONS } from '../../schema/actions.ts';
import { CONTRACT, matchRoute, pathsOf } from '../../rest-adapter/contract.ts';
import type { Operation } from '../../rest-adapter/operation.ts';
import { errorBody } from '../../rest-adapter/representations/error.ts';
import { stepsOf } from '../../rest-adapter/pipeline.ts';
import { graphClient } from './graph.ts';
import { openDoor, type TestDoor } from './door.ts';
import { shop } from './shop.ts';

const rows = CONTRACT.map((operation) => [operation.id, operation] as const);

/** A path of the row with its example in place of the variables. */
function examplePath(operation: Operation, path = operation.path, replacement?: string): string {
  const filled = path.replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => replacement ?? String(operation.example.path?.[name]),
  );
  const query = new URLSearchParams(operation.example.query);
  return `/v1${filled}${query.size === 0 ? '' : `?${query}`}`;
}

const fits = (schema: z.ZodType | undefined, value: unknown) => schema === undefined || schema.parse(value) !== null;
const hasNonce = (operation: Operation) => stepsOf(operation.kind).some(({ name }) => name === 'consume-nonce');

describe.each(rows)('row %s', (_id, operation) => {
  test('is complete', () => {
    const client = graphClient(shop());
    if (operation.document !== null) expect(client.document(operation.document)).toBeDefined();
    else expect(['publicRead', 'upload', 'oauth']).toContain(operation.kind);
    if (operation.action === null) expect(operation.kind).toMatch(/^public|^oauth$/);
    else expect(Object.keys(ACTIONS)).toContain(operation.action);
    expect(operation.summary).not.toBe('');
    expect(operation.description).not.toBe('');
    expect(operation.job !== undefined).toBe(operation.kind === 'job' || operation.kind === 'stream');
    const variables = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    expect(Object.keys(operation.pathSchema?.shape ?? {})).toEqual(variables);
  });

  test('has an example that fits its own schemas', () => {
    const { example, success } = operation;
    expect(fits(operation.pathSchema, example.path ?? {})).toBe(true);
    expect(fits(operation.querySchema, example.query ?? {})).toBe(true);
    expect(fits(operation.headerSchema, example.headers ?? {})).toBe(true);
    if (operation.bodySchema !== undefined) expect(fits(operation.bodySchema, example.body)).toBe(true);
    // Parsing drops undeclared members, so equality says that all are declared.
    if (success.schema !== null) expect(success.schema.parse(example.response)).toEqual(example.response);
    else expect(example.response).toBeUndefined();
  });

  test('each of its paths leads to it', () => {
    for (const path of pathsOf(operation)) {
      const route = matchRoute(operation.method, path.replaceAll(/\{\w+\}/g, 'x_1'));
      expect(route.operation?.id).toBe(operation.id);
    }
  });
});

describe('over HTTP', () => {
  let door: TestDoor;
  beforeAll(async () => {
    door = await openDoor();
  });
  afterAll(() => door[Symbol.asyncDispose]());

  const send = (operation: Operation, headers: Record<string, string | null> = {}, path = operation.path) =>
    door.call(operation.method, examplePath(operation, path), {
      body: operation.example.body,
      headers: { ...operation.example.headers, ...headers },
    });

  test.each(rows)('%s answers its example as declared', async (_id, operation) => {
    for (const path of pathsOf(operation)) {
      const response = await send(operation, {}, path);
      expect(response.status).toBe(operation.success.status);
      expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9A-Za-z]{22}$/);
      expect(response.headers.get('svc-api-version')).toBe('2026-02-01');
      expect(response.headers.get('cache-control')).toContain('no-store');
      expect(response.headers.get('svc-hrei-score')).toMatch(/^\d\.\d\d$/);
      expect(response.headers.get('svc-hrei-risk')).toBe('minimal');
      if (operation.success.schema === null) {
        await response.text();
        continue;
      }
      const body: unknown = await response.json();
      expect(operation.success.schema.parse(body)).toEqual(body);
      expect(Object.keys(body as object)).toContain('trust');
    }
  });

  test.each(rows.filter(([, { action }]) => action !== null))(
    '%s refuses a request without a key',
    async (_id, operation) => {
      const response = await send(operation, { authorization: null });
      expect(response.status).toBe(401);
      expect(response.headers.get('www-authenticate')).toContain(
        'resource_metadata="https://api.example/.well-known/oauth-protected-resource"',
      );
      expect(errorBody.parse(await response.json()).error.type).toBe('invalid_api_key');
    },
  );

  test.each(rows.filter(([, { action }]) => action !== null && ACTIONS[action].scope !== null))(
    '%s refuses a key without the scope',
    async (_id, operation) => {
      const response = await send(operation, { authorization: 'Bearer none' });
      expect(response.status).toBe(403);
      expect(response.headers.get('www-authenticate')).toContain(`scope="${ACTIONS[operation.action!].scope}"`);
      expect(errorBody.parse(await response.json()).error.type).toBe('insufficient_permissions');
    },
  );

  test.each(rows.filter(([, operation]) => hasNonce(operation)))(
    '%s refuses a request without a nonce, and a nonce that was used',
    async (_id, operation) => {
      const missing = await send(operation, { 'x-nonce': null });
      expect(missing.status).toBe(400);
      expect(errorBody.parse(await missing.json()).error).toMatchObject({
        type: 'missing_nonce',
        param: 'header:X-Nonce',
      });
      const nonce = `nonce-of-${operation.id}`;
      await (await send(operation, { 'x-nonce': nonce })).text();
      const repeated = await send(operation, { 'x-nonce': nonce });
      expect(repeated.status).toBe(409);
      expect(errorBody.parse(await repeated.json()).error.type).toBe('duplicate_nonce');
    },
  );

  test.each(rows.filter(([, operation]) => !hasNonce(operation)))('%s needs no nonce', async (_id, operation) => {
    const response = await send(operation, { 'x-nonce': null });
    expect(response.status).toBe(operation.success.status);
    await response.text();
  });

  test('state-changing methods are exactly those with a nonce', () => {
    for (const operation of CONTRACT) expect(hasNonce(operation)).toBe(operation.method !== 'GET');
  });

  test.each(rows.filter(([, operation]) => operation.path.includes('{id}') && operation.kind !== 'upload'))(
    '%s answers 404 for what is not there',
    async (_id, operation) => {
      const response = await door.call(operation.method, examplePath(operation, operation.path, 'foreign'), {
        body: operation.example.body,
      });
      expect(response.status).toBe(404);
      expect(errorBody.parse(await response.json()).error.type).toBe('resource_not_found');
      expect(operation.problems).toContain('resource_not_found');
    },
  );
});
