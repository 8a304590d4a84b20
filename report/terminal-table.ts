import type { AttributionReport } from './attribution-report.ts';
import { creditRows, type CreditRow } from './credit-rows.ts';
import { baselineChannels } from './shown-channels.ts';
import { designLines } from './experiment-designs.ts';
import { isIncremental } from './judgement.ts';
import { IN_PART, NOT_MEASURABLE, identificationNotes } from './identification-notes.ts';
import { numberFormat, type NumberFormat } from './number-format.ts';
import { qualityNotes } from './quality-notes.ts';
import { statementsOf, type ReportStatements } from './statements.ts';
import { customersNote } from './customers-note.ts';
import { stitchingNote } from './stitching-note.ts';
import { testCounts, testNotes } from './test-notes.ts';
import { align, displayWidth, printable, truncate, wrap } from './terminal-text.ts';

export interface TableOptions {
  /** Cells in a line; the least important columns go first where they do not fit. */
  readonly width: number;
  readonly colours: boolean;
}

interface Column {
  readonly title: string;
  readonly at: 'start' | 'end';
  /** Columns with the highest number are dropped first; 0 always stays. */
  readonly sacrifice: number;
  readonly cell: (row: CreditRow) => string;
}

/** Between columns; the narrow one when not all fit with the wide one. */
const GAP = { wide: '   ', narrow: '  ' } as const;
const MIN_LABEL = 14;

/** The result of an analysis as plain text for a terminal; ends without a line break. */
export function terminalTable(report: AttributionReport, { width, colours }: TableOptions): string {
  const paint = painter(colours);
  const rows = creditRows(report);
  const all = columnsOf(report);
  const gap = widthOf(all, rows, GAP.wide) <= width ? GAP.wide : GAP.narrow;
  const columns = fittingColumns(all, rows, gap, width);
  const widths = columns.map((column) => Math.max(...[column.title, ...rows.map(column.cell)].map(displayWidth)));
  const others = widths.slice(1).reduce((sum, cells) => sum + cells + gap.length, 0);
  widths[0] = Math.max(MIN_LABEL, Math.min(widths[0]!, width - others));

  const line = (cells: readonly string[]): string =>
    cells
      .map((text, index) => align(truncate(text, widths[index]!), widths[index]!, columns[index]!.at))
      .join(gap)
      .trimEnd();
  const rule = paint.faint('─'.repeat(Math.min(width, widths[0] + others)));
  const body = rows.flatMap((row, index) => {
    const text = line(columns.map((column) => column.cell(row)));
    const painted =
      row.kind === 'marketing' || row.kind === 'total'
        ? paint.bold(text)
        : row.kind === 'baseline'
          ? paint.faint(text)
          : text;
    return row.kind !== 'channel' && rows[index - 1]?.kind === 'channel' ? [rule, painted] : [painted];
  });

  return [
    ...quality(report, width, paint),
    ...wrap(headline(report), width).map(paint.bold),
    '',
    paint.faint(line(columns.map((column) => column.title))),
    rule,
    ...body,
    '',
    ...summary(report, width, paint),
    ...identification(report, width, paint),
    ...failedTests(report, width, paint),
    ...designLines(report, width, paint.bold),
    ...warnings(report, width, paint),
  ].join('\n');
}

