import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { migrate, type MigrationOwner } from '../../../platform/postgres/migrate.ts';
import {
  environmentTable,
  findUnprotectedTables,
  IN_WORKSPACE,
  narrowTenant,
  tenantTable,
} from '../../../platform/postgres/tenant-tables.ts';
import { createTestDatabase, type TestDatabase } from '../../platform.ts';

let database: TestDatabase;
let owner: Client;
let application: Client;

beforeEach(async () => {
  database = await createTestDatabase([]);
  owner = new Client({ connectionString: database.ownerUrl });
  application = new Client({ connectionString: database.applicationUrl });
  await Promise.all([owner.connect(), application.connect()]);
});

afterEach(async () => {
  await Promise.all([owner.end(), application.end()]);
  await database.drop();
});

const stock: MigrationOwner = {
  schema: 'stock',
  migrations: [
    {
      name: '001-items',
      up: ['create table stock.items (id bigint generated always as identity primary key, name text not null)'],
    },
    {
      name: '002-log',
      up: ['create table stock.log (entry text)', 'revoke update, delete on stock.log from liftgraph_app'],
    },
  ],
};

describe('migrate', () => {
  test('applies each migration once, in order, and says which', async () => {
    expect(await migrate({ ownerUrl: database.ownerUrl, owners: [stock] })).toEqual([
      'stock/001-items',
      'stock/002-log',
    ]);
    expect(await migrate({ ownerUrl: database.ownerUrl, owners: [stock] })).toEqual([]);
    const more: MigrationOwner = {
      ...stock,
      migrations: [...stock.migrations, { name: '003-more', up: ['alter table stock.items add column price int'] }],
    };
    expect(await migrate({ ownerUrl: database.ownerUrl, owners: [more] })).toEqual(['stock/003-more']);
  });

  test('four processes that start together apply everything exactly once', async () => {
    const counting: MigrationOwner = {
      schema: 'counting',
      migrations: [
        {
          name: '001-table',
          up: [
            'create table counting.runs (at timestamptz default clock_timestamp())',
            'select pg_sleep(0.2)',
            'insert into counting.runs default values',
          ],
        },
        { name: '002-again', up: ['insert into counting.runs default values'] },
      ],
    };
    const migrators = Array.from({ length: 4 }, () =>
      fork(fileURLToPath(new URL('migrator.mjs', import.meta.url)), { execArgv: [], serialization: 'advanced' }),
    );
    const ready = await Promise.all(migrators.map(nextMessage));
    expect(ready).toEqual(['ready', 'ready', 'ready', 'ready']);
    const finished = migrators.map(nextMessage);
    for (const migrator of migrators) migrator.send({ ownerUrl: database.ownerUrl, owners: [counting] });
    const applied = (await Promise.all(finished)) as string[][];
    expect(applied.filter((names) => names.length > 0)).toEqual([['counting/001-table', 'counting/002-again']]);
    expect((await owner.query('select from counting.runs')).rowCount).toBe(2);
  });

  test('a failing migration leaves nothing behind, and what came before stays', async () => {
    const broken: MigrationOwner = {
      ...stock,
      migrations: [
        ...stock.migrations,
        { name: '003-broken', up: ['create table stock.half (id int)', 'create table stock.items (id int)'] },
      ],
    };
    await expect(migrate({ ownerUrl: database.ownerUrl, owners: [broken] })).rejects.toThrow(
      /migration stock\/003-broken failed: .*already exists/,
    );
    expect(
      (await owner.query(`select to_regclass('stock.half') as half, to_regclass('stock.items') as items`)).rows,
    ).toEqual([{ half: null, items: 'stock.items' }]);
  });

  test('a migration that was changed after it had been applied is refused', async () => {
    await migrate({ ownerUrl: database.ownerUrl, owners: [stock] });
    const changed: MigrationOwner = {
      ...stock,
      migrations: [{ name: '001-items', up: ['create table stock.items (id text)'] }],
    };
    await expect(migrate({ ownerUrl: database.ownerUrl, owners: [changed] })).rejects.toThrow(
      /stock\/001-items was changed/,
    );
  });

  test('the layout of a statement may change, also of one that was applied before layouts were ignored', async () => {
    const recorded = async () => (await owner.query(`select digest from stock.applied_migrations order by name`)).rows;
    await migrate({ ownerUrl: database.ownerUrl, owners: [stock] });
    const digests = await recorded();
    const laidOut: MigrationOwner = {
      ...stock,
      migrations: stock.migrations.map((each) => ({
        ...each,
        up: each.up.map((text) => text.replace(' ', '\n     ')),
      })),
    };
    expect(await migrate({ ownerUrl: database.ownerUrl, owners: [laidOut] })).toEqual([]);
    await owner.query(`update stock.applied_migrations set digest = md5(name)`);
    expect(await migrate({ ownerUrl: database.ownerUrl, owners: [laidOut] })).toEqual([]);
    expect(await recorded()).toEqual(digests);
  });

  test('the application may read and write rows, unless a migration revoked it, and not change tables', async () => {
    await migrate({ ownerUrl: database.ownerUrl, owners: [stock] });
    await application.query(`insert into stock.items (name) values ('a')`);
    await application.query(`insert into stock.log values ('a')`);
    await expect(application.query('delete from stock.log')).rejects.toMatchObject({ code: '42501' });
    await expect(application.query('drop table stock.items')).rejects.toMatchObject({ code: '42501' });
    await expect(application.query('create table stock.mine (id int)')).rejects.toMatchObject({ code: '42501' });
    await expect(application.query('delete from stock.applied_migrations')).rejects.toMatchObject({ code: '42501' });
    // A revoked right stays revoked when migrations run again.
    await migrate({ ownerUrl: database.ownerUrl, owners: [stock] });
    await expect(application.query('delete from stock.log')).rejects.toMatchObject({ code: '42501' });
  });

  test('a schema name that would need quoting is refused', async () => {
    await expect(
      migrate({ ownerUrl: database.ownerUrl, owners: [{ schema: 'Shop"', migrations: [] }] }),
    ).rejects.toThrow(/not a name for a schema/);
  });
});

