import { CANONICAL_COLUMNS, type CanonicalColumn } from '../../../../../schema/origins/canonical-columns.ts';
import type { ProblemDetail } from '../../../../../schema/problems.ts';
import { printable } from '../printable.ts';
import { namedSource } from './amounts-in-micros.ts';
import { ALIASES, currencyInName, LIKELY_NAMES, NAME_CERTAINTY, NAMES_OF, plainName } from './column-names.ts';
import { tellsTotal } from './order-row-names.ts';
import { RECORD_SHAPES, fits, unrecognised, type KindShape, type RecordKind } from './record-kind.ts';
import { invalidFile, type RefusedFileError } from './refused-file.ts';
import { otherIdsOf, type IdPair } from './id-pairs.ts';
import type { CellSource, PlacedSource } from './row-cells.ts';
import type { RowTest } from './row-tests.ts';
import { isTakenBack, isVoidOrder, placesOfCommissionStatus, placesOfStatus } from './void-orders.ts';

/** What a row of the file becomes, where `when` holds. */
export interface RowForm {
  readonly columns: ReadonlyMap<CanonicalColumn, CellSource>;
  readonly when: RowTest | null;
  /** Of all rows that agree in these values only the earliest counts. */
  readonly oncePer: readonly CellSource[] | null;
  /** Refunds, which say nothing where nobody tells their order. */
  readonly needsOrder?: boolean;
}

/** Why a file cannot be used although it is known what it is: as a whole, or for rows of a sort. */
export interface LayoutRefusal {
  readonly rows: RowTest | null;
  readonly error: RefusedFileError;
}

/** What the rows of a file are, and where their values stand. */
export interface RecordLayout {
  readonly kind: RecordKind;
  /** The file's own column names, in order. */
  readonly header: readonly string[];
  /** Columns behind those, which rows further down may have. */
  readonly later: readonly string[];
  readonly forms: readonly RowForm[];
  /** Rows that are no data. */
  readonly skip: RowTest | null;
  /** The export that it is; null where columns speak for themselves. */
  readonly preset: string | null;
  /** How sure all that is, from 0 to 1. */
  readonly certainty: number;
  /** Columns whose names do not tell them: they are asked where it is not sure enough. */
  readonly doubtful: ReadonlySet<CanonicalColumn>;
  /** Zone of times that say none, where the export has one. */
  readonly timeZone: string | null;
  readonly refusal: LayoutRefusal | null;
  /** Columns of ids that are one person in each row, whatever the row is. */
  readonly pairs: readonly IdPair[];
  /** Columns that tell what a row is, beside those of its values. */
  readonly lookedAt: ReadonlySet<number>;
}

/** Where the names fit several kinds, the one that explains most of them is proposed. */
const AMONG_SEVERAL = 0.8;

/** What was said of a file before it is read. */
export interface LayoutWishes {
  /** Canonical column → the file's own name. */
  readonly mapping: Readonly<Record<string, string>>;
  /** Canonical column → the value of all rows. */
  readonly constants: Readonly<Record<string, string>>;
}

/** Columns that were found, and how sure each is. */
export interface FoundColumns {
  readonly sources: Map<CanonicalColumn, CellSource>;
  readonly certainties: Map<CanonicalColumn, number>;
}

/**
 * Tells from the names of the columns what the rows are: by own names and aliases, then by likely ones.
 * @returns null where they fit no kind, or several
 * @throws RefusedFileError `invalid_mapping`, `duplicate_columns`
 */
export function layoutByNames(names: readonly string[], wishes: LayoutWishes): RecordLayout | null {
  const wanted = wishedColumns(names, wishes);
  const header = new Header(names);
  for (const withLikely of [false, true]) {
    const found = columnsByName(header, wanted, withLikely);
    const fitting = RECORD_SHAPES.filter((shape) => fits(shape, new Set(found.sources.keys())));
    if (fitting.length === 1) return layoutOf(fitting[0]!, names, found);
    if (fitting.length > 1) return null;
  }
  return layoutOfLikelyKind(header, wanted);
}

/** A likely name may stand for several columns: each kind is tried with those that it knows. */
function layoutOfLikelyKind(header: Header, wanted: FoundColumns): RecordLayout | null {
  const fitting = RECORD_SHAPES.flatMap((shape) => {
    const found = columnsOfShape(header, wanted, shape);
    return found !== null && fits(shape, new Set(found.sources.keys())) ? [{ shape, found }] : [];
  }).toSorted((a, b) => b.found.sources.size - a.found.sources.size);
  const [best, second] = fitting;
  if (best === undefined) return null;
  const layout = layoutOf(best.shape, header.names, best.found);
  return second === undefined
    ? layout
    : { ...layout, certainty: AMONG_SEVERAL, doubtful: lessSureThan(NAME_CERTAINTY.own, best.found) };
}

