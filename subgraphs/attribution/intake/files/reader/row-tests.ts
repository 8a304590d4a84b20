import { referrerHost } from '../../../../../schema/origins/referrer-host.ts';
import type { RowCells } from './record-reader.ts';

/** Whether a row is of a sort, told by what stands in one of its columns. */
export type RowTest = (cells: RowCells) => boolean;

const LONGEST_COMPARED = 256;

export function textAt(cells: RowCells, place: number): string {
  if (place >= cells.count || cells.ends[place]! <= cells.starts[place]!) return '';
  const start = cells.starts[place]!;
  return Buffer.from(cells.data.subarray(start, Math.min(cells.ends[place]!, start + LONGEST_COMPARED)))
    .toString()
    .trim();
}

export const isEmptyAt =
  (places: readonly number[]): RowTest =>
  (cells) =>
    places.every((place) => place >= cells.count || cells.ends[place]! <= cells.starts[place]!);

export function isOneOf(place: number, values: readonly string[]): RowTest {
  const known = new Set(values.map((value) => value.toLowerCase()));
  return (cells) => known.has(textAt(cells, place).toLowerCase());
}

/** An address, of another host than that of another column. */
export const isOfOtherHost =
  (place: number, other: number): RowTest =>
  (cells) => {
    const host = referrerHost(textAt(cells, place));
    return host !== '' && host !== referrerHost(textAt(cells, other));
  };

/** Two columns are filled and differ, and none of others is. */
export function areUnlike(place: number, other: number, unlessFilled: readonly number[]): RowTest {
  const isUnnamed = isEmptyAt(unlessFilled);
  return (cells) => {
    const [from, to] = [textAt(cells, place), textAt(cells, other)];
    return from !== '' && to !== '' && from !== to && isUnnamed(cells);
  };
}

export const not =
  (test: RowTest): RowTest =>
  (cells) =>
    !test(cells);

/** What the row of sums below (or above) the rows is called. */
const TOTALS = new RegExp(
  '^(?:(?:grand |sub)?totals?|gesamt(?:summe|ergebnis)?|summe|insgesamt|total (?:général|general|geral|generale)|' +
    'totale|totaal|suma|somme|sum|overall)\\b',
  'iu',
);
const CELLS_LOOKED_AT = 4;

/** A row of sums, by its first filled cells. */
export function isTotal(cells: RowCells): boolean {
  let seen = 0;
  for (let place = 0; place < cells.count && seen < CELLS_LOOKED_AT; place += 1) {
    const text = textAt(cells, place);
    if (text === '') continue;
    seen += 1;
    if (TOTALS.test(text)) return true;
  }
  return false;
}

/** A sentence in an otherwise empty row, as programs write them below a table. */
export function isNote(cells: RowCells): boolean {
  const filled = Array.from({ length: cells.count }, (_, place) => textAt(cells, place)).filter((text) => text !== '');
  return filled.length === 1 && /\s/u.test(filled[0]!);
}

/** A row of sums may be called so in the cell behind its last column. */
export const isTotalBeyond = (cells: RowCells, columns: number): boolean =>
  cells.count === columns + 1 && TOTALS.test(textAt(cells, columns));
