import { Client } from 'pg';
import { pino } from 'pino';
import { externalDatabaseUrls } from '../../../platform/postgres/application-role.ts';
import { openDatabase } from '../../../platform/postgres/database.ts';
import { migrate, type MigrationOwner } from '../../../platform/postgres/migrate.ts';
import { tenantTable } from '../../../platform/postgres/tenant-tables.ts';
import { createTestDatabase } from '../../platform.ts';

describe('an external server', () => {
  test('with two logins each keeps its own', () => {
    expect(externalDatabaseUrls('postgresql://app:a@db/lift', 'postgresql://boss:b@db/lift')).toEqual({
      ownerUrl: 'postgresql://boss:b@db/lift',
      applicationUrl: 'postgresql://app:a@db/lift',
    });
  });

  test('with one login, requests are served as the application role, keeping the options that were there', () => {
    const { applicationUrl } = externalDatabaseUrls(
      'postgresql://boss:b@db/lift?options=-c%20jit%3Doff&sslmode=require',
    );
    const parameters = new URL(applicationUrl).searchParams;
    expect(parameters.get('options')).toBe('-c jit=off -c role=liftgraph_app');
    expect(parameters.get('sslmode')).toBe('require');
  });

  test('with one login, row level security binds the connections that serve requests', async () => {
    const shop: MigrationOwner = {
      schema: 'shop',
      migrations: [
        {
          name: '001',
          up: [
            'create table shop.orders (account_id uuid not null)',
            ...tenantTable('shop.orders'),
            'insert into shop.orders values (gen_random_uuid())',
          ],
        },
      ],
    };
    const testDatabase = await createTestDatabase([]);
    await migrate({ ownerUrl: testDatabase.ownerUrl, owners: [shop] });
    // The embedded owner is not a member of the application role; on a server of one's own, creating the role makes it
    // one.
    const { ownerUrl, applicationUrl } = externalDatabaseUrls(testDatabase.applicationUrl, testDatabase.applicationUrl);
    const client = new Client({ connectionString: ownerUrl });
    await client.connect();
    expect((await client.query('select current_user')).rows).toEqual([{ current_user: 'liftgraph_app' }]);
    await client.end();
    const database = await openDatabase({
      url: applicationUrl,
      entities: [],
      applicationName: 'test',
      poolMax: 2,
      logger: pino({ level: 'silent' }),
    });
    expect(await database.asNobody((em) => em.execute('select * from shop.orders'))).toEqual([]);
    await database.close();
    await testDatabase.drop();
  });
});