function columnsOf(report: AttributionReport): readonly Column[] {
  const format = numberFormat(report.currency);
  const hasMargin = report.profitability !== undefined;
  return [
    { title: 'channel', at: 'start', sacrifice: 0, cell: (row) => printable(row.label) },
    { title: 'spend', at: 'end', sacrifice: 2, cell: (row) => orDash(row.spend, format.amount) },
    { title: 'last click', at: 'end', sacrifice: 1, cell: (row) => format.amount(row.lastClick) },
    { title: `${report.model} revenue`, at: 'end', sacrifice: 0, cell: (row) => creditCell(row, format) },
    {
      title: `${format.percent(report.confidence_level)} interval`,
      at: 'end',
      sacrifice: 4,
      cell: (row) => orDash(row.interval, ({ lower, upper }) => `${format.count(lower)} … ${format.count(upper)}`),
    },
    {
      title: 'ROAS',
      at: 'end',
      // Where there is a margin, its own tells more.
      sacrifice: hasMargin ? 7 : 3,
      cell: (row) => orDash(row.roas, (roas) => roas.toFixed(2)),
    },
    ...(hasMargin ? profitColumns(format) : []),
    {
      title: 'confidence',
      at: 'end',
      sacrifice: 6,
      cell: (row) => orDash(row.confidence, (confidence) => confidence.toFixed(2)),
    },
  ];
}

const profitColumns = (format: NumberFormat): readonly Column[] => [
  { title: 'profit', at: 'end', sacrifice: 5, cell: (row) => orDash(row.profit, format.amount) },
  { title: 'profit ROAS', at: 'end', sacrifice: 3, cell: (row) => orDash(row.profitRoas, (roas) => roas.toFixed(2)) },
];

function creditCell({ identified, credited }: CreditRow, format: NumberFormat): string {
  if (identified === 'none') return NOT_MEASURABLE;
  return identified === 'partial' ? `${IN_PART} ${format.amount(credited)}` : format.amount(credited);
}

/** What keeps effects from being known, channel by channel. */
function identification(report: AttributionReport, width: number, paint: Painter): readonly string[] {
  const notes = identificationNotes(report);
  if (notes.length === 0) return [];
  const isAnyPartial = notes.some(({ status }) => status === 'partial');
  return [
    '',
    ...(isAnyPartial
      ? wrap(`${IN_PART} known in part: the interval holds every effect that the rows leave possible.`, width)
      : []),
    ...notes.flatMap(({ channels, message }) =>
      wrap(`${channels.map(printable).join(', ')}: ${printable(message)}`, width - 2).map((text, index) =>
        paint.faint(index === 0 ? `· ${text}` : `  ${text}`),
      ),
    ),
  ];
}

/** The tests that failed, and how many did not. */
function failedTests(report: AttributionReport, width: number, paint: Painter): readonly string[] {
  const { made, failed } = testCounts(report);
  if (made === 0) return [];
  const notes = testNotes(report).filter(({ status }) => status === 'fail');
  return [
    '',
    ...wrap(`${made - failed} of ${made} tests of these figures passed.`, width),
    ...notes.flatMap(({ channels, message }) =>
      wrap(`${channels.map(printable).join(', ')}: ${printable(message)}`, width - 2).map((text, index) =>
        paint.warning(index === 0 ? `✗ ${text}` : `  ${text}`),
      ),
    ),
  ];
}

function orDash<Value>(value: Value | null, print: (value: Value) => string): string {
  return value === null ? '–' : print(value);
}

function widthOf(columns: readonly Column[], rows: readonly CreditRow[], gap: string): number {
  return columns
    .slice(1)
    .reduce(
      (sum, column) => sum + gap.length + Math.max(...[column.title, ...rows.map(column.cell)].map(displayWidth)),
      MIN_LABEL,
    );
}

function fittingColumns(
  all: readonly Column[],
  rows: readonly CreditRow[],
  gap: string,
  width: number,
): readonly Column[] {
  let columns = all;
  while (widthOf(columns, rows, gap) > width) {
    const least = Math.max(...columns.map((column) => column.sacrifice));
    if (least === 0) break;
    columns = columns.filter((column) => column.sacrifice !== least);
  }
  return columns;
}

function headline(report: AttributionReport): string {
  const format = numberFormat(report.currency);
  return [
    `${report.model} attribution`,
    report.date_range.join(' to '),
    report.currency,
    `${format.count(report.conversions)} orders`,
    `${format.count(report.diagnostics.touches)} touches`,
    `lookback ${report.lookback_window_days} days`,
  ]
    .map(printable)
    .join(' · ');
}

