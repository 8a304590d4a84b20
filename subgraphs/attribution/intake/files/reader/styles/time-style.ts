import { NOT_A_TIME, OFFSET_OUT_OF_RANGE, readTime } from '../times.ts';
import { MONTHS } from './month-names.ts';
import type { TimeZone } from './time-zone.ts';

/** Which of two numbers of a date such as `03/04/2026` is the day. */
export type DayOrder = 'day_first' | 'month_first';

/** What one date tells of how its column writes dates. */
export type TimeTrait =
  /** `13/04/2026`. */
  | 'day_first'
  /** `04/13/2026`. */
  | 'month_first'
  /** `03/04/2026`. */
  | 'open'
  /** The same under both. */
  | 'plain'
  | 'empty'
  | 'unreadable';

const LONGEST = 64;
const MINUS = 0x2d;
const ISO_DAY_LENGTH = 10;
const DAY_MS = 86_400_000;
/** The day that Excel counts as 0; its leap day in 1900 never was, and days before are not read. */
const EXCEL_EPOCH_MS = Date.UTC(1899, 11, 30);
/** 2000-01-01 and 2100-01-01 as days of Excel. */
const EXCEL_DAYS = [36_526, 73_051] as const;
const SEPARATED = /^(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})(?=$|[T ,])/u;
const NAMED_DAY_FIRST = new RegExp(
  String.raw`^(?:\p{L}{2,12}[.,]*\s+)?(\d{1,2})(?:\.|st|nd|rd|th)?[\s-]+(?:de\s+)?(\p{L}{3,12})\.?,?[\s-]+` +
    String.raw`(?:de\s+)?(\d{4}|\d{2})(?=$|[T ,])`,
  'iu',
);
const NAMED_MONTH_FIRST =
  /^(?:\p{L}{2,12}[.,]*\s+)?(\p{L}{3,12})\.?[\s-]+(\d{1,2})(?:st|nd|rd|th)?,?[\s-]+(\d{4})(?=$|[T ,])/iu;
const COMPACT = /^(\d{4})(\d{2})(\d{2})(?:[T ]?(\d{2})(\d{2})(\d{2})?)?(?=$|[Z+-])/u;
const TIME_OF_DAY = new RegExp(
  String.raw`^(?:T|[ ,]+(?:at |um |à |a las )?)(\d{1,2})[:.h](\d{2})(?:[:.](\d{2})(?:[.,](\d{1,9}))?)?` +
    String.raw`\s*([ap])?\.?(?:m\.?)?\s*(?:uhr)?\s*(.*)$`,
  'iu',
);
const OFFSET = /^\(?(?:UTC|GMT)?\s*([+-])(\d{1,2}):?(\d{2})?\)?$/iu;
/** Abbreviations that mean one offset wherever exports use them, minutes ahead of UTC. */
const ABBREVIATIONS: Readonly<Record<string, number>> = {
  Z: 0,
  UTC: 0,
  GMT: 0,
  EST: -300,
  EDT: -240,
  CST: -360,
  CDT: -300,
  MST: -420,
  MDT: -360,
  PST: -480,
  PDT: -420,
  CET: 60,
  CEST: 120,
  MEZ: 60,
  MESZ: 120,
};
const EPOCH_DIGITS: Readonly<Record<number, number>> = { 10: 1e3, 13: 1, 16: 1e-3, 19: 1e-6 };

/** A date or time as people and programs write it. */
export class WrittenTime {
  /** Milliseconds since 1970 as the clock on the wall says, with each reading of day and month. */
  readonly localMs: Record<DayOrder, number> = { day_first: NOT_A_TIME, month_first: NOT_A_TIME };
  /** Minutes ahead of UTC where they stand beside; null where nothing tells the zone, NaN beyond ±14:00. */
  offsetMinutes: number | null = null;
  /** A day without a time, which no zone moves. */
  isDay = false;

  take(data: Uint8Array, start: number, end: number): TimeTrait {
    this.localMs.day_first = NOT_A_TIME;
    this.localMs.month_first = NOT_A_TIME;
    this.offsetMinutes = null;
    this.isDay = false;
    if (start === end) return 'empty';
    if (end - start > LONGEST) return 'unreadable';
    if (this.#readIso(data, start, end)) return 'plain';
    const text = Buffer.from(data.buffer, data.byteOffset + start, end - start)
      .toString()
      .trim();
    return text === '' ? 'empty' : this.#read(text);
  }

  /** Most cells are ISO 8601, which needs no look at them as text. */
  #readIso(data: Uint8Array, start: number, end: number): boolean {
    if (end - start < ISO_DAY_LENGTH || data[start + 4] !== MINUS) return false;
    const ms = readTime(data, start, end);
    if (!Number.isFinite(ms)) return false;
    this.#keep(ms);
    this.isDay = end - start === ISO_DAY_LENGTH;
    if (!this.isDay && !hasNoOffset(data, start + ISO_DAY_LENGTH, end)) this.offsetMinutes = 0;
    return true;
  }

