import { defineEntity, p } from '@mikro-orm/core';
import type { SYNC_STATUSES } from '../../../../schema/value-lists.ts';
import type { Uuid } from '../../../../platform/identifiers.ts';
import type { SourceError } from './data-source.ts';

/**
 * What the reader of a file has to say of its quality; a member that is absent was not looked at. Days are UTC,
 * `YYYY-MM-DD`.
 */
export interface FileQuality {
  /** Days of the rows that were taken; absent where none is dated. */
  readonly firstDay?: string;
  readonly lastDay?: string;
  /** Rows taken that are conversions. */
  readonly conversions?: number;
  /** Of those, rows that repeated the order id of another row of the file, and so replaced it. */
  readonly repeatedOrders?: number;
  /** Amounts of the rejected conversions that could be read, by ISO 4217 currency, as decimal text. */
  readonly rejectedRevenue?: Readonly<Record<string, string>>;
  /** Rejected conversions whose amount could not be read. */
  readonly unpricedRejects?: number;
  /** IANA zone in which times without one were read. */
  readonly assumedTimeZone?: string;
}

const UploadSchema = defineEntity({
  name: 'Upload',
  tableName: 'uploads',
  schema: 'attribution',
  properties: {
    id: p.uuid().$type<Uuid>().primary(),
    accountId: p.uuid().$type<Uuid>(),
    dataSourceId: p.uuid().$type<Uuid>(),
    cause: p.text().$type<'upload' | 'sync'>(),
    status: p.text().$type<(typeof SYNC_STATUSES)[number]>(),
    kind: p.text().nullable(),
    rowsAccepted: p.integer().default(0),
    rowsRejected: p.integer().default(0),
    bytes: p.bigint().$type<number>().default(0),
    contentDigest: p.text().nullable(),
    error: p.json().$type<SourceError>().nullable(),
    quality: p.json().$type<FileQuality>().nullable(),
    startedAt: p.datetime(3),
    completedAt: p.datetime(3).nullable(),
  },
});

/** One arrival of rows at a source, or one sync of it: what was asked, what came of it. The ingest record. */
export class Upload extends UploadSchema.class {
  /** The rows are stored. */
  complete(
    outcome: {
      readonly kind: string | null;
      readonly rowsAccepted: number;
      readonly rowsRejected: number;
      readonly bytes: number;
      readonly contentDigest: string | null;
      readonly quality?: FileQuality;
    },
    now: Date,
  ): void {
    Object.assign(this, outcome);
    this.status = 'completed';
    this.completedAt = now;
  }

  /** Nothing, or not all of it, was stored. */
  fail(error: SourceError, now: Date): void {
    this.status = 'failed';
    this.error = error;
    this.completedAt = now;
  }
}
UploadSchema.setClass(Upload);
