import type { CanonicalColumn } from '../../../../../schema/origins/canonical-columns.ts';
import { MAX_KEPT_REJECTS } from '../reading-limits.ts';
import type { BlockHead, ReadingFinding, ReadingOrder } from '../reading-messages.ts';
import type { RejectCode } from '../rejects.ts';
import { nativeBlock } from './block-columns.ts';
import { NumberCell, TimeCell, type Cell } from './cells.ts';
import type { EarliestRows } from './earliest-rows.ts';
import { IdPairs } from './id-pairs.ts';
import type { FileContent } from './file-content.ts';
import { ReadSample } from './read-sample.ts';
import { columnOf, type RecordLayout, type RowForm } from './record-layout.ts';
import type { OrderLines } from './order-lines.ts';
import { orderColumnsOf, type OrderRows } from './order-rows.ts';
import { NOT_TEXT, ReadingStoppedError, type RowCells, type RowSink, type UnreadableCode } from './record-reader.ts';
import { bytesOf, type RecordTable } from './record-table.ts';
import { recordShape, type RecordShape, type Styles } from './record-tables.ts';
import { RejectedRevenue } from './rejected-revenue.ts';
import { headerDigest } from './remembered-wishes.ts';
import { isNote, isTotal, isTotalBeyond } from './row-tests.ts';
import { Located, type CellSource } from './row-cells.ts';
import { SeenIds } from './seen-ids.ts';
import { UserCell } from './user-cell.ts';

/** Takes what the reader hands on; returns when it has been taken. */
export interface Handover {
  progress(bytes: number): void;
  /** Waits until so many bytes in all may be unpacked onto the disk. */
  room(bytes: number): Promise<void>;
  block(head: BlockHead, parts: readonly Uint8Array[]): void;
}

/** What is known of a file before its rows are taken. */
export interface IntakePlan {
  readonly layout: RecordLayout;
  readonly styles: Styles;
  /** Of amounts that name none; null where nothing says so. */
  readonly currency: string | null;
  /**
   * The file has not been looked at as a whole: it is taken as plainly written, and the first cell that is not ends the
   * reading.
   */
  readonly isGuess: boolean;
  /** Where of several rows only the earliest counts. */
  readonly earliest: EarliestRows;
  /** What rows of one order are, where it makes a difference. */
  readonly orderRows: OrderRows | null;
  /** Sums of orders whose rows are lines; they are read once for these alone. */
  readonly lines: OrderLines | null;
}

type NotPlain = RejectCode | 'open_numbers' | 'repeated_order';

/** A file that was taken as plainly written is not: all of it must be looked at. */
export class NotPlainError extends ReadingStoppedError {
  override readonly name = 'NotPlainError';
  readonly code: NotPlain;

  constructor(code: NotPlain) {
    super(`the file is not plainly written: ${code}`);
    this.code = code;
  }
}

/** Faults that another way of writing would explain. */
const EXPLICABLE: ReadonlySet<RejectCode> = new Set([
  'not_a_number',
  'not_a_date',
  'invalid_encoding',
  'wrong_currency',
] as const);
/**
 * Large enough that a block becomes one part of decent size, small enough that a few fit into memory on both sides: the
 * engine takes up to twenty times of it while it stores names that are all unlike. At most one row is beyond it.
 */
const BLOCK_BYTES = 8 * 1024 * 1024;
const DEFAULT_CURRENCY = 'USD';
const QUOTED_CHARACTERS = 200;
const NOTHING = new Uint8Array(0);

/** Rows that are left out count where another form of them is taken, else as no data. */
type Outcome = 'taken' | 'left_out' | 'refused';

/** A form of rows, with the cells that it reads and where they stand. */
interface ReadForm {
  readonly form: RowForm;
  readonly shape: RecordShape;
  readonly cells: readonly { readonly source: CellSource; readonly cell: Cell }[];
  /** What rows of other forms leave behind. */
  readonly others: readonly Cell[];
}

