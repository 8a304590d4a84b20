import { z } from 'zod';
import { isPeriod, PERIOD_FAULT } from '../period.ts';

/** A period that a caller names: a month, or `day`, `week`, `month`, `all` of now, all in UTC. */
export const namedPeriod = z
  .string()
  .refine(isPeriod, { error: PERIOD_FAULT, params: { code: 'invalid_period' } })
  .meta({
    description:
      'YYYY-MM, or the current day, week (ISO 8601) or month, or all, in UTC. What an answer calls its period can be ' +
      'asked for, too',
    graph: 'YYYY-MM, or the current day, week or month, or all; what an answer calls its period, too.',
  });

/** The same where nothing is said means the current month. */
export const namedPeriodOrMonth = namedPeriod.optional().meta({ default: 'month' });
