import { z } from 'zod';
import { assertAction } from '../schema/actions.ts';
import type { RequestContext } from '../schema/principal.ts';
import { digested, digestOf } from '../services/idempotency/content-digest.ts';
import { exactlyOnce } from '../services/idempotency/exactly-once.ts';
import { idempotencyConflict } from '../services/idempotency/idempotency-key.ts';
import { requireUuid } from '../platform/identifiers.ts';
import type { Database } from '../platform/postgres/database.ts';
import {
  contentKind,
  type IngestOutcome,
  type IngestRecords,
  type RecordsDoor,
  type RecordUpload,
} from '../rest-adapter/call.ts';
import {
  recordsReport,
  type ReceiveRecords,
  failureOf,
  type RecordsReport,
} from '../subgraphs/attribution/intake/data-sources/records.ts';
import type { RecordsPort } from './subgraph-set.ts';

const uploadEffect = z.object({ report: recordsReport, contentDigest: z.string().nullable() });

/**
 * Lets the REST door stream uploads into the attribution subgraph of the same process. The body of an upload is part of
 * what its idempotency key stands for, and is known only when it has passed: its digest is recorded with the effect.
 */
export function localRecords(database: Database, { receiveRecords, inspectRecords }: RecordsPort): RecordsDoor {
  return {
    ingestRecords: storing(database, receiveRecords),
    inspectRecords: (context, dataSourceId, upload) =>
      inspectRecords(
        assertAction(context.principal, 'dataSource:write'),
        requireUuid('ds', dataSourceId, 'data source'),
        upload,
      ),
  };
}

function storing(database: Database, receiveRecords: ReceiveRecords): IngestRecords {
  return async (context, dataSourceId, upload) => {
    const principal = assertAction(context.principal, 'dataSource:write');
    const id = requireUuid('ds', dataSourceId, 'data source');
    const { body, digest } = contentOf(context, upload);
    return exactlyOnce(database, context, {
      effect: uploadEffect,
      act: async (settle) => {
        const bounded = whileThereIsRoom(database, body);
        const received = receiveRecords(principal, id, { ...upload, body: bounded.body }, (em, stored) =>
          settle(em, { report: stored, contentDigest: digest() }),
        );
        const report = await received.catch((error: unknown) => {
          throw bounded.lack() ?? error;
        });
        return outcomeOf(report, digest());
      },
      recall: async ({ report, contentDigest }) => {
        // Rows as JSON are part of the fingerprint already.
        if (contentDigest !== null && contentDigest !== (await digestOf(contentKind(upload), upload.body)))
          throw idempotencyConflict();
        return outcomeOf(report, contentDigest);
      },
    });
  };
}

/**
 * One file may be larger than the reserve: it ends where the disk is nearly full, and what it has taken is given back.
 */
function whileThereIsRoom(
  database: Database,
  source: AsyncIterable<Uint8Array>,
): { readonly body: AsyncIterable<Uint8Array>; readonly lack: () => unknown } {
  let lack: unknown;
  async function* body(): AsyncGenerator<Uint8Array> {
    for await (const piece of source) {
      try {
        database.refuseWithoutRoom();
      } catch (error) {
        lack = error;
        throw error;
      }
      yield piece;
    }
  }
  return { body: body(), lack: () => lack };
}

/** Hashes only what somebody may compare. */
function contentOf(
  context: RequestContext,
  upload: RecordUpload,
): Pick<ReturnType<typeof digested>, 'body' | 'digest'> {
  if (context.idempotency === undefined || upload.mediaType === 'application/json')
    return { body: upload.body, digest: () => null };
  return digested(contentKind(upload), upload.body);
}

/** What the REST door says of an upload. */
function outcomeOf(report: RecordsReport, contentDigest: string | null): IngestOutcome {
  const failure = failureOf(report);
  return {
    uploadId: report.uploadId,
    status: failure === null ? 'completed' : 'failed',
    failure,
    kind: report.kind,
    accepted: report.rowsAccepted,
    rejected: report.rowsRejected,
    errors: [...report.firstErrors],
    warnings: [...report.warnings],
    contentDigest,
  };
}
