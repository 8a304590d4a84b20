import { z } from 'zod';
import { namedPeriodOrMonth } from './named-period.ts';

/** Which currency figures are wanted in: sums never mix two. */
export const wantedCurrency = z
  .string()
  .toUpperCase()
  .regex(/^[A-Z]{3}$/, 'must be a code of ISO 4217, such as USD')
  .optional()
  .meta({
    description: 'ISO 4217; the one with the most charges when absent, USD where there are none',
    graph: 'ISO 4217; the one with the most charges of the period when nothing is said, USD where there are none.',
  });

export const billingPeriod = z
  .object({ period: namedPeriodOrMonth, currency: wantedCurrency })
  .meta({ graph: 'What figures are asked of.' });

/** What every sum over a period says of itself. */
export const ofPeriod = {
  period: z.string().meta({ graph: '2026-02-14, 2026-W07, 2026-02 or all, in UTC.' }),
  currency: z.string().meta({ description: 'ISO 4217, of all amounts here' }),
  otherCurrencies: z.array(z.string()).meta({ description: 'Currencies that have figures, too, and are not here' }),
};
