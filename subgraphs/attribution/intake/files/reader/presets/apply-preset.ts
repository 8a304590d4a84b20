import type { CanonicalColumn } from '../../../../../../schema/origins/canonical-columns.ts';
import { currencyInName, plainName } from '../column-names.ts';
import {
  wishedColumns,
  type CellSource,
  type LayoutWishes,
  type RecordLayout,
  type RowForm,
} from '../record-layout.ts';
import { invalidFile } from '../refused-file.ts';
import { isEmptyAt, isOneOf, not, type RowTest } from '../row-tests.ts';
import type { Preset, PresetColumn, PresetForm, PresetTest } from './preset.ts';
import { PRESETS } from './registry.ts';

/** A signature tells an export from all others as good as always. */
const SIGNATURE_CERTAINTY = 0.98;
const ANY_CURRENCY = ' (*)';

/** The export whose signature stands in a header; null for none. */
export const presetBySignature = (header: readonly string[]): Preset | null =>
  PRESETS.find(({ signatures }) =>
    signatures.some((columns) => columns.every((column) => placeOf(header, column) !== null)),
  ) ?? null;

/** @throws RefusedFileError `unknown_preset` */
export function presetNamed(name: string): Preset {
  const preset = PRESETS.find((each) => each.name === name);
  if (preset !== undefined) return preset;
  const known = PRESETS.map((each) => each.name).join(', ');
  throw invalidFile('unknown_preset', `There is no preset "${name}". Choose one of ${known}.`, { param: '/preset' });
}

/**
 * What a preset says of a file; mapping and constants win over it.
 * @throws RefusedFileError `preset_does_not_fit`: the columns that it needs and the file lacks
 */
export function layoutByPreset(
  preset: Preset,
  header: readonly string[],
  wishes: LayoutWishes,
  isWished: boolean,
): RecordLayout {
  const wished = wishedColumns(header, wishes).sources;
  const missing = preset.signatures.map((columns) => columns.filter((column) => placeOf(header, column) === null));
  const [least] = missing.toSorted((a, b) => a.length - b.length);
  const forms = preset.forms.flatMap((form) => formOf(form, header, wished));
  if (forms.length === 0 || (isWished && least !== undefined && least.length > 0 && wished.size === 0))
    throw invalidFile(
      'preset_does_not_fit',
      `The file is no ${preset.title}: it lacks ${(least ?? []).map((name) => `"${name}"`).join(', ')}. ` +
        `Leave the preset out, or name the columns in a mapping.`,
      { param: '/preset' },
    );
  const skips = (preset.skips ?? []).flatMap((test) => testOf(test, header) ?? []);
  return {
    kind: preset.kind,
    header,
    forms,
    skip: skips.length === 0 ? null : (cells) => skips.some((test) => test(cells)),
    preset: preset.name,
    certainty: isWished ? 1 : SIGNATURE_CERTAINTY,
    timeZone: preset.timeZone ?? null,
  };
}

/** Nothing where the file has none of the columns of the form, or cannot be asked what it must be asked. */
function formOf(
  form: PresetForm,
  header: readonly string[],
  wished: ReadonlyMap<CanonicalColumn, CellSource>,
): RowForm[] {
  const columns = new Map<CanonicalColumn, CellSource>();
  for (const [canonical, value] of Object.entries(form.constants ?? {}))
    columns.set(canonical as CanonicalColumn, { constant: Buffer.from(value) });
  let found = 0;
  for (const [canonical, wanted] of Object.entries(form.columns)) {
    for (const column of Array.isArray(wanted) ? (wanted as readonly PresetColumn[]) : [wanted as PresetColumn]) {
      const place = placeOf(header, nameOf(column));
      if (place === null) continue;
      columns.set(canonical as CanonicalColumn, sourceAt(place, column));
      const { currency } = currencyInName(header[place]!);
      if (currency !== null && nameOf(column).endsWith(ANY_CURRENCY))
        columns.set('currency', { constant: Buffer.from(currency) });
      found += 1;
      break;
    }
  }
  for (const [canonical, source] of wished) columns.set(canonical, source);
  const tests = (form.when ?? []).map((test) => testOf(test, header));
  if (found === 0 || tests.includes(undefined)) return [];
  return [{ columns, when: tests.length === 0 ? null : (cells) => tests.every((test) => test!(cells)) }];
}

const nameOf = (column: PresetColumn): string => (typeof column === 'string' ? column : column.column);

function sourceAt(place: number, column: PresetColumn): CellSource {
  if (typeof column === 'string') return { place };
  return 'before' in column
    ? { place, mark: { bytes: Buffer.from(column.before), side: 'before' } }
    : { place, mark: { bytes: Buffer.from(column.behind), side: 'behind' } };
}

/** Undefined where the file does not have the columns: then nothing can be told of its rows. */
function testOf(test: PresetTest, header: readonly string[]): RowTest | undefined {
  if ('empty' in test) {
    const places = test.empty.flatMap((name) => placeOf(header, name) ?? []);
    return places.length === 0 ? undefined : isEmptyAt(places);
  }
  const place = placeOf(header, 'filled' in test ? test.filled : test.column);
  if (place === null) return undefined;
  if ('filled' in test) return not(isEmptyAt([place]));
  return 'in' in test ? isOneOf(place, test.in) : not(isOneOf(place, test.notIn));
}

/** Found by name, or by name and any currency; plain names are kept, since every preset asks for them. */
function placeOf(header: readonly string[], name: string): number | null {
  const isOpen = name.endsWith(ANY_CURRENCY);
  const wanted = plainName(isOpen ? name.slice(0, -ANY_CURRENCY.length) : name);
  const { plain, bare } = plainNamesOf(header);
  const place = plain.get(wanted) ?? (isOpen ? bare.get(wanted) : undefined);
  return place ?? null;
}

interface PlainNames {
  readonly plain: ReadonlyMap<string, number>;
  /** Without the currency that they hold. */
  readonly bare: ReadonlyMap<string, number>;
}

const PLAIN_NAMES = new WeakMap<readonly string[], PlainNames>();

function plainNamesOf(header: readonly string[]): PlainNames {
  const known = PLAIN_NAMES.get(header);
  if (known !== undefined) return known;
  const placesBy = (nameOf: (name: string) => string): ReadonlyMap<string, number> =>
    new Map(header.map((name, place) => [nameOf(name), place] as const).toReversed());
  const names = {
    plain: placesBy(plainName),
    bare: placesBy((name) => plainName(currencyInName(name).name)),
  };
  PLAIN_NAMES.set(header, names);
  return names;
}
