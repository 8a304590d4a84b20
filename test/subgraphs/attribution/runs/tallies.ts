import { defineEntity, p } from '@mikro-orm/core';
import { setTimeout as sleep } from 'node:timers/promises';
import type { MigrationOwner } from '../../../../platform/postgres/migrate.ts';
import type { SqlEntityManager } from '../../../../platform/postgres/database.ts';
import { environmentTable, ENVIRONMENT_DEFAULT, tenantTable } from '../../../../platform/postgres/tenant-tables.ts';
import { RunFailedError } from '../../../../subgraphs/attribution/runs/run-failed-error.ts';
import type { RunKind } from '../../../../subgraphs/attribution/runs/run-kind.ts';
import { runColumns, type Run } from '../../../../subgraphs/attribution/runs/run.ts';
import type { StoredRuns } from '../../../../subgraphs/attribution/runs/run-table.ts';

/* A kind of run that is no analysis: it adds up the numbers to `upTo`, one after the other. */

export interface TallyResult {
  readonly sum: number;
}

/** The sum so far. */
export interface SoFar {
  readonly kind: 'SUM_SO_FAR';
  readonly progress: number;
  readonly sum: number;
}

const TallySchema = defineEntity({
  name: 'Tally',
  tableName: 'tallies',
  schema: 'tally',
  properties: { ...runColumns<TallyResult>(), upTo: p.integer(), note: p.text().nullable() },
});
export class Tally extends TallySchema.class {}
TallySchema.setClass(Tally);

export const TALLY_RUNS: StoredRuns<Tally> = {
  name: 'tally',
  noun: 'tally',
  prefix: 'exp',
  entity: Tally,
  table: 'tally.tallies',
  progressTable: 'tally.tally_progress',
  manyRows: 1_000,
};

const TENANT = `account_id uuid not null,
  environment text not null default ${ENVIRONMENT_DEFAULT} check (environment in ('live', 'sandbox'))`;

export const tallyOwner: MigrationOwner = {
  schema: 'tally',
  migrations: [
    {
      name: '001-tallies',
      up: [
        `create table tally.tallies (id uuid primary key, ${TENANT}, status text not null,
           revision integer not null default 1, result jsonb, failure jsonb, last_event integer not null default 0,
           created_at timestamptz(3) not null, completed_at timestamptz(3), deleted_at timestamptz(3),
           up_to integer not null, note text)`,
        ...tenantTable('tally.tallies'),
        ...environmentTable('tally.tallies'),
        `create table tally.tally_progress (run_id uuid not null references tally.tallies on delete cascade,
           ${TENANT}, sequence integer not null, event jsonb not null, at timestamptz(3) not null default now(),
           primary key (run_id, sequence))`,
        ...tenantTable('tally.tally_progress'),
        ...environmentTable('tally.tally_progress'),
      ],
    },
  ],
};

/** What a test does to the computation, and what the kind was asked to announce. */
export interface Stage {
  /** Called before every step, by the attempt that is at it. */
  beforeStep?: (attempt: number, step: number, signal: AbortSignal) => Promise<void> | void;
  readonly announced: string[];
}

export function tallyKind(stage: Stage): RunKind<Tally, { readonly steps: number }, TallyResult, SoFar> {
  const announce = (how: string) => async (_em: SqlEntityManager, row: Run<TallyResult>) =>
    void stage.announced.push(`${how} ${row.status} ${row.result?.sum ?? row.failure?.code} r${row.revision}`);
  return {
    ...TALLY_RUNS,
    async load(_em, row) {
      if (row.upTo < 0) throw new RunFailedError({ code: 'insufficient_data', message: 'There is nothing to add up.' });
      return { steps: row.upTo };
    },
    async compute(job, _row, { steps }, tell) {
      let sum = 0;
      for (let step = 1; step <= steps; step += 1) {
        await stage.beforeStep?.(job.attempt, step, job.signal);
        await sleep(0, undefined, { signal: job.signal });
        sum += step;
        tell({ kind: 'SUM_SO_FAR', progress: step / (steps + 1), sum });
      }
      return { sum };
    },
    resultOf: (found) => found,
    fill: async (_em, row, { sum }) => void (row.note = `adds up to ${sum}`),
    announce: announce('ended'),
    announceRevision: announce('revised'),
    follow: async () => undefined,
  };
}
