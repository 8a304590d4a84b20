import { Client } from 'pg';
import { pino } from 'pino';
import { newUuid } from '../../../../../platform/identifiers.ts';
import { openDatabase, wholeAccount, type Database } from '../../../../../platform/postgres/database.ts';
import type { UploadOptions } from '../../../../../schema/contract/upload-options.ts';
import { DataSource } from '../../../../../subgraphs/attribution/intake/data-sources/data-source.ts';
import {
  rememberedOptions,
  rememberOptions,
} from '../../../../../subgraphs/attribution/intake/data-sources/remembered-options.ts';
import { attributionOwner } from '../../../../../subgraphs/attribution/migrations.ts';
import { createTestDatabase, PATIENCE_MS, type TestDatabase } from '../../../../platform.ts';

const accountId = newUuid();
const TENANT = wholeAccount({ accountId, environment: 'live' });
const now = new Date('2026-03-01T00:00:00Z');
const source = { id: newUuid(), accountId, environment: 'live' } as const;

let testDatabase: TestDatabase;
let database: Database;
beforeAll(async () => {
  testDatabase = await createTestDatabase([attributionOwner]);
  database = await openDatabase({
    url: testDatabase.applicationUrl,
    entities: [DataSource],
    applicationName: 'test',
    poolMax: 2,
    logger: pino({ level: 'silent' }),
    timeoutMs: PATIENCE_MS,
  });
  const owner = new Client({ connectionString: testDatabase.ownerUrl });
  await owner.connect();
  await owner.query(
    `insert into attribution.data_sources (id, account_id, environment, type, name, baseline_channels, created_at)
       values ($1, $2, 'live', 'csv_upload', 'daily', '{}', $3)`,
    [source.id, accountId, now],
  );
  await owner.end();
});
afterAll(async () => {
  await database.close();
  await testDatabase.drop();
});

const remember = (header: string, said: UploadOptions, atMs = 0) =>
  database.asTenant(TENANT, (em) => rememberOptions(em, source, header, said, new Date(now.getTime() + atMs)));
const remembered = (said?: UploadOptions) => database.asTenant(TENANT, (em) => rememberedOptions(em, source.id, said));

test('what is said holds for files with that header, what is said next in place of it', async () => {
  await remember('a', { timezone: 'Europe/Berlin', constants: { channel: 'tv' } });
  await remember('b', { locale: 'de-DE' });
  await remember('a', { timezone: 'Europe/Paris', mapping: {} });
  expect(await remembered()).toEqual({ a: { timezone: 'Europe/Paris' }, b: { locale: 'de-DE' } });
  expect(await remembered({})).toEqual(await remembered());
  expect(await remembered({ mapping: {} })).toEqual({});
  await remember('a', {});
  expect(await remembered()).toHaveProperty('a');
  await remember('a', { mapping: {} });
  expect(await remembered()).toEqual({ b: { locale: 'de-DE' } });
});

test('more than a process should be handed is not remembered, nor what older stood there', async () => {
  await remember('b', { locale: 'de-DE' });
  const answers = Object.fromEntries(Array.from({ length: 40 }, (_, place) => [`q${place}`, 'x'.repeat(900)]));
  await remember('b', { answers });
  expect(await remembered()).toEqual({});
});

test('of more than 32 kinds of files the last are remembered', async () => {
  for (let kind = 0; kind < 34; kind += 1) await remember(`kind-${kind}`, { currency: 'EUR' }, kind);
  const kinds = Object.keys(await remembered());
  expect(kinds).toHaveLength(32);
  expect(kinds).not.toContain('kind-1');
  expect(kinds).toContain('kind-33');
});
