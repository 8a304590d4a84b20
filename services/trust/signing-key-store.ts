import { createPrivateKey, type KeyObject } from 'node:crypto';
import { ProblemError } from '../../schema/problems.ts';
import { ENVIRONMENTS } from '../../schema/value-lists.ts';
import type { Environment } from '../../schema/principal.ts';
import type { Database, SqlEntityManager } from '../../platform/postgres/database.ts';
import { SealBrokenError, type KeyVault } from './key-vault.ts';
import { newSigningKey, type SigningKey } from './signing-key.ts';

export const SIGNING_ENVIRONMENTS: readonly Environment[] = ENVIRONMENTS;

/** What signs now. */
export interface CurrentKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
}

/** A key with the moments of its life, RFC 3339; null for what has not happened. */
export interface SigningKeyRecord extends SigningKey {
  readonly createdAt: string;
  readonly currentSince: string | null;
  readonly endedAt: string | null;
}

/** The secret of this process is not the one that the keys were sealed under. */
export class SigningKeyError extends Error {
  override readonly name = 'SigningKeyError';
  readonly code = 'signing_key_unusable';
}

/** Retired keys stay published as long as results are kept. */
const PUBLISHED = `(status in ('next', 'current', 'revoked') or ended_at > now() - interval '2 years')`;
const PUBLIC_COLUMNS = 'kid, environment, status, x';
const moment = (column: string, name: string): string => `to_jsonb(${column}) #>> '{}' as "${name}"`;

/** The public side of the signing keys: what is published, what is believed. Every process may read it. */
export class PublicKeyStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The keys that verify today, the newest first. */
  async published(): Promise<readonly SigningKey[]> {
    return this.#database.asNobody((em) =>
      em.execute<SigningKey[]>(
        `select ${PUBLIC_COLUMNS} from trust.signing_keys where ${PUBLISHED} order by created_at desc, kid`,
      ),
    );
  }

  async find(kid: string): Promise<SigningKey | null> {
    const [key] = await this.#database.asNobody((em) =>
      em.execute<SigningKey[]>(`select ${PUBLIC_COLUMNS} from trust.signing_keys where kid = ? and ${PUBLISHED}`, [
        kid,
      ]),
    );
    return key ?? null;
  }

  /** Whether results were ever signed here under this address. */
  async isIssuer(issuer: string): Promise<boolean> {
    const rows = await this.#database.asNobody((em) =>
      em.execute<unknown[]>(`select 1 from trust.issuers where issuer = ?`, [issuer]),
    );
    return rows.length > 0;
  }

  /** Every key that there ever was, the newest first. */
  async list(): Promise<readonly SigningKeyRecord[]> {
    const columns = [
      PUBLIC_COLUMNS,
      moment('created_at', 'createdAt'),
      moment('current_since', 'currentSince'),
      moment('ended_at', 'endedAt'),
    ].join(', ');
    return this.#database.asNobody((em) =>
      em.execute<SigningKeyRecord[]>(`select ${columns} from trust.signing_keys order by created_at desc, kid`),
    );
  }
}

/**
 * The keys themselves: made, used, replaced. State is in the database alone, so that a rotation or a revocation counts
 * in every process from its commit on.
 */
export class SigningKeyStore {
  readonly #database: Database;
  readonly #vault: KeyVault;

  constructor(database: Database, vault: KeyVault) {
    this.#database = database;
    this.#vault = vault;
  }

