import { requireUuid } from '../platform/identifiers.ts';
import { assertAction } from '../platform/auth/actions.ts';
import type { IngestRecords } from '../rest-adapter/call.ts';
import type { ReceiveRecords, RecordsReport } from '../subgraphs/attribution/data-sources/records.ts';
import type { IngestOutcome } from '../rest-adapter/representations/ingest-report.ts';

/** Lets the REST door stream uploads into the attribution subgraph of the same process. */
export function localRecords(receiveRecords: ReceiveRecords): IngestRecords {
  return async (context, dataSourceId, upload) => {
    const principal = assertAction(context.principal, 'dataSource:write');
    return outcomeOf(await receiveRecords(principal, requireUuid('ds', dataSourceId, 'data source'), upload));
  };
}

/** What the REST door says of an upload. */
export function outcomeOf(report: RecordsReport): IngestOutcome {
  return { uploadId: report.uploadId, kind: report.kind, accepted: report.rowsAccepted, rejected: report.rowsRejected, errors: report.firstErrors, warnings: report.warnings };
}