  /**
   * The moment under a reading, null being none of the two; {@link NOT_A_TIME}, or {@link OFFSET_OUT_OF_RANGE} where
   * the offset is beyond ±14:00.
   */
  moment(order: DayOrder | null, zone: TimeZone): number {
    const localMs = this.local(order);
    if (Number.isNaN(localMs)) return NOT_A_TIME;
    if (this.offsetMinutes === null) return this.isDay ? localMs : zone.momentOf(localMs);
    return Number.isNaN(this.offsetMinutes) ? OFFSET_OUT_OF_RANGE : localMs - this.offsetMinutes * 60_000;
  }

  /** What the clock on the wall says, whatever the zone is. */
  local(order: DayOrder | null): number {
    const { day_first: dayFirst, month_first: monthFirst } = this.localMs;
    if (order !== null) return this.localMs[order];
    return dayFirst === monthFirst ? dayFirst : NOT_A_TIME;
  }

  #read(text: string): TimeTrait {
    return (
      this.#readNumber(text) ??
      this.#readSeparated(text) ??
      this.#readNamed(text) ??
      this.#readCompact(text) ??
      'unreadable'
    );
  }

  /** Epochs of any unit, and the days of Excel. */
  #readNumber(text: string): TimeTrait | undefined {
    const [, digits, decimals = ''] = /^(\d{5,19})(?:[.,](\d{1,18}))?$/u.exec(text) ?? [];
    if (digits === undefined) return undefined;
    const value = Number(decimals === '' ? digits : `${digits}.${decimals}`);
    if (digits.length === 5) {
      if (value < EXCEL_DAYS[0] || value >= EXCEL_DAYS[1]) return 'unreadable';
      // A day's fraction has no more digits than make milliseconds.
      this.#keep(EXCEL_EPOCH_MS + Math.round((value * DAY_MS) / 1000) * 1000);
      this.isDay = Number.isInteger(value);
      return 'plain';
    }
    const unit = EPOCH_DIGITS[digits.length];
    if (unit === undefined) return undefined;
    this.#keep(Math.floor(value * unit));
    this.offsetMinutes = 0;
    return 'plain';
  }

  #readSeparated(text: string): TimeTrait | undefined {
    const [whole, first, separator, second, third] = SEPARATED.exec(text) ?? [];
    if (whole === undefined) return undefined;
    const timeMs = this.#timeOfDay(text.slice(whole.length));
    if (Number.isNaN(timeMs)) return 'unreadable';
    if (first!.length === 4) return this.#keepDay(dayOf(first!, second!, third!), timeMs);
    if (first!.length > 2 || (third!.length !== 4 && third!.length !== 2)) return 'unreadable';
    const [dayFirst, monthFirst] = [dayOf(third!, second!, first!), dayOf(third!, first!, second!)];
    this.localMs.day_first = dayFirst + timeMs;
    // Nobody writes the month first before a point.
    this.localMs.month_first = separator === '.' ? NOT_A_TIME : monthFirst + timeMs;
    if (separator === '.') return Number.isNaN(dayFirst) ? 'unreadable' : 'day_first';
    if (Number.isNaN(dayFirst) && Number.isNaN(monthFirst)) return 'unreadable';
    if (dayFirst === monthFirst) return 'plain';
    return Number.isNaN(monthFirst) ? 'day_first' : Number.isNaN(dayFirst) ? 'month_first' : 'open';
  }

  #readNamed(text: string): TimeTrait | undefined {
    const dayFirst = NAMED_DAY_FIRST.exec(text);
    const found = dayFirst ?? NAMED_MONTH_FIRST.exec(text);
    if (found === null) return undefined;
    const [whole, first, second, year] = found as unknown as [string, string, string, string];
    const [day, name] = dayFirst === null ? [second, first] : [first, second];
    const month = MONTHS.get(name.toLowerCase());
    const timeMs = this.#timeOfDay(text.slice(whole.length));
    if (month === undefined || Number.isNaN(timeMs)) return 'unreadable';
    return this.#keepDay(dayOf(year, String(month), day), timeMs);
  }

  #readCompact(text: string): TimeTrait | undefined {
    const [whole, year, month, day, hour, minute, second = '0'] = COMPACT.exec(text) ?? [];
    if (whole === undefined) return undefined;
    const timeMs = hour === undefined ? this.#timeOfDay(text.slice(whole.length)) : clock(hour, minute!, second);
    if (hour !== undefined && !this.#takeZone(text.slice(whole.length))) return 'unreadable';
    return this.#keepDay(dayOf(year!, month!, day!), timeMs);
  }

  #keepDay(dayMs: number, timeMs: number): TimeTrait {
    this.#keep(dayMs + timeMs);
    return Number.isNaN(dayMs + timeMs) ? 'unreadable' : 'plain';
  }

  #keep(ms: number): void {
    this.localMs.day_first = ms;
    this.localMs.month_first = ms;
  }

  /** Milliseconds since midnight; 0 where only the day stands. */
  #timeOfDay(rest: string): number {
    if (rest.trim() === '') {
      this.isDay = true;
      return 0;
    }
    const [, hour, minute, second = '0', fraction = '', half, zone = ''] = TIME_OF_DAY.exec(rest) ?? [];
    if (hour === undefined || !this.#takeZone(zone)) return NOT_A_TIME;
    let hours = Number(hour);
    if (half !== undefined) {
      if (hours < 1 || hours > 12) return NOT_A_TIME;
      hours = (hours % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
    }
    return clock(String(hours), minute!, second) + Number(fraction.padEnd(3, '0').slice(0, 3));
  }

  #takeZone(text: string): boolean {
    const zone = text.trim();
    if (zone === '') return true;
    const known = ABBREVIATIONS[zone.toUpperCase()];
    const [, sign, hours, minutes = '0'] = OFFSET.exec(zone) ?? [];
    if (known === undefined && sign === undefined) return false;
    const ahead = Number(hours) * 60 + Number(minutes);
    this.offsetMinutes =
      known ?? (ahead > 14 * 60 || Number(minutes) > 59 ? Number.NaN : sign === '-' ? -ahead : ahead);
    return true;
  }
}

