import type { AttributionReport, ReportedDesign, ReportedDesigns } from './attribution-report.ts';
import { html, type Markup } from './html.ts';
import { numberFormat, type NumberFormat } from './number-format.ts';
import { align, displayWidth, printable, truncate, wrap } from './terminal-text.ts';

/** Designs that a terminal lists: the report has all. */
const MOST_LISTED = 5;
/** Of the names of channels in a terminal. */
const WIDEST_NAME = 28;

/** One column of the list of designs, for both kinds of paper. */
interface Column {
  readonly title: string;
  readonly cell: (design: ReportedDesign, format: NumberFormat) => string;
}

const COLUMNS: readonly Column[] = [
  { title: 'hold out', cell: ({ share_held_out: share }, format) => format.percent(share) },
  { title: 'for', cell: ({ duration_days: days }) => `${days} days` },
  {
    title: 'finds effects from',
    cell: ({ smallest_detectable_effect: effect }, format) => format.money(effect),
  },
  { title: '± in the test', cell: ({ expected_standard_error: error }, format) => format.money(error) },
  { title: 'revenue lost', cell: ({ lost_revenue: lost }, format) => format.money(lost) },
  {
    title: 'worth in a year',
    cell: ({ decision: { value_of_information: value } }, format) => format.money(value),
  },
];

/** Several channels that are held out together are one row. */
const nameOf = ({ channel, channels }: ReportedDesign): string =>
  channels.length === 1 ? channel : `all ${channels.length} together`;

const GUIDE =
  'Keep a random part of the people from a channel, and compare what both parts order: that measures what no row can ' +
  'tell. "Worth" is what keeping or stopping the channel by the result is expected to gain over deciding now, less ' +
  'what is lost; below 0, the test costs more than it tells. The test of all together is there for the total.';

/** What is said of designs where there are none, or not of every channel. */
const heading = ({ power }: ReportedDesigns, format: NumberFormat): string =>
  `Which experiment would settle it (user holdouts, power ${format.percent(power)})`;

/** For a terminal: the most valuable designs and the one of everything; ends without a line break. */
export function designLines(
  { experiment_designs: found, currency }: AttributionReport,
  width: number,
  bold: (text: string) => string,
): readonly string[] {
  if (found === undefined) return [];
  const format = numberFormat(currency);
  const notes = found.warnings.flatMap((warning) => wrap(printable(warning), width));
  if (found.designs.length === 0) return notes.length === 0 ? [] : ['', ...notes];
  const listed = found.designs.filter(({ rank, channels }) => rank <= MOST_LISTED || channels.length > 1);
  const table = [
    ['channel', ...COLUMNS.map(({ title }) => title)],
    ...listed.map((design) => [
      truncate(printable(nameOf(design)), WIDEST_NAME),
      ...COLUMNS.map(({ cell }) => cell(design, format)),
    ]),
  ];
  const shown = fitting(table, width);
  const widths = shown[0]!.map((_, column) => Math.max(...shown.map((row) => displayWidth(row[column]!))));
  const lines = shown.map((row) =>
    row.map((text, column) => align(text, widths[column]!, column === 0 ? 'start' : 'end')).join('  '),
  );
  return ['', ...wrap(heading(found, format), width).map(bold), ...lines, ...notes];
}

/** The last columns matter most beside the first three; the error and the smallest effect give way first. */
function fitting(table: readonly (readonly string[])[], width: number): readonly (readonly string[])[] {
  const SACRIFICE = [4, 3];
  let shown = table;
  for (const column of SACRIFICE) {
    const needed = shown[0]!.reduce(
      (sum, _, each) => sum + 2 + Math.max(...shown.map((row) => displayWidth(row[each]!))),
      -2,
    );
    if (needed <= width) break;
    shown = shown.map((row) => row.filter((_, each) => each !== column));
  }
  return shown;
}

/** Every design, for the report. */
export function designSection({ experiment_designs: found, currency }: AttributionReport): Markup | null {
  if (found === undefined || (found.designs.length === 0 && found.warnings.length === 0)) return null;
  const format = numberFormat(currency);
  return html`<h2>${heading(found, format)}</h2>
    <p class="note">${GUIDE}</p>
    ${
      found.designs.length === 0
        ? null
        : html`<div class="scroll">
            <table>
              <thead>
                <tr>
                  <th scope="col">channel</th>
                  ${COLUMNS.map(({ title }) => html`<th scope="col">${title}</th>`)}
                </tr>
              </thead>
              <tbody>
                ${found.designs.map(
                  (design) =>
                    html`<tr class="${design.channels.length === 1 ? 'channel' : 'marketing'}">
                      <th scope="row">${nameOf(design)}</th>
                      ${COLUMNS.map(({ cell }) => html`<td>${cell(design, format)}</td>`)}
                    </tr>`,
                )}
              </tbody>
            </table>
          </div>`
    }
    ${found.warnings.map((warning) => html`<p class="note">${warning}</p>`)}`;
}
