import { randomUUID } from 'node:crypto';
import { defineEntity, p } from '@mikro-orm/core';
import { pino } from 'pino';
import { openDatabase, type Database } from '../../../platform/postgres/database.ts';
import type { MigrationOwner } from '../../../platform/postgres/migrate.ts';
import { tenantTable } from '../../../platform/postgres/tenant-tables.ts';
import { createTestDatabase, type TestDatabase } from '../../platform.ts';

const shopOwner: MigrationOwner = {
  schema: 'shop',
  migrations: [
    {
      name: '001-orders',
      up: [
        'create table shop.orders (id uuid primary key, account_id uuid not null, note text not null, placed_at ' +
          'timestamptz not null default now(), tags text[] not null default array[]::text[], ' +
          'days date[] not null default array[]::date[])',
        ...tenantTable('shop.orders'),
        'create table shop.counters (id int primary key, value int not null)',
        'insert into shop.counters values (1, 0), (2, 0)',
        `create function shop.count_all_orders() returns bigint language sql security definer set search_path = '' ` +
          `as 'select count(*) from shop.orders'`,
      ],
    },
  ],
};

export const Order = defineEntity({
  name: 'Order',
  schema: 'shop',
  tableName: 'orders',
  properties: {
    id: p.uuid().primary(),
    accountId: p.uuid(),
    note: p.string(),
    tags: p.array(),
    placedAt: p.datetime(),
  },
});

/** A database with the orders of tenants, and a pool of four connections to it. */
export async function openOrders(): Promise<{ readonly testDatabase: TestDatabase; readonly database: Database }> {
  const testDatabase = await createTestDatabase([shopOwner]);
  return { testDatabase, database: await openPool(testDatabase.applicationUrl) };
}

export function openPool(
  url: string,
  { timeoutMs, applicationName = 'test' }: { readonly timeoutMs?: number; readonly applicationName?: string } = {},
): Promise<Database> {
  return openDatabase({
    url,
    entities: [Order],
    applicationName,
    poolMax: 4,
    logger: pino({ level: 'silent' }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
}

/** What a promise is rejected with; nothing where it is fulfilled. */
export function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

export function insertOrder(database: Database, accountId: string, note: string): Promise<unknown> {
  return database.asTenant(accountId, (em) =>
    em.execute('insert into shop.orders (id, account_id, note) values (?, ?, ?)', [randomUUID(), accountId, note]),
  );
}