/** Behind the day stand digits, colons, a point, and `T` or a blank alone. */
function hasNoOffset(data: Uint8Array, start: number, end: number): boolean {
  for (let at = start + 1; at < end; at += 1) {
    const byte = data[at]!;
    if ((byte < 0x30 || byte > 0x3a) && byte !== 0x2e) return false;
  }
  return true;
}

function clock(hour: string, minute: string, second: string): number {
  const [hours, minutes, seconds] = [Number(hour), Number(minute), Number(second)];
  // A leap second is the first moment of the next minute.
  return hours < 24 && minutes < 60 && seconds <= 60 ? ((hours * 60 + minutes) * 60 + seconds) * 1000 : NOT_A_TIME;
}

/** Midnight of a real calendar day as if it were UTC; two digits of a year are of this century. */
function dayOf(year: string, month: string, day: string): number {
  const text = `${year.length === 2 ? `20${year}` : year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  return readTime(Buffer.from(text), 0, text.length);
}

/** Of the dates that tell; what is beyond it is refused row by row. */
const SETTLING_SHARE = 0.8;

/** What the dates of a column tell of how they are written. */
export class TimeEvidence {
  readonly #time = new WrittenTime();
  #counts: Record<TimeTrait, number> = { day_first: 0, month_first: 0, open: 0, plain: 0, empty: 0, unreadable: 0 };
  /** A date that can be read in two ways; empty where there is none. */
  example = '';

  add(data: Uint8Array, start: number, end: number): void {
    const trait = this.#time.take(data, start, end);
    this.#counts[trait] += 1;
    if (trait === 'open' && this.example === '') this.example = Buffer.from(data.subarray(start, end)).toString();
  }

  /** Share of the filled cells that are dates. */
  get readableShare(): number {
    const { day_first: dayFirst, month_first: monthFirst, open, plain, unreadable } = this.#counts;
    const dates = dayFirst + monthFirst + open + plain;
    return dates + unreadable === 0 ? 0 : dates / (dates + unreadable);
  }

  /** The order that the column settles by itself; `open` where it does not, null where it makes no difference. */
  dayOrder(): DayOrder | 'open' | null {
    const { day_first: dayFirst, month_first: monthFirst, open, plain } = this.#counts;
    const told = dayFirst + monthFirst;
    // A few among dates of another form are refused instead.
    if (told === 0) return open > (1 - SETTLING_SHARE) * (open + plain) ? 'open' : null;
    if (dayFirst >= SETTLING_SHARE * told) return 'day_first';
    return monthFirst >= SETTLING_SHARE * told ? 'month_first' : 'open';
  }
}