describe('tenant tables', () => {
  const protectedTable = [
    'create table stock.orders (id int, account_id uuid not null)',
    ...tenantTable('stock.orders'),
  ];

  test('a table closed by tenantTable passes the audit', async () => {
    await migrate({
      ownerUrl: database.ownerUrl,
      owners: [{ schema: 'stock', migrations: [{ name: '001', up: protectedTable }] }],
    });
    expect(await findUnprotectedTables(database.ownerUrl)).toEqual([]);
  });

  test.each([
    ['never closed', []],
    [
      'enabled but not forced',
      [
        'alter table stock.orders enable row level security',
        `create policy tenant on stock.orders using (account_id = nullif(current_setting('liftgraph.account_id', ` +
          `true), '')::uuid)`,
      ],
    ],
    ['disabled again', [...tenantTable('stock.orders'), 'alter table stock.orders disable row level security']],
    [
      'with a policy that lets everyone in',
      [...tenantTable('stock.orders'), 'create policy open on stock.orders using (true)'],
    ],
    [
      'with a tenant policy that compares nothing',
      [
        'alter table stock.orders enable row level security',
        'alter table stock.orders force row level security',
        'create policy tenant on stock.orders using (true) with check (true)',
      ],
    ],
  ])('the audit finds a table %s', async (_what, statements) => {
    await migrate({
      ownerUrl: database.ownerUrl,
      owners: [
        {
          schema: 'stock',
          migrations: [
            { name: '001', up: ['create table stock.orders (id int, account_id uuid not null)', ...statements] },
          ],
        },
      ],
    });
    expect(await findUnprotectedTables(database.ownerUrl)).toEqual(['stock.orders']);
  });

  const shelf = [
    `create table stock.shelves (id int primary key, account_id uuid not null, environment text not null,
       workspace_id uuid)`,
    ...tenantTable('stock.shelves'),
    ...environmentTable('stock.shelves'),
    narrowTenant('stock.shelves', IN_WORKSPACE),
  ];
  const onShelf = narrowTenant('stock.boxes', 'exists (select from stock.shelves s where s.id = shelf_id)');

  test.each([
    ['of an environment', 'shelf_id int, environment text', environmentTable('stock.boxes')],
    ['that hangs on a table of an environment', 'shelf_id int references stock.shelves', []],
  ])('the audit finds a table %s that says nothing of workspaces', async (_what, columns, statements) => {
    const boxes = [
      `create table stock.boxes (id int, account_id uuid not null, ${columns})`,
      ...tenantTable('stock.boxes'),
      ...statements,
    ];
    const migrations = [{ name: '001', up: [...shelf, ...boxes] }];
    await migrate({ ownerUrl: database.ownerUrl, owners: [{ schema: 'stock', migrations }] });
    expect(await findUnprotectedTables(database.ownerUrl)).toEqual(['stock.boxes']);
    migrations.push({ name: '002', up: [onShelf] });
    await migrate({ ownerUrl: database.ownerUrl, owners: [{ schema: 'stock', migrations }] });
    expect(await findUnprotectedTables(database.ownerUrl)).toEqual([]);
  });

  test('a name that is not schema-qualified is refused', () => {
    expect(() => tenantTable('orders; drop table x')).toThrow(TypeError);
  });
});

function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`the migrator ended with code ${code}`)));
  });
}
