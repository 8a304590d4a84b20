import { InvalidArgumentError } from 'commander';
import type { QualityCode } from '../../schema/contract/data-quality.ts';
import { SCOPES, type Scope } from '../../schema/principal.ts';
import { QUALITY_CODES, REPORT_FORMATS, type ReportFormat } from '../../schema/value-lists.ts';

/** YYYY-MM-DD, a day that there is. @throws InvalidArgumentError */
export function calendarDate(value: string): string {
  const time = Date.parse(`${value}T00:00:00Z`);
  if (!/^\d{4}-\d\d-\d\d$/.test(value) || Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== value) {
    throw new InvalidArgumentError('Give a date as YYYY-MM-DD.');
  }
  return value;
}

/** A whole number within both bounds. @throws InvalidArgumentError */
export function wholeNumber(least: number, most: number): (value: string) => number {
  return (value) => {
    if (!/^\d+$/.test(value) || Number(value) < least || Number(value) > most)
      throw new InvalidArgumentError(`Give a whole number from ${least} to ${most}.`);
    return Number(value);
  };
}

/** A number within both bounds. @throws InvalidArgumentError */
export function decimalNumber(least: number, most: number): (value: string) => number {
  return (value) => {
    if (!/^\d*\.?\d+$/.test(value) || Number(value) < least || Number(value) > most)
      throw new InvalidArgumentError(`Give a number from ${least} to ${most}.`);
    return Number(value);
  };
}

/** Names separated by commas, at least one. @throws InvalidArgumentError */
export function nameList(value: string): readonly string[] {
  const names = value
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length === 0)
    throw new InvalidArgumentError('Give at least one channel, for example direct,organic_search.');
  return names;
}

/** Scopes of keys, separated by commas. @throws InvalidArgumentError */
export function scopeList(value: string): readonly Scope[] {
  const names = value.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !(SCOPES as readonly string[]).includes(name));
  if (unknown.length > 0) throw new InvalidArgumentError(`Scopes are ${SCOPES.join(', ')}.`);
  return [...new Set(names)] as Scope[];
}

/** Codes of data quality, separated by commas; the option may be given again. @throws InvalidArgumentError */
export function qualityCodes(value: string, previous: readonly QualityCode[] = []): readonly QualityCode[] {
  const names = value.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !(QUALITY_CODES as readonly string[]).includes(name));
  if (unknown.length > 0) throw new InvalidArgumentError(`Codes are ${QUALITY_CODES.join(', ')}.`);
  return [...new Set([...previous, ...(names as QualityCode[])])];
}

/** A position in the event stream, as the interface writes it. @throws InvalidArgumentError */
export function wholePosition(value: string): string {
  return String(wholeNumber(0, 2 ** 31 - 1)(value));
}

/** A file to write a report to, and what it is to be. */
export interface ReportPath {
  readonly path: string;
  readonly format: ReportFormat;
}

/** The ending of a file says what is written; the option may be given again. @throws InvalidArgumentError */
export function reportPaths(value: string, previous: readonly ReportPath[] = []): readonly ReportPath[] {
  const format = REPORT_FORMATS.find((ending) => value.toLowerCase().endsWith(`.${ending}`));
  if (format === undefined)
    throw new InvalidArgumentError('Let its name end in .html, for a page, or .xlsx, for a workbook.');
  return [...previous, { path: value, format }];
}
