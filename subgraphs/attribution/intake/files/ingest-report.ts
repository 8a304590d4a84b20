import type { FileQuality } from '../data-sources/upload.ts';
import type { RowReject } from './rejects.ts';
import type { RecordKind } from './reader/record-kind.ts';

/** What became of one upload. `rowsAccepted + rowsRejected` is the number of rows in the file. */
export interface IngestReport {
  readonly uploadId: string;
  readonly kind: RecordKind;
  readonly warnings: readonly string[];
  readonly rowsAccepted: number;
  readonly rowsRejected: number;
  readonly touchpoints: number;
  readonly conversions: number;
  readonly spendRows: number;
  readonly paths: number;
  /** ISO 4217 code of the amounts, null when the file carries none. */
  readonly currency: string | null;
  /** The first 100 rejects by line. */
  readonly firstErrors: readonly RowReject[];
  /** Size of the decoded content (after gzip). */
  readonly bytes: number;
  /** `sha256:` + hex over the decoded content. */
  readonly contentDigest: string;
  /** Names files with the same columns. */
  readonly headerDigest: string;
  /** Time span of the accepted rows, RFC 3339; null when none carries a time. */
  readonly earliest: string | null;
  readonly latest: string | null;
  readonly quality: FileQuality;
}
