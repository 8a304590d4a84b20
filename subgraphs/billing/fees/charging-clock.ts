import type { SqlEntityManager } from '../../../platform/postgres/database.ts';

/**
 * Now, by the clock of the database, which charges are dated by: whatever the clock of a process says, the month that
 * is running is the one that charges fall into.
 */
export async function chargingNow(em: SqlEntityManager): Promise<Date> {
  const [row] = await em.execute<[{ now: string }]>(`select to_jsonb(auth.clock()) #>> '{}' as now`);
  return new Date(row.now);
}
