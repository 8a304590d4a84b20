import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parquetColumns } from './parquet-columns.ts';

/** A Parquet upload in a temporary file: its footer, which says what is in it, comes last. */
export interface ParquetUpload extends AsyncDisposable {
  readonly columns: readonly string[];
  read(): AsyncIterable<Uint8Array>;
}

/** @throws ProblemError `validation_error`, code `unreadable_parquet` */
export async function parquetUpload(content: AsyncIterable<Uint8Array>): Promise<ParquetUpload> {
  const folder = await mkdtemp(join(tmpdir(), 'liftgraph-parquet-'));
  const dispose = () => rm(folder, { recursive: true, force: true });
  const path = join(folder, 'upload.parquet');
  try {
    await pipeline(Readable.from(content, { objectMode: false }), createWriteStream(path, { mode: 0o600 }));
    const columns = await parquetColumns(path);
    return { columns, read: () => createReadStream(path, { highWaterMark: 256 * 1024 }), [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}
