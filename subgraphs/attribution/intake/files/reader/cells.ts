import { isUtf8 } from 'node:buffer';
import { MAX_PATH_STEPS, MAX_TEXT_BYTES } from '../reading-limits.ts';
import type { RejectCode } from '../rejects.ts';
import type { IntegerColumn, TextColumn, TextListColumn } from './block-columns.ts';
import { DecimalReader } from './decimals.ts';
import { PLAIN_BYTES, WrittenNumber, type DecimalSign } from './styles/number-style.ts';
import { WrittenTime, type DayOrder } from './styles/time-style.ts';
import type { TimeZone } from './styles/time-zone.ts';
import { OFFSET_OUT_OF_RANGE, readDay, readTime } from './times.ts';

/**
 * Reads one cell of a row: the bytes `data[start .. end)`, which stay as they are until the row is taken or refused.
 */
export interface Cell {
  /** @returns what is wrong with it, null when it can be used */
  read(data: Uint8Array, start: number, end: number): RejectCode | null;
  /** What was read, for people; empty where nothing stands there. */
  shown(): string;
}

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const GREATER = 0x3e;
const NON_ASCII = 0x80;
const CURRENCY_CODE = /^[A-Z]{3}$/;
const NOTHING = new Uint8Array(0);
const SHOWN_STEPS = 20;

/**
 * What no name may hold: bytes that are no UTF-8, NUL (PostgreSQL, which keeps the results, has no text with it), and
 * C0 controls other than tab and line ends.
 */
function characterFault(data: Uint8Array, start: number, end: number): RejectCode | null {
  let all = 0;
  let control: RejectCode | null = null;
  for (let at = start; at < end; at += 1) {
    const byte = data[at]!;
    all |= byte;
    if (byte < SPACE && byte !== TAB && byte !== LF && byte !== CR && control !== 'nul_character')
      control = byte === 0 ? 'nul_character' : 'control_character';
  }
  if (all >= NON_ASCII && !isUtf8(data.subarray(start, end))) return 'invalid_encoding';
  return control;
}

/** Text as it stands. */
export class TextCell implements Cell {
  readonly #isRequired: boolean;
  #data: Uint8Array = NOTHING;
  #start = 0;
  #end = 0;

  constructor(isRequired: boolean) {
    this.#isRequired = isRequired;
  }

  get isEmpty(): boolean {
    return this.#start === this.#end;
  }