function summary(report: AttributionReport, width: number, paint: Painter): readonly string[] {
  const said = statementsOf(report);
  const lines = (sentence: string): readonly string[] => wrap(printable(sentence), width);
  const [total, ...rest] = said.headline;
  return [
    ...lines(total!).map(paint.bold),
    ...rest.flatMap(lines),
    ...said.groups.flatMap(({ text }) => lines(text)),
    ...said.lastClick.flatMap(lines),
    ...said.experiments.flatMap(lines),
    ...lines(said.recovered),
    ...baselineNote(report, width),
    ...(report.confidence === null ? [] : [`Overall confidence ${report.confidence.toFixed(2)} of 1.`]),
    ...trustNote(report, width),
    ...wrap(stitchingNote(report) ?? '', width).filter((line) => line !== ''),
    ...wrap(customersNote(report) ?? '', width).filter((line) => line !== ''),
    ...nextSteps(said, width, paint),
  ];
}

/** One line per step: channels with the same one share it. */
function nextSteps({ channels }: ReportStatements, width: number, paint: Painter): readonly string[] {
  if (channels.length === 0) return [];
  const bySteps = Map.groupBy(channels, ({ next }) => next.text);
  return [
    '',
    paint.bold('Best next steps'),
    ...[...bySteps].flatMap(([text, those]) =>
      wrap(`${those.map(({ channel }) => printable(channel)).join(', ')}: ${printable(text)}`, width - 2).map(
        (line, index) => (index === 0 ? `→ ${line}` : `  ${line}`),
      ),
    ),
  ];
}

function trustNote({ trust }: AttributionReport, width: number): readonly string[] {
  if (trust === undefined) return [];
  const { claims_verified: verified, claims_total: total } = trust.verification;
  const found =
    trust.classifications.length === 0 ? '' : ` Flagged: ${trust.classifications.join(', ').replaceAll('_', ' ')}.`;
  return wrap(
    `Trust: risk ${trust.hrei_score.toFixed(2)} of 1 (${trust.risk_level}); ${verified} of ${total} figures ` +
      `confirmed a second way.${found} Not judged: where the files come from.`,
    width,
  );
}

function baselineNote(report: AttributionReport, width: number): readonly string[] {
  const names = baselineChannels(report).map((channel) => printable(channel.channel));
  if (names.length === 0) return [];
  return wrap(
    isIncremental(report)
      ? `Baseline: what was bought without marketing. Unpaid visits: ${names.join(', ')}.`
      : `Credit is shared out among all touches before an order, caused or not. Unpaid visits: ${names.join(', ')}.`,
    width,
  );
}

/** Ahead of every figure. */
function quality(report: AttributionReport, width: number, paint: Painter): readonly string[] {
  const notes = marked(qualityNotes(report), width, paint);
  return notes.length === 0 ? [] : [...notes, ''];
}

function warnings(report: AttributionReport, width: number, paint: Painter): readonly string[] {
  const notes = marked(report.diagnostics.warnings, width, paint);
  return notes.length === 0 ? [] : ['', ...notes];
}

function marked(notes: readonly string[], width: number, paint: Painter): readonly string[] {
  return notes.flatMap((note) =>
    wrap(`! ${printable(note)}`, width).map((text, index) => paint.warning(index === 0 ? text : `  ${text}`)),
  );
}

type Painter = Readonly<Record<'bold' | 'faint' | 'warning', (text: string) => string>>;

/** SGR sequences of ECMA-48; none where colours are off. */
function painter(colours: boolean): Painter {
  const style = (on: number, off: number) => (text: string) => (colours ? `\u001B[${on}m${text}\u001B[${off}m` : text);
  return { bold: style(1, 22), faint: style(2, 22), warning: style(33, 39) };
}