  /**
   * Makes what is missing of the keys, and remembers the address that results are signed for. Any number of processes
   * may call this at once.
   * @throws SigningKeyError when the keys were sealed under another secret
   */
  async ensure(issuer: string): Promise<void> {
    await this.#exclusively(async (em) => {
      await em.execute(`insert into trust.issuers (issuer) values (?) on conflict do nothing`, [issuer]);
      for (const environment of SIGNING_ENVIRONMENTS) {
        await this.#complete(em, environment);
        await this.current(em, environment);
      }
    });
  }

  /**
   * The key that signs, inside the transaction of what is signed: it is not replaced or revoked before that ends.
   * @throws SigningKeyError
   */
  async current(em: SqlEntityManager, environment: Environment): Promise<CurrentKey> {
    const [row] = await em.execute<{ kid: string; sealed: Buffer }[]>(
      `select kid, sealed_private_key as sealed from trust.signing_keys where environment = ? and status = 'current' ` +
        `for share`,
      [environment],
    );
    if (row === undefined)
      throw new SigningKeyError(`There is no ${environment} signing key. The next start of a worker makes one.`);
    try {
      return {
        kid: row.kid,
        privateKey: createPrivateKey({
          key: this.#vault.open(row.sealed, placeOf(row.kid)),
          format: 'der',
          type: 'pkcs8',
        }),
      };
    } catch (error) {
      if (!(error instanceof SealBrokenError)) throw error;
      throw new SigningKeyError(
        `The signing key ${row.kid} does not open: KEY_ENCRYPTION_KEY is not the secret that it was sealed under. ` +
          `Start with that secret, or, where it is lost, replace the key: npx liftgraph keys rotate --lost-secret.`,
        { cause: error },
      );
    }
  }

  /** @throws SigningKeyError when this process could not sign, so that keys that it makes would not open elsewhere */
  async assertUsable(): Promise<void> {
    await this.#database.asNobody(async (em) => {
      for (const environment of SIGNING_ENVIRONMENTS) await this.current(em, environment);
    });
  }

  /**
   * The next key signs from now on; the current one is retired, its private part wiped. Returns the new current key's
   * name.
   */
  async rotate(environment: Environment): Promise<string> {
    return this.#exclusively(async (em) => {
      await this.#dropUnusableNext(em, environment);
      await end(em, 'retired', `environment = ? and status = 'current'`, [environment]);
      await this.#complete(em, environment);
      return this.#kidOf(em, environment);
    });
  }

  /** Rotates where the current key has signed for longer than this; returns the environments that got another key. */
  async rotateOlderThan(days: number): Promise<readonly Environment[]> {
    const due = await this.#database.asNobody((em) =>
      em.execute<{ environment: Environment }[]>(
        `select environment from trust.signing_keys where status = 'current' and current_since < now() - ` +
          `make_interval(days => ?)`,
        [days],
      ),
    );
    for (const { environment } of due) await this.rotate(environment);
    return due.map(({ environment }) => environment);
  }

  /**
   * Says of a key that nothing it signed may be believed. Where it was in use, another takes its place at once.
   * @throws ProblemError `resource_not_found`
   */
  async revoke(kid: string): Promise<void> {
    await this.#exclusively(async (em) => {
      const [key] = await end(em, 'revoked', 'kid = ?', [kid]);
      if (key === undefined) throw new ProblemError('resource_not_found', `There is no signing key ${kid}.`);
      await this.#complete(em, key.environment);
    });
  }

  /** Two processes that made keys at once would leave one of them with a key that never was. */
  #exclusively<T>(work: (em: SqlEntityManager) => Promise<T>): Promise<T> {
    return this.#database.asNobody(async (em) => {
      await em.execute(`select pg_advisory_xact_lock(hashtext('trust.signing_keys'))`);
      return work(em);
    });
  }

  /** After this there is a current key and a next one. */
  async #complete(em: SqlEntityManager, environment: Environment): Promise<void> {
    const rows = await em.execute<{ status: string }[]>(
      `select status from trust.signing_keys where environment = ? and status in ('next', 'current')`,
      [environment],
    );
    const has = (status: string): boolean => rows.some((row) => row.status === status);
    if (!has('current')) {
      if (!has('next')) await this.#add(em, environment);
      await em.execute(
        `update trust.signing_keys set status = 'current', current_since = now()
          where environment = ? and status = 'next'`,
        [environment],
      );
    }
    if (!has('current') || !has('next')) await this.#add(em, environment);
  }

  async #add(em: SqlEntityManager, environment: Environment): Promise<void> {
    const key = await newSigningKey(environment);
    await em.execute(
      `insert into trust.signing_keys (kid, environment, status, x, sealed_private_key) values (?, ?, 'next', ?, ?)`,
      [key.kid, environment, key.x, this.#vault.seal(key.privateKey, placeOf(key.kid))],
    );
  }

  /** A next key that this process cannot open was sealed under a secret that is gone: it would never sign. */
  async #dropUnusableNext(em: SqlEntityManager, environment: Environment): Promise<void> {
    const [next] = await em.execute<{ kid: string; sealed: Buffer }[]>(
      `select kid, sealed_private_key as sealed from trust.signing_keys where environment = ? and status = 'next'`,
      [environment],
    );
    if (next === undefined) return;
    try {
      this.#vault.open(next.sealed, placeOf(next.kid));
    } catch (error) {
      if (!(error instanceof SealBrokenError)) throw error;
      await end(em, 'retired', 'kid = ?', [next.kid]);
    }
  }

  async #kidOf(em: SqlEntityManager, environment: Environment): Promise<string> {
    const [row] = await em.execute<[{ kid: string }]>(
      `select kid from trust.signing_keys where environment = ? and status = 'current'`,
      [environment],
    );
    return row.kid;
  }
}

/** Ends keys and wipes their private parts. */
async function end(
  em: SqlEntityManager,
  status: 'retired' | 'revoked',
  which: string,
  values: readonly string[],
): Promise<readonly { readonly environment: Environment }[]> {
  return em.execute<{ environment: Environment }[]>(
    `update trust.signing_keys set status = '${status}', sealed_private_key = null, ended_at = coalesce(ended_at, ` +
      `now()) where ${which} returning environment`,
    [...values],
  );
}

function placeOf(kid: string): string {
  return `trust.signing_keys/${kid}`;
}