/** Takes the rows of one file: checks them, counts them, and hands them on as blocks of their tables. */
export class RecordIntake implements RowSink {
  readonly #plan: IntakePlan;
  readonly #content: FileContent;
  readonly #handover: Handover;
  readonly #order: ReadingOrder;
  readonly #shape: RecordShape;
  readonly #forms: readonly ReadForm[];
  readonly #located = new Located();
  readonly #rejects: { line: number; column: string; code: string; value: string }[] = [];
  readonly #sample: ReadSample | null;
  readonly #rejectedRevenue: RejectedRevenue;
  readonly #seenOrders: SeenIds | null;
  /** Ids that are one person, where rows may name several. */
  readonly #pairs: IdPairs | null;
  #accepted = 0;
  #rejected = 0;
  #skipped = 0;
  #touchpoints = 0;
  #conversions = 0;
  #refunds = 0;
  #amountless = 0;
  #earliestMs = Infinity;
  #latestMs = -Infinity;

  constructor(plan: IntakePlan, order: ReadingOrder, content: FileContent, handover: Handover) {
    this.#plan = plan;
    this.#content = content;
    this.#handover = handover;
    this.#order = order;
    const currency = order.currency ?? plan.currency;
    this.#shape = recordShape(plan.layout.kind, {
      bounds: order,
      currency,
      unnamed: plan.currency,
      rates: order.rates,
      styles: plan.styles,
      lines: plan.lines,
    });
    // Exports have their ways with rows of one order.
    this.#seenOrders = plan.isGuess && orderColumnsOf(plan.layout) !== null ? new SeenIds({ isSampled: true }) : null;
    this.#forms = plan.layout.forms.map((form) => this.#readForm(form));
    this.#pairs = plan.layout.pairs.length === 0 ? null : new IdPairs(plan.layout.pairs);
    this.#sample = order.isDryRun ? new ReadSample(this.#shape, plan.layout.header) : null;
    this.#rejectedRevenue = new RejectedRevenue(
      plan.layout,
      plan.styles,
      () => this.#shape.exchange?.currency.currency ?? null,
    );
  }

  row(cells: RowCells, line: number): void {
    const { header, skip, refusal } = this.#plan.layout;
    if (skip?.(cells) === true) return this.#skip();
    if (cells.hasExcess || hasMoreThan(cells, header.length))
      return isTotalBeyond(cells, header.length) ? this.#skip() : this.#reject(line, '', 'too_many_columns', '');
    if (refusal?.rows?.(cells) === true) throw refusal.error;
    if (this.#pairs !== null) this.#takePairs(this.#pairs, cells, line);
    let isTaken = false;
    for (const form of this.#forms) {
      if (!this.#isOf(form.form, cells)) continue;
      const outcome = this.#readRow(form, cells, line);
      if (outcome === 'refused') return undefined;
      isTaken ||= outcome === 'taken';
    }
    if (isTaken) this.#accepted += 1;
    else this.#skip();
    return undefined;
  }

  unreadable(line: number, code: UnreadableCode): void {
    this.#reject(line, '', code, '');
  }

  pause(): void {
    this.#handover.progress(this.#content.bytes);
  }

  /** @throws NotPlainError when numbers can still be read in two ways */
  handOnAll(): void {
    this.#refuseOpenNumbers();
    if (this.#pairs !== null && this.#pairs.table.rows > 0) this.#handOn(this.#pairs.table);
    for (const table of this.#shape.tables) {
      for (table.release(BLOCK_BYTES); table.rows > 0; table.release(BLOCK_BYTES)) this.#handOn(table);
    }
  }

  finding(): ReadingFinding {
    const { layout } = this.#plan;
    const isTimed = this.#latestMs >= this.#earliestMs;
    return {
      kind: layout.kind,
      preset: layout.preset,
      accepted: this.#accepted,
      rejected: this.#rejected,
      skipped: this.#skipped,
      touchpoints: this.#touchpoints,
      conversions: this.#conversions,
      refunds: this.#refunds,
      amountless: this.#amountless,
      orderRows: this.#plan.orderRows,
      addedLines: this.#plan.lines?.added ?? 0,
      pairs: this.#pairs?.count ?? 0,
      rejectedRevenue: this.#rejectedRevenue.sum,
      unpricedRejects: this.#rejectedRevenue.unpriced,
      earliestMs: isTimed ? this.#earliestMs : null,
      latestMs: isTimed ? this.#latestMs : null,
      currency: this.#currency(),
      converted: this.#shape.exchange?.converted() ?? [],
      hasZoneless: this.#hasZoneless(),
      rejects: this.#rejects,
      bytes: this.#content.bytes,
      digest: this.#content.digest(),
      headerDigest: headerDigest(layout.header),
      ...(this.#sample === null ? {} : { sample: this.#sample.shown() }),
    };
  }

  #readForm(form: RowForm): ReadForm {
    const shape = this.#shape;
    const cells = shape.cells.flatMap(({ column, cell }) => {
      const source = form.columns.get(column);
      return source === undefined ? [] : [{ source, cell }];
    });
    const own = new Set(cells.map(({ cell }) => cell));
    const isReadElsewhere = (column: CanonicalColumn): boolean =>
      this.#plan.layout.forms.some(({ columns }) => columns.has(column));
    const others = shape.cells.flatMap(({ column, cell }) => (own.has(cell) || !isReadElsewhere(column) ? [] : [cell]));
    return { form, shape, cells, others };
  }

  #takePairs(pairs: IdPairs, cells: RowCells, line: number): void {
    pairs.take(cells, line);
    if (bytesOf(pairs.table) >= BLOCK_BYTES) this.#handOn(pairs.table);
  }

  #isOf(form: RowForm, cells: RowCells): boolean {
    if (form.when?.(cells) === false) return false;
    return form.oncePer === null || this.#plan.earliest.takes(form, cells);
  }

  /** What is wrong with a row that was refused is told. */
  #readRow({ form, cells: read, others }: ReadForm, cells: RowCells, line: number): Outcome {
    this.#shape.exchange?.currency.begin();
    if (this.#shape.order !== null) this.#shape.order.needsOrder = form.needsOrder === true;
    for (const cell of others) cell.read(NOTHING, 0, 0);
    for (let index = 0; index < read.length; index += 1) {
      const { source, cell } = read[index]!;
      const { data, start, end } = this.#located.at(source, cells);
      const fault = end === NOT_TEXT ? 'not_text' : cell.read(data, start, end);
      if (fault !== null) return this.#fault(fault, source, cell, cells, line, form);
    }
    const fault = this.#shape.fault();
    if (fault !== null) {
      // A column that the file does not have is not to blame: the row as a whole is.
      const source = form.columns.get(fault.column);
      if (fault.code !== 'no_rate') this.#rejectedRevenue.add(cells, this.#located);
      if (source === undefined)
        this.#reject(line, '', fault.code, (fault.code === 'no_rate' && this.#shape.exchange?.currency.foreign) || '');
      else this.#rejectCell(line, fault.code, cells, source);
      return 'refused';
    }
    return this.#take(cells, line, form);
  }

  #fault(code: RejectCode, source: CellSource, cell: Cell, cells: RowCells, line: number, form: RowForm): 'refused' {
    const isUndated =
      cell instanceof TimeCell
        ? code === 'missing_value' || code === 'not_a_date'
        : code === 'missing_value' && this.#hasNoTime(form, cells);
    if (isUndated && (isTotal(cells) || isNote(cells))) {
      this.#skip();
      return 'refused';
    }
    if (this.#plan.isGuess && EXPLICABLE.has(code)) throw new NotPlainError(code);
    // What is in another currency is told by its rejects.
    if (code !== 'wrong_currency') this.#rejectedRevenue.add(cells, this.#located);
    // It may be an address, of which nothing is kept.
    if (cell instanceof UserCell) this.#reject(line, columnOf(this.#plan.layout, source), code, '');
    else this.#rejectCell(line, code, cells, source);
    return 'refused';
  }

  #hasNoTime({ columns }: RowForm, cells: RowCells): boolean {
    const source = columns.get('timestamp') ?? columns.get('date');
    if (source === undefined) return false;
    const { start, end } = this.#located.at(source, cells);
    return end !== NOT_TEXT && end <= start;
  }

  #take(cells: RowCells, line: number, form: RowForm): Outcome {
    const table = this.#shape.tableOf();
    // A refund without an amount.
    if (form.needsOrder === true && table.name !== 'refunds') {
      this.#amountless += 1;
      return 'left_out';
    }
    if (this.#isLine()) return 'taken';
    const fault = table.add(line);
    if (fault !== null) {
      this.#reject(line, '', fault, '');
      return 'refused';
    }
    this.#sample?.take(cells, line, form);
    this.#shape.exchange?.count();
    if (table.name === 'conversions') this.#conversions += 1;
    if (table.name === 'touchpoints') this.#touchpoints += 1;
    if (table.name === 'refunds') this.#refunds += 1;
    if (bytesOf(table) >= BLOCK_BYTES) {
      this.#refuseOpenNumbers();
      this.#handOn(table);
    }
    // It counts on the day of its order.
    if (table.name === 'refunds') return 'taken';
    const ms = this.#shape.timeMs();
    if (ms < this.#earliestMs) this.#earliestMs = ms;
    if (ms > this.#latestMs) this.#latestMs = ms;
    return 'taken';
  }

  /** The row only adds to what another one of its order stands for, now or in the reading to come. */
  #isLine(): boolean {
    const { lines } = this.#plan;
    const { order } = this.#shape;
    if (order === null) return false;
    if (this.#seenOrders !== null && order.isSeen(this.#seenOrders)) throw new NotPlainError('repeated_order');
    if (lines === null) return false;
    if (!lines.isCollecting) return !order.takesLine();
    order.tellLine();
    return true;
  }

  /** Nothing is stored of which a whole column may mean something else. */
  #refuseOpenNumbers(): void {
    if (!this.#plan.isGuess) return;
    for (const { cell } of this.#shape.cells)
      if (cell instanceof NumberCell && cell.isOpen) throw new NotPlainError('open_numbers');
  }

  #handOn(table: RecordTable): void {
    const currency = this.#shape.exchange?.currency;
    currency?.settle(DEFAULT_CURRENCY);
    if (!this.#order.isDryRun)
      this.#handover.block(
        {
          table: table.name,
          rows: table.rows,
          currency: currency?.settled ?? DEFAULT_CURRENCY,
          isOfOrders: this.#plan.layout.kind === 'conversions',
        },
        nativeBlock(table.columns, table.rows),
      );
    table.clear();
  }

  /** Rates lead to the currency that was said of their file. */
  #currency(): string | null {
    const { exchange } = this.#shape;
    if (exchange !== null) return exchange.currency.currency;
    return this.#order.currency ?? (this.#plan.layout.kind === 'fx' ? this.#plan.currency : null);
  }

  /** Unless somebody said which zone they are of. */
  #hasZoneless(): boolean {
    if (this.#order.timezone !== null || this.#plan.layout.timeZone !== null) return false;
    // A day is that of the clock on the wall, whatever the zone.
    return this.#shape.cells.some(
      ({ column, cell }) => column === 'timestamp' && cell instanceof TimeCell && cell.hasZoneless,
    );
  }

  #rejectCell(line: number, code: RejectCode, cells: RowCells, source: CellSource): void {
    const { data, start, end } = this.#located.at(source, cells);
    const value = this.#rejected < MAX_KEPT_REJECTS && end > start ? quoted(data, start, end) : '';
    this.#reject(line, columnOf(this.#plan.layout, source), code, value);
  }

  #skip(): void {
    this.#skipped += 1;
  }

  #reject(line: number, column: string, code: RejectCode, value: string): void {
    this.#rejected += 1;
    if (this.#rejects.length < MAX_KEPT_REJECTS) this.#rejects.push({ line, column, code, value });
  }
}

/** Empty cells behind the last column do no harm. */
function hasMoreThan({ starts, ends, count }: RowCells, columns: number): boolean {
  for (let cell = columns; cell < count; cell += 1) if (starts[cell] !== ends[cell]) return true;
  return false;
}

function quoted(data: Uint8Array, start: number, end: number): string {
  return Buffer.from(data.subarray(start, Math.min(end, start + 4 * QUOTED_CHARACTERS)))
    .toString()
    .slice(0, QUOTED_CHARACTERS)
    .toWellFormed();
}
