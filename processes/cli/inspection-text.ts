import type { Inspection } from '../../schema/contract/inspection.ts';
import { printable } from '../../report/terminal-text.ts';

const SHOWN_ROWS = 3;
const SHOWN_ERRORS = 5;
const LONGEST_CELL = 32;

const READINGS: Readonly<Record<Inspection['readings'][number]['reading'], string>> = {
  point: 'a point stands before decimals',
  comma: 'a comma stands before decimals',
  day_first: 'the day comes first',
  month_first: 'the month comes first',
};

/** How a file would be read, as lines for a terminal. */
export function inspectionText(file: string, found: Inspection): string {
  const lines = [
    file,
    `  ${found.kind}, ${found.preset === null ? 'by the names of its columns' : `as the export ${found.preset}`} ` +
      `(certainty ${found.certainty.toFixed(2)})`,
    '',
    ...columnLines(found),
    ...found.readings.map(({ column, reading }) => `  in ${column}, ${READINGS[reading]}`),
    ...found.currencies.map(
      ({ currency, rows, amount }) =>
        `  ${currency} ${amount.toLocaleString('en-US', { minimumFractionDigits: 2 })} in ${count(rows, 'row')}`,
    ),
    '',
    ...found.sample
      .slice(0, SHOWN_ROWS)
      .flatMap(({ line, raw, read }) => [`  line ${line}  ${pairs(raw)}`, `    read as  ${pairs(read)}`]),
    ...(found.sample.length === 0 ? [] : ['']),
    `  ${count(found.accepted, 'row')} would be taken, ${count(found.rejected, 'row')} rejected, ` +
      `${count(found.skipped, 'row')} left out`,
    ...found.errors
      .slice(0, SHOWN_ERRORS)
      .map(({ line, column, message }) => `    line ${line}  ${column ?? ''}: ${message}`),
    ...found.warnings.map((warning) => `  ${warning}`),
    ...found.questions.flatMap(({ id, message, options }) => [
      '',
      `  ${message}`,
      ...options.slice(0, 5).map(({ value, label }) => `    --answer '${id}=${value}'  ${label}`),
    ]),
  ];
  return `${lines.map(printable).join('\n')}\n`;
}

function columnLines({ mapping, constants }: Inspection): string[] {
  const width = Math.max(0, ...[...Object.keys(mapping), ...Object.keys(constants)].map(({ length }) => length));
  return [
    ...Object.entries(mapping).map(([ours, theirs]) => `  ${ours.padEnd(width)}  from "${theirs}"`),
    ...Object.entries(constants).map(([ours, value]) => `  ${ours.padEnd(width)}  always "${value}"`),
  ];
}

const pairs = (row: Readonly<Record<string, string>>): string =>
  Object.entries(row)
    .filter(([, value]) => value !== '')
    .slice(0, 12)
    .map(([name, value]) => `${name} ${value.length > LONGEST_CELL ? `${value.slice(0, LONGEST_CELL)}…` : value}`)
    .join(' · ');

const count = (rows: number, noun: string): string => `${rows.toLocaleString('en-US')} ${noun}${rows === 1 ? '' : 's'}`;
