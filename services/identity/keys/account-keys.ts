import type { SqlEntityManager } from '@mikro-orm/postgresql';
import { ProblemError } from '../../../schema/problems.ts';
import type { KEY_STATUSES } from '../../../schema/value-lists.ts';
import { publicId, type Uuid } from '../../../platform/identifiers.ts';
import type { ApiKeyKind } from './api-key.ts';
import type { KeyBond } from './key-bond.ts';
import type { Environment, Scope } from '../../../schema/principal.ts';
import { Rows, type Page } from '../../../platform/graph/connection.ts';
import { newestFirst } from '../../../platform/postgres/newest-first.ts';

export type KeyStatus = (typeof KEY_STATUSES)[number];

/** A key as its account sees it: everything but the key. */
export interface ApiKeyRecord {
  readonly id: Uuid;
  readonly agentId: Uuid | null;
  readonly keyPairId: Uuid | null;
  readonly kind: ApiKeyKind;
  readonly name: string | null;
  readonly displayPrefix: string;
  readonly last4: string;
  readonly scopes: readonly Scope[];
  /** CIDR ranges; null lets every address in. */
  readonly allowedIps: readonly string[] | null;
  readonly apiVersion: string | null;
  readonly status: KeyStatus;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  /** With its makers at the latest, as things are. */
  readonly expiresAt: Date | null;
  /** The end that its maker named. */
  readonly ownExpiresAt: Date | null;
  readonly bond: KeyBond;
  readonly revokedAt: Date | null;
  readonly rotatedTo: Uuid | null;
  readonly graceEndsAt: Date | null;
}

type Moment = 'createdAt' | 'lastUsedAt' | 'expiresAt' | 'ownExpiresAt' | 'revokedAt' | 'graceEndsAt';
type Row = Omit<ApiKeyRecord, Moment | 'bond'> & KeyBond & Readonly<Record<Moment, string | null>>;

const moment = (column: string, name: Moment): string => `to_jsonb(${column}) #>> '{}' as "${name}"`;

const COLUMNS = `id, agent_id as "agentId", key_pair_id as "keyPairId", kind, name, display_prefix as "displayPrefix",
  last4, scopes,
  allowed_ips::text[] as "allowedIps", api_version as "apiVersion", rotated_to as "rotatedTo",
  maker_id as "makerId", grant_id as "grantId",
  case when revoked_at is not null then 'revoked'
       when least(expires_at, grace_ends_at) <= auth.clock() then 'expired'
       when grace_ends_at is not null then 'rotating'
       else 'active' end as status,
  ${moment('created_at', 'createdAt')}, ${moment('last_used_at', 'lastUsedAt')}, ${moment('expires_at', 'expiresAt')},
  ${moment('case when maker_id is null then expires_at else own_expires_at end', 'ownExpiresAt')},
  ${moment('revoked_at', 'revokedAt')}, ${moment('grace_ends_at', 'graceEndsAt')}`;

/**
 * The keys of one account, inside its tenant's transaction. A caller of the sandbox sees the test keys alone, so that
 * whoever holds one can neither read about nor end what runs on live keys.
 */
export class AccountKeys {
  readonly #em: SqlEntityManager;
  readonly #visible: string;

  constructor(em: SqlEntityManager, environment: Environment) {
    this.#em = em;
    this.#visible = environment === 'sandbox' ? `kind = 'svc_test_sk'` : 'true';
  }

  /** Newest first, ties by id. */
  async list(page: Page): Promise<Rows<ApiKeyRecord>> {
    const { condition, window } = newestFirst(page, { sql: 'auth.api_keys', values: [] });
    const found = await this.#select(`${condition.sql} ${window.sql}`, [...condition.values, ...window.values]);
    return Rows.of(found, page, ({ id }) => id);
  }

