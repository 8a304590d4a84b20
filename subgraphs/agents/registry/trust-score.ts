import type { SqlEntityManager } from '../../../platform/postgres/database.ts';
import type { AgentScores } from '../../../services/identity/keys/key-services.ts';
import { SCOPES, type Scope } from '../../../schema/principal.ts';

/** What each scope that was not asked for adds, unless `TRUST_NARROW_SCOPE_BONUS` says otherwise. */
export const NARROW_SCOPE_BONUS = 0.01;
const NARROW_SCOPE_MOST = 0.05;
const ROTATION_BONUS = 0.05;

/** Four decimals, as ratios are served; 1 is the most. */
const RAISED = `least(1, round((trust_score + ?)::numeric, 4))`;

/** The agent's score as it stands. */
async function trustScoreOf(em: SqlEntityManager, agentId: string): Promise<number> {
  const [row] = await em.execute<[{ trust_score: number }]>(`select trust_score from agents.agents where id = ?`, [
    agentId,
  ]);
  return row.trust_score;
}

/** Rewards an agent, once, for asking for less than it could have: so much for each scope left out, 0.05 at most. */
async function rewardNarrowScopes(
  em: SqlEntityManager,
  agentId: string,
  asked: readonly Scope[],
  bonusPerScope: number,
): Promise<void> {
  const bonus = Math.min(NARROW_SCOPE_MOST, (SCOPES.length - new Set(asked).size) * bonusPerScope);
  if (bonus <= 0) return;
  await em.execute(
    `update agents.agents set trust_score = ${RAISED}, narrow_scopes_rewarded_at = auth.clock() where id = ? and ` +
      `narrow_scopes_rewarded_at is null`,
    [bonus, agentId],
  );
}

/** Rewards an agent for rotating a key: 0.05, once in a calendar quarter (UTC). */
async function rewardRotation(em: SqlEntityManager, agentId: string): Promise<void> {
  await em.execute(
    `update agents.agents set trust_score = ${RAISED}, rotation_rewarded_at = auth.clock()
     where id = ? and (rotation_rewarded_at is null
       or rotation_rewarded_at < date_trunc('quarter', auth.clock(), 'UTC'))`,
    [ROTATION_BONUS, agentId],
  );
}

/** What keys ask of the registry. @param bonusPerScope for each scope left out */
export function agentScores(bonusPerScope: number): AgentScores {
  return {
    trustScoreOf,
    rewardRotation,
    rewardNarrowScopes: (em, agentId, asked) => rewardNarrowScopes(em, agentId, asked, bonusPerScope),
  };
}
