/** What a file leaves open, and only its owner knows. */
export interface Question {
  /** What an answer names. */
  readonly id: string;
  /** The file's own column name. */
  readonly column: string;
  readonly code:
    | 'ambiguous_decimals'
    | 'ambiguous_dates'
    | 'ambiguous_currency'
    | 'ambiguous_encoding'
    | 'repeated_orders'
    | 'uncertain_mapping';
  readonly message: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
}

const LONGEST_EXAMPLE = 40;

/** A column of which every value can be read in two ways. */
export function openingOf(of: 'decimals' | 'dates', column: string, cell: string): Question {
  const example = cell.slice(0, LONGEST_EXAMPLE);
  if (of === 'dates')
    return {
      id: `dates:${column}`,
      column,
      code: 'ambiguous_dates',
      message: `In "${column}", which comes first in "${example}", the day or the month?`,
      options: [
        { value: 'day_first', label: 'the day' },
        { value: 'month_first', label: 'the month' },
      ],
    };
  return {
    id: `decimals:${column}`,
    column,
    code: 'ambiguous_decimals',
    message: `In "${column}", what does the sign in "${example}" stand before, decimals or thousands?`,
    options: [
      { value: 'point', label: 'a point stands before decimals' },
      { value: 'comma', label: 'a comma stands before decimals' },
    ],
  };
}
