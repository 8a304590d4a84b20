import type { Region } from '../../schema/value-lists.ts';
import { WorkspaceStore } from '../../services/identity/workspaces/workspace-store.ts';
import { buildSubgraph, type Subgraph } from '../../platform/graph/subgraph-schema.ts';
import type { TierTable } from '../../services/identity/limits/tiers.ts';
import type { FeedServices } from '../../services/events/event-feed.ts';
import { AuditResolver, type AuditServices } from '../../services/audit/audit-resolver.ts';
import { eventResolver } from '../../services/events/event-resolver.ts';
import { KeyResolver } from '../../services/identity/keys/key-resolver.ts';
import type { KeyServices } from '../../services/identity/keys/key-services.ts';
import { ReferralResolver } from './referrals/referral-resolver.ts';
import { ReferralStandingResolver } from './referrals/referral-standing-resolver.ts';
import { tierChangeResolver } from './referrals/tier-change-resolver.ts';
import { Agent } from './registry/agent.ts';
import { CallTotalResolver } from './registry/call-total-resolver.ts';
import { AgentResolver, type AgentServices } from './registry/agent-resolver.ts';
import { findPublicFace } from './registry/public-face.ts';
import { WebhookResolver } from '../../services/webhooks/webhook-resolver.ts';
import type { WebhookServices } from '../../services/webhooks/webhook-services.ts';
import { WorkspaceResolver } from '../../services/identity/workspaces/workspace-resolver.ts';

/** Entities that the agents subgraph keeps in PostgreSQL. */
export const agentsEntities = [Agent];

export interface AgentsServices extends AgentServices, KeyServices, AuditServices, WebhookServices, FeedServices {
  /** The region that this deployment serves. */
  readonly region: Region;
  /** The table of tiers that this installation serves. */
  readonly tierTable: TierTable;
}

/**
 * The agents subgraph: the registry of AI agents, their keys, the workspaces they meet in, webhooks, the audit log, and
 * what happens to an account.
 */
export function agentsSubgraph(services: AgentsServices): Promise<Subgraph> {
  const { database } = services;
  const agents = new AgentResolver(services);
  const isAgent = async (id: Agent['id']): Promise<boolean> => (await findPublicFace(database, id)) !== null;
  const workspaces = new WorkspaceResolver({ ...services, workspaces: new WorkspaceStore(database), isAgent });
  return buildSubgraph({
    name: 'agents',
    resolvers: [
      agents,
      new CallTotalResolver(database),
      new ReferralStandingResolver(database, services.tierTable),
      new ReferralResolver(database, services.clock),
      new KeyResolver(services),
      new AuditResolver(services),
      new WebhookResolver(services),
      workspaces,
      eventResolver(services),
      tierChangeResolver(services, agents),
    ],
    references: {
      Agent: (reference, context) => agents.resolveReference(reference, context),
      Workspace: (reference, context) => workspaces.resolveReference(reference, context),
    },
  });
}
