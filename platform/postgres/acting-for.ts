import type { SqlEntityManager } from '@mikro-orm/postgresql';
import { settingsOf, type TenantScope } from './tenant-scope.ts';

/**
 * Does a part of a transaction for another tenant, then goes on for the one before. For what has to happen on both
 * sides at once or not at all; `work` writes SQL, since entities of the two tenants must not meet in one identity map.
 */
export async function actingFor<T>(em: SqlEntityManager, tenant: TenantScope, work: () => Promise<T>): Promise<T> {
  const settings = settingsOf(tenant);
  const names = Object.keys(settings);
  const before = await em.execute<{ value: string | null }[]>(
    `select current_setting(name, true) as value from unnest(string_to_array(?, ',')) with ordinality as ` +
      `wanted(name, place) order by place`,
    [names.join(',')],
  );
  const become = (values: readonly string[]) =>
    em.execute(
      `select ${names.map(() => 'set_config(?, ?, true)').join(', ')}`,
      names.flatMap((name, place) => [name, values[place]!]),
    );
  await become(Object.values(settings));
  const result = await work();
  // What throws ends the transaction, and the settings with it.
  await become(before.map(({ value }) => value ?? ''));
  return result;
}
