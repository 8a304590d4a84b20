const ZERO = 0x30;
const MINUS = 0x2d;
const PLUS = 0x2b;
const COLON = 0x3a;
const POINT = 0x2e;
const SPACE = 0x20;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** Local time is at most 14 hours ahead of UTC, and offsets are whole minutes. */
const MAX_OFFSET_MINUTES = 14 * 60;
const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const DATE_LENGTH = 10;
const EPOCH_SECONDS_DIGITS = 10;
const EPOCH_MILLISECONDS_DIGITS = 13;

/** What {@link readTime} answers where there is no time. */
export const NOT_A_TIME = Number.NaN;
/** A time whose offset lies beyond ±14:00. */
export const OFFSET_OUT_OF_RANGE = Number.NEGATIVE_INFINITY;

/**
 * Milliseconds since 1970 of ISO 8601 (`YYYY-MM-DD`, alone or with `T` or a blank, `HH:MM`, seconds and a fraction,
 * then `Z`, `UTC` or an offset), or of epoch seconds or milliseconds. UTC where no offset stands; fractions of a
 * millisecond are cut off. Days are those of the calendar: 30 February, month 0 and hour 25 are no times.
 * @returns {@link NOT_A_TIME} or {@link OFFSET_OUT_OF_RANGE} where it is none
 */
export function readTime(data: Uint8Array, start: number, end: number): number {
  if (end - start < DATE_LENGTH) return NOT_A_TIME;
  if (data[start + 4] !== MINUS) return readEpoch(data, start, end);
  const dayMs = readDate(data, start);
  if (Number.isNaN(dayMs) || end - start === DATE_LENGTH) return dayMs;
  return dayMs + readTimeOfDay(data, start + DATE_LENGTH, end);
}

/** The day that a time of ISO 8601 names, whatever its offset; {@link NOT_A_TIME} where none stands. */
export const readDay = (data: Uint8Array, start: number, end: number): number =>
  end - start < DATE_LENGTH || data[start + 4] !== MINUS ? NOT_A_TIME : readDate(data, start);

function readDate(data: Uint8Array, at: number): number {
  const year = twoDigits(data, at) * 100 + twoDigits(data, at + 2);
  const month = twoDigits(data, at + 5);
  const day = twoDigits(data, at + 8);
  if (data[at + 7] !== MINUS || !(month >= 1 && month <= 12) || !(day >= 1 && day <= daysIn(month, year)))
    return NOT_A_TIME;
  return daysSince1970(year, month, day) * DAY_MS;
}

/** `T` or blanks, the time, perhaps an offset. */
function readTimeOfDay(data: Uint8Array, start: number, end: number): number {
  let at = start;
  if (data[at] === 0x54 || data[at] === 0x74) at += 1;
  else {
    if (data[at] !== SPACE) return NOT_A_TIME;
    while (data[at] === SPACE) at += 1;
  }
  const hours = at + 5 <= end ? twoDigits(data, at) : NOT_A_TIME;
  const minutes = twoDigits(data, at + 3);
  if (!(hours < 24) || data[at + 2] !== COLON || !(minutes < 60)) return NOT_A_TIME;
  at += 5;
  let ms = (hours * 60 + minutes) * MINUTE_MS;
  if (at < end && data[at] === COLON) {
    // A leap second is the first moment of the next minute.
    const seconds = at + 3 <= end ? twoDigits(data, at + 1) : NOT_A_TIME;
    if (!(seconds <= 60)) return NOT_A_TIME;
    ms += seconds * 1000;
    at += 3;
    if (at < end && data[at] === POINT) {
      const digitsEnd = endOfDigits(data, at + 1, end);
      if (digitsEnd === at + 1) return NOT_A_TIME;
      ms += milliseconds(data, at + 1, digitsEnd);
      at = digitsEnd;
    }
  }
  return ms - readOffset(data, at, end);
}

/** Milliseconds ahead of UTC; 0 where nothing stands. */
function readOffset(data: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && data[at] === SPACE) at += 1;
  if (at === end) return 0;
  const first = data[at]!;
  if (first !== PLUS && first !== MINUS) return isUtc(data, at, end) ? 0 : NOT_A_TIME;
  const hours = at + 3 <= end ? twoDigits(data, at + 1) : NOT_A_TIME;
  at += 3;
  if (at < end && data[at] === COLON) at += 1;
  const minutes = at === end && data[at - 1] !== COLON ? 0 : at + 2 === end ? twoDigits(data, at) : NOT_A_TIME;
  const offset = hours * 60 + minutes;
  if (Number.isNaN(offset)) return NOT_A_TIME;
  // Taken from a finite time, this gives OFFSET_OUT_OF_RANGE.
  if (minutes > 59 || offset > MAX_OFFSET_MINUTES) return Number.POSITIVE_INFINITY;
  return (first === PLUS ? offset : -offset) * MINUTE_MS;
}

function isUtc(data: Uint8Array, start: number, end: number): boolean {
  if (end - start === 1) return data[start] === 0x5a || data[start] === 0x7a;
  const name = String.fromCharCode(...data.subarray(start, Math.min(end, start + 4))).toUpperCase();
  return end - start <= 3 && (name === 'UTC' || name === 'GMT');
}

/** Ten digits are seconds, thirteen milliseconds; a fraction may follow. */
function readEpoch(data: Uint8Array, start: number, end: number): number {
  const digitsEnd = endOfDigits(data, start, end);
  const digits = digitsEnd - start;
  if (digits !== EPOCH_SECONDS_DIGITS && digits !== EPOCH_MILLISECONDS_DIGITS) return NOT_A_TIME;
  let value = 0;
  for (let at = start; at < digitsEnd; at += 1) value = value * 10 + data[at]! - ZERO;
  const hasFraction = digitsEnd < end;
  if (
    hasFraction &&
    (data[digitsEnd] !== POINT || digitsEnd + 1 === end || endOfDigits(data, digitsEnd + 1, end) !== end)
  )
    return NOT_A_TIME;
  if (digits === EPOCH_MILLISECONDS_DIGITS) return value;
  return value * 1000 + (hasFraction ? milliseconds(data, digitsEnd + 1, end) : 0);
}

/** Of the digits of a fraction of a second. */
function milliseconds(data: Uint8Array, start: number, end: number): number {
  let ms = 0;
  for (let place = 0; place < 3; place += 1) ms = ms * 10 + (start + place < end ? data[start + place]! - ZERO : 0);
  return ms;
}

function endOfDigits(data: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && data[at]! >= ZERO && data[at]! <= ZERO + 9) at += 1;
  return at;
}

function twoDigits(data: Uint8Array, at: number): number {
  const tens = data[at]! - ZERO;
  const ones = data[at + 1]! - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : NOT_A_TIME;
}

const isLeapYear = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
const daysIn = (month: number, year: number): number =>
  month === 2 && isLeapYear(year) ? 29 : DAYS_IN_MONTH[month - 1]!;

/** Days of the Gregorian calendar, counted in years that begin in March. */
function daysSince1970(year: number, month: number, day: number): number {
  const years = month > 2 ? year : year - 1;
  const monthsSinceMarch = (month + 9) % 12;
  const leapDays = Math.floor(years / 4) - Math.floor(years / 100) + Math.floor(years / 400);
  return years * 365 + leapDays + Math.floor((monthsSinceMarch * 153 + 2) / 5) + day - 1 - 719_468;
}
