import type { CanonicalColumn } from '../../../../../../schema/origins/canonical-columns.ts';
import type { RecordKind } from '../record-kind.ts';

/**
 * Where a preset finds a value: a column, by its name in the export, or a part of it. A name that ends in ` (*)` also
 * finds the column with a currency in its place, such as `Amount spent (USD)`, and takes the currency from it.
 */
export type PresetColumn =
  | string
  | { readonly column: string; readonly before: string }
  | { readonly column: string; readonly behind: string };

/** What a row must have in some of its columns; names as in {@link PresetColumn}. */
export type PresetTest =
  | { readonly empty: readonly string[] }
  | { readonly filled: string }
  | { readonly column: string; readonly in: readonly string[] }
  | { readonly column: string; readonly notIn: readonly string[] };

/** What one row of an export becomes. */
export interface PresetForm {
  /** Of several columns the first that the file has. */
  readonly columns: Readonly<Partial<Record<CanonicalColumn, PresetColumn | readonly PresetColumn[]>>>;
  readonly constants?: Readonly<Partial<Record<CanonicalColumn, string>>>;
  /** All of them must hold; the form has nothing to say of other rows. */
  readonly when?: readonly PresetTest[];
}

/** An export of a vendor: how it is known, and what its rows mean. */
export interface Preset {
  readonly name: string;
  /** For people: whose export, and which one. */
  readonly title: string;
  readonly kind: RecordKind;
  /** Columns that only this export has beside each other; a list for each language or version of it. */
  readonly signatures: readonly (readonly string[])[];
  /** A row becomes one record for each form whose `when` holds. */
  readonly forms: readonly PresetForm[];
  /** Rows that are no data, such as sums: any of these holds. */
  readonly skips?: readonly PresetTest[];
  /** Zone of times that say none. */
  readonly timeZone?: string;
}
