import type { CurrencySum } from './currency-sums.ts';
import type { Question } from './questions.ts';
import { columnOf, type RecordLayout } from './record-layout.ts';
import type { DecimalSign } from './styles/number-style.ts';
import type { DayOrder } from './styles/time-style.ts';

/** How one column is read, for people. */
export interface ColumnReading {
  readonly column: string;
  readonly reading: DecimalSign | DayOrder;
}

/** How a file would be read, for whoever looks before loading it. */
export interface Inspection {
  readonly certainty: number;
  /** Canonical column → the file's own. */
  readonly mapping: Readonly<Record<string, string>>;
  /** Canonical column → the value of all rows. */
  readonly constants: Readonly<Record<string, string>>;
  readonly questions: readonly Question[];
  readonly readings: readonly ColumnReading[];
  /** What the rows are worth in each currency that they name. */
  readonly currencies: readonly CurrencySum[];
}

export function inspectionOf(
  layout: RecordLayout,
  survey: Pick<Inspection, 'readings' | 'currencies'>,
  questions: readonly Question[],
): Inspection {
  const mapping: Record<string, string> = {};
  const constants: Record<string, string> = {};
  for (const { columns } of layout.forms) {
    for (const [canonical, source] of columns) {
      if ('place' in source) mapping[canonical] ??= columnOf(layout, source);
      else constants[canonical] ??= Buffer.from(source.constant).toString();
    }
  }
  const { readings, currencies } = survey;
  return { certainty: layout.certainty, mapping, constants, questions, readings, currencies };
}
