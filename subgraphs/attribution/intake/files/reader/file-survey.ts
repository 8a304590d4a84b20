import type { CanonicalColumn } from '../../../../../schema/origins/canonical-columns.ts';
import type { ReadingOrder } from '../reading-messages.ts';
import type { TimeStyle } from './cells.ts';
import { CurrencySums, type CurrencySum } from './currency-sums.ts';
import { currencyBeside, currencyOfUnits, hasDecimals } from './currency-units.ts';
import { EarliestRows } from './earliest-rows.ts';
import type { ColumnReading } from './inspection.ts';
import { localeStyle } from './locale-style.ts';
import { openingOf, type Question } from './questions.ts';
import { answerTo } from './refuse-open-file.ts';
import {
  OrderRowsEvidence,
  orderColumnsOf,
  orderRowsQuestion,
  type OrderColumns,
  type OrderRows,
} from './order-rows.ts';
import { columnOf, type RecordLayout } from './record-layout.ts';
import { NOT_TEXT, type RowCells, type RowSink } from './record-reader.ts';
import type { Styles } from './record-tables.ts';
import { Located, type CellSource } from './row-cells.ts';
import { isTotal } from './row-tests.ts';
import { NumberEvidence, type DecimalSign } from './styles/number-style.ts';
import { TimeEvidence, type DayOrder } from './styles/time-style.ts';
import { TimeZone } from './styles/time-zone.ts';

const AMOUNT_COLUMNS: readonly CanonicalColumn[] = ['spend', 'revenue', 'refunded', 'cogs', 'cost'];
const DECIMAL_COLUMNS = [...AMOUNT_COLUMNS, 'conversions', 'nulls'] as const;
/** They have no decimals: what stands between their digits parts thousands. */
const COUNT_COLUMNS = ['impressions', 'clicks'] as const;
/** They are small: what stands between their digits stands before decimals. */
const RATE_COLUMNS = ['rate'] as const;
const TIME_COLUMNS = ['timestamp', 'date'] as const;
const [ZERO, NINE] = [0x30, 0x39] as const;

/** What a look at all rows tells of how their values are written, and what it leaves open. */
export interface SurveyFinding {
  readonly styles: Styles;
  readonly questions: readonly Question[];
  /** The currency that stands beside the amounts; null where none does. */
  readonly currency: string | null;
  /** What the rows are worth in each currency that they name. */
  readonly currencies: readonly CurrencySum[];
  readonly readings: readonly ColumnReading[];
  readonly earliest: EarliestRows;
  /** What rows of one order are, where it makes a difference. */
  readonly orderRows: OrderRows | null;
}

interface Watched<Evidence> {
  readonly column: CanonicalColumn;
  readonly name: string;
  readonly evidence: Evidence;
  readonly sources: readonly CellSource[];
}

/**
 * Takes all rows of a file, and settles for each column with numbers or dates how it is written: by what its cells
 * show, by what was said of the file, else by the other columns of the file. What is left is asked.
 */
export class FileSurvey implements RowSink {
  readonly #layout: RecordLayout;
  readonly #order: ReadingOrder;
  readonly #hasPlainNumbers: boolean;
  readonly #onPause: () => void;
  readonly #numbers: readonly Watched<NumberEvidence>[];
  readonly #times: readonly Watched<TimeEvidence>[];
  readonly #sums: CurrencySums;
  readonly #earliest = new EarliestRows();
  readonly #orderColumns: OrderColumns | null;
  readonly #orderRows: OrderRowsEvidence | null;
  readonly #located = new Located();

  constructor(layout: RecordLayout, order: ReadingOrder, hasPlainNumbers: boolean, onPause: () => void) {
    this.#layout = layout;
    this.#order = order;
    this.#hasPlainNumbers = hasPlainNumbers;
    this.#onPause = onPause;
    this.#numbers = this.#watch([...DECIMAL_COLUMNS, ...COUNT_COLUMNS, ...RATE_COLUMNS], () => new NumberEvidence());
    this.#times = this.#watch(TIME_COLUMNS, () => new TimeEvidence());
    this.#sums = new CurrencySums(layout.forms);
    this.#orderColumns = orderColumnsOf(layout);
    this.#orderRows = this.#orderColumns === null ? null : new OrderRowsEvidence(this.#orderColumns);
  }

