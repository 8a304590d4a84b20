import type { CanonicalColumn } from '../../../../../schema/origins/canonical-columns.ts';
import { CLICK_KINDS } from '../../../../../schema/origins/click-kinds.ts';
import { printable } from '../printable.ts';
import { invalidFile, type RefusedFileError } from './refused-file.ts';

/**
 * What the rows of a file are. `events` is one table for touches and conversions, a conversion being a row of its own.
 */
export type RecordKind = 'touchpoints' | 'conversions' | 'spend' | 'paths' | 'events' | 'identities' | 'fx';

export interface KindShape {
  readonly kind: RecordKind;
  readonly required: readonly CanonicalColumn[];
  /** At least one of these, beside the required ones. */
  readonly anyOf?: readonly CanonicalColumn[];
  readonly optional: readonly CanonicalColumn[];
  /** Their presence says that the file is of another kind. */
  readonly excluded: readonly CanonicalColumn[];
}

/** What says where a touch came from; one of them will do. */
export const ORIGINS = ['channel', 'source', 'medium', 'referrer', 'click_id', ...CLICK_KINDS] as const;

/** The kinds, each with the columns that make it one. */
export const RECORD_SHAPES: readonly KindShape[] = [
  {
    kind: 'events',
    required: ['user_id', 'timestamp', 'conversion'],
    anyOf: ORIGINS,
    optional: [
      ...ORIGINS,
      'event_id',
      'campaign',
      'cost',
      'event_type',
      'revenue',
      'refunded',
      'cogs',
      'currency',
      'order_id',
      'new_customer',
      'conversion_event',
    ],
    excluded: ['path', 'nulls', 'spend', 'impressions'],
  },
  {
    kind: 'conversions',
    required: ['user_id', 'timestamp', 'revenue', 'order_id'],
    optional: ['event_id', 'currency', 'refunded', 'cogs', 'new_customer', 'conversion_event', 'channel', 'campaign'],
    excluded: ['path', 'nulls', 'spend', 'impressions', 'conversion', 'cost'],
  },
  {
    kind: 'touchpoints',
    required: ['user_id', 'timestamp'],
    anyOf: ORIGINS,
    optional: [...ORIGINS, 'event_id', 'campaign', 'cost', 'event_type'],
    excluded: ['path', 'nulls', 'spend', 'impressions', 'conversion', 'revenue', 'order_id'],
  },
  {
    kind: 'spend',
    required: ['date', 'channel', 'spend'],
    optional: ['campaign', 'impressions', 'clicks', 'currency'],
    excluded: ['path', 'nulls', 'user_id', 'conversion', 'order_id'],
  },
  {
    kind: 'paths',
    required: ['path'],
    anyOf: ['conversions', 'nulls'],
    optional: ['conversions', 'revenue', 'nulls', 'date', 'currency'],
    excluded: ['user_id', 'channel', 'conversion', 'order_id', 'spend'],
  },
  {
    kind: 'identities',
    required: ['id', 'same_as'],
    optional: [],
    excluded: ['user_id', 'path', 'order_id', 'spend', 'rate'],
  },
  {
    kind: 'fx',
    required: ['date', 'currency', 'rate'],
    optional: [],
    // A report of spend or orders may say its rate.
    excluded: ['user_id', 'path', 'order_id', 'spend', 'cost', 'channel', 'revenue', 'same_as'],
  },
];

/** The same, where a word in each row says whether it is a touch or a conversion. */
export const EVENTS_BY_WORD: KindShape = { ...RECORD_SHAPES[0]!, required: ['user_id', 'timestamp'] };

/** Whether a file with these columns is of a kind. */
export function fits(shape: KindShape, columns: ReadonlySet<CanonicalColumn>): boolean {
  const anyOf = shape.anyOf ?? [];
  return (
    shape.required.every((name) => columns.has(name)) &&
    (anyOf.length === 0 || anyOf.some((name) => columns.has(name))) &&
    !shape.excluded.some((name) => columns.has(name))
  );
}

