import { z } from 'zod';
import { channelImpact } from './attribution-impact.ts';
import { progressKind } from './progress-kind.ts';
import { memberOf } from './rest-form.ts';
import { dataSource } from './source-records.ts';
import { graphTypes } from './terms.ts';

/** What the subscription `dataSourceStatus` tells. */
export const sourceChange = z
  .object({
    sequence: z.int().meta({ graph: 'Rises with every change; pass the last one as `after` to resume.' }),
    kind: progressKind.meta({
      graph: 'PROGRESS while rows arrive, RESULT when they have, ERROR after a sync that failed.',
    }),
    progress: z.number().nullable().meta({
      graph: '1 when nothing is under way; null while rows arrive, since nobody knows how many will.',
    }),
    stage: z.string().meta({ graph: 'connected, syncing or error.' }),
    message: z.string().nullable().meta({ graph: 'Why the last sync failed, for people.' }),
    failureCode: z.string().nullable().meta({ graph: 'Why the last sync failed, for programs.' }),
    channelImpact: z.array(channelImpact).nullable().meta({
      graph: 'Always null, since a source credits no channel: the member that subscriptions have in common.',
    }),
    result: memberOf(dataSource, 'The source; detail.currentSync is what is under way.'),
  })
  .register(graphTypes, { name: 'DataSourceChange', description: 'The state of a source after a change.' });
