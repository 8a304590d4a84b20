import { readFileSync } from 'node:fs';
import { Client } from 'pg';
import { MIGRATION_OWNERS } from '../../processes/backing-services.ts';
import { createTestDatabase } from '../platform.ts';

/** Unique keys of tables beside a data source that two accounts share, with the reason. */
const NEVER_BESIDE_SHARED_SOURCES: Readonly<Record<string, string>> = {
  'attribution.source_days': 'its rows are those of the source, and of whom it belongs to',
  'attribution.channel_rules': 'shared sources take no rules',
  'attribution.connector_credentials': 'shared sources have none',
  'attribution.remembered_options': 'shared sources take no uploads',
};

/** Tables whose rows outlive the deletion of their source, with the reason. */
const OUTLIVING: Readonly<Record<string, string>> = {
  'attribution.experiments': 'are listed also when their source is gone',
  'attribution.source_days': 'are read by way of their source alone',
  'attribution.uploads': 'are read by way of their source alone',
};

/** Where the code says how many rows of a table one source may have, or why it need not. */
const MOST_ROWS: Readonly<Record<string, { readonly file: string; readonly says: string } | string>> = {
  'attribution.experiments': {
    file: 'subgraphs/attribution/analysis/experiments/record-experiment.ts',
    says: 'MOST_EXPERIMENTS',
  },
  'attribution.insights': {
    file: 'subgraphs/attribution/analysis/insights/insight-store.ts',
    says: 'MOST_INSIGHTS',
  },
  'attribution.remembered_options': 'the last 32 kinds of files; those before go when another comes',
  'attribution.source_days': 'one for each day that rows may have',
  'attribution.uploads': 'the last few alone are read, and rate limits say how fast they come',
};

const TABLES = `select conrelid from pg_constraint
  where contype = 'f' and confrelid = 'attribution.data_sources'::regclass`;

describe('tables that hang on a data source', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let owner: Client;
  const ask = async <Row extends object>(sql: string): Promise<readonly Row[]> => (await owner.query<Row>(sql)).rows;

  beforeAll(async () => {
    database = await createTestDatabase(MIGRATION_OWNERS);
    owner = new Client({ connectionString: database.ownerUrl });
    await owner.connect();
  });
  afterAll(async () => {
    await owner?.end();
    await database?.drop();
  });

  test('their unique keys start with the account: many share the sources of the sandbox', async () => {
    const keys = await ask<{ table: string; key: string }>(`
      select i.indrelid::regclass::text as table, i.indexrelid::regclass::text as key
        from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
        where i.indisunique and i.indrelid in (${TABLES}) and a.attname not in ('account_id', 'id') order by 1, 2`);
    expect(keys.length).toBeGreaterThan(0);
    expect(
      keys
        .filter(({ table }) => !(table in NEVER_BESIDE_SHARED_SOURCES))
        .map(({ key }) => `${key} has to start with account_id, or NEVER_BESIDE_SHARED_SOURCES says why not`),
    ).toEqual([]);
  });

  test('a source has so many of their rows at most, where they are not one', async () => {
    const tables = await ask<{ name: string }>(`
      select c.oid::regclass::text as name from pg_class c where c.oid in (${TABLES}) and not exists (
        select from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]
          where i.indrelid = c.oid and i.indisunique and i.indnkeyatts = 1 and a.attname = 'data_source_id')
        order by 1`);
    expect(
      tables
        .filter(({ name }) => !(name in MOST_ROWS))
        .map(
          ({ name }) =>
            `one source could fill ${name} without end: refuse more than it needs, as record-experiment.ts does, and ` +
            `say in MOST_ROWS where`,
        ),
    ).toEqual([]);
    expect(Object.keys(MOST_ROWS).toSorted()).toEqual(tables.map(({ name }) => name));
    for (const most of Object.values(MOST_ROWS))
      if (typeof most === 'object')
        expect(readFileSync(new URL(`../../${most.file}`, import.meta.url), 'utf8')).toContain(`>= ${most.says}`);
  });

  test('their rows go with their source, or outlive it for a reason', async () => {
    const tables = await ask<{ name: string; isForgotten: boolean }>(`
      select c.oid::regclass::text as name, exists (
          select from pg_trigger t join pg_proc f on f.oid = t.tgfoid
            where t.tgrelid = 'attribution.data_sources'::regclass
              and f.prosrc ~ ('delete from ' || c.oid::regclass::text || '\\M')) as "isForgotten"
        from pg_class c where c.oid in (${TABLES}) order by 1`);
    expect(tables.filter(({ isForgotten }) => isForgotten).map(({ name }) => name)).toEqual(
      expect.arrayContaining(['attribution.channel_rules', 'attribution.connector_credentials']),
    );
    expect(
      tables
        .filter(({ name, isForgotten }) => !isForgotten && !(name in OUTLIVING))
        .map(
          ({ name }) =>
            `${name} keeps the rows of a deleted source, which stays as a row: let hangingOnSource of ` +
            `subgraphs/attribution/migrations.ts close it, or say in OUTLIVING why`,
        ),
    ).toEqual([]);
  });
});
