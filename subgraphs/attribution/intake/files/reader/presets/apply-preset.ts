import type { CanonicalColumn } from '../../../../../../schema/origins/canonical-columns.ts';
import type { IdPair } from '../id-pairs.ts';
import { RECORD_SHAPES, type RecordKind } from '../record-kind.ts';
import {
  wishedColumns,
  type LayoutRefusal,
  type LayoutWishes,
  type RecordLayout,
  type RowForm,
} from '../record-layout.ts';
import type { CellSource } from '../row-cells.ts';
import { invalidFile } from '../refused-file.ts';
import { areUnlike, isEmptyAt, isOfOtherHost, isOneOf, not, type RowTest } from '../row-tests.ts';
import { PresetColumns } from './preset-columns.ts';
import type { Preset, PresetForm, PresetTest } from './preset.ts';
import { PRESETS } from './registry.ts';

/** A signature tells an export from all others as good as always. */
const SIGNATURE_CERTAINTY = 0.98;

/** The export whose signature stands in a header; null for none. */
export function presetBySignature(columns: PresetColumns): Preset | null {
  return PRESETS.find(({ signatures }) => signatures.some((names) => names.every((name) => columns.has(name)))) ?? null;
}

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
  columns: PresetColumns,
  wishes: LayoutWishes,
  isWished: boolean,
): RecordLayout {
  const wished = wishedColumns(columns.header, wishes).sources;
  if (isWished && wished.size === 0) refuseOtherFiles(preset, columns);
  const forms = preset.forms.flatMap((form) => formOf(form, columns, wished));
  const lacks = forms.map(({ columns: of }) => missingFrom(of, preset.kind));
  const whole = forms.filter((_form, index) => lacks[index]!.length === 0);
  const skips = (preset.skips ?? []).flatMap((test) => testOf(test, columns) ?? []);
  return {
    kind: preset.kind,
    header: columns.header,
    later: columns.later,
    forms: whole.length > 0 ? whole : forms,
    skip: skips.length === 0 ? null : (cells) => skips.some((test) => test(cells)),
    preset: preset.name,
    certainty: isWished ? 1 : SIGNATURE_CERTAINTY,
    doubtful: new Set(),
    timeZone: preset.timeZone ?? null,
    refusal: whole.length > 0 ? daysRefusal(preset, columns) : withoutRows(preset, lacks),
    pairs: pairsOf(preset, columns),
    lookedAt: columns.found,
  };
}

function pairsOf({ pairs = [] }: Preset, columns: PresetColumns): IdPair[] {
  return pairs.flatMap(([one, other]) => {
    const [id, sameAs] = [columns.sourceOf(one), columns.sourceOf(other)];
    return id === null || sameAs === null ? [] : [{ id, sameAs }];
  });
}

function refuseOtherFiles({ signatures, title }: Preset, columns: PresetColumns): void {
  const missing = signatures.map((names) => names.filter((name) => !columns.has(name)));
  const [least = []] = missing.toSorted((a, b) => a.length - b.length);
  if (least.length === 0) return;
  throw invalidFile(
    'preset_does_not_fit',
    `The file is no ${title}: it lacks ${least.map((name) => `"${name}"`).join(', ')}. ` +
      `Leave the preset out, or name the columns in a mapping.`,
    { param: '/preset' },
  );
}

/** What rows of a kind must have and a form does not. */
function missingFrom(columns: RowForm['columns'], kind: RecordKind): CanonicalColumn[] {
  const isEvents = kind === 'events';
  const of = isEvents ? (isConversion(columns) ? 'conversions' : 'touchpoints') : kind;
  const { required = [], anyOf = [] } = RECORD_SHAPES.find((shape) => shape.kind === of) ?? {};
  // Conversions among events get an id from what else they say.
  const missing = required.filter((name) => !columns.has(name) && !(isEvents && name === 'order_id'));
  return anyOf.length === 0 || anyOf.some((name) => columns.has(name)) ? missing : [...missing, anyOf[0]!];
}