  row(cells: RowCells): void {
    const { skip, refusal, forms } = this.#layout;
    if (skip?.(cells) === true) return;
    if (refusal?.rows?.(cells) === true) throw refusal.error;
    for (const watched of this.#numbers) this.#look(watched, cells);
    for (const watched of this.#times) this.#look(watched, cells);
    if (!isTotal(cells) || this.#isDated(cells)) this.#sums.add(cells);
    this.#orderRows?.add(cells);
    for (const form of forms)
      if (form.oncePer !== null && form.when?.(cells) !== false) this.#earliest.look(form, cells);
  }

  /** Rows of sums name no day; what they hold stands in other rows. */
  #isDated(cells: RowCells): boolean {
    return this.#times.some(({ sources }) =>
      sources.some((source) => {
        const { data, start, end } = this.#located.at(source, cells);
        return end !== NOT_TEXT && data.subarray(start, end).some((byte) => byte >= ZERO && byte <= NINE);
      }),
    );
  }

  unreadable(): void {
    // Told by the reading that follows.
  }

  pause(): void {
    this.#onPause();
  }

  finding(): SurveyFinding {
    const wished = this.#order.locale === null ? null : localeStyle(this.#order.locale);
    const decimals = new Map<CanonicalColumn, DecimalSign>();
    const orders = new Map<CanonicalColumn, DayOrder | null>();
    const questions: Question[] = [];
    const named = this.#sums.read('point').map(({ currency }) => currency);
    const currency = this.#currency(named.length > 0, questions);
    const unnamed = this.#order.amountCurrency ?? currency ?? this.#order.currency;
    const areWhole = !(named.length > 0 ? named : [unnamed ?? '']).some(hasDecimals);
    const signs = this.#numbers.map((each) => ({ each, own: each.evidence.decimalSign() }));
    const elsewhere = onlyOne(signs.map(({ own }) => own));
    for (const { each, own } of signs) {
      const sign = this.#hasPlainNumbers
        ? 'point'
        : this.#settleDecimals(each, own, wished?.decimal, elsewhere, questions, areWhole);
      decimals.set(each.column, sign ?? 'point');
    }
    const days = this.#times.map((each) => ({ each, own: each.evidence.dayOrder() }));
    const otherDays = onlyOne(days.map(({ own }) => own));
    for (const { each, own } of days)
      orders.set(each.column, this.#settle(each, own, wished?.order, otherDays, questions));
    const currencies = this.#sums.read(decimals.get('revenue') ?? decimals.get('spend') ?? 'point');
    return {
      styles: this.#stylesOf(decimals, orders),
      earliest: this.#earliest,
      orderRows: this.#settleOrderRows(decimals.get('revenue') ?? 'point', questions),
      currency,
      questions,
      currencies,
      readings: [...this.#numbers, ...this.#times].flatMap(({ column, name }) => {
        const reading = decimals.get(column) ?? orders.get(column) ?? null;
        return reading === null ? [] : [{ column: name, reading }];
      }),
    };
  }

  #watch<Evidence>(columns: readonly CanonicalColumn[], start: () => Evidence): Watched<Evidence>[] {
    return columns.flatMap((column) => {
      const sources = this.#layout.forms.flatMap(({ columns: of }) => of.get(column) ?? []);
      const first = sources.find((source) => 'place' in source);
      const places = new Set<number>();
      const distinct = sources.filter((source) => {
        if (!('place' in source) || source.part !== undefined || source.otherwise !== undefined) return true;
        const isNew = !places.has(source.place);
        places.add(source.place);
        return isNew;
      });
      return first === undefined
        ? []
        : [{ column, name: columnOf(this.#layout, first) || column, evidence: start(), sources: distinct }];
    });
  }

  #look(
    { sources, evidence }: Watched<{ add(data: Uint8Array, start: number, end: number): void }>,
    cells: RowCells,
  ): void {
    for (const source of sources) {
      const { data, start, end } = this.#located.at(source, cells);
      if (end !== NOT_TEXT) evidence.add(data, start, end);
    }
  }

  /** Of what has no decimals the sign in an open number parts thousands. */
  #settleDecimals(
    watched: Watched<NumberEvidence>,
    own: DecimalSign | 'open' | null,
    wished: DecimalSign | undefined,
    elsewhere: DecimalSign | null,
    questions: Question[],
    areAmountsWhole: boolean,
  ): DecimalSign | null {
    const isWhole =
      (COUNT_COLUMNS as readonly string[]).includes(watched.column) ||
      (areAmountsWhole && AMOUNT_COLUMNS.includes(watched.column));
    if (own === 'open' && isWhole) return watched.evidence.openSign === 'comma' ? 'point' : 'comma';
    return this.#settle(watched, own, wished, elsewhere, questions);
  }

  /**
   * What the cells show comes first: a wish cannot make them say something else, but can be wrong for other columns.
   * @param elsewhere what all other columns of the sort say
   */
  #settle<Style extends DecimalSign | DayOrder>(
    { column, name, evidence }: Watched<NumberEvidence | TimeEvidence>,
    own: Style | 'open' | null,
    wished: Style | undefined,
    elsewhere: Style | null,
    questions: Question[],
  ): Style | null {
    if (own !== 'open') return own ?? wished ?? elsewhere;
    if (evidence instanceof NumberEvidence && (RATE_COLUMNS as readonly string[]).includes(column))
      return evidence.openSign as Style;
    const question = openingOf(evidence instanceof NumberEvidence ? 'decimals' : 'dates', name, evidence.example);
    const given = this.#order.answers[question.id];
    if (given !== undefined) return answerTo(question, given) as Style;
    const known = wished ?? elsewhere;
    if (known !== null && known !== undefined) return known;
    questions.push(question);
    // A look at the file reads its rows as they would be once it is answered.
    return this.#order.isDryRun ? (question.options[0]!.value as Style) : null;
  }

