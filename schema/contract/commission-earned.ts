import { z } from 'zod';
import type { EventType } from '../event-catalogue.ts';
import { channelImpact } from './attribution-impact.ts';
import { commission } from './commissions.ts';
import { progressKind } from './progress-kind.ts';
import { memberOf } from './rest-form.ts';
import { graphTypes } from './terms.ts';

/** The events that tell of a new entry of the ledger. */
export const LEDGER_EVENTS = ['commission.earned', 'commission.reversed'] as const satisfies readonly EventType[];

/** What the subscription tells of commissions. */
export const commissionEarned = z
  .object({
    sequence: z.int().meta({ graph: 'Rises with every entry; pass the last one as `after` to resume.' }),
    kind: progressKind.meta({ graph: 'RESULT: an entry was added. PROGRESS: the stage watching.' }),
    progress: z.number().meta({ graph: '1 with an entry, 0 without.' }),
    stage: z.enum(['watching', ...LEDGER_EVENTS]).meta({
      scalar: 'String',
      graph: `${LEDGER_EVENTS.join(', ')}, or watching: the first item, which says where the stream begins.`,
    }),
    channelImpact: z.array(channelImpact).nullable().meta({
      graph: 'Always null, since a commission credits no channel: the member that subscriptions have in common.',
    }),
    result: memberOf(commission, 'The entry; its payment as it is now.').nullable(),
  })
  .register(graphTypes, { name: 'CommissionEarned', description: 'A new entry of the commission ledger.' });