/**
 * What stands in the way of each kind, and how to name what the nearest one lacks.
 * @param columns those that are sure
 * @param likelyOf those that a kind would have by their likely names
 */
export function unrecognised(
  header: readonly string[],
  columns: ReadonlySet<CanonicalColumn>,
  likelyOf: (shape: KindShape) => ReadonlySet<CanonicalColumn>,
): RefusedFileError {
  const found =
    header
      .map(
        (name) =>
          `"${printable(
            name
              .replace(/^\uFEFF/, '')
              .slice(0, 64)
              .toWellFormed(),
          )}"`,
      )
      .slice(0, 50)
      .join(', ') || 'none';
  const fitting = RECORD_SHAPES.filter((shape) => fits(shape, columns));
  const gaps = RECORD_SHAPES.map((shape) => gapOf(shape, likelyOf(shape)));
  const wanted = gaps
    .map(({ shape, missing, excess }) => {
      const needs = [
        missing.length > 0 ? `needs ${missing.map((names) => names.join(' or ')).join(', ')}` : '',
        excess.length > 0 ? `must not have ${excess.join(', ')}` : '',
      ].filter(Boolean);
      return `${shape.kind}: ${needs.join(' and ') || 'fits'}`;
    })
    .join('; ');
  const what =
    fitting.length > 1
      ? `fit more than one kind of file (${fitting.map(({ kind }) => kind).join(', ')})`
      : 'fit no kind of file';
  return invalidFile('unrecognised_columns', `The columns ${found} ${what}. ${wanted}. ${howToName(gaps)}`);
}

/** What a file lacks to be of a kind. */
interface Gap {
  readonly shape: KindShape;
  /** Columns, each with those that would do in its place. */
  readonly missing: readonly (readonly CanonicalColumn[])[];
  readonly excess: readonly CanonicalColumn[];
  readonly known: number;
}

function gapOf(shape: KindShape, columns: ReadonlySet<CanonicalColumn>): Gap {
  const { required, anyOf = [], excluded } = shape;
  const isAnyThere = anyOf.length === 0 || anyOf.some((name) => columns.has(name));
  const missing = required.filter((name) => !columns.has(name)).map((name) => [name]);
  return {
    shape,
    missing: isAnyThere ? missing : [...missing, anyOf.filter((name) => !isClickKind(name))],
    excess: excluded.filter((name) => columns.has(name)),
    known: required.filter((name) => columns.has(name)).length + (anyOf.length > 0 && isAnyThere ? 1 : 0),
  };
}

/** Few files are of these: one column alone does not speak for them. */
const RARE: ReadonlySet<RecordKind> = new Set(['events', 'identities', 'fx']);

/** Orders are meant where no column tells anything. */
function howToName(gaps: readonly Gap[]): string {
  const open = gaps.filter(
    ({ shape, missing, excess, known }) =>
      missing.length > 0 && excess.length === 0 && (known > 1 || !RARE.has(shape.kind)),
  );
  const nearness = ({ shape, missing, known }: Gap): number =>
    known - missing.length - (RARE.has(shape.kind) ? 0.5 : 0);
  const isFree = open.every(({ known }) => known === 0);
  const [nearest] = isFree
    ? open.filter(({ shape }) => shape.kind === 'conversions')
    : open.toSorted((a, b) => nearness(b) - nearness(a));
  if (nearest === undefined) return 'Rename them, or send a mapping.';
  const lacking = nearest.missing.map(([name]) => name!);
  const mapping = lacking.map((name) => `"${name}":"…"`).join(',');
  const flags = lacking.map((name) => `--map ${name}=…`).join(' ');
  const forAll = lacking.includes('channel')
    ? ' A channel that is the same in all rows is said with constants={"channel":"…"} (--set channel=…).'
    : '';
  return (
    `The nearest is ${nearest.shape.kind}, which lacks ${lacking.join(', ')}. Rename the columns, or name them as ` +
    `they stand: mapping={${mapping}} (${flags}).${forAll}`
  );
}

const isClickKind = (name: string): boolean => (CLICK_KINDS as readonly string[]).includes(name);
