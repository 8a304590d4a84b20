import type { CanonicalColumn } from '../../../../../schema/origins/canonical-columns.ts';
import { namedSource } from './amounts-in-micros.ts';
import { plainName } from './column-names.ts';
import { layoutOf, likelyColumnsOf, type LayoutWishes, type RecordLayout } from './record-layout.ts';
import { nameWeight } from './name-weights.ts';
import { NOT_TEXT, ReadingStoppedError, type RowCells, type RowSink } from './record-reader.ts';
import { fits, RECORD_SHAPES } from './record-kind.ts';
import { textAt } from './row-tests.ts';
import type { OpenedFile } from './source-file.ts';
import { NumberEvidence } from './styles/number-style.ts';
import { TimeEvidence } from './styles/time-style.ts';

const ROWS_LOOKED_AT = 1_000;
const MOST_COLUMNS = 100;
/** How sure a column is of which only the content speaks. */
const CONTENT_CERTAINTY = 0.6;
const MOSTLY = 0.9;
const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

/** What the cells of a column look like. */
interface ColumnContent {
  readonly place: number;
  readonly isEmpty: boolean;
  readonly isTime: boolean;
  readonly isNumber: boolean;
  readonly isEmail: boolean;
  /** Share of its filled cells that are unlike all others. */
  readonly distinctShare: number;
}

/**
 * Where names tell too little, what stands in the columns may tell the rest: the times, the amounts, the ids.
 * @returns null where no kind of file can be made of it
 */
export async function proposeLayout(
  header: readonly string[],
  wishes: LayoutWishes,
  reopened: () => Promise<OpenedFile>,
): Promise<RecordLayout | null> {
  const contents = await contentsOf(header, reopened);
  const proposals = RECORD_SHAPES.flatMap((shape) => {
    const found = likelyColumnsOf(header, wishes, shape);
    if (found === null) return [];
    const named = found.sources.size;
    const taken = new Set([...found.sources.values()].flatMap((source) => ('place' in source ? [source.place] : [])));
    for (const canonical of shape.required) {
      if (found.sources.has(canonical)) continue;
      const place = likeliest(canonical, header, contents, taken);
      if (place === undefined) return [];
      taken.add(place);
      found.sources.set(canonical, namedSource(canonical, header[place]!, place));
      found.certainties.set(canonical, CONTENT_CERTAINTY);
    }
    // Something must be named: numbers and dates alone may be anything.
    if (named === 0 || !fits(shape, new Set(found.sources.keys()))) return [];
    return [{ named, layout: layoutOf(shape, header, found) }];
  });
  return proposals.toSorted((a, b) => b.named - a.named)[0]?.layout ?? null;
}

/** Of the columns whose content would do, the one whose name says so most, and none whose name says otherwise. */
function likeliest(
  canonical: CanonicalColumn,
  header: readonly string[],
  contents: readonly ColumnContent[],
  taken: ReadonlySet<number>,
): number | undefined {
  const fitting = contents.flatMap((content) => {
    const name = header[content.place]!;
    // A name that is not there, or there twice, can't be confirmed.
    if (plainName(name) === '' || header.filter((each) => each === name).length > 1) return [];
    if (taken.has(content.place) || content.isEmpty || !looksLike(canonical, content)) return [];
    const weight = nameWeight(canonical, name);
    return weight === null ? [] : [{ place: content.place, weight }];
  });
  return fitting.toSorted((a, b) => b.weight - a.weight)[0]?.place;
}

function looksLike(canonical: CanonicalColumn, content: ColumnContent): boolean {
  switch (canonical) {
    case 'timestamp':
    case 'date':
      return content.isTime;
    case 'revenue':
    case 'spend':
      return content.isNumber && !content.isTime;
    case 'order_id':
      return !content.isTime && !content.isEmail && content.distinctShare > MOSTLY;
    case 'user_id':
      return content.isEmail;
    case 'channel':
      return !content.isTime && !content.isNumber && content.distinctShare < 0.2;
    default:
      return false;
  }
}

async function contentsOf(
  header: readonly string[],
  reopened: () => Promise<OpenedFile>,
): Promise<readonly ColumnContent[]> {
  const { reader } = await reopened();
  const sample = new ContentSample(Math.min(header.length, MOST_COLUMNS));
  const places = new Set(Array.from({ length: Math.min(header.length, MOST_COLUMNS) }, (_, place) => place));
  try {
    await reader.read(places, sample, header);
  } catch (error) {
    if (!(error instanceof ReadingStoppedError)) throw error;
  }
  return sample.contents();
}

class ContentSample implements RowSink {
  readonly #columns: readonly {
    readonly times: TimeEvidence;
    readonly numbers: NumberEvidence;
    readonly values: Set<string>;
    emails: number;
    filled: number;
  }[];
  #rows = 0;

  constructor(columns: number) {
    this.#columns = Array.from({ length: columns }, () => ({
      times: new TimeEvidence(),
      numbers: new NumberEvidence(),
      values: new Set<string>(),
      emails: 0,
      filled: 0,
    }));
  }

  row(cells: RowCells): void {
    if (this.#rows === ROWS_LOOKED_AT) throw new ReadingStoppedError('enough rows were looked at');
    this.#rows += 1;
    for (const [place, column] of this.#columns.entries()) {
      const [start, end] = [cells.starts[place]!, cells.ends[place]!];
      if (place >= cells.count || end === NOT_TEXT || end <= start) continue;
      column.times.add(cells.data, start, end);
      column.numbers.add(cells.data, start, end);
      const text = textAt(cells, place);
      column.values.add(text);
      column.filled += 1;
      if (EMAIL.test(text)) column.emails += 1;
    }
  }

  unreadable(): void {
    // Told by the reading that follows.
  }

  pause(): void {
    // A look at the first rows is no progress.
  }

  contents(): ColumnContent[] {
    return this.#columns.map(({ times, numbers, values, emails, filled }, place) => ({
      place,
      isEmpty: filled === 0,
      isTime: filled > 0 && times.readableShare > MOSTLY,
      isNumber: filled > 0 && numbers.readableShare > MOSTLY,
      isEmail: filled > 0 && emails > MOSTLY * filled,
      distinctShare: filled === 0 ? 0 : values.size / filled,
    }));
  }
}
