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

/**
 * The supergraph's SDL (Apollo Federation 2, composition).
 * @throws CompositionError
 */
export function composeSupergraph(subgraphs: readonly SubgraphDefinition[]): string {
  const composed = composeServices(subgraphs.map(({ name, url, sdl }) => ({ name, url, typeDefs: parse(sdl) })));
  if (composed.errors !== undefined) throw new CompositionError(composed.errors.map((error) => error.message.replaceAll(/\s*\n\s*/g, ' ')).join('\n'));
  return composed.supergraphSdl;
}
