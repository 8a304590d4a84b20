import type { SqlEntityManager } from '@mikro-orm/postgresql';
import { ProblemError } from '../../../schema/problems.ts';
import type { KEY_BONDS } from '../../../schema/value-lists.ts';
import { publicId, type Uuid } from '../../../platform/identifiers.ts';
import { credentialEnded } from './credential-standing.ts';
import type { Principal } from '../../../schema/principal.ts';

/**
 * What a key ends with besides its own end: the key that made it, or that was shown for the token that did, and the
 * grant of that token (the id of its family). Without a maker it stands by itself.
 */
export interface KeyBond {
  readonly makerId: Uuid | null;
  readonly grantId: Uuid | null;
}

/** Of keys that no other credential made: those of registrations, of first accounts, of the command line. */
export const UNBOUND: KeyBond = { makerId: null, grantId: null };

/** Which end of another ends it, as lists and the audit log tell it; null where none does. */
export function boundTo({ makerId, grantId }: KeyBond): (typeof KEY_BONDS)[number] | null {
  if (makerId === null) return null;
  return grantId === null ? 'key' : 'grant';
}

/** The bond of what a credential makes, how long that can live as things are, and from where it can be used. */
export interface MakersBond extends KeyBond {
  /** By now: every refresh of a grant moves it. Null where the bond has no end of its own. */
  readonly endsAt: Date | null;
  /** CIDR ranges of a bound credential; null for all addresses. */
  readonly allowedIps: readonly string[] | null;
}

interface BondRow {
  readonly maker_id: Uuid | null;
  readonly grant_id: Uuid | null;
  readonly ends_at: string | null;
  readonly allowed_ips: string[] | null;
}

/**
 * What keys end with that the holder of this credential makes: with its grant where it is a token; with itself where it
 * is a key that ends, by its own time or that of a rotation. A key without an end makes keys that stand by themselves.
 * @throws ProblemError `expired_api_key` for a credential that is gone
 */
export async function bondOf(em: SqlEntityManager, credentialId: string): Promise<MakersBond> {
  const [row] = await em.execute<BondRow[]>(
    `select maker_id, grant_id, to_jsonb(ends_at) #>> '{}' as ends_at,
            case when maker_id is not null then allowed_ips::text[] end as allowed_ips
     from auth.bond_of(?)`,
    [credentialId],
  );
  if (row === undefined) throw credentialEnded();
  const endsAt = row.ends_at === null ? null : new Date(row.ends_at);
  return { makerId: row.maker_id, grantId: row.grant_id, endsAt, allowedIps: row.allowed_ips };
}

const OUTLIVES =
  'This would outlive the key or token that you use, which ends. Use a key without an end, such as that of the agent.';

/**
 * For what lets somebody in, or sends something elsewhere, when the caller is gone.
 * @param param of what would outlive the caller
 * @throws ProblemError `insufficient_permissions` / `outlives_maker` for a token, and for a key that ends
 */
export async function assertNoEnd(em: SqlEntityManager, caller: Principal, param: string): Promise<void> {
  const { makerId } = await bondOf(em, caller.credentialId);
  if (makerId !== null) throw new ProblemError('insufficient_permissions', OUTLIVES, { code: 'outlives_maker', param });
}

/** Ids of an audit entry: it tells the number of all, and does not grow with it. */
const TOLD_KEYS = 100;

/** What the audit log tells of keys that ended with what made them. */
export interface EndedKeys {
  readonly count: number;
  /** Public ids of the first hundred. */
  readonly ids: readonly string[];
}

/**
 * The keys that this transaction ended with what made them; to be called behind the revocation, under the lock of the
 * account.
 * @param revoked the key that was revoked itself, where it was one
 */
export async function endedWith(em: SqlEntityManager, revoked: Uuid | null = null): Promise<EndedKeys> {
  const rows = await em.execute<{ id: Uuid }[]>(
    `select id from auth.api_keys
     where maker_id is not null and revoked_at = auth.clock() and id is distinct from ?::uuid order by id`,
    [revoked],
  );
  return { count: rows.length, ids: rows.slice(0, TOLD_KEYS).map(({ id }) => publicId('key', id)) };
}
