import type { CanonicalColumn } from '../../../../../../schema/origins/canonical-columns.ts';
import type { RecordKind } from '../record-kind.ts';

/**
 * Where a preset finds a value: a column, by its name in the export, or a part of it; or the same in all rows. Case,
 * accents and punctuation of names do not count: `event_params.value` is `event_params_value`, too. A name that ends in
 * ` (*)` also finds the column with a currency in its place, such as `Amount spent (USD)`, and takes the currency from
 * it.
 */
export type PresetColumn = string | PresetPart | { readonly constant: string };

export interface PresetPart {
  readonly column: string;
  /** The cell is a JSON object, of which a member counts. */
  readonly member?: string;
  /** What stands in the column where there is nothing, in any case. */
  readonly unless?: readonly string[];
  /** Our names for what stands in the column, by the export's, in lower case; others stay. */
  readonly as?: Readonly<Record<string, string>>;
  /** What a filled cell means, whatever stands there. */
  readonly filledMeans?: string;
}

/** What a row must have in some of its columns; names as in {@link PresetColumn}. */
export type PresetTest =
  /** None of those that the file has is filled. */
  | { readonly empty: readonly string[] }
  /** One of them is. */
  | { readonly filled: readonly string[] }
  | { readonly column: string; readonly in: readonly string[] }
  /** An address of another host than that of another column. */
  | { readonly column: string; readonly isHostOtherThan: string }
  /** Told by the header: the file has none of these columns. */
  | { readonly lacks: readonly string[] };

/** What one row of an export becomes. */
export interface PresetForm {
  /** Of several columns the first that is filled in a row. */
  readonly columns: Readonly<Partial<Record<CanonicalColumn, PresetColumn | readonly PresetColumn[]>>>;
  readonly constants?: Readonly<Partial<Record<CanonicalColumn, string>>>;
  /** All of them must hold; the form has nothing to say of other rows. */
  readonly when?: readonly PresetTest[];
  /** Of all rows that agree in these values, the earliest counts: one touch for each session. */
  readonly oncePer?: readonly (PresetColumn | readonly PresetColumn[])[];
  /** Refunds, of negative amounts: taken off the order of the same id, and nothing where nobody tells it. */
  readonly needsOrder?: boolean;
}

/** An export of a vendor: how it is known, and what its rows mean. */
export interface Preset {
  readonly name: string;
  /** For people: whose export, and which one. */
  readonly title: string;
  /** `events` where some rows are touches and some are conversions: forms say which by a constant `conversion`. */
  readonly kind: RecordKind;
  /** Columns that only this export has beside each other; a list for each language or version of it. */
  readonly signatures: readonly (readonly string[])[];
  /** A row becomes one record for each form whose `when` holds; one for which none holds is no data. */
  readonly forms: readonly PresetForm[];
  /** Columns of ids that are one person in each row that has both, whatever the row is. */
  readonly pairs?: readonly (readonly [
    PresetColumn | readonly PresetColumn[],
    PresetColumn | readonly PresetColumn[],
  ])[];
  /** Rows that are no data, such as sums: any of these holds. */
  readonly skips?: readonly PresetTest[];
  /** A row covers the days from one column to another, unless it names its day. */
  readonly period?: {
    readonly from: readonly string[];
    readonly to: readonly string[];
    readonly day: readonly string[];
  };
  /** Zone of times that say none. */
  readonly timeZone?: string;
  /** What to export, told to whoever sends a file of this vendor that holds too little. */
  readonly instead: string;
}
