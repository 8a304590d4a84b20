import { wholeAccount, type Database } from '../../../../platform/postgres/database.ts';
import type { Uuid } from '../../../../platform/identifiers.ts';
import { SourceRefusedError, type FetchingConnector } from '../connectors/connector.ts';
import type { RecordsBody } from '../connectors/records-body.ts';
import type { SourceCredentials } from '../connectors/source-credentials.ts';
import { SourceUnreachableError } from '../connectors/source-unreachable.ts';
import { DataSource } from './data-source.ts';
import { DataSourceStore } from './data-source-store.ts';
import type { ReceiveRecords } from './records.ts';

export interface FetchServices {
  readonly database: Database;
  readonly sourceCredentials: SourceCredentials;
  readonly receiveRecords: ReceiveRecords;
  readonly clock: () => Date;
}

/** A source counts as syncing for this long before its first rows come; while they arrive, their upload says so. */
const SYNCING_LEASE_MS = 60_000;

/**
 * Fetches what has come to a source since its last successful sync was asked for, and takes it in as uploads are. Rows
 * of a sync that failed half-way come again with the next one.
 * @throws SourceRefusedError; SourceUnreachableError; ProblemError as {@link ReceiveRecords}
 */
export async function fetchRows(
  { database, sourceCredentials, receiveRecords, clock }: FetchServices,
  connector: FetchingConnector,
  source: DataSource,
  signal: AbortSignal,
): Promise<void> {
  const tenant = wholeAccount(source);
  const id = source.id as Uuid;
  const { stored, since } = await database.asTenant(tenant, async (em) => ({
    stored: await sourceCredentials.find(em, id),
    since: await new DataSourceStore(em).lastSuccessfulSync(id),
  }));
  // The source was deleted meanwhile.
  if (stored === null) return;
  const credentials = connector.credentials.parse(stored);
  const retold = (error: unknown): Error =>
    error instanceof SourceRefusedError ? error : new SourceUnreachableError(connector.title, error, credentials);

  // The connector's failures are told from ours where they come from.
  async function* failing<T>(rows: () => AsyncIterable<T>): AsyncGenerator<T> {
    try {
      yield* rows();
    } catch (error) {
      throw retold(error);
    }
  }
  const setSyncing = (syncingUntil: Date | null) =>
    database.asTenant(tenant, (em) => em.nativeUpdate(DataSource, { id }, { syncingUntil }));
  await setSyncing(new Date(clock().getTime() + SYNCING_LEASE_MS));
  try {
    for await (const records of failing<RecordsBody>(() => connector.fetch(credentials, since, signal))) {
      signal.throwIfAborted();
      database.refuseWithoutRoom();
      await receiveRecords(tenant, id, { ...records, body: failing(() => records.body) });
    }
  } finally {
    await setSyncing(null);
  }
}
