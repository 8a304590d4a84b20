import type { Environment, Principal } from '../../../schema/principal.ts';
import { rateLimitOf, type RateLimit, type Standing } from '../../../services/identity/limits/rate-limits.ts';
import { homeOf } from '../../../services/identity/workspaces/workspace-store.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import type { Agent, Presentation } from './agent.ts';
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
  /** What its account is held to. */
  readonly rateLimit: RateLimit;
}

/** The calling agent, wherever it acts; null for a key without one, and for a token that another account granted. */
export async function ownProfile(database: Database, principal: Principal): Promise<Profile | null> {
  return principal.agentId === null
    ? null
    : findProfile(database, homeOf(principal), principal.agentId, principal.environment);
}

/** An agent of this account, as one environment shows it; null where it is none. */
export async function findProfile(
  database: Database,
  accountId: string,
  agentId: string,
  environment: Environment,
): Promise<Profile | null> {
  const [row] = await database.askAs<
    Omit<Profile, 'createdAt' | 'rateLimit'> &
      Standing & { readonly createdAt: string; readonly inSandbox: Partial<Presentation> | null }
  >(accountId, {
    name: 'agents.profile',
    text: `select agent.id, agent.name, agent.operator_id as "operatorId", agent.operator_email as "operatorEmail",
      capabilities, referral_code as "referralCode", callback_url as "callbackUrl",
                  redirect_uris as "redirectUris", is_public as "isPublic", sandbox_presentation as "inSandbox",
                    agent.tier, trust_score::float8 as "trustScore", status,
                      to_jsonb(agent.created_at) #>> '{}' as "createdAt",
                  account.plan, account.requests_per_minute as "agreedPerMinute",
                    account.requests_per_day as "agreedPerDay"
           from agents.agents agent join auth.accounts account using (account_id) where agent.id = $1`,
    values: [agentId],
  });
  if (row === undefined) return null;
  const { inSandbox, ...profile } = row;
  return {
    ...profile,
    ...(environment === 'sandbox' ? inSandbox : {}),
    createdAt: new Date(row.createdAt),
    rateLimit: rateLimitOf(row),
  };
}
