import { z } from 'zod';
import { DELIMITERS } from '../value-lists.ts';
import { sourceType, syncSchedule } from './source-records.ts';
import { margin } from './profitability.ts';
import { channelName, id, inRest, namedDay } from './terms.ts';
import { columnMapping, timeZone } from './upload-options.ts';

/** Which character stands between cells is said by the verb. */
const delimiter = inRest(z.union([z.literal('auto'), z.string().length(1)]), z.enum(['auto', ...DELIMITERS]));

/** What `credentials` are for a csv_upload. */
export const csvCredentials = z
  .strictObject({
    filename: z.string().max(255).optional(),
    content: z.string().optional().meta({
      description: 'The file itself; left out, rows come by POST /data-sources/{id}/records',
    }),
    encoding: z.enum(['utf-8', 'base64']).optional().meta({ default: 'utf-8' }),
    delimiter: delimiter.optional().meta({ default: 'auto' }),
    mapping: columnMapping.optional().meta({ description: 'Canonical column to the column of the file' }),
  })
  .meta({ id: 'CsvCredentials' });

/** An id, or what the verb says is none. */
const anyId = (prefix: 'agent' | 'ws') => inRest(z.string().max(128), id(prefix));

/** A connection of any type; the graph takes credentials of any form, which the verb reads by the type. */
export const newSource = z
  .object({
    type: sourceType.meta({ graph: 'Where the rows come from.' }),
    credentials: z.record(z.string(), z.unknown()).meta({
      graph: 'csv_upload: filename, content (text, or base64 with encoding), delimiter, mapping {canonical: column}.',
    }),
    syncSchedule: syncSchedule.optional().meta({ default: 'daily', graph: 'Defaults to DAILY.' }),
    name: z.string().trim().min(1).max(120).optional().meta({
      graph: 'Name for people; defaults to the name of the file.',
    }),
    agentId: anyId('agent').optional().meta({
      description: 'The serving agent; the calling one when absent. An account without an agent may name any',
      graph: 'The serving agent; defaults to the calling one. An account without an agent may name any.',
    }),
    workspaceId: anyId('ws').optional().meta({
      description: 'Workspace to put the source into, ws_…; the one in SVC-Workspace when absent',
      graph: 'Workspace to put the source into; the one that the request acts in when absent.',
    }),
    brandId: z.string().min(1).max(128).meta({ scalar: 'ID' }).optional().meta({
      description: 'Brand that the rows are of, in your own words',
      graph: 'Brand that the rows are of; 1 to 128 characters of your own.',
    }),
    startDate: namedDay.optional().meta({
      description:
        'First UTC day to fetch: the first sync begins there; all that there is when absent. Not after today, and ' +
        'not for csv_upload, whose rows are sent',
      graph:
        'First UTC day to fetch: the first sync begins there; all that there is when absent. Not after today, and ' +
        'not for CSV_UPLOAD, whose rows are sent.',
    }),
    timezone: inRest(z.string().max(64), timeZone).optional().meta({
      default: 'UTC',
      description: 'IANA time zone of the schedule',
      graph: 'IANA time zone; defaults to UTC.',
    }),
    baselineChannels: z.array(channelName).min(1).max(50).optional().meta({
      description: 'Channels that are there without marketing; a trailing * matches any ending',
      graph: 'Defaults to direct, organic*, (none), unassigned.',
    }),
    margin: margin.optional().meta({
      description:
        'Share of revenue that is left after the cost of goods, where orders do not say their cogs: analyses then ' +
        'speak of profit, too',
      graph:
        'Share of revenue that is left after the cost of goods, where orders do not say their cogs: analyses then ' +
        'speak of profit, too.',
    }),
  })
  .meta({ graph: 'A source to connect.' });
