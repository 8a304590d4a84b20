import writeWorkbook, { type Cell, type Row, type Sheet } from 'write-excel-file/node';
import type { AttributionReport } from './attribution-report.ts';
import { creditRows } from './credit-rows.ts';
import { customerRows, customersNote } from './customers-note.ts';
import { figureOf } from './figure-of.ts';
import { identificationNotes, NOT_MEASURABLE } from './identification-notes.ts';
import { methodSentences } from './method-section.ts';
import { qualityNotes } from './quality-notes.ts';
import { isMeasurable } from './shown-channels.ts';
import { statementsOf } from './statements.ts';
import { VERDICT_NAMES } from './verdicts.ts';

/** Most characters that a cell can hold in Excel. */
const MAX_TEXT = 32_767;
const AMOUNT = '#,##0.00';
const WIDE = 100;

/**
 * The report as an Excel workbook: the statements of the page as sentences, and the figures as numbers to calculate
 * with. Texts are cells of type text, so that none of them is taken for a formula; characters that XML has no place
 * for are left out. `subject` names what was analysed.
 */
export function reportWorkbook(report: AttributionReport, subject: string): Promise<Buffer> {
  return writeWorkbook([
    summarySheet(report, subject),
    statementSheet(report),
    channelSheet(report),
    ...periodSheets(report),
    ...campaignSheets(report),
    ...customerSheets(report),
  ]).toBuffer();
}

/** What to take away, behind what must be known of the rows before. */
function summarySheet(report: AttributionReport, subject: string): Sheet<Buffer> {
  const said = statementsOf(report);
  const part = (title: string, sentences: readonly string[]): readonly Row[] =>
    sentences.length === 0 ? [] : [[], [bold(title)], ...sentences.map((sentence): Row => [wrapped(sentence)])];
  return {
    sheet: 'Summary',
    columns: [{ width: WIDE }],
    data: [
      [bold(subject)],
      [text(`${report.date_range.join(' to ')} · ${report.model} model · amounts in ${report.currency}`)],
      ...part('Before you decide on these figures', [...qualityNotes(report), ...report.diagnostics.warnings]),
      ...part('What can be said', [
        ...said.headline,
        ...said.groups.map((group) => group.text),
        said.recovered,
        ...said.lastClick,
        ...said.experiments,
        ...(customersNote(report) === null ? [] : [customersNote(report)!]),
      ]),
      ...part(
        'What these rows cannot tell',
        identificationNotes(report).map(({ channels, message }) => `${channels.join(', ')}: ${message}`),
      ),
      ...part('How the figures came about', methodSentences(report)),
    ],
  };
}

function statementSheet(report: AttributionReport): Sheet<Buffer> {
  return table(
    'Statements',
    ['channel', 'verdict', 'why', 'best next step'],
    [20, 24, 70, 70],
    statementsOf(report).channels.map(({ channel, verdict, sentence, next }): Row => [
      text(channel),
      text(VERDICT_NAMES[verdict]),
      wrapped(sentence),
      wrapped(next.text),
    ]),
  );
}

function channelSheet(report: AttributionReport): Sheet<Buffer> {
  const hasMargin = report.profitability !== undefined;
  const head = [
    'channel',
    'kind',
    'spend',
    'last click',
    report.model,
    'interval from',
    'interval to',
    'ROAS',
    ...(hasMargin ? ['profit', 'profit ROAS'] : []),
    'confidence',
    'known',
  ];
  return table(
    'Channels',
    head,
    [20, 12],
    creditRows(report).map(({ label, kind, identified, interval, ...row }): Row => [
      text(label),
      text(kind),
      number(row.spend),
      number(row.lastClick),
      identified === 'none' ? text(NOT_MEASURABLE) : number(row.credited),
      number(interval?.lower ?? null),
      number(interval?.upper ?? null),
      number(row.roas),
      ...(hasMargin ? [number(row.profit), number(row.profitRoas)] : []),
      number(row.confidence),
      identified === null ? null : text(identified),
    ]),
  );
}

/** None where the rows have no times. */
function periodSheets(report: AttributionReport): readonly Sheet<Buffer>[] {
  const periods = report.time_series ?? [];
  if (periods.length === 0) return [];
  const names = report.channel_impact.filter(isMeasurable).map(({ channel }) => channel);
  const head = ['first day', 'cut by the range', 'revenue', 'baseline', ...names];
  return [
    table(
      'Periods',
      head,
      [12, 16],
      periods.map((period): Row => [
        text(period.period_start),
        text(period.partial ? 'yes' : 'no'),
        number(period.revenue),
        number(period.baseline_revenue),
        ...names.map((name) => number(figureOf(period.channels, name))),
      ]),
    ),
  ];
}

/** None where no order says whether its customer is new. */
function customerSheets(report: AttributionReport): readonly Sheet<Buffer>[] {
  const rows = customerRows(report);
  if (rows.length === 0) return [];
  return [
    table(
      'Customers',
      ['channel', 'orders with a touch', 'of new customers'],
      [20, 20, 20],
      rows.map(({ channel, orders, new_orders: fresh }): Row => [text(channel), number(orders), number(fresh)]),
    ),
  ];
}

/** None where the rows name no campaigns. */
function campaignSheets(report: AttributionReport): readonly Sheet<Buffer>[] {
  const campaigns = report.campaigns ?? [];
  if (campaigns.every(({ campaign }) => campaign === null)) return [];
  const unknown = new Set(report.channel_impact.filter((each) => !isMeasurable(each)).map(({ channel }) => channel));
  const head = ['channel', 'campaign', 'spend', 'touches', report.model, 'last click', 'ROAS'];
  return [
    table(
      'Campaigns',
      head,
      [20, 40],
      campaigns.map((each): Row => [
        text(each.channel),
        each.campaign === null ? null : text(each.campaign),
        number(each.spend),
        each.touches,
        unknown.has(each.channel) ? text(NOT_MEASURABLE) : number(each.attributed_revenue),
        number(each.lastclick_revenue),
        number(each.roas),
      ]),
    ),
  ];
}

/** A sheet with a head that stays in sight; `widths` of the first columns, in characters. */
function table(sheet: string, head: readonly string[], widths: readonly number[], rows: readonly Row[]): Sheet<Buffer> {
  return {
    sheet,
    stickyRowsCount: 1,
    columns: head.map((name, column) => ({ width: widths[column] ?? Math.max(14, name.length + 2) })),
    data: [head.map(bold), ...rows],
  };
}

const text = (value: string): Cell => ({ type: String, value: value.slice(0, MAX_TEXT) });
const bold = (value: string): Cell => ({ ...(text(value) as object), fontWeight: 'bold' });
const wrapped = (value: string): Cell => ({ ...(text(value) as object), wrap: true, alignVertical: 'top' });
const number = (value: number | null): Cell => (value === null ? null : { type: Number, value, format: AMOUNT });
