import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { z } from 'zod';
import { connectClickHouse } from '../../platform/clickhouse/client.ts';
import { requireUuid } from '../../platform/identifiers.ts';
import { testServices } from '../platform.ts';

/**
 * Spoils the touchpoints of one source on the disk of the test server, so that every read of them meets a checksum that
 * does not fit. Sources have partitions, and so files, of their own: nobody else's rows are touched.
 */
export async function spoilStoredRows(source: string): Promise<void> {
  const clickhouse = connectClickHouse({
    url: testServices().clickhouseUrl,
    database: 'liftgraph',
    logger: pino({ level: 'silent' }),
  });
  const parts = await clickhouse.rows(
    `SELECT path FROM system.parts WHERE database = 'liftgraph' AND table = 'touchpoints' AND active AND partition ` +
      `LIKE concat('%', {source:String}, '%')`,
    z.object({ path: z.string() }),
    { params: { source: requireUuid('ds', source, 'data source') } },
  );
  await clickhouse.close();
  if (parts.length === 0) throw new Error('the source has no rows that could be spoilt');
  for (const { path } of parts) {
    const files = (await readdir(path)).filter((name) => name.endsWith('.bin'));
    for (const name of files) await spoil(join(path, name));
  }
}

/** Turns over the bits in the middle of a file. */
async function spoil(path: string): Promise<void> {
  await using file = await open(path, 'r+');
  const { size } = await file.stat();
  const middle = Buffer.alloc(Math.min(64, size));
  const place = Math.floor((size - middle.length) / 2);
  await file.read(middle, 0, middle.length, place);
  await file.write(
    middle.map((byte) => byte ^ 0xff),
    0,
    middle.length,
    place,
  );
}