function isConversion(columns: RowForm['columns']): boolean {
  const source = columns.get('conversion');
  return source !== undefined && 'constant' in source && Buffer.from(source.constant).toString() === '1';
}

/** It is known whose export it is, and that nothing in it can be stored. */
function withoutRows({ kind, title, instead }: Preset, lacks: readonly (readonly CanonicalColumn[])[]): LayoutRefusal {
  const [least = []] = lacks.toSorted((a, b) => a.length - b.length);
  const isDayMissing = kind === 'spend' && least.length === 1 && least[0] === 'date';
  const needs = least.length === 0 ? 'its rows tell nothing' : `its rows have no ${least.join(', no ')}`;
  return {
    rows: null,
    error: invalidFile(
      isDayMissing ? 'not_daily' : 'preset_without_rows',
      `The file is of ${title}, but ${needs}. ${instead} Columns of other names can be named in a mapping.`,
    ),
  };
}

function daysRefusal({ period, title, instead }: Preset, columns: PresetColumns): LayoutRefusal | null {
  const [[from], [to]] = [columns.placesOf(period?.from ?? []), columns.placesOf(period?.to ?? [])];
  if (from === undefined || to === undefined) return null;
  const days = columns.placesOf(period!.day);
  return {
    rows: areUnlike(from, to, days),
    error: invalidFile(
      'not_daily',
      `The file is of ${title}, but rows of it cover several days, from "${columns.header[from]}" to ` +
        `"${columns.header[to]}". ${instead}`,
    ),
  };
}

/** Nothing where the file has none of the columns of the form, or cannot be asked what it must be asked. */
function formOf(form: PresetForm, columns: PresetColumns, wished: ReadonlyMap<CanonicalColumn, CellSource>): RowForm[] {
  const sources = new Map<CanonicalColumn, CellSource>();
  for (const [canonical, value] of Object.entries(form.constants ?? {}))
    sources.set(canonical as CanonicalColumn, { constant: Buffer.from(value) });
  let found = 0;
  for (const [canonical, wanted] of Object.entries(form.columns)) {
    const source = columns.sourceOf(wanted);
    if (source === null) continue;
    sources.set(canonical as CanonicalColumn, source);
    if ('place' in source && source.place < columns.header.length) found += 1;
    const currency = columns.currencyOf(wanted);
    if (currency !== null && !sources.has('currency')) sources.set('currency', { constant: Buffer.from(currency) });
  }
  for (const [canonical, source] of wished) sources.set(canonical, source);
  const tests = (form.when ?? []).map((test) => testOf(test, columns));
  const oncePer = form.oncePer?.map((key) => columns.sourceOf(key)) ?? [];
  if (found === 0 || tests.includes(undefined) || oncePer.includes(null)) return [];
  return [
    {
      columns: sources,
      when: tests.length === 0 ? null : (cells) => tests.every((test) => test!(cells)),
      oncePer: oncePer.length === 0 ? null : (oncePer as CellSource[]),
      needsOrder: form.needsOrder === true,
    },
  ];
}

/** Undefined where the file does not have the columns: then nothing can be told of its rows. */
function testOf(test: PresetTest, columns: PresetColumns): RowTest | undefined {
  if ('lacks' in test) return columns.placesOf(test.lacks).length === 0 ? () => true : undefined;
  if ('empty' in test || 'filled' in test) {
    const places = columns.placesInRows('empty' in test ? test.empty : test.filled);
    if (places.length === 0) return undefined;
    return 'empty' in test ? isEmptyAt(places) : not(isEmptyAt(places));
  }
  const [place] = columns.placesInRows([test.column]);
  if (place === undefined) return undefined;
  if ('in' in test) return isOneOf(place, test.in);
  const [other] = columns.placesInRows([test.isHostOtherThan]);
  return other === undefined ? undefined : isOfOtherHost(place, other);
}
