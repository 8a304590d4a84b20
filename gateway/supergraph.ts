import { readdirSync, readFileSync } from 'node:fs';
import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';

/** A subgraph as composition sees it. `url` ends up in the supergraph's text only. */
export interface SubgraphDefinition {
  readonly name: string;
  readonly sdl: string;
  readonly url: string;
}

/** Where processes/print-schema.ts prints the subgraphs and what composition makes of them. */
const PRINTED = new URL('../schema/', import.meta.url);

/** The subgraphs do not make one graph. The message has one line per reason. */
export class CompositionError extends Error {
  override readonly name = 'CompositionError';
  readonly code = 'composition_failed';
}

/**
 * The supergraph's SDL (Apollo Federation 2, composition).
 * @throws CompositionError
 */
export function composeSupergraph(subgraphs: readonly SubgraphDefinition[]): string {
  const composed = composeServices(subgraphs.map(({ name, url, sdl }) => ({ name, url, typeDefs: parse(sdl) })));
  if (composed.errors !== undefined)
    throw new CompositionError(composed.errors.map((error) => error.message.replaceAll(/\s*\n\s*/g, ' ')).join('\n'));
  return composed.supergraphSdl;
}

/**
 * The same text without composing where the subgraphs are those that were printed with it: half a second of a start.
 * @throws CompositionError
 */
export function supergraphOf(subgraphs: readonly SubgraphDefinition[]): string {
  return arePrinted(subgraphs) ? printedSupergraph(subgraphs) : composeSupergraph(subgraphs);
}

function arePrinted(subgraphs: readonly SubgraphDefinition[]): boolean {
  const printed = new Map(
    readdirSync(new URL('subgraphs/', PRINTED)).map((file) => [
      file,
      readFileSync(new URL(`subgraphs/${file}`, PRINTED), 'utf8'),
    ]),
  );
  return (
    subgraphs.length === printed.size && subgraphs.every(({ name, sdl }) => printed.get(`${name}.graphql`) === sdl)
  );
}

/** With the addresses of these in place of those that were printed. */
function printedSupergraph(subgraphs: readonly SubgraphDefinition[]): string {
  const urls = new Map(subgraphs.map(({ name, url }) => [name, url]));
  const text = readFileSync(new URL('supergraph.graphql', PRINTED), 'utf8');
  return text.replaceAll(
    /(@join__graph\(name: "(\w+)", url: )"[^"]*"/g,
    (_whole, start: string, name: string) => `${start}${JSON.stringify(urls.get(name))}`,
  );
}
