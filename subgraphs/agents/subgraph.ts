import { buildSubgraph, type Subgraph } from '../../platform/graph/subgraph-schema.ts';
import { AuditResolver, type AuditServices } from './audit/audit-resolver.ts';
import { KeyResolver } from './keys/key-resolver.ts';
import type { KeyServices } from './keys/key-services.ts';
import { Agent } from './registry/agent.ts';
import { AgentResolver, type RegistryServices } from './registry/agent-resolver.ts';

/** Entities that the agents subgraph keeps in PostgreSQL. */
export const agentsEntities = [Agent];

/** The agents subgraph: the registry of AI agents and their keys, and the audit log. */
export function agentsSubgraph(services: RegistryServices & KeyServices & AuditServices): Promise<Subgraph> {
  const agents = new AgentResolver(services);
  return buildSubgraph({
    name: 'agents',
    resolvers: [agents, new KeyResolver(services), new AuditResolver(services)],
    references: { Agent: (reference, context) => agents.resolveReference(reference, context) },
  });
}