/** The columns that a kind of row would have by their names; null where others say that the file is of another kind. */
export const likelyColumnsOf = (
  names: readonly string[],
  wishes: LayoutWishes,
  shape: KindShape,
): FoundColumns | null => columnsOfShape(new Header(names), wishedColumns(names, wishes), shape);

/** @throws RefusedFileError `unrecognised_columns`: what was found, and what each kind would need */
export function refuseColumns(names: readonly string[], wishes: LayoutWishes): never {
  const header = new Header(names);
  const wanted = wishedColumns(names, wishes);
  const found = new Set(columnsByName(header, wanted, false).sources.keys());
  throw unrecognised(names, found, (shape) => {
    const ofShape = columnsOfShape(header, wanted, shape);
    return ofShape === null ? found : new Set(ofShape.sources.keys());
  });
}

/** The column of a value, for people: of several the first that the header has; empty for a constant. */
export function columnOf({ header, later }: RecordLayout, source: CellSource): string {
  let first: string | undefined;
  for (let each: CellSource | undefined = source; each !== undefined && 'place' in each; each = each.otherwise) {
    if (each.place < header.length) return header[each.place]!;
    first ??= later[each.place - header.length];
  }
  return first ?? '';
}

/** A layout of one form: its kind's columns out of those that were found. */
export function layoutOf(shape: KindShape, header: readonly string[], found: FoundColumns): RecordLayout {
  const known = new Set<CanonicalColumn>([...shape.required, ...shape.optional]);
  const columns = new Map([...found.sources].filter(([name]) => known.has(name)));
  refuseRepeated(header, columns);
  const user = columns.get('user_id');
  const others = user === undefined || !('place' in user) ? [] : otherIdsOf(header, user.place);
  const pairs = others.map((place) => ({ id: user!, sameAs: { place } }));
  // Somebody who is not known yet goes by the other id.
  if (pairs.length > 0) columns.set('user_id', { ...(user as PlacedSource), otherwise: pairs[0]!.sameAs });
  return {
    kind: shape.kind,
    header,
    later: [],
    forms: [{ columns, when: null, oncePer: null }],
    skip: skipOf(shape.kind, header, columns.get('revenue')),
    preset: null,
    certainty: Math.min(1, ...[...columns.keys()].map((name) => found.certainties.get(name) ?? 1)),
    doubtful: lessSureThan(NAME_CERTAINTY.likely, found),
    timeZone: null,
    refusal: null,
    pairs,
    lookedAt: new Set(lookedAtIn(shape.kind, header)),
  };
}

function skipOf(kind: RecordKind, header: readonly string[], revenue: CellSource | undefined): RowTest | null {
  if (kind === 'spend') return isTakenBack(header);
  if (kind !== 'conversions') return null;
  return isVoidOrder(header, revenue !== undefined && 'place' in revenue ? revenue.place : null);
}

function lookedAtIn(kind: RecordKind, header: readonly string[]): readonly number[] {
  if (kind === 'spend') return placesOfCommissionStatus(header);
  return kind === 'conversions' ? [...placesOfTotals(header), ...placesOfStatus(header)] : [];
}

const placesOfTotals = (header: readonly string[]): number[] =>
  header.flatMap((name, place) => (tellsTotal(name) ? [place] : []));

const lessSureThan = (least: number, { certainties }: FoundColumns): ReadonlySet<CanonicalColumn> =>
  new Set([...certainties].flatMap(([name, certainty]) => (certainty < least ? [name] : [])));

/** What mapping and constants say. @throws RefusedFileError `invalid_mapping`, with each fault at its place */
export function wishedColumns(header: readonly string[], { mapping, constants }: LayoutWishes): FoundColumns {
  const sources = new Map<CanonicalColumn, CellSource>();
  const errors: ProblemDetail[] = [];
  const names = header.map(plainName);
  const check = (param: string, canonical: string): canonical is CanonicalColumn => {
    if (Object.hasOwn(ALIASES, canonical)) return true;
    const message = `"${canonical}" is not one of ${CANONICAL_COLUMNS.join(', ')}`;
    errors.push({ param, code: 'unknown_column', message });
    return false;
  };
  for (const [canonical, name] of Object.entries(mapping)) {
    const param = `/mapping/${canonical}`;
    const exact = header.indexOf(name);
    const place = exact >= 0 ? exact : names.indexOf(plainName(name));
    if (!check(param, canonical)) continue;
    if (place < 0) errors.push({ param, code: 'unknown_column', message: `the file has no column "${name}"` });
    else sources.set(canonical, namedSource(canonical, header[place]!, place));
  }
  for (const [canonical, value] of Object.entries(constants))
    if (check(`/constants/${canonical}`, canonical)) sources.set(canonical, { constant: Buffer.from(value) });
  if (errors.length > 0) {
    const [first] = errors as [ProblemDetail];
    const member = first.param!.split('/')[1]!;
    throw invalidFile('invalid_mapping', `${member}: ${first.message}`, { param: first.param!, errors });
  }
  return { sources, certainties: new Map([...sources.keys()].map((name) => [name, 1])) };
}