  shown(): string {
    return Buffer.from(this.#data.subarray(this.#start, this.#end)).toString();
  }

  read(data: Uint8Array, start: number, end: number): RejectCode | null {
    this.#data = data;
    this.#start = start;
    this.#end = end;
    if (start === end) return this.#isRequired ? 'missing_value' : null;
    if (end - start > MAX_TEXT_BYTES) return 'value_too_long';
    return characterFault(data, start, end);
  }

  /** A character for each byte. */
  latin1(): string {
    const data = this.#data;
    return Buffer.from(data.buffer, data.byteOffset + this.#start, this.#end - this.#start).toString('latin1');
  }

  /** Puts it among others. @returns whether it was there before */
  isAddedAgain(ids: { add(data: Uint8Array, start: number, end: number): boolean }): boolean {
    return ids.add(this.#data, this.#start, this.#end);
  }

  addTo(column: TextColumn): void {
    column.add(this.#data, this.#start, this.#end);
  }
}

/** Bounds of the times that are taken, in milliseconds since 1970, both included. */
export interface TimeBounds {
  readonly earliestMs: number;
  readonly latestMs: number;
}

/** How the dates of a column are written; null stands for ISO 8601 and epochs, UTC where no zone stands. */
export interface TimeStyle {
  /** Null where only dates are taken that are the same under both. */
  readonly order: DayOrder | null;
  readonly zone: TimeZone;
}

/** So many cells are looked at for whether times say their zone. */
const ZONES_LOOKED_AT = 1_000;

/** A moment; also a day, which is the UTC day of the moment. */
export class TimeCell implements Cell {
  readonly #bounds: TimeBounds;
  readonly #isRequired: boolean;
  readonly #style: TimeStyle | null;
  readonly #written = new WrittenTime();
  #looked = 0;
  /** A time without a zone was among the first. */
  hasZoneless = false;
  /** Milliseconds since 1970; NaN where the cell is empty. */
  ms = Number.NaN;

  readonly #isDay: boolean;

  /** @param isDay only the day counts, as it stands there: no offset moves it to another */
  constructor(bounds: TimeBounds, isRequired: boolean, style: TimeStyle | null, isDay = false) {
    this.#isDay = isDay;
    this.#bounds = bounds;
    this.#isRequired = isRequired;
    this.#style = style;
  }

  read(data: Uint8Array, start: number, end: number): RejectCode | null {
    this.ms = Number.NaN;
    if (start === end) return this.#isRequired ? 'missing_value' : null;
    const ms = this.#style === null ? readTime(data, start, end) : this.#readWritten(data, start, end, this.#style);
    if (Number.isNaN(ms)) return 'not_a_date';
    if (ms === OFFSET_OUT_OF_RANGE) return 'offset_out_of_range';
    if (ms < this.#bounds.earliestMs || ms > this.#bounds.latestMs) return 'date_out_of_range';
    if (this.#looked < ZONES_LOOKED_AT) this.#lookForZone(data, start, end);
    this.ms = this.#isDay ? this.#dayAt(data, start, end, ms) : ms;
    return null;
  }

  #dayAt(data: Uint8Array, start: number, end: number, ms: number): number {
    const day = readDay(data, start, end);
    if (!Number.isNaN(day)) return day;
    return this.#style === null ? ms : this.#written.local(this.#style.order);
  }

  shown(): string {
    return Number.isNaN(this.ms) ? '' : new Date(this.ms).toISOString();
  }

  addTo(column: IntegerColumn): void {
    column.add(Number.isNaN(this.ms) ? 0 : this.ms);
  }

  /** Days since 1970. */
  get day(): number {
    return Number.isNaN(this.ms) ? 0 : Math.floor(this.ms / 86_400_000);
  }

  #readWritten(data: Uint8Array, start: number, end: number, { order, zone }: TimeStyle): number {
    this.#written.take(data, start, end);
    return this.#written.moment(order, zone);
  }

  #lookForZone(data: Uint8Array, start: number, end: number): void {
    this.#looked += 1;
    if (this.#style === null) this.#written.take(data, start, end);
    if (this.#written.offsetMinutes === null && !this.#written.isDay) this.hasZoneless = true;
  }
}

export interface NumberOptions {
  readonly isRequired: boolean;
  readonly mayBeNegative: boolean;
  /** Null for plain digits with a point before decimals. */
  readonly decimal: DecimalSign | null;
}

/** An amount or a count; an empty cell is 0. Counts have scale 0: a fraction of them is cut off ("3.0"). */
export class NumberCell implements Cell {
  readonly #decimal: DecimalReader;
  readonly #options: NumberOptions;
  readonly #written = new WrittenNumber();
  readonly #plain = Buffer.alloc(PLAIN_BYTES);
  /** Nothing stands in the cell, or the file has no such column. */
  isEmpty = true;

  constructor(scale: number, options: NumberOptions) {
    this.#decimal = new DecimalReader(scale);
    this.#options = options;
  }

  /** The number just read, times ten to the scale. */
  get value(): number | bigint {
    return this.#decimal.value;
  }

  /** Numbers were read that may mean thousands as well, and none that tells. */
  get isOpen(): boolean {
    return this.#decimal.open > 0 && this.#decimal.settled === 0;
  }

  read(data: Uint8Array, start: number, end: number): RejectCode | null {
    const { decimal, isRequired, mayBeNegative } = this.#options;
    const fault = decimal === null ? this.#readPlain(data, start, end) : this.#readWritten(data, start, end, decimal);
    this.isEmpty = fault === 'empty';
    if (fault === 'empty') {
      this.#decimal.value = 0;
      return isRequired ? 'missing_value' : null;
    }
    if (fault !== null) return fault;
    return this.#decimal.isNegative && !mayBeNegative && Number(this.#decimal.value) !== 0 ? 'negative_value' : null;
  }

  shown(): string {
    return String(Number(this.#decimal.value) / this.#decimal.unit);
  }

  addTo(column: IntegerColumn): void {
    column.add(this.#decimal.value);
  }

  #readPlain(data: Uint8Array, start: number, end: number): RejectCode | 'empty' | null {
    return start === end ? 'empty' : this.#decimal.read(data, start, end);
  }

  #readWritten(data: Uint8Array, start: number, end: number, decimal: DecimalSign): RejectCode | 'empty' | null {
    const trait = this.#written.take(data, start, end);
    if (trait === 'empty') return 'empty';
    const length = trait === 'unreadable' ? -1 : this.#written.writePlain(decimal, this.#plain);
    return length < 0 ? 'not_a_number' : this.#decimal.read(this.#plain, 0, length);
  }
}

/** An amount that may not be known: an empty cell is none, and not 0. */
export class KnownNumberCell extends NumberCell {
  override shown(): string {
    return this.isEmpty ? '' : super.shown();
  }
}

const SET: ReadonlySet<string> = new Set([
  '1',
  '1.0',
  'true',
  't',
  'yes',
  'y',
  'ja',
  'oui',
  'si',
  'sí',
  'sì',
  'sim',
  'new',
]);
const UNSET: ReadonlySet<string> = new Set([
  '',
  '0',
  '0.0',
  'false',
  'f',
  'no',
  'n',
  'nein',
  'non',
  'nee',
  'não',
  'returning',
]);
const LONGEST_FLAG = 'returning'.length;

/** 1 or 0, and what an empty cell stands for. */
export class FlagCell implements Cell {
  readonly #whenEmpty: number;
  value = 0;

  constructor(whenEmpty: 0 | -1) {
    this.#whenEmpty = whenEmpty;
    this.value = whenEmpty;
  }

  read(data: Uint8Array, start: number, end: number): RejectCode | null {
    if (start === end) {
      this.value = this.#whenEmpty;
      return null;
    }
    const text =
      end - start > LONGEST_FLAG ? undefined : Buffer.from(data.subarray(start, end)).toString().toLowerCase();
    if (text === undefined || (!SET.has(text) && !UNSET.has(text))) return 'unparseable_flag';
    this.value = SET.has(text) ? 1 : 0;
    return null;
  }

  shown(): string {
    return this.value === -1 ? '' : String(this.value);
  }

  addTo(column: IntegerColumn): void {
    column.add(this.value);
  }
}

/**
 * Rows in another currency than the source's are refused; an empty cell means the source's own. A source without one
 * gets that of the first row that names one.
 */
export class CurrencyCell implements Cell {
  /** ISO 4217 code that the source has or the file names; null until a row names one. */
  currency: string | null;
  /** That of the rows which are stored already, once there are any. */
  settled: string | null;
  /** Another one that the row names, and that there are rates for. */
  foreign: string | null = null;
  readonly #unnamed: string | null;
  readonly #hasRates: (currency: string) => boolean;

  /** @param unnamed what an empty cell means; null for the source's own */
  constructor(known: string | null, unnamed: string | null, hasRates: (currency: string) => boolean) {
    this.currency = known;
    this.settled = known;
    this.#unnamed = unnamed;
    this.#hasRates = hasRates;
  }

  shown(): string {
    return this.foreign ?? this.currency ?? '';
  }

  /** Rows are about to be stored: from here on, no other currency will do. */
  settle(unlessNamed: string): void {
    this.settled ??= this.currency ?? unlessNamed;
  }

  /** A row begins, which may not have the cell. */
  begin(): void {
    this.foreign = this.#unnamed === this.currency ? null : this.#unnamed;
  }

  read(data: Uint8Array, start: number, end: number): RejectCode | null {
    if (start === end) return null;
    this.foreign = null;
    const code = end - start > 16 ? '' : Buffer.from(data.subarray(start, end)).toString('latin1').trim().toUpperCase();
    const isRated = this.#hasRates(code);
    if (
      this.currency === null &&
      (this.settled === null ? !isRated : this.settled === code) &&
      CURRENCY_CODE.test(code)
    )
      this.currency = code;
    if (code === this.currency) return null;
    if ((this.currency ?? this.settled) === null || !isRated) return 'wrong_currency';
    this.foreign = code;
    return null;
  }
}

/** Steps stand between `>`; blanks around them do not count. An empty path is a conversion without a touch. */
export class PathCell implements Cell {
  #data: Uint8Array = NOTHING;
  readonly #bounds: number[] = [];
  #steps = 0;

  read(data: Uint8Array, start: number, end: number): RejectCode | null {
    this.#data = data;
    this.#steps = 0;
    for (let at = start; at <= end;) {
      let stepEnd = at;
      while (stepEnd < end && data[stepEnd] !== GREATER) stepEnd += 1;
      const next = stepEnd + 1;
      while (at < stepEnd && data[at] === SPACE) at += 1;
      while (stepEnd > at && data[stepEnd - 1] === SPACE) stepEnd -= 1;
      if (stepEnd - at > MAX_TEXT_BYTES) return 'value_too_long';
      if (stepEnd > at) {
        if (this.#steps === MAX_PATH_STEPS) return 'path_too_long';
        this.#bounds[2 * this.#steps] = at;
        this.#bounds[2 * this.#steps + 1] = stepEnd;
        this.#steps += 1;
      }
      at = next;
    }
    return characterFault(data, start, end);
  }

  shown(): string {
    const step = (index: number) =>
      Buffer.from(this.#data.subarray(this.#bounds[2 * index], this.#bounds[2 * index + 1])).toString();
    return Array.from({ length: Math.min(this.#steps, SHOWN_STEPS) }, (_, index) => step(index)).join(' > ');
  }

  addTo(column: TextListColumn): void {
    column.add(this.#data, this.#bounds, this.#steps);
  }
}
