import type { IngestRecords, RecordUpload } from '../../rest-adapter/call.ts';
import { errorBody } from '../../rest-adapter/representations/error.ts';

/** Where rows are sent to. */
export const RECORDS_PATH = '/v1/data-sources/ds_1/records';

/** An upload as it came. */
export interface Received extends Omit<RecordUpload, 'body'> {
  readonly dataSourceId: string;
  readonly bytes: Buffer;
}

/** An ingest port that keeps what it got. */
export function recording(): { readonly received: Received[]; readonly ingestRecords: IngestRecords } {
  const received: Received[] = [];
  return {
    received,
    async ingestRecords(_context, dataSourceId, { body, ...upload }) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of body) chunks.push(chunk);
      received.push({ dataSourceId, ...upload, bytes: Buffer.concat(chunks) });
      return {
        uploadId: 'upload_1',
        status: 'completed',
        failure: null,
        kind: 'touchpoints',
        accepted: 3,
        rejected: 1,
        errors: [{ line: 4, column: 'timestamp', code: 'not_a_date', message: 'no' }],
        warnings: [],
      };
    },
  };
}

export const errorOf = async (response: Response) => errorBody.parse(await response.json()).error;