function columnsByName(header: Header, wanted: FoundColumns, withLikely: boolean): FoundColumns {
  const found = copyOf(wanted);
  const taken = new Set<number>(placesOf(found));
  for (const [canonical, known] of NAMES_OF)
    take(found, canonical, header, header.first(known), NAME_CERTAINTY.own, taken);
  if (withLikely) {
    for (const [canonical] of NAMES_OF)
      take(found, canonical, header, header.first(LIKELY_NAMES[canonical], taken), NAME_CERTAINTY.likely, taken);
  }
  return found;
}

/**
 * As above, but only with columns that this kind of row has: `date` is the time of an order, and the day of spend.
 * @returns null where another column says that the file is of another kind
 */
function columnsOfShape(header: Header, wanted: FoundColumns, shape: KindShape): FoundColumns | null {
  const found = copyOf(wanted);
  const taken = new Set<number>(placesOf(found));
  const needed = [...shape.required, ...(shape.anyOf ?? []), ...shape.optional];
  const ofKind = NAMES_OF.filter(([canonical]) => needed.includes(canonical));
  for (const [canonical, known] of ofKind)
    take(found, canonical, header, header.first(known, taken), NAME_CERTAINTY.own, taken);
  for (const canonical of needed)
    take(found, canonical, header, header.first(LIKELY_NAMES[canonical], taken), NAME_CERTAINTY.likely, taken);
  const isOther = shape.excluded.some((canonical) => {
    const known = [canonical, ...ALIASES[canonical], ...LIKELY_NAMES[canonical]];
    return found.sources.has(canonical) || header.first(known, taken) >= 0;
  });
  return isOther ? null : found;
}

function take(
  found: FoundColumns,
  canonical: CanonicalColumn,
  header: Header,
  place: number,
  certainty: number,
  taken: Set<number>,
): void {
  if (place < 0 || found.sources.has(canonical)) return;
  found.sources.set(canonical, namedSource(canonical, header.names[place]!, place));
  found.certainties.set(canonical, certainty);
  taken.add(place);
  const { currency } = currencyInName(header.names[place]!);
  const holdsMoney = canonical === 'spend' || canonical === 'revenue';
  if (currency !== null && holdsMoney && !found.sources.has('currency'))
    found.sources.set('currency', { constant: Buffer.from(currency) });
}

const copyOf = ({ sources, certainties }: FoundColumns): FoundColumns => ({
  sources: new Map(sources),
  certainties: new Map(certainties),
});

const placesOf = ({ sources }: FoundColumns): number[] =>
  [...sources.values()].flatMap((source) => ('place' in source ? [source.place] : []));

/** The names of a file's columns, to be found by any way of writing them. */
class Header {
  readonly names: readonly string[];
  readonly #places = new Map<string, number[]>();

  constructor(names: readonly string[]) {
    this.names = names;
    for (const [place, name] of names.entries()) {
      const plain = plainName(currencyInName(name).name);
      const places = this.#places.get(plain);
      if (places === undefined) this.#places.set(plain, [place]);
      else places.push(place);
    }
  }

  /** The first column that has one of these names; -1 for none. */
  first(known: readonly string[], taken: ReadonlySet<number> = NONE_TAKEN): number {
    for (const name of known) {
      const place = this.#places.get(name)?.find((each) => !taken.has(each));
      if (place !== undefined) return place;
    }
    return -1;
  }
}

const NONE_TAKEN: ReadonlySet<number> = new Set();

/**
 * A column that is read must be there once: of two, nobody could tell which one counts. Repeated columns that nobody
 * reads do no harm.
 */
export function refuseRepeated(header: readonly string[], read: ReadonlyMap<CanonicalColumn, CellSource>): void {
  const names = header.map(plainName);
  for (const source of read.values()) {
    if (!('place' in source)) continue;
    const places = names.flatMap((name, place) => (name === names[source.place] ? [place + 1] : []));
    if (places.length < 2) continue;
    const name = printable(header[source.place]!.replace(/^\uFEFF/, '').trim());
    throw invalidFile(
      'duplicate_columns',
      `The header has the column "${name}" more than once (columns ${places.join(', ')}). Rename or ` +
        `remove all but one.`,
    );
  }
}
