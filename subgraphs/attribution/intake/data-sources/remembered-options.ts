import { z } from 'zod';
import { uploadOptions, type UploadOptions } from '../../../../schema/contract/upload-options.ts';
import type { Uuid } from '../../../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../../../platform/postgres/database.ts';
import type { DataSource } from './data-source.ts';

/*
 * What was said of a file holds for the next one with the same header, as long as nothing is said of that one: whoever
 * sends an export every day answers its questions once.
 */

/** Kinds of files that a source knows, the last ones that something was said of. */
const MOST_REMEMBERED = 32;
/** All of them go to the process that reads a file. */
const MAX_OPTIONS_BYTES = 32 * 1024;

const Row = z.object({ header_digest: z.string(), options: uploadOptions });

/** By the digest of the header; empty where the sender says something of this file. */
export async function rememberedOptions(
  em: SqlEntityManager,
  dataSourceId: Uuid,
  said: UploadOptions | undefined,
): Promise<Readonly<Record<string, UploadOptions>>> {
  if (saysSomething(said)) return {};
  const rows = await em.execute<unknown[]>(
    `select header_digest, options from attribution.remembered_options where data_source_id = ?`,
    [dataSourceId],
  );
  return Object.fromEntries(rows.map((row) => Row.parse(row)).map(({ header_digest: of, options }) => [of, options]));
}

/** Keeps what was said of a file that could be used, in place of what was said of the last one like it. */
export async function rememberOptions(
  em: SqlEntityManager,
  { id, accountId, environment }: Pick<DataSource, 'id' | 'accountId' | 'environment'>,
  headerDigest: string,
  said: UploadOptions | undefined,
  now: Date,
): Promise<void> {
  if (!saysSomething(said)) return;
  const members = Object.entries(said!).filter(([, value]) => typeof value === 'string' || !isEmpty(value ?? {}));
  const options = JSON.stringify(Object.fromEntries(members));
  if (members.length === 0 || Buffer.byteLength(options) > MAX_OPTIONS_BYTES) {
    await em.execute(`delete from attribution.remembered_options where data_source_id = ? and header_digest = ?`, [
      id,
      headerDigest,
    ]);
    return;
  }
  await em.execute(
    `insert into attribution.remembered_options
       (data_source_id, account_id, environment, header_digest, options, said_at)
       values (?, ?, ?, ?, ?::jsonb, ?)
     on conflict (data_source_id, header_digest) do update set options = excluded.options, said_at = excluded.said_at`,
    [id, accountId, environment, headerDigest, options, now],
  );
  await em.execute(
    `delete from attribution.remembered_options where data_source_id = ? and header_digest not in (
       select header_digest from attribution.remembered_options where data_source_id = ?
         order by said_at desc, header_digest limit ?)`,
    [id, id, MOST_REMEMBERED],
  );
}

/** What is there but empty says something, too: that nothing is to be taken over. */
const saysSomething = (said: UploadOptions | undefined): boolean => Object.keys(said ?? {}).length > 0;
const isEmpty = (value: object): boolean => Object.keys(value).length === 0;
