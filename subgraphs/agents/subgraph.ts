import { buildSubgraph, type Subgraph } from '../../platform/graph/subgraph-schema.ts';
import { KeyResolver } from './keys/key-resolver.ts';
import type { KeyServices } from './keys/key-services.ts';
import { Agent } from './registry/agent.ts';
import { AgentResolver, type RegistryServices } from './registry/agent-resolver.ts';

/** Entities that the agents subgraph keeps in PostgreSQL. */
export const agentsEntities = [Agent];

/** The agents subgraph: the registry of AI agents and their keys. */
export function agentsSubgraph(services: RegistryServices & KeyServices): Promise<Subgraph> {
  const agents = new AgentResolver(services);
  return buildSubgraph({
    name: 'agents',
    resolvers: [agents, new KeyResolver(services)],
    references: { Agent: (reference, context) => agents.resolveReference(reference, context) },
  });
}
