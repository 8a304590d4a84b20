import { createClient } from 'graphql-ws';
import { parse } from 'graphql';
import { WebSocket } from 'ws';
import { assertSoundInput } from '../../gateway/operation-input.ts';
import { post, startToyGateway, type ToyGateway } from './toy-gateway.ts';

const QUERY = 'query ($id: ID!) { author(id: $id) { id } }';

describe('text that cannot be stored', () => {
  test.each([
    ['a variable', '{ a }', { id: 'a\0b' }],
    ['a variable deep inside', '{ a }', { input: { records: [{ name: ['x', 'a\0b'] }] } }],
    ['the name of a member', '{ a }', { input: { 'a\0b': 1 } }],
    ['half of a surrogate pair', '{ a }', { id: '\ud83d' }],
    ['a literal', '{ a(id: "a\\u0000b") }', {}],
    ['a literal inside a list', '{ a(input: { ids: ["x", "a\\u0000b"] }) }', {}],
  ])('is found in %s', (_where, source, variables) => {
    expect(() => assertSoundInput(parse(source), variables)).toThrow(/NUL character|surrogate pair/);
  });

  test('is nothing that people write', () => {
    expect(() =>
      assertSoundInput(parse('{ a(id: "😀\\n") }'), { id: 'ñ 😀 \u0001 مرحبا', n: 1, none: null, list: [true] }),
    ).not.toThrow();
  });

  describe('is refused before any subgraph is asked', () => {
    let toy: ToyGateway;
    beforeAll(async () => {
      toy = await startToyGateway('in process');
    });
    afterAll(() => toy.close());

    test('over HTTP', async () => {
      const { status, body } = await post(toy.url, { query: QUERY, variables: { id: 'a\0b' } });
      expect(status).toBe(400);
      expect(body).toMatchObject({
        errors: [{ extensions: { code: 'INVALID_REQUEST', http_status: 400, reason: 'malformed_json' } }],
      });
      expect(toy.reads).toEqual([]);
    });

    test('over WebSocket, subscriptions included', async () => {
      const client = createClient({
        url: toy.url.replace('http', 'ws'),
        webSocketImpl: WebSocket,
        connectionParams: { authorization: 'Bearer good' },
        retryAttempts: 0,
      });
      const refusal = (query: string) =>
        new Promise<unknown>((resolve, reject) =>
          client.subscribe(
            { query, variables: { id: 'a\0b', shop: 'a\0b' } },
            {
              next: ({ errors }) => (errors === undefined ? undefined : resolve(errors)),
              error: resolve,
              complete: () => reject(new Error('completed')),
            },
          ),
        );
      for (const query of [QUERY, 'subscription ($shop: String!) { bookSold(shop: $shop) { sequence } }']) {
        expect(await refusal(query)).toMatchObject([{ extensions: { reason: 'unstorable_text' } }]);
      }
      await client.dispose();
    });
  });
});

/** `depth` lists inside one another. */
function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

describe('variables', () => {
  test('may be nested as deep as the body of a REST request, and no deeper', () => {
    expect(() => assertSoundInput(parse('{ a }'), { value: nested(64) })).not.toThrow();
    expect(() => assertSoundInput(parse('{ a }'), { value: nested(65) })).toThrow('nested deeper than 64 levels');
    expect(() => assertSoundInput(parse('{ a }'), { value: nested(300_000) })).toThrow('nested deeper than 64 levels');
  });
});
