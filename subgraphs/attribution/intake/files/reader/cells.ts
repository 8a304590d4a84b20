import { isUtf8 } from 'node:buffer';
import { MAX_PATH_STEPS, MAX_TEXT_BYTES } from '../reading-limits.ts';
import type { RejectCode } from '../rejects.ts';
import type { IntegerColumn, TextColumn, TextListColumn } from './block-columns.ts';
import { DecimalReader } from './decimals.ts';
import { OFFSET_OUT_OF_RANGE, readTime } from './times.ts';

/**
 * Reads one cell of a row: the bytes `data[start .. end)`, which stay as they are until the row is taken or refused.
 */
export interface Cell {
  /** @returns what is wrong with it, null when it can be used */
  read(data: Uint8Array, start: number, end: number): RejectCode | null;
}

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const GREATER = 0x3e;
const NON_ASCII = 0x80;
const CURRENCY_CODE = /^[A-Z]{3}$/;
const NOTHING = new Uint8Array(0);

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

  read(data: Uint8Array, start: number, end: number): RejectCode | null {
    this.#data = data;
    this.#start = start;
    this.#end = end;
    if (start === end) return this.#isRequired ? 'missing_value' : null;
    if (end - start > MAX_TEXT_BYTES) return 'value_too_long';
    return characterFault(data, start, end);
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

/** A moment; also a day, which is the UTC day of the moment. */
export class TimeCell implements Cell {
  readonly #bounds: TimeBounds;
  readonly #isRequired: boolean;
  /** Milliseconds since 1970; NaN where the cell is empty. */
  ms = Number.NaN;

  constructor(bounds: TimeBounds, isRequired: boolean) {
    this.#bounds = bounds;
    this.#isRequired = isRequired;
  }

  read(data: Uint8Array, start: number, end: number): RejectCode | null {
    this.ms = Number.NaN;
    if (start === end) return this.#isRequired ? 'missing_value' : null;
    const ms = readTime(data, start, end);
    if (Number.isNaN(ms)) return 'not_a_date';
    if (ms === OFFSET_OUT_OF_RANGE) return 'offset_out_of_range';
    if (ms < this.#bounds.earliestMs || ms > this.#bounds.latestMs) return 'date_out_of_range';
    this.ms = ms;
    return null;
  }

  addTo(column: IntegerColumn): void {
    column.add(Number.isNaN(this.ms) ? 0 : this.ms);
  }

  addDayTo(column: IntegerColumn): void {
    column.add(Number.isNaN(this.ms) ? 0 : Math.floor(this.ms / 86_400_000));
  }
}

/** An amount or a count; an empty cell is 0. Counts have scale 0: a fraction of them is cut off ("3.0"). */
export class NumberCell implements Cell {
  readonly #decimal: DecimalReader;
  readonly #isRequired: boolean;
  readonly #maySink: boolean;

  constructor(scale: number, options: { readonly isRequired: boolean; readonly mayBeNegative: boolean }) {
    this.#decimal = new DecimalReader(scale);
    this.#isRequired = options.isRequired;
    this.#maySink = options.mayBeNegative;
  }

  read(data: Uint8Array, start: number, end: number): RejectCode | null {
    if (start === end) {
      this.#decimal.value = 0;
      return this.#isRequired ? 'missing_value' : null;
    }
    const fault = this.#decimal.read(data, start, end);
    if (fault !== null) return fault;
    return this.#decimal.isNegative && !this.#maySink && Number(this.#decimal.value) !== 0 ? 'negative_value' : null;
  }

  addTo(column: IntegerColumn): void {
    column.add(this.#decimal.value);
  }
}

const SET: ReadonlySet<string> = new Set(['1', '1.0', 'true', 't', 'yes', 'y']);
const UNSET: ReadonlySet<string> = new Set(['', '0', '0.0', 'false', 'f', 'no', 'n']);
const LONGEST_FLAG = 'false'.length;

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
      end - start > LONGEST_FLAG ? undefined : String.fromCharCode(...data.subarray(start, end)).toLowerCase();
    if (text === undefined || (!SET.has(text) && !UNSET.has(text))) return 'unparseable_flag';
    this.value = SET.has(text) ? 1 : 0;
    return null;
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

  constructor(known: string | null) {
    this.currency = known;
    this.settled = known;
  }

  /** Rows are about to be stored: from here on, no other currency will do. */
  settle(unlessNamed: string): void {
    this.settled ??= this.currency ?? unlessNamed;
  }

  read(data: Uint8Array, start: number, end: number): RejectCode | null {
    if (start === end) return null;
    const code = end - start > 16 ? '' : Buffer.from(data.subarray(start, end)).toString('latin1').trim().toUpperCase();
    if (this.currency === null && (this.settled === null || this.settled === code) && CURRENCY_CODE.test(code))
      this.currency = code;
    return code === this.currency ? null : 'wrong_currency';
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

  addTo(column: TextListColumn): void {
    column.add(this.#data, this.#bounds, this.#steps);
  }
}
