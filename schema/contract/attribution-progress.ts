import { z } from 'zod';
import type { EventType } from '../event-catalogue.ts';
import { channelImpact } from './attribution-impact.ts';
import { attributionModel } from './attribution-model.ts';
import { attribution, attributionStatus, failureCode } from './attribution-result.ts';
import { progressKind } from './progress-kind.ts';
import { graphTypes, id } from './terms.ts';
import { trustEnvelope } from './trust-envelope.ts';

/* What the subscriptions tell of analyses. */

export const attributionProgress = z
  .object({
    sequence: z.int().meta({ graph: 'Counted from 1 without gaps; pass the last one as `after` to resume.' }),
    kind: progressKind.meta({ graph: 'Which of the members below are there.' }),
    progress: z.number().meta({ graph: 'In [0, 1].' }),
    stage: z.string().nullable().meta({ graph: 'queued, loading, building_journeys, model:…, combining, signing.' }),
    message: z.string().nullable().meta({ graph: 'What happened, for people.' }),
    etaSeconds: z.int().nullable().meta({
      graph: 'Seconds until the end, should the rest go on at the pace so far; null while there is no pace yet.',
    }),
    iteration: z.int().nullable().meta({
      graph: 'Rounds that the stage’s solver or sampling took, 0 for an exact solution; null where nothing iterates.',
    }),
    converged: z.boolean().nullable().meta({
      graph: 'False when the solver of the stage stopped short of its tolerance; null where nothing iterates.',
    }),
    model: attributionModel.nullable().meta({ graph: 'The model that a CHANNEL_RESULT comes from.' }),
    status: attributionStatus.meta({ graph: 'State of the analysis after this event.' }),
    channelImpact: z.array(channelImpact).nullable().meta({ graph: 'Provisional credit of one model.' }),
    result: attribution.nullable().meta({ graph: 'The finished analysis, with RESULT.' }),
    failureCode: failureCode.nullable().meta({ graph: 'Why the analysis failed, with ERROR.' }),
    trust: trustEnvelope.nullable().meta({ graph: 'That of the result; the record envelope before there is one.' }),
  })
  .register(graphTypes, { name: 'AttributionProgress', description: 'One thing that happened to an analysis.' });

/** Events of a source's analyses; `data` of each names analysis, source and, where it failed, why. */
export const CHANGE_TYPES = ['attribution.completed', 'attribution.updated'] as const satisfies readonly EventType[];

export const attributionChange = z
  .object({
    sequence: z.int().meta({ graph: 'Rises with every change; pass the last one as `after` to resume.' }),
    kind: progressKind.meta({
      graph:
        'RESULT: an analysis was completed or updated. ERROR: it failed or was cancelled. PROGRESS: the stage ' +
        'watching, which the stream begins with.',
    }),
    progress: z.number().meta({ graph: '1 with an analysis, 0 without.' }),
    stage: z.enum(['watching', ...CHANGE_TYPES]).meta({
      scalar: 'String',
      graph: 'watching, attribution.completed or attribution.updated.',
    }),
    message: z.string().nullable().meta({ graph: 'Why an analysis failed, for people.' }),
    failureCode: failureCode
      .nullable()
      .meta({ graph: 'Why an analysis failed, for programs; CANCELLED among others.' }),
    attributionId: id('attr').nullable().meta({ graph: 'The analysis; null for the stage watching.' }),
    channelImpact: z.array(channelImpact).nullable().meta({ graph: 'That of the result.' }),
    result: attribution.nullable().meta({
      graph: 'The analysis as it is now, which may be later than the change; null once it is gone.',
    }),
    trust: trustEnvelope.nullable().meta({ graph: 'That of the result; the record envelope where there is none.' }),
  })
  .register(graphTypes, { name: 'AttributionChange', description: 'One change among the analyses of a source.' });
