import type { Tier } from '../../../schema/value-lists.ts';
import type { Uuid } from '../../../platform/identifiers.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import type { Agent, Capability } from './agent.ts';

/** What anybody may know of an agent (decision table of the contract, agents). */
export type PublicFace = Pick<Agent, 'id' | 'name' | 'trustScore' | 'createdAt'> & {
  readonly capabilities: Capability[];
  readonly tier: Tier;
};

/** The public face of an agent of any account; null where there is none. */
export async function findPublicFace(database: Database, id: Uuid): Promise<PublicFace | null> {
  const [row] = await database.ask<{
    id: Uuid;
    name: string;
    capabilities: Capability[];
    tier: Tier;
    trust_score: number;
    created_at: string;
  }>({ name: 'agents.public_face', text: 'select * from agents.public_face($1)', values: [id] });
  return row === undefined
    ? null
    : {
        id: row.id,
        name: row.name,
        capabilities: row.capabilities,
        tier: row.tier,
        trustScore: Number(row.trust_score),
        createdAt: new Date(row.created_at),
      };
}
