import * as fc from 'fast-check';
import { CONTRACT, pathsOf } from '../../rest-adapter/contract.ts';
import { problemsOf } from '../../rest-adapter/pipeline.ts';
import { PROBLEM_TYPES } from '../../schema/problems.ts';
import { errorBody } from '../../rest-adapter/representations/error.ts';
import { undocumentedHeaders } from './documented-headers.ts';
import { openDoor, type TestDoor } from './door.ts';

const targets = CONTRACT.flatMap((operation) =>
  pathsOf(operation).map((path) => ({ operation, path, [fc.toStringMethod]: () => `${operation.method} ${path}` })),
);
/** Clients take them out of a path before they send it (RFC 3986 §5.2.4), which makes it another one. */
const DOT_SEGMENTS = new Set(['.', '..']);

/** Statuses that the contract declares for a row. */
function declared({ operation }: (typeof targets)[number]): ReadonlySet<number> {
  const extra = operation.kind === 'stream' ? [204] : operation.isResource === true ? [304] : [];
  return new Set<number>([
    operation.success.status,
    ...(operation.badBodyStatus === undefined ? [] : [operation.badBodyStatus]),
    ...extra,
    ...[...problemsOf(operation.kind), ...operation.problems].map((type) => PROBLEM_TYPES[type].status),
  ]);
}

describe('whatever is sent', () => {
  let door: TestDoor;
  beforeAll(async () => {
    door = await openDoor({ resolvers: {}, config: { bodyTimeoutMs: 1000 } });
  });
  afterAll(() => door[Symbol.asyncDispose]());

  const check = async (target: (typeof targets)[number], response: Response) => {
    const text = await response.text();
    expect(declared(target)).toContain(response.status);
    expect(response.status).toBeLessThan(500);
    expect(undocumentedHeaders(target.operation, response)).toEqual([]);
    if (response.status >= 400)
      expect(errorBody.safeParse(JSON.parse(text))).toMatchObject({
        success: true,
        data: { error: { request_id: response.headers.get('x-request-id') } },
      });
    expect(text).not.toMatch(/node_modules|\.ts:\d+|at Object\./);
  };

  const target = fc.constantFrom(...targets);
  const id = fc.oneof(
    fc.constantFrom('ds_1', 'attr_done', 'attr_failed'),
    fc
      .string({ minLength: 1 })
      .filter((text) => !DOT_SEGMENTS.has(text))
      .map(encodeURIComponent),
    fc.constantFrom('%00', '%', '%ff', '..%2f', "'--"),
  );
  const filled = ({ path }: (typeof targets)[number], value: string) => `/v1${path.replace('{id}', value)}`;
  const wellFormed = fc.string({ unit: 'grapheme' });

  test('as JSON, the answer is declared, no 5xx, and every error in its structure', async () => {
    await fc.assert(
      fc.asyncProperty(target, id, fc.json(), async (where, value, body) => {
        const hasBody = where.operation.method !== 'GET';
        await check(
          where,
          await door.call(
            where.operation.method,
            filled(where, value),
            hasBody ? { body, headers: { 'content-type': 'application/json', prefer: 'wait=0' } } : {},
          ),
        );
      }),
      { numRuns: 400 },
    );
  });

  test('as a body that is nearly right', async () => {
    const replacement = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom<unknown>(null, [], {}, '', -1, Number.MAX_VALUE, '\0'),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...targets.filter(({ operation }) => operation.bodySchema !== undefined)),
        fc.integer({ min: 0, max: 9 }),
        replacement,
        async (where, place, changed) => {
          const body = structuredClone(where.operation.example.body) as Record<string, unknown>;
          const names = Object.keys(body);
          body[names[place % names.length]!] = changed;
          await check(
            where,
            await door.call(where.operation.method, filled(where, 'ds_1'), { body, headers: { prefer: 'wait=0' } }),
          );
        },
      ),
      { numRuns: 400 },
    );
  });

  test('as query and headers', async () => {
    const parameter = fc.constantFrom(
      'page',
      'per_page',
      'status',
      'model',
      'include',
      'created_after',
      'data_source_id',
      'stream',
      'last_event_id',
    );
    const header = fc.constantFrom(
      'prefer',
      'last-event-id',
      'if-none-match',
      'accept',
      'svc-api-version',
      'content-type',
    );
    const headerValue = fc.string({ unit: fc.constantFrom(...'abcz019 ,;=*/"-_.') });
    await fc.assert(
      fc.asyncProperty(
        target,
        fc.array(fc.tuple(parameter, wellFormed), { maxLength: 4 }),
        fc.dictionary(header, headerValue, { maxKeys: 2 }),
        async (where, query, headers) => {
          const { method } = where.operation;
          // A run that is waited for would wait for its time to be up.
          const options =
            method === 'GET'
              ? { headers }
              : { body: where.operation.example.body, headers: { ...headers, prefer: 'wait=0' } };
          await check(
            where,
            await door.call(method, `${filled(where, 'ds_1')}?${new URLSearchParams(query)}`, options),
          );
        },
      ),
      { numRuns: 400 },
    );
  });

  test('as bytes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...targets.filter(({ operation }) => operation.bodySchema !== undefined)),
        fc.uint8Array({ maxLength: 200 }),
        fc.constantFrom('application/json', 'text/csv', 'multipart/form-data; boundary=b', 'text/html'),
        async (where, body, contentType) => {
          await check(
            where,
            await door.call(where.operation.method, filled(where, 'ds_1'), {
              body,
              headers: { 'content-type': contentType, prefer: 'wait=0' },
            }),
          );
        },
      ),
      { numRuns: 200 },
    );
  });
});
