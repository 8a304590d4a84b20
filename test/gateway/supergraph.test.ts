import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { composeSupergraph, supergraphOf, type SubgraphDefinition } from '../../gateway/supergraph.ts';

const FOLDER = new URL('../../schema/subgraphs/', import.meta.url);
const subgraphsAt = (urlOf: (name: string) => string): SubgraphDefinition[] =>
  readdirSync(FOLDER).map((file) => ({
    name: basename(file, '.graphql'),
    url: urlOf(basename(file, '.graphql')),
    sdl: readFileSync(new URL(file, FOLDER), 'utf8'),
  }));

describe('the supergraph that is printed', () => {
  test.each([
    ['in this process', (name: string) => `http://${name}.invalid/`],
    ['behind addresses of their own', (name: string) => `http://127.0.0.1:4001/${name}?one=$&two=$1`],
  ])('is what composition makes of subgraphs %s', (_where, urlOf) => {
    expect(supergraphOf(subgraphsAt(urlOf)).trimEnd()).toBe(composeSupergraph(subgraphsAt(urlOf)).trimEnd());
  });

  test('is not taken for subgraphs that differ from the printed ones, or are fewer', () => {
    const [first, ...others] = subgraphsAt((name) => `http://${name}.invalid/`);
    const changed = [{ ...first!, sdl: `${first!.sdl}\nextend type Query { added: Int }\n` }, ...others];
    expect(supergraphOf(changed)).toContain('added: Int');
    expect(supergraphOf([first!])).not.toMatch(/@join__graph\(name: "(?!agents)/);
  });
});
