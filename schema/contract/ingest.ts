import { z } from 'zod';
import { inspection } from './inspection.ts';
import { rejectedRow, reportedRow } from './rejected-row.ts';
import { graphTypes, id } from './terms.ts';
import { uploadOptions } from './upload-options.ts';

/* What came of rows that were sent. */

/** Rows of one request that are sent as JSON. */
export const MOST_JSON_ROWS = 1000;
/** Of a file that is sent as a text in JSON. */
const LONGEST_CONTENT = 512 * 1024;
const count = z.int().min(0).meta({ scalar: 'Float' });

/** A rejected row in a list, as REST documents it. */
export const storedReject = z
  .object({ ...reportedRow.shape, uploadId: rejectedRow.shape.uploadId })
  .meta({ id: 'StoredReject' });

const ingestStatus = z.enum(['completed', 'failed']).register(graphTypes, {
  name: 'IngestStatus',
  description: 'Whether rows came of a request.',
});
const ingestFailure = z
  .object({
    code: z
      .enum(['all_rows_rejected'])
      .register(graphTypes, { name: 'IngestFailureCode', description: 'Why no row of a request was stored.' })
      .meta({ graph: 'What went wrong, for programs.' }),
    message: z.string().meta({ graph: 'What went wrong and what to do, for people.' }),
  })
  .register(graphTypes, { name: 'IngestFailure', description: 'Why no row of a request was stored.' });

export const ingestReport = z
  .object({
    uploadId: id('upload').meta({ graph: 'The upload that the rows came as; rejected rows are listed under it.' }),
    status: ingestStatus.meta({
      description: '`failed` when rows came and every one was rejected: nothing was stored',
      graph: 'FAILED when rows came and every one was rejected: nothing was stored.',
    }),
    failure: ingestFailure.nullable().meta({ graph: 'Null unless the status is FAILED.' }),
    kind: z.string().meta({
      graph:
        'Kind that was detected from the header: touchpoints, conversions, spend, paths, events, identities or fx.',
    }),
    accepted: count.meta({ graph: 'Rows that were stored.' }),
    rejected: count.meta({ graph: 'Rows that were not.' }),
    errors: z.array(rejectedRow).meta({ graph: 'The first hundred rejected rows.' }),
    warnings: z.array(z.string()).meta({
      description: 'What else the sender should know, such as rows that no analysis will read',
    }),
  })
  .register(graphTypes, { name: 'IngestReport', description: 'What came of the rows of one request.' });

/** The report as a member of an answer of REST. */
export const shownReport = ingestReport.extend({ errors: z.array(reportedRow).max(100) });
/** What the port behind POST /data-sources/{id}/records reports; by the id its rejected rows can be told apart. */
export const uploadReport = shownReport.partial({ uploadId: true });

/** Rows that are sent as JSON, at both doors. */
export const sentRows = z
  .array(z.record(z.string(), z.unknown()))
  .min(1, 'must have at least one row')
  .max(MOST_JSON_ROWS, `must have at most ${MOST_JSON_ROWS} rows; send more of them as a file`);
export const sentRecords = z.object({ records: sentRows.meta({ graph: 'One object per row.' }) });

/** What `addRecords` takes beside the source. */
export const addedRows = sentRecords.extend({
  options: uploadOptions.optional().meta({ graph: 'What the rows do not tell themselves.' }),
});
/** Rows that the graph looks at; REST takes them as an upload with `dry_run=true`. */
export const inspectedRows = z
  .object({
    records: sentRows.optional().meta({ graph: 'One object per row; this or content.' }),
    content: z.string().min(1).max(LONGEST_CONTENT).optional().meta({
      graph: 'The beginning of a file of text, or all of it; this or records.',
    }),
    options: uploadOptions.optional().meta({ graph: 'What the rows do not tell themselves.' }),
  })
  .refine(({ records, content }) => (records === undefined) !== (content === undefined), {
    path: ['content'],
    message: 'send either records or content',
    params: { code: 'one_of' },
  });
export const inspectedRecords = z
  .object({ dataSourceId: id('ds').meta({ graph: 'Public id of the source.' }), ...inspectedRows.shape })
  .meta({ graph: 'Rows to look at before they are loaded.' });
export const inspectedReport = z
  .object({ inspection: inspection.meta({ graph: 'How the rows would be read.' }) })
  .register(graphTypes, { name: 'InspectRecordsPayload', description: 'How rows would be read. Nothing was stored.' });

/** Rows that the graph takes; REST takes them as an upload. */
export const addedRecords = z
  .object({
    dataSourceId: id('ds').meta({ graph: 'Public id of the source.' }),
    ...addedRows.shape,
  })
  .meta({ graph: 'Up to 1,000 rows of one kind, as objects with the canonical column names.' });
export const addedReport = z
  .object({ ingest: ingestReport.meta({ graph: 'What came of the rows.' }) })
  .register(graphTypes, { name: 'AddRecordsPayload', description: 'What came of the rows that were added.' });
