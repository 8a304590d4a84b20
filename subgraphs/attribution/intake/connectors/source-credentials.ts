import type { KeyVault } from '../../../../services/trust/key-vault.ts';
import type { Uuid } from '../../../../platform/identifiers.ts';
import type { Question, SqlEntityManager } from '../../../../platform/postgres/database.ts';

/** Whose credentials they are. */
interface CredentialsOwner {
  readonly id: string;
  readonly accountId: string;
  readonly environment: string;
}

/**
 * The credentials of sources at rest: sealed, and each opens for its own source alone. The database erases them with
 * the deletion of their source.
 */
export class SourceCredentials {
  readonly #vault: KeyVault;

  constructor(vault: KeyVault) {
    this.#vault = vault;
  }

  /** The statement that stores them, for the transaction that creates their source. */
  insertion({ id, accountId, environment }: CredentialsOwner, credentials: unknown): Question {
    return {
      name: 'connector-credentials.insert',
      text: `insert into attribution.connector_credentials (data_source_id, account_id, environment, sealed)
           values ($1, $2, $3, $4)`,
      values: [id, accountId, environment, this.#vault.seal(Buffer.from(JSON.stringify(credentials)), placeOf(id))],
    };
  }

  /** Null for a source that has none or was deleted. @throws SealBrokenError */
  async find(em: SqlEntityManager, dataSourceId: Uuid): Promise<unknown> {
    const [row] = await em.execute<{ sealed: Buffer }[]>(
      `select sealed from attribution.connector_credentials where data_source_id = ?`,
      [dataSourceId],
    );
    return row === undefined
      ? null
      : (JSON.parse(this.#vault.open(row.sealed, placeOf(dataSourceId)).toString('utf8')) as unknown);
  }
}

function placeOf(dataSourceId: string): string {
  return `attribution.connector_credentials/${dataSourceId}`;
}
