import { z } from 'zod';
import { LEAST_MARGIN } from '../least-margin.ts';
import { MARGIN_ORIGINS } from '../value-lists.ts';
import { graphTypes } from './terms.ts';

/* What part of revenue is left after the cost of goods, and where that was said. */

/** Share of revenue that is left after the cost of goods. */
export const margin = z.number().min(LEAST_MARGIN).max(1);

const marginOrigin = z.enum(MARGIN_ORIGINS).register(graphTypes, {
  name: 'MarginOrigin',
  description: 'Where a margin was said: in ORDERS by their cogs, in the SETTING of the source, or in the REQUEST.',
});

export const profitability = z
  .object({
    margin: margin.meta({ graph: 'Share of revenue that is left after the cost of goods, in (0, 1].' }),
    origin: marginOrigin.meta({
      description:
        'orders: 1 - cogs / revenue of the orders of the range that say their cogs, which bring at least 90 % of its ' +
        'revenue. setting: that of the (first) source. request: what was asked',
      graph:
        'ORDERS: 1 − cogs / revenue of the orders of the range that say their cogs, which bring at least 90 % of its ' +
        'revenue. SETTING: that of the (first) source. REQUEST: what was asked.',
    }),
  })
  .meta({ id: 'Profitability' })
  .register(graphTypes, {
    name: 'Profitability',
    description: 'The margin that revenue is held against spend with.',
  });
