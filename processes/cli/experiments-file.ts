import { readFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import { z } from 'zod';
import { dayRangeFault } from '../../schema/day-range.ts';
import { EXPERIMENT_METHODS } from '../../schema/value-lists.ts';
import { TOGETHER } from '../../subgraphs/attribution/analysis/experiments/channel-group.ts';
import type { MeasuredEffect } from '../../subgraphs/attribution/analysis/experiments/range-experiments.ts';
import { BadInputError } from './bad-input-error.ts';

const COLUMNS = ['channel', 'method', 'start', 'end', 'incremental_revenue', 'standard_error'] as const;

const number = z
  .string()
  .regex(/^-?\d+(\.\d+)?$/, 'must be a number with a point as decimal sign')
  .transform(Number);
const row = z
  .object({
    channel: z.string().min(1, 'is empty'),
    method: z.enum(EXPERIMENT_METHODS),
    start: z.string(),
    end: z.string(),
    incremental_revenue: number,
    standard_error: number.refine((value) => value >= 0.01, 'must be at least 0.01'),
  })
  .superRefine(({ start, end }, context) => {
    const fault = dayRangeFault(start, end);
    if (fault !== null) context.addIssue({ code: 'custom', path: ['start'], message: fault.message });
  });

/**
 * Results of experiments from a CSV file: channel, method, start, end, incremental_revenue, standard_error. Channels
 * that were kept away together stand in one cell, ` + ` between them.
 * An experiment is named by its line, `line-2` being the first.
 * @throws BadInputError naming line and column.
 */
export async function readExperiments(path: string): Promise<readonly MeasuredEffect[]> {
  const content = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new BadInputError(
      `${path}: the experiments cannot be read (${error.code ?? error.message}). Check the path.`,
      { cause: error },
    );
  });
  return recordsOf(path, content).map(({ record, line }) => {
    const parsed = row.safeParse(record);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw new BadInputError(`${path}: line ${line}: ${String(issue!.path[0] ?? 'row')}: ${issue!.message}.`);
    }
    const { channel, method, start, end, ...measured } = parsed.data;
    const { incremental_revenue: incrementalRevenue, standard_error: standardError } = measured;
    const channels = channel.split(TOGETHER).map((name) => name.trim());
    return { id: `line-${line}`, channels, method, period: { start, end }, incrementalRevenue, standardError };
  });
}

function recordsOf(
  path: string,
  content: string,
): readonly { readonly record: Readonly<Record<string, string>>; readonly line: number }[] {
  try {
    const rows = parse(content, {
      bom: true,
      columns: (header: string[]) => header.map((name) => name.trim().toLowerCase()),
      trim: true,
      skip_empty_lines: true,
      info: true,
    }) as unknown as { readonly record: Record<string, string>; readonly info: { readonly lines: number } }[];
    const missing = COLUMNS.filter((name) => rows[0] !== undefined && rows[0].record[name] === undefined);
    if (missing.length > 0)
      throw new BadInputError(`${path}: the header lacks ${missing.join(', ')}. It needs ${COLUMNS.join(', ')}.`);
    return rows.map(({ record, info }) => ({ record, line: info.lines }));
  } catch (error) {
    if (error instanceof BadInputError) throw error;
    throw new BadInputError(
      `${path}: this is not a CSV file (${error instanceof Error ? error.message : String(error)}).`,
      { cause: error },
    );
  }
}
