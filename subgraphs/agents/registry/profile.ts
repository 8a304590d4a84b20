import type { Principal } from '../../../platform/auth/principal.ts';
import { homeOf } from '../../../platform/auth/workspace-store.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import type { Agent } from './agent.ts';
import type { PublicFace } from './public-face.ts';

/** What an agent may know of itself. */
export interface Profile extends PublicFace {
  readonly operatorId?: string | null | undefined;
  readonly operatorEmail?: string | null | undefined;
  readonly referralCode: string;
  readonly callbackUrl?: string | null | undefined;
  readonly redirectUris: readonly string[];
  readonly isPublic: boolean;
  readonly status: Agent['status'];
}

/** The calling agent, wherever it acts; null for a key without one, and for a token that another account granted. */
export async function findProfile(database: Database, principal: Principal): Promise<Profile | null> {
  const { agentId } = principal;
  if (agentId === null) return null;
  const [row] = await database.askAs<Omit<Profile, 'createdAt'> & { readonly createdAt: string }>(homeOf(principal), {
    name: 'agents.profile',
    text: `select id, name, operator_id as "operatorId", operator_email as "operatorEmail", capabilities, referral_code as "referralCode", callback_url as "callbackUrl",
                  redirect_uris as "redirectUris", is_public as "isPublic", tier, trust_score::float8 as "trustScore", status, to_jsonb(created_at) #>> '{}' as "createdAt"
           from agents.agents where id = $1`,
    values: [agentId],
  });
  return row === undefined ? null : { ...row, createdAt: new Date(row.createdAt) };
}
