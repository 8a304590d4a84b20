import type { SIGNED_SUBJECTS } from '../../schema/value-lists.ts';

/** What a signature was made for, as far as every kind says it. */
export interface SignedStatement {
  readonly type: (typeof SIGNED_SUBJECTS)[number];
  /** Public id of the result, or of the receipt. */
  readonly id: string;
  /** Of a result; a receipt is never made anew. */
  readonly revision: number;
  /** Address of the service that signed, without `/v1`. */
  readonly issuer: string;
  /** To the second. */
  readonly signedAt: Date;
  /** Of the result beside it; null where the payload is all that was signed. */
  readonly digest: string | null;
}
