import { wholeAccount, type Database } from '../../../../platform/postgres/database.ts';
import type { Uuid } from '../../../../platform/identifiers.ts';
import { SourceRefusedError, type FetchingConnector } from '../connectors/connector.ts';
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
 * Fetches what has come to a source since its last successful sync was asked for, at first since the day that it was
 * connected to begin with, and takes it in as uploads are. Rows
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
    since: (await new DataSourceStore(em).lastSuccessfulSync(id)) ?? startOf(source),
  }));
  // The source was deleted meanwhile.
  if (stored === null) return;
  const credentials = connector.credentials.parse(stored);
  const told = <T>(rows: () => AsyncIterable<T>) => withFailuresTold(rows, connector.title, credentials);
  const setSyncing = (syncingUntil: Date | null) =>
    database.asTenant(tenant, (em) => em.nativeUpdate(DataSource, { id }, { syncingUntil }));
  await setSyncing(new Date(clock().getTime() + SYNCING_LEASE_MS));
  try {
    for await (const records of told(() => connector.fetch(credentials, since, signal))) {
      signal.throwIfAborted();
      database.refuseWithoutRoom();
      await receiveRecords(tenant, id, { ...records, body: told(() => records.body) });
    }
  } finally {
    await setSyncing(null);
  }
}

/** The beginning of the first day that is wanted, UTC; null for all. */
function startOf({ startDate }: DataSource): Date | null {
  return startDate == null ? null : new Date(startDate);
}

/** Tells what goes wrong at the origin of the rows from what goes wrong with us, while they are read. */
async function* withFailuresTold<T>(
  rows: () => AsyncIterable<T>,
  title: string,
  credentials: unknown,
): AsyncGenerator<T> {
  try {
    yield* rows();
  } catch (error) {
    throw error instanceof SourceRefusedError ? error : new SourceUnreachableError(title, error, credentials);
  }
}
