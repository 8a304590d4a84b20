import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSchema, print } from 'graphql';
import { loadNamedDocuments } from '../../gateway/named-documents.ts';
import { composeSupergraph } from '../../gateway/supergraph.ts';

describe('named documents', () => {
  const schema = buildSchema('type Query { node: Node } type Node { id: ID! child: Node }');
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'documents-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const write = (files: Record<string, string>) =>
    Object.entries(files).forEach(([name, text]) => writeFileSync(join(folder, name), text));

  test('bring the fragments that they need, from any file, and no others', () => {
    write({
      'a.graphql': 'query A { node { ...Whole } } query B { node { id } }',
      'b.graphql': 'fragment Whole on Node { id child { ...Part } }',
      'c.graphql': 'fragment Part on Node { id } fragment Unused on Node { id }',
      'notes.txt': 'not GraphQL',
    });
    const documents = loadNamedDocuments(folder, schema);
    expect([...documents.keys()]).toEqual(['A', 'B']);
    expect(documents.get('A')!.document.definitions).toHaveLength(3);
    expect(documents.get('A')!.text).toBe(print(documents.get('A')!.document));
    expect(documents.get('B')!.document.definitions).toHaveLength(1);
  });

  test('that the graph cannot answer are named by file and field, all at once', () => {
    write({ 'a.graphql': 'query A { node { ...Part\n colour } }', 'b.graphql': 'fragment Part on Node {\n  size\n}' });
    expect(() => loadNamedDocuments(folder, schema)).toThrow(
      expect.objectContaining({
        name: 'NamedDocumentsError',
        message: expect.stringContaining(
          'a.graphql:2:2 Cannot query field "colour" on type "Node".\n' +
            'b.graphql:2:3 Cannot query field "size" on type "Node".',
        ),
      }),
    );
  });

  test.each([
    ['that lack a fragment', 'query A { node { ...Missing } }', /a\.graphql:1:21 Unknown fragment "Missing"/],
    ['that do not parse', 'query A {', /a\.graphql:1:10 Syntax Error/],
  ])('%s are named too', (_what, text, message) => {
    write({ 'a.graphql': text });
    expect(() => loadNamedDocuments(folder, schema)).toThrow(message);
  });
});

describe('composition', () => {
  const link = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key"])';

  test('says every reason on a line of its own', () => {
    const subgraph = (name: string, type: string) => ({
      name,
      url: `http://${name}/`,
      sdl:
        `${link} type Query { ${name}: Thing } type Thing @key(fields: "id") { id: ID! size: ${type} weight: ` +
        `${type} }`,
    });
    const attempt = () => composeSupergraph([subgraph('one', 'Int'), subgraph('two', 'String')]);
    expect(attempt).toThrow(expect.objectContaining({ name: 'CompositionError' }));
    try {
      attempt();
    } catch (error) {
      const lines = (error as Error).message.split('\n');
      expect(lines.some((line) => line.includes('Thing.size'))).toBe(true);
      expect(lines.some((line) => line.includes('Thing.weight'))).toBe(true);
    }
  });
});
