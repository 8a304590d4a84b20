import type { CREDIT_TEST_STATUSES, CREDIT_TESTS } from '../../../schema/value-lists.ts';

export type CreditTestCode = (typeof CREDIT_TESTS)[number];

/**
 * One thing that a sound credit has to pass. It fails where `estimate` exceeds `threshold`, either way, and `interval`,
 * where there is one, leaves 0 out: what is found is more than chance, and more than the published intervals allow for.
 * `estimate`, `interval` and `threshold` are parts of the revenue; of `lead` unpaid visits per touch; of `overlap` a
 * part of the people.
 */
export interface CreditTest {
  readonly code: CreditTestCode;
  /** null: it concerns all, or cannot be done at all */
  readonly channel: string | null;
  readonly status: (typeof CREDIT_TEST_STATUSES)[number];
  readonly estimate: number | null;
  readonly interval: { readonly lower: number; readonly upper: number; readonly level: number } | null;
  readonly threshold: number | null;
  readonly message: string;
}
