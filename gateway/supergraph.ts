import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';

/** A subgraph as composition sees it. `url` ends up in the supergraph's text only. */
export interface SubgraphDefinition {
  readonly name: string;
  readonly sdl: string;
  readonly url: string;
}

/** The subgraphs do not make one graph. The message has one line per reason. */
export class CompositionError extends Error {
  override readonly name = 'CompositionError';
  readonly code = 'composition_failed';
}

/** The latest that was composed: it takes half a second of processor time, and comes out the same for the same subgraphs. */
let latest = { subgraphs: '', supergraph: '' };

/**
 * The supergraph's SDL (Apollo Federation 2, composition).
 * @throws CompositionError
 */
export function composeSupergraph(subgraphs: readonly SubgraphDefinition[]): string {
  const asked = JSON.stringify(subgraphs.map(({ name, url, sdl }) => [name, url, sdl]));
  if (latest.subgraphs !== asked) latest = { subgraphs: asked, supergraph: compose(subgraphs) };
  return latest.supergraph;
}

function compose(subgraphs: readonly SubgraphDefinition[]): string {
  const composed = composeServices(subgraphs.map(({ name, url, sdl }) => ({ name, url, typeDefs: parse(sdl) })));
  if (composed.errors !== undefined) throw new CompositionError(composed.errors.map((error) => error.message.replaceAll(/\s*\n\s*/g, ' ')).join('\n'));
  return composed.supergraphSdl;
}
