import { z } from 'zod';
import type { Client } from 'pg';
import { newUuid } from '../../../platform/identifiers.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import type { MigrationOwner } from '../../../platform/postgres/migrate.ts';
import type { RequestContext } from '../../../schema/principal.ts';
import type { HeldClaim } from '../../../services/idempotency/claims.ts';
import { exactlyOnce } from '../../../services/idempotency/exactly-once.ts';

export const toyOwner: MigrationOwner = {
  schema: 'toy',
  migrations: [{ name: '001-effects', up: ['create table toy.effects (id uuid primary key, name text not null)'] }],
};

/** What a request under a claim knows of itself. */
export const contextOf = ({ claim }: HeldClaim<unknown>): RequestContext => ({
  requestId: 'req_test',
  principal: null,
  apiVersion: '2026-02-01',
  idempotency: claim,
});

/** How often the mutation of this name has happened. */
export async function effects(owner: Client, name: string): Promise<number> {
  const { rows } = await owner.query<{ n: string }>('select count(*) as n from toy.effects where name = $1', [name]);
  return Number(rows[0]!.n);
}

/** A mutation with one row as its effect. */
export function act(
  database: Database,
  name: string,
  key: HeldClaim<unknown>,
  options: { readonly beforeCommit?: () => Promise<void> } = {},
): Promise<{ id: string; recalled: boolean }> {
  return exactlyOnce<{ id: string }, { id: string; recalled: boolean }>(database, contextOf(key), {
    effect: z.object({ id: z.string() }),
    act: (settle) =>
      database.asNobody(async (em) => {
        const id = newUuid();
        await em.execute('insert into toy.effects (id, name) values (?, ?)', [id, name]);
        await options.beforeCommit?.();
        await settle(em, { id });
        return { id, recalled: false };
      }),
    recall: ({ id }) => Promise.resolve({ id, recalled: true }),
  });
}
