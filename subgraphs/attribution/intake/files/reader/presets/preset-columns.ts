import { currencyInName, plainName } from '../column-names.ts';
import type { CellPart, Located, CellSource, PlacedSource } from '../row-cells.ts';
import type { PresetColumn, PresetPart } from './preset.ts';

const ANY_CURRENCY = ' (*)';
/** Cells of so many bytes are looked up among names; longer ones are none. */
const LONGEST_NAME = 256;

/** The columns of a file as presets name them. */
export class PresetColumns {
  readonly header: readonly string[];
  /** Columns that are asked for, and that rows further down may have. */
  readonly later: string[] = [];
  /** Places of all that was found. */
  readonly found = new Set<number>();
  readonly #plain: Map<string, number>;
  /** By their names without the currency that they hold. */
  readonly #bare: ReadonlyMap<string, number>;

  readonly #namesColumns: boolean;

  /** @param namesColumns rows name their columns themselves: the header has those of the first ones */
  constructor(header: readonly string[], namesColumns: boolean) {
    this.header = header;
    this.#namesColumns = namesColumns;
    this.#plain = placesBy(header, plainName);
    this.#bare = placesBy(header, (name) => plainName(currencyInName(name).name));
  }

  has(name: string): boolean {
    return this.placeOf(name) !== null;
  }

  /** Found by name, or by name and any currency. */
  placeOf(name: string): number | null {
    const isOpen = name.endsWith(ANY_CURRENCY);
    const wanted = wantedName(isOpen ? name.slice(0, -ANY_CURRENCY.length) : name);
    const place = this.#plain.get(wanted) ?? (isOpen ? this.#bare.get(wanted) : undefined);
    if (place === undefined || place >= this.header.length) return null;
    this.found.add(place);
    return place;
  }

  placesOf(names: readonly string[]): number[] {
    return names.flatMap((name) => this.placeOf(name) ?? []);
  }

  /** Where rows have what is asked for, if only further down. */
  placesInRows(names: readonly string[]): number[] {
    return names.flatMap((name) => this.placeOf(name) ?? this.#laterPlaceOf(name) ?? []);
  }

  /** Where the value stands, by the columns that the file has of these; null where it has none of them. */
  sourceOf(columns: PresetColumn | readonly PresetColumn[]): CellSource | null {
    let source: CellSource | null = null;
    for (const column of (Array.isArray(columns)
      ? (columns as readonly PresetColumn[])
      : [columns as PresetColumn]
    ).toReversed()) {
      if (typeof column === 'object' && 'constant' in column) source = { constant: Buffer.from(column.constant) };
      else source = this.#placed(typeof column === 'string' ? { column } : column, source) ?? source;
    }
    return source;
  }

  /** The currency that stands in the name of a column that was found with any. */
  currencyOf(column: PresetColumn | readonly PresetColumn[]): string | null {
    const names = [column]
      .flat()
      .filter((each): each is string => typeof each === 'string' && each.endsWith(ANY_CURRENCY));
    const [place] = this.placesOf(names);
    return place === undefined ? null : currencyInName(this.header[place]!).currency;
  }

  #laterPlaceOf(name: string): number | null {
    if (!this.#namesColumns || name.endsWith(ANY_CURRENCY)) return null;
    const plain = wantedName(name);
    let place = this.#plain.get(plain);
    if (place === undefined) {
      place = this.header.length + this.later.push(name) - 1;
      this.#plain.set(plain, place);
    }
    this.found.add(place);
    return place;
  }

  #placed(column: PresetPart, otherwise: CellSource | null): PlacedSource | null {
    const [place] = this.placesInRows([column.column]);
    if (place === undefined) return null;
    const part = partOf(column);
    return { place, ...(part === null ? {} : { part }), ...(otherwise === null ? {} : { otherwise }) };
  }
}

/** Presets ask every file for the same names. */
const WANTED = new Map<string, string>();
function wantedName(name: string): string {
  let plain = WANTED.get(name);
  if (plain === undefined) WANTED.set(name, (plain = plainName(name)));
  return plain;
}

const placesBy = (header: readonly string[], nameOf: (name: string) => string): Map<string, number> =>
  new Map(header.map((name, place) => [nameOf(name), place] as const).toReversed());

function partOf({ member, unless, as, filledMeans }: PresetPart): CellPart | null {
  const steps = [
    member === undefined ? null : memberOf(member),
    unless === undefined ? null : nothingIf(new Set(unless.map((value) => value.toLowerCase()))),
    as === undefined ? null : renamed(new Map(Object.entries(as).map(([from, to]) => [from, Buffer.from(to)]))),
    filledMeans === undefined ? null : meaning(Buffer.from(filledMeans)),
  ].filter((step) => step !== null);
  if (steps.length === 0) return null;
  return (cell) => {
    for (const step of steps) if (cell.end > cell.start) step(cell);
  };
}

const bytesOf = ({ data, start, end }: Located): Buffer =>
  Buffer.from(data.buffer, data.byteOffset + start, end - start);

const nameIn = (cell: Located): string =>
  cell.end - cell.start > LONGEST_NAME ? '' : bytesOf(cell).toString().trim().toLowerCase();

const nothingIf =
  (values: ReadonlySet<string>): CellPart =>
  (cell) => {
    if (values.has(nameIn(cell))) cell.end = cell.start;
  };

const renamed =
  (names: ReadonlyMap<string, Uint8Array>): CellPart =>
  (cell) => {
    const name = names.get(nameIn(cell));
    if (name !== undefined) cell.put(name);
  };

const meaning =
  (value: Uint8Array): CellPart =>
  (cell) =>
    void cell.put(value);

/** Empty where the cell is no JSON object, or the member no text or number. */
const memberOf =
  (name: string): CellPart =>
  (cell) => {
    const text = bytesOf(cell).toString();
    cell.end = cell.start;
    if (!text.includes(name)) return;
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return;
      const member = (value as Readonly<Record<string, unknown>>)[name];
      if (typeof member === 'string' || typeof member === 'number') cell.put(Buffer.from(String(member)));
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  };
