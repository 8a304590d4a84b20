import type { Period } from '../../../schema/period.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';
import { latencyQuantile } from './latency-buckets.ts';

/** Calls of one operation in a period. */
export interface EndpointCalls {
  readonly endpoint: string;
  readonly calls: number;
  readonly errors: number;
  readonly p95Ms: number | null;
}

/** Which operations the account and environment that `em` acts for have called in a period, the busiest first. */
export async function endpointCalls(em: SqlEntityManager, { from, until }: Period): Promise<EndpointCalls[]> {
  const bounds = [from, until].flatMap((bound) => Array(2).fill(bound?.toISOString().slice(0, 10) ?? null));
  const rows = await em.execute<{ endpoint: string; calls: string; errors: string; buckets: number[] }[]>(
    `with own as (select endpoint, calls, errors, buckets from auth.endpoint_calls
       where (?::date is null or day >= ?) and (?::date is null or day < ?)),
     timed as (select endpoint, place, sum(count) as count
       from own cross join lateral unnest(buckets) with ordinality as b (count, place) group by endpoint, place)
     select endpoint, sum(calls) as calls, sum(errors) as errors,
       (select json_agg(count order by place) from timed where timed.endpoint = own.endpoint) as buckets
     from own group by endpoint order by sum(calls) desc, endpoint`,
    bounds,
  );
  return rows.map(({ endpoint, calls, errors, buckets }) => ({
    endpoint,
    calls: Number(calls),
    errors: Number(errors),
    p95Ms: latencyQuantile(buckets.map(Number), 0.95),
  }));
}
