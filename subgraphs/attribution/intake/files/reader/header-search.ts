/** How sure it is that these are the names of a file's columns, from 0 (no kind of file has them) to 1. */
export type RecognisesHeader = (names: readonly string[]) => number;

/** Titles, comments and totals may stand above the header. */
export const MOST_ROWS_ABOVE = 40;

/** The header of a file: its row, or the lower of two that are it together. */
export interface FoundHeaderRow {
  /** Its place among the rows; 0 where nothing tells. */
  readonly at: number;
  readonly names: readonly string[];
  readonly certainty: number;
}

/**
 * Which row is the header: the first of those that are recognised best; else two that are it together; where none are,
 * the first row that is no title.
 */
export function findHeader(rows: readonly (readonly string[])[], recognises: RecognisesHeader): FoundHeaderRow {
  let [at, certainty] = [-1, 0];
  for (const [place, names] of rows.slice(0, MOST_ROWS_ABOVE).entries()) {
    const found = mayBeHeader(names) ? recognises(names) : 0;
    if (found > certainty) [at, certainty] = [place, found];
    if (certainty === 1) break;
  }
  if (at >= 0) return { at, names: rows[at]!, certainty };
  const likely = likelyHeader(rows);
  return inTwoRows(rows, recognises) ?? { at: likely, names: rows[likely] ?? [], certainty: 0 };
}

/**
 * Names that stand in two rows: each in one of them, or below the name of a group, which stands in the first of its
 * cells.
 */
function inTwoRows(rows: readonly (readonly string[])[], recognises: RecognisesHeader): FoundHeaderRow | null {
  let best: FoundHeaderRow | null = null;
  for (const [place, lower] of rows.slice(1, MOST_ROWS_ABOVE).entries()) {
    const upper = rows[place]!;
    if (!upper.some((name) => name !== '')) continue;
    let group = '';
    const inGroups = lower.map((name, column) => {
      group = upper[column] || group;
      return name === '' ? (upper[column] ?? '') : `${group} ${name}`.trim();
    });
    const inEither = lower.map((name, column) => name || (upper[column] ?? ''));
    for (const names of [inEither, inGroups]) {
      const certainty = mayBeHeader(names) ? recognises(names) : 0;
      if (certainty > (best?.certainty ?? 0)) best = { at: place + 1, names, certainty };
    }
  }
  return best;
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