  #stylesOf(
    decimals: ReadonlyMap<CanonicalColumn, DecimalSign>,
    orders: ReadonlyMap<CanonicalColumn, DayOrder | null>,
  ): Styles {
    const zone = new TimeZone(this.#order.timezone ?? this.#layout.timeZone ?? 'UTC');
    // A day is that of the clock on the wall.
    const ofDays = new TimeZone('UTC');
    const times = new Map<CanonicalColumn, TimeStyle>(
      [...orders].map(([column, order]) => [column, { order, zone: column === 'date' ? ofDays : zone }]),
    );
    return {
      decimalOf: (column) => decimals.get(column) ?? null,
      timeOf: (column) => times.get(column) ?? null,
    };
  }

  #settleOrderRows(decimal: DecimalSign, questions: Question[]): OrderRows | null {
    const found = this.#orderRows?.found(decimal) ?? null;
    if (found === null) return null;
    const question = orderRowsQuestion(
      columnOf(this.#layout, this.#orderColumns!.order),
      this.#orderColumns!.revenueName,
    );
    const given = this.#order.answers[question.id];
    if (given !== undefined) return answerTo(question, given) as OrderRows;
    if (found !== 'open') return found;
    questions.push(question);
    return null;
  }

  /** Of signs beside the amounts, where it was not said. */
  #currency(hasNamed: boolean, questions: Question[]): string | null {
    if (this.#order.amountCurrency !== null) return null;
    const amounts = this.#numbers.filter(({ column }) => AMOUNT_COLUMNS.includes(column));
    const columns = amounts.map(({ name, evidence }) => ({ name, units: evidence.units }));
    if (hasNamed) return currencyBeside(columns);
    const { currency, question } = currencyOfUnits(columns, this.#order.currency);
    if (question === null) return currency;
    const given = this.#order.answers[question.id];
    if (given !== undefined) return answerTo(question, given);
    questions.unshift(question);
    return null;
  }
}

/** What all that tell agree on. */
function onlyOne<Style extends string>(signs: readonly (Style | 'open' | null)[]): Style | null {
  const told = new Set(signs.filter((sign): sign is Style => sign !== 'open' && sign !== null));
  return told.size === 1 ? told.values().next().value! : null;
}
