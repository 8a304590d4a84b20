import { PgBoss } from 'pg-boss';
import type { MigrationOwner } from '../postgres/migrate.ts';

export const JOBS_SCHEMA = 'jobs';

/** pg-boss brings its tables itself, as the owner; the application only reads and writes rows. */
export const jobsOwner: MigrationOwner = {
  schema: JOBS_SCHEMA,
  migrations: [
    {
      name: '001-turns',
      up: [
        // pg-boss limits groups when it fetches, but two workers that fetch in the same moment both see room. A turn is
        // taken under a lock and marked in the job, for this attempt; a job that ends, or whose worker died, holds none.
        `create function ${JOBS_SCHEMA}.take_turn(in_name text, in_job uuid, in_most integer) returns boolean
           language plpgsql volatile
           as $$ declare mine record; begin
             select group_id, retry_count into mine from ${JOBS_SCHEMA}.job where name = in_name and id = in_job and state = 'active';
             if mine.group_id is null then return true; end if;
             perform pg_advisory_xact_lock(hashtextextended(in_name || ' turn ' || mine.group_id, 0));
             if (select count(*) from ${JOBS_SCHEMA}.job where name = in_name and group_id = mine.group_id and state = 'active' and id <> in_job
                   and output ->> 'turn' = retry_count::text) >= in_most then return false; end if;
             update ${JOBS_SCHEMA}.job set output = jsonb_build_object('turn', mine.retry_count) where name = in_name and id = in_job;
             return true;
           end $$`,
      ],
    },
  ],
  install: async (ownerUrl) => {
    const boss = new PgBoss({ connectionString: ownerUrl, schema: JOBS_SCHEMA, createSchema: false, supervise: false, schedule: false, max: 1 });
    const failures: Error[] = [];
    boss.on('error', (error) => failures.push(error));
    await boss.start();
    await boss.stop({ graceful: false });
    if (failures.length > 0) throw new AggregateError(failures, 'the tables of the job queue could not be made');
  },
};
