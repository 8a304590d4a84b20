import type { ProblemDetail, ProblemType } from '../../../../../schema/problems.ts';
import type { PassedLimit } from '../reading-limits.ts';

/** What the reader's process says of a file that it does not take; the other side throws it as a ProblemError. */
export interface Refusal {
  readonly type: Extract<
    ProblemType,
    'validation_error' | 'payload_too_large' | 'invalid_request' | 'service_unavailable'
  >;
  readonly message: string;
  readonly code?: string;
  readonly param?: string;
  readonly errors?: readonly ProblemDetail[];
  /** Where the file passed a limit that may be higher for large files. */
  readonly passed?: PassedLimit;
}

/** The file as a whole cannot be read. */
export class RefusedFileError extends Error {
  override readonly name = 'RefusedFileError';
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** A file that is not what it should be. */
export const invalidFile = (
  code: string,
  message: string,
  details: Pick<Refusal, 'param' | 'errors' | 'passed'> = {},
): RefusedFileError => new RefusedFileError({ type: 'validation_error', message, code, param: '/content', ...details });

export const FILE_LIMIT_EXCEEDED = 'file_limit_exceeded';

/** A file past one of the limits; the same file would meet it again. */
export function limitExceeded(limit: string, allowed: string, passed?: PassedLimit): RefusedFileError {
  const cure = 'Split it, or write it in a plainer form.';
  const message = `The file exceeds a limit of reading: ${limit} (${allowed} allowed). ${cure}`;
  return invalidFile(FILE_LIMIT_EXCEEDED, message, {
    errors: [{ param: '/content', code: FILE_LIMIT_EXCEEDED, message: `${limit}: ${allowed} allowed` }],
    ...(passed === undefined ? {} : { passed }),
  });
}

export const unreadableParquet = (): RefusedFileError =>
  invalidFile('unreadable_parquet', 'The file is not a readable Parquet file. Write it again, or send CSV.');
