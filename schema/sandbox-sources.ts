import { SOURCE_TYPES } from './value-lists.ts';

type SourceType = (typeof SOURCE_TYPES)[number];

/**
 * Owner of what every test key sees and nobody may change; no account is ever registered under it (UUID version 8, RFC
 * 9562 §5.8).
 */
export const SANDBOX_ACCOUNT_ID = '5a4db0c5-11f7-8000-8000-000000000000';

/** A source of synthetic data, the same in every installation. */
export interface SandboxSource {
  /** What the contract calls it. Ids of other objects spell out a UUID; these are names. */
  readonly publicId: string;
  readonly uuid: string;
  readonly type: SourceType;
  /** True for the source that is there to show what an unavailable one looks like. */
  readonly isBroken: boolean;
}

const source = (name: string, number: number, type: SourceType, isBroken = false): SandboxSource => ({
  publicId: `ds_sandbox_${name}`,
  uuid: SANDBOX_ACCOUNT_ID.slice(0, -2) + String(number).padStart(2, '0'),
  type,
  isBroken,
});

/** Every type has one, known by its number. They are stored: never give one to another source. */
const NUMBERS: Readonly<Record<SourceType, number>> = { ga4: 1, shopify: 2, meta_ads: 3, google_ads: 4, csv_upload: 5 };

/** One per type, and one in error. */
export const SANDBOX_SOURCES: readonly SandboxSource[] = [
  ...SOURCE_TYPES.map((type) => source(type, NUMBERS[type], type)),
  source('error', 99, 'csv_upload', true),
];