  async count(): Promise<number> {
    const [row] = await this.#em.execute<[{ count: string }]>(
      `select count(*) from auth.api_keys where ${this.#visible}`,
    );
    return Number(row.count);
  }

  /** @throws ProblemError `resource_not_found`, for a foreign key exactly as for an unknown one */
  async require(id: Uuid): Promise<ApiKeyRecord> {
    const [key] = await this.#select('id = ?', [id]);
    if (key === undefined) throw new ProblemError('resource_not_found', `There is no key ${publicId('key', id)}.`);
    return key;
  }

  /**
   * The agent's own key, `svc_agent_sk_…`: the newest, whatever its state; undefined where there is none to be seen.
   */
  async ofAgent(agentId: Uuid): Promise<ApiKeyRecord | undefined> {
    const [key] = await this.#select(
      `agent_id = ? and kind = 'svc_agent_sk' order by created_at desc, id desc limit 1`,
      [agentId],
    );
    return key;
  }

  /**
   * The key that a rotation of `named` replaces: the newest of its line that works.
   * @throws ProblemError `validation_error` / `key_ended` when nothing is left to rotate
   */
  async current(named: ApiKeyRecord): Promise<ApiKeyRecord> {
    if (!works(named))
      throw new ProblemError(
        'validation_error',
        `The key ${publicId('key', named.id)} is ${named.status} and cannot be rotated. Create another pair with ` +
          `POST /v1/keys.`,
        { code: 'key_ended', param: 'path:id' },
      );
    // To the very end of the line: time stands still from the start of a transaction on, so that for one that had to
    // wait, a key in the middle may have ended while the named one, which ended later, still works.
    let newest = named;
    for (let next = named.rotatedTo; next !== null;) {
      const [successor] = await this.#select('id = ?', [next]);
      if (successor !== undefined && works(successor)) newest = successor;
      next = successor?.rotatedTo ?? null;
    }
    return newest;
  }

  /**
   * Whether all that ends the holder of a credential with this bond ends the successor of `key`, too: the key descends
   * from it, or belongs to the same line or pair, whose end it shares.
   */
  async endsWith(key: ApiKeyRecord, { makerId, grantId }: KeyBond): Promise<boolean> {
    if (makerId === null) return true;
    const [row] = await this.#em.execute<[{ ends: boolean }]>(
      `with recursive makers as (
         select maker_id, grant_id from auth.api_keys where id = ?
         union all select up.maker_id, up.grant_id from makers join auth.api_keys up on up.id = makers.maker_id),
       line as (
         select id, rotated_to, key_pair_id from auth.api_keys where id = ?
         union all
         select next.id, next.rotated_to, next.key_pair_id
         from line join auth.api_keys next on next.id = line.rotated_to)
       select case when ?::uuid is not null then exists (select from makers where grant_id = ?)
                   else exists (select from makers where maker_id = ?)
                        or exists (select from line where id = ? or key_pair_id = ?) end as ends`,
      [key.id, makerId, grantId, grantId, makerId, key.id, key.keyPairId],
    );
    return row.ends;
  }

  /**
   * Lets `successor` take the place of `old`, which works on for the grace, and so do the tokens that it was shown
   * for; what `old` itself had replaced ends now. A grace that runs already never gets longer.
   * @returns when `old` stops working
   */
  async replace(old: Uuid, successor: Uuid, graceHours: number): Promise<Date> {
    await this.#em.execute(
      `update auth.api_keys set grace_ends_at = auth.clock() where rotated_to = ? and grace_ends_at > auth.clock()`,
      [old],
    );
    const [row] = await this.#em.execute<[{ ends_at: string }]>(
      `update auth.api_keys set rotated_to = ?,
        grace_ends_at = least(grace_ends_at, auth.clock() + make_interval(hours => ?)) where id = ?
       returning to_jsonb(least(grace_ends_at, expires_at)) #>> '{}' as ends_at`,
      [successor, graceHours, old],
    );
    await this.#em.execute(
      `update auth.tokens token set expires_at = key.grace_ends_at from auth.api_keys key
       where key.id = token.key_id and (key.id = ? or key.rotated_to = ?) and token.expires_at > key.grace_ends_at`,
      [old, old],
    );
    return new Date(row.ends_at);
  }

  /**
   * Ends a key, the tokens that it was shown for and what ends with it, at once and forever. @returns the moment of the
   * first time
   */
  async revoke(id: Uuid): Promise<Date> {
    const [row] = await this.#em.execute<[{ revoked_at: string }]>(
      `update auth.api_keys set revoked_at = coalesce(revoked_at, auth.clock()) where id = ? returning ` +
        `to_jsonb(revoked_at) #>> '{}' as revoked_at`,
      [id],
    );
    await this.#em.execute(`update auth.tokens set revoked_at = auth.clock() where key_id = ? and revoked_at is null`, [
      id,
    ]);
    return new Date(row.revoked_at);
  }

  async #select(condition: string, values: unknown[]): Promise<ApiKeyRecord[]> {
    const rows = await this.#em.execute<Row[]>(
      `select ${COLUMNS} from auth.api_keys where ${this.#visible} and ${condition}`,
      values,
    );
    return rows.map(({ makerId, grantId, ...row }) => ({
      ...row,
      bond: { makerId, grantId },
      createdAt: new Date(row.createdAt!),
      lastUsedAt: dateOf(row.lastUsedAt),
      expiresAt: dateOf(row.expiresAt),
      ownExpiresAt: dateOf(row.ownExpiresAt),
      revokedAt: dateOf(row.revokedAt),
      graceEndsAt: dateOf(row.graceEndsAt),
    }));
  }
}

function works({ status }: ApiKeyRecord): boolean {
  return status === 'active' || status === 'rotating';
}

function dateOf(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}
