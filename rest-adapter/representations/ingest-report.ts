import { z } from 'zod';

/** A row that was not stored, and why. Lines count from 1, the header being line 1. */
export interface RejectedRow {
  readonly line: number;
  readonly column: string | null;
  readonly code: string;
  readonly message: string;
}

/** What the port behind POST /data-sources/{id}/records reports. */
export interface IngestOutcome {
  /** What the rows were recognised as: touchpoints, conversions, spend, paths or events. */
  readonly kind: string;
  readonly accepted: number;
  readonly rejected: number;
  /** The first rejected rows, at most 100. */
  readonly errors: readonly RejectedRow[];
  /** What else the sender should know. */
  readonly warnings: readonly string[];
  /** Public id of the upload, by which its rejected rows can be told apart. */
  readonly uploadId?: string;
  /** Tells whether another upload brings the same content; null where it was not read to its end. Not shown. */
  readonly contentDigest?: string | null;
}

export const rejectedRow = z
  .object({ line: z.int().min(0), column: z.string().nullable(), code: z.string(), message: z.string() })
  .meta({ id: 'RejectedRow', description: 'A row that was not stored, and why.' });

/** The counts of an upload, without the trust envelope. */
export const ingestReport = z.object({
  upload_id: z.string().optional(),
  kind: z.string(),
  accepted: z.int().min(0),
  rejected: z.int().min(0),
  errors: z.array(rejectedRow).max(100),
  warnings: z.array(z.string()).meta({ description: 'What else the sender should know, such as rows that no analysis will read' }),
});
