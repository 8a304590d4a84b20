import { z } from 'zod';
import type { ClickHouse } from '../../../platform/clickhouse/client.ts';
import { rejectMessage, type IngestReport, type RowReject } from './ingest-report.ts';
import type { UnreadableRecord } from './record-chunks.ts';
import type { RecordKind, RecordLayout } from './record-kind.ts';
import { OF_SOURCE, sourceParams, type SourceKey } from './source-key.ts';

const MAX_FIRST_ERRORS = 100;
const Count = z.coerce.number();
const CountsRow = z.object({ accepted: Count, rejected: Count, conversions: Count, timed: Count, earliest: z.string(), latest: z.string() });
export const RejectRow = z.object({ upload_id: z.string(), line: Count, column: z.string(), code: z.string(), value: z.string() });

/** What an upload leaves beside its rows: counts per chunk, and rejects. */
export class UploadStore {
  readonly #clickhouse: ClickHouse;
  readonly #uploadId: string;
  readonly #params: Readonly<Record<string, string>>;

  constructor(clickhouse: ClickHouse, key: SourceKey, uploadId: string) {
    this.#clickhouse = clickhouse;
    this.#uploadId = uploadId;
    this.#params = { ...sourceParams(key), upload_id: uploadId };
  }

  /** Forgets what an earlier attempt of this upload left. */
  async clear(): Promise<void> {
    const [{ chunks } = { chunks: 0 }] = await this.#clickhouse.rows(
      `SELECT count() AS chunks FROM (SELECT 1 FROM upload_counts WHERE ${OF_SOURCE} AND upload_id = {upload_id:String}
        UNION ALL SELECT 1 FROM rejects WHERE ${OF_SOURCE} AND upload_id = {upload_id:String})`,
      z.object({ chunks: Count }),
      { params: this.#params },
    );
    if (chunks === 0) return;
    for (const table of ['upload_counts', 'rejects']) {
      await this.#clickhouse.command(`DELETE FROM ${table} WHERE ${OF_SOURCE} AND upload_id = {upload_id:String}`, { params: this.#params, timeoutMs: 120_000 });
    }
  }

  /** Rows that never reached the engine, counted as rejects of their chunk. */
  async reject(records: readonly UnreadableRecord[], chunk: number, version: string): Promise<void> {
    // A chunk's counts are written by the engine; these go under a number no chunk has.
    const lines = records.map(({ line, code }) => JSON.stringify({ line, code })).join('\n');
    const source = `{account_id:String}, {data_source_id:String}, {upload_id:String}`;
    const params = { ...this.#params, chunk: chunk + 1_000_000, rejected: records.length, version };
    await this.#clickhouse.insert(
      `INSERT INTO rejects (account_id, data_source_id, upload_id, line, column, code, value, version)
        SELECT ${source}, line, '', code, '', {version:UInt64} FROM input('line UInt64, code String') FORMAT JSONEachRow`,
      Buffer.from(lines),
      { params },
    );
    await this.#clickhouse.command(
      `INSERT INTO upload_counts (account_id, data_source_id, upload_id, chunk, rejected, version) SELECT ${source}, {chunk:UInt32}, {rejected:UInt64}, {version:UInt64}`,
      { params },
    );
  }

  async report(kind: RecordKind, known: Pick<IngestReport, 'currency' | 'bytes' | 'contentDigest'>): Promise<IngestReport> {
    const [counts] = await this.#clickhouse.rows(
      `SELECT sum(accepted) AS accepted, sum(rejected) AS rejected, sum(upload_counts.conversions) AS conversions, sum(upload_counts.timed) AS timed,
        minIf(upload_counts.earliest, upload_counts.timed > 0) AS earliest, maxIf(upload_counts.latest, upload_counts.timed > 0) AS latest
        FROM upload_counts FINAL WHERE ${OF_SOURCE} AND upload_id = {upload_id:String}`,
      CountsRow,
      { params: this.#params },
    );
    const { accepted, rejected, conversions, timed, earliest, latest } = counts!;
    const timeOf = (text: string) => (timed > 0 ? `${text.replace(' ', 'T')}Z` : null);
    return {
      uploadId: this.#uploadId,
      kind,
      rowsAccepted: accepted,
      rowsRejected: rejected,
      touchpoints: kind === 'touchpoints' || kind === 'events' ? accepted - conversions : 0,
      conversions,
      spendRows: kind === 'spend' ? accepted : 0,
      paths: kind === 'paths' ? accepted : 0,
      ...known,
      firstErrors: rejected === 0 ? [] : await this.#firstErrors(),
      earliest: timeOf(earliest),
      latest: timeOf(latest),
    };
  }

  /** The first currency that a Parquet file names, read by the engine from that column alone. */
  async firstCurrency(layout: RecordLayout, data: AsyncIterable<Uint8Array>, version: string): Promise<string | null> {
    const name = layout.header[layout.columns.get('currency')!]!;
    const identifier = `\`${name.replaceAll(/[\\`]/g, String.raw`\$&`)}\``;
    const structure = `${identifier} String`.replaceAll(/[\\']/g, String.raw`\$&`);
    await this.#clickhouse.insert(
      `INSERT INTO upload_currencies (account_id, data_source_id, upload_id, currency, version)
        SELECT {account_id:String}, {data_source_id:String}, {upload_id:String}, any(upper(trimBoth(${identifier}))), {version:UInt64}
        FROM input('${structure}') WHERE match(trimBoth(${identifier}), '^[A-Za-z]{3}$') FORMAT Parquet`,
      data,
      { params: { ...this.#params, version }, settings: { max_threads: 1, input_format_parquet_preserve_order: 1 }, timeoutMs: 600_000 },
    );
    const [row] = await this.#clickhouse.rows(
      `SELECT currency FROM upload_currencies FINAL WHERE ${OF_SOURCE} AND upload_id = {upload_id:String}`,
      z.object({ currency: z.string() }),
      { params: this.#params },
    );
    return row?.currency || null;
  }

  async #firstErrors(): Promise<RowReject[]> {
    const rows = await this.#clickhouse.rows(
      `SELECT upload_id, line, column, code, value FROM rejects FINAL WHERE ${OF_SOURCE} AND upload_id = {upload_id:String} ORDER BY line LIMIT ${MAX_FIRST_ERRORS}`,
      RejectRow,
      { params: this.#params },
    );
    return rows.map(({ line, column, code, value }) => ({ line, column, code, message: rejectMessage(code, value) }));
  }
}
