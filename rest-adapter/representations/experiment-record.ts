import { z } from 'zod';
import { ENVIRONMENTS, EXPERIMENT_METHODS } from '../../schema/value-lists.ts';
import { inOrder } from '../members.ts';
import type { Json } from '../operation.ts';

/** A measured effect, without the trust envelope; the order of the members is the order in the body. */
export const experimentRecord = z
  .object({
    id: z.string(),
    data_source_id: z.string(),
    channel: z.string(),
    method: z.enum(EXPERIMENT_METHODS),
    period: z.tuple([z.iso.date(), z.iso.date()]),
    incremental_revenue: z.number().meta({ description: 'Revenue that the channel added in the period, for the whole shop' }),
    standard_error: z.number(),
    currency: z.string(),
    notes: z.string().nullable(),
    environment: z.enum(ENVIRONMENTS),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'Experiment' });

/** An experiment with its members in order. */
export function presentExperiment(shaped: Json): Json {
  return inOrder(experimentRecord, shaped);
}

export const exampleExperiment: Json = {
  id: 'exp_01JQ2n4Kc7WyQhTzBdMpRs',
  data_source_id: 'ds_01JQ2kZr5uHn4GdPaLxWqB',
  channel: 'meta_ads',
  method: 'geo',
  period: ['2026-01-01', '2026-01-28'],
  incremental_revenue: 31_250.5,
  standard_error: 4_800,
  currency: 'USD',
  notes: 'Four regions dark, sixteen as before',
  environment: 'live',
  created_at: '2026-02-01T09:20:11.000Z',
};
