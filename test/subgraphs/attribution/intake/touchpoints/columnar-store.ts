import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { connectClickHouse, type ClickHouse } from '../../../../../platform/clickhouse/client.ts';
import { migrateColumnarTables } from '../../../../../subgraphs/attribution/intake/touchpoints/columnar-schema.ts';
import { ingestRecords, type IngestOptions } from '../../../../../subgraphs/attribution/intake/files/ingest-records.ts';
import type { IngestReport } from '../../../../../subgraphs/attribution/intake/files/ingest-report.ts';
import { ReadingRoom } from '../../../../../subgraphs/attribution/intake/files/reading-room.ts';
import type { SourceKey } from '../../../../../subgraphs/attribution/intake/touchpoints/source-key.ts';
import { storedDays, type StoredDays } from '../../../../../subgraphs/attribution/intake/touchpoints/stored-days.ts';
import { createTestClickHouse } from '../../../../platform.ts';

export interface ColumnarStore {
  readonly clickhouse: ClickHouse;
  readonly url: string;
  readonly database: string;
  close(): Promise<void>;
}

/** Migrated tables in a database of their own. */
export async function openColumnarStore(): Promise<ColumnarStore> {
  const { url, database, drop } = await createTestClickHouse();
  const clickhouse = connectClickHouse({ url, database, logger: pino({ level: 'silent' }) });
  await migrateColumnarTables(clickhouse);
  return {
    clickhouse,
    url,
    database,
    close: async () => {
      await clickhouse.close();
      await drop();
    },
  };
}

/** The moment of measurements: no row of a test lies behind it. */
export const MEASURED_AT = new Date('2026-11-21T12:00:00Z');

let uploads = 0;
// Its files lie in the temporary folder of the run, which goes with it.
const room = new ReadingRoom({ folder: join(tmpdir(), 'liftgraph-test-uploads') });
// Its idle readers would keep the run waiting.
afterAll(() => room.close());

export interface UploadChanges extends Partial<IngestOptions> {
  /** Instead of the content. */
  readonly body?: AsyncIterable<Uint8Array>;
}

/** Each upload is a second later than the one before it. */
export async function upload(
  clickhouse: ClickHouse,
  dataSourceId: string,
  content: string | Uint8Array,
  changes: UploadChanges = {},
): Promise<IngestReport> {
  const { body, ...options } = changes;
  uploads += 1;
  const number = uploads;
  await using file = await room.receive(
    'account',
    body ?? [typeof content === 'string' ? Buffer.from(content) : content],
    Infinity,
  );
  return await ingestRecords(file, {
    clickhouse,
    room,
    source: { accountId: 'account', dataSourceId },
    uploadId: `upload-${number}`,
    mediaType: 'text/csv',
    now: new Date(Date.UTC(2026, 3, 1) + number * 1000),
    ...options,
  });
}

/** What a source holds: how many rows, and every day's digest. Equal for equal rows, whatever the uploads. */
export async function sourceEvidence(
  clickhouse: ClickHouse,
  key: SourceKey,
): Promise<{ readonly rows: number; readonly days: StoredDays['days'] }> {
  const { days, counts } = await storedDays(clickhouse, key, { deduplicated: true, now: MEASURED_AT });
  return { rows: Object.values(counts).reduce((sum, count) => sum + count, 0), days };
}

/** Columns of a row that say nothing here. */
const BLANKS = {
  touchpoints: { event_id: '', campaign: '', source: '', medium: '', cost: '0', event_type: 'click' },
  conversions: {
    event_id: '',
    currency: 'USD',
    new_customer: 0,
    conversion_event: 'purchase',
    channel: '',
    campaign: '',
  },
  spend: { campaign: '', impressions: 0, clicks: 0 },
  paths: { nulls: '0', dated: 0, date: '1970-01-01', upload_id: 'stored', line: 1 },
} as const;

/** A row of a table by its columns; those of {@link BLANKS} may be left out. Decimals as text: no digit is lost. */
export type StoredRow = Readonly<Record<string, string | number | readonly string[]>>;

/** Puts rows into a table as they are, past everything that uploads are checked for. */
export async function storeRows(
  clickhouse: ClickHouse,
  key: SourceKey,
  table: keyof typeof BLANKS,
  rows: readonly StoredRow[],
): Promise<void> {
  const source = { account_id: key.accountId, data_source_id: key.dataSourceId, version: 2 ** 40 };
  const lines = rows.map((row) => JSON.stringify({ ...source, ...BLANKS[table], ...row }));
  await clickhouse.insert(`INSERT INTO ${table} FORMAT JSONEachRow`, Buffer.from(lines.join('\n')));
}
