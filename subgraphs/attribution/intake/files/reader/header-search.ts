/** How sure it is that these are the names of a file's columns, from 0 (no kind of file has them) to 1. */
export type RecognisesHeader = (names: readonly string[]) => number;

/** Titles, comments and totals may stand above the header. */
export const MOST_ROWS_ABOVE = 40;

/**
 * Which row is the header: the first of those that are recognised best; where none is, the first that is no title.
 * @returns its place among the rows; 0 where nothing tells
 */
export function findHeader(
  rows: readonly (readonly string[])[],
  recognises: RecognisesHeader,
): { at: number; certainty: number } {
  let [at, certainty] = [-1, 0];
  for (const [place, names] of rows.slice(0, MOST_ROWS_ABOVE).entries()) {
    const found = mayBeHeader(names) ? recognises(names) : 0;
    if (found > certainty) [at, certainty] = [place, found];
    if (certainty === 1) break;
  }
  return at >= 0 ? { at, certainty } : { at: likelyHeader(rows), certainty: 0 };
}

/** The first row that is no title: titles stand alone in their row, or begin with `#`. */
function likelyHeader(rows: readonly (readonly string[])[]): number {
  const at = rows.findIndex(
    (row) => !(row[0] ?? '').startsWith('#') && row.filter((cell) => cell.trim() !== '').length > 1,
  );
  return at < 0 || at >= MOST_ROWS_ABOVE ? 0 : at;
}

/** Most cells of a header are names, and there are two at least. */
function mayBeHeader(names: readonly string[]): boolean {
  const filled = names.filter((name) => name !== '');
  return filled.length >= 2 && filled.filter((name) => /^[\d.,\s-]+$/.test(name)).length < filled.length / 2;
}
