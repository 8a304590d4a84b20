import { z } from 'zod';
import type { Inspection } from '../../../../schema/contract/inspection.ts';
import type { SqlEntityManager, TenantScope } from '../../../../platform/postgres/database.ts';
import type { Uuid } from '../../../../platform/identifiers.ts';
import type { RecordsBody } from '../connectors/records-body.ts';

/** A row that was not taken: where it stands in the file and why. */
export interface RejectedRow {
  readonly uploadId: string | null;
  readonly line: number;
  readonly column: string;
  readonly code: string;
  readonly message: string;
}

/** What came of the rows of one request; also what is remembered of it under an idempotency key. */
export const recordsReport = z
  .object({
    uploadId: z.string(),
    kind: z.string(),
    rowsAccepted: z.number(),
    rowsRejected: z.number(),
    /** The first hundred. */
    firstErrors: z
      .array(z.object({ line: z.number(), column: z.string(), code: z.string(), message: z.string() }).readonly())
      .readonly(),
    /** What else the sender should know. */
    warnings: z.array(z.string()).readonly(),
  })
  .readonly();
export type RecordsReport = z.output<typeof recordsReport>;

/** Why nothing of a request was stored, where rows came and none could be taken; null otherwise. */
export function failureOf({
  rowsAccepted,
  rowsRejected,
  firstErrors: [first],
}: Pick<RecordsReport, 'rowsAccepted' | 'rowsRejected' | 'firstErrors'>): {
  readonly code: 'all_rows_rejected';
  readonly message: string;
} | null {
  if (rowsAccepted > 0 || rowsRejected === 0) return null;
  const example =
    first === undefined
      ? ''
      : ` The first: line ${first.line}, ${first.column === '' ? '' : `${first.column}: `}${first.message}.`;
  return {
    code: 'all_rows_rejected',
    message:
      `None of the ${rowsRejected} rows could be taken, so nothing was stored.${example} Correct the file, and send ` +
      'it again.',
  };
}

/** Runs in the transaction that completes an upload. */
export type OnStored = (em: SqlEntityManager, report: RecordsReport) => Promise<void>;

/**
 * Streams rows into a source; filled by the touchpoints feature. When it resolves, every accepted row is stored.
 * @throws ProblemError `resource_not_found`, `validation_error` (unknown columns), `unsupported_media_type`.
 */
export type ReceiveRecords = (
  tenant: TenantScope,
  dataSourceId: Uuid,
  records: RecordsBody,
  onStored?: OnStored,
) => Promise<RecordsReport>;

/**
 * Says how rows would be read; filled by the files feature. Nothing is stored.
 * @throws ProblemError `resource_not_found`, `validation_error` where nothing can be made of them.
 */
export type InspectRecords = (tenant: TenantScope, dataSourceId: Uuid, records: RecordsBody) => Promise<Inspection>;
