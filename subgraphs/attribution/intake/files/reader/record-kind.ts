import { CANONICAL_COLUMNS, type CanonicalColumn } from '../../../../../schema/origins/canonical-columns.ts';
import { CLICK_KINDS, type ClickKind } from '../../../../../schema/origins/click-kinds.ts';
import type { ProblemDetail } from '../../../../../schema/problems.ts';
import { printable } from '../printable.ts';
import { invalidFile, type RefusedFileError } from './refused-file.ts';

/**
 * What the rows of a file are. `events` is one table for touches and conversions, a conversion being a row of its own.
 */
export type RecordKind = 'touchpoints' | 'conversions' | 'spend' | 'paths' | 'events' | 'identities' | 'fx';

/**
 * Every canonical column, with the other names it is known by. Names are compared in lower case with `_` for blanks and
 * dashes.
 */
const ALIASES = {
  user_id: ['journey_id', 'customer_id', 'visitor_id', 'client_id', 'user_pseudo_id'],
  event_id: ['message_id'],
  timestamp: ['time', 'ts', 'event_time', 'event_timestamp', 'datetime', 'date_time', 'occurred_at'],
  channel: ['marketing_channel', 'channel_name'],
  campaign: ['campaign_name', 'utm_campaign'],
  source: ['utm_source'],
  medium: ['utm_medium'],
  cost: ['touch_cost'],
  event_type: ['interaction_type'],
  referrer: ['page_referrer', 'referrer_url'],
  click_id: [],
  order_id: ['transaction_id'],
  revenue: ['total_conversion_value', 'conversion_value', 'order_value'],
  currency: ['currency_code'],
  new_customer: ['is_new_customer'],
  conversion: ['is_conversion', 'converted'],
  conversion_event: ['conversion_name'],
  date: ['day'],
  spend: ['ad_spend', 'amount_spent'],
  impressions: [],
  clicks: [],
  path: ['journey_path', 'channel_path'],
  conversions: ['total_conversions'],
  nulls: ['total_null', 'total_nulls'],
  id: [],
  same_as: [],
  rate: ['exchange_rate', 'fx_rate'],
  ...(Object.fromEntries(CLICK_KINDS.map((kind) => [kind, []])) as unknown as Record<ClickKind, readonly string[]>),
} as const satisfies Record<CanonicalColumn, readonly string[]>;

interface KindShape {
  readonly kind: RecordKind;
  readonly required: readonly CanonicalColumn[];
  /** At least one of these, beside the required ones. */
  readonly anyOf?: readonly CanonicalColumn[];
  readonly optional: readonly CanonicalColumn[];
  /** Their presence says that the file is of another kind. */
  readonly excluded: readonly CanonicalColumn[];
}

/** What says where a touch came from; one of them will do. */
const ORIGINS = ['channel', 'source', 'medium', 'referrer', 'click_id', ...CLICK_KINDS] as const;

const SHAPES: readonly KindShape[] = [
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
    optional: ['event_id', 'currency', 'new_customer', 'conversion_event', 'channel', 'campaign'],
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
    excluded: ['user_id', 'path', 'order_id', 'spend', 'same_as'],
  },
];

/** The kind of a file and where its canonical columns stand in it (0-based). */
export interface RecordLayout {
  readonly kind: RecordKind;
  /** The file's own column names, in order. */
  readonly header: readonly string[];
  readonly columns: ReadonlyMap<CanonicalColumn, number>;
}

/**
 * Tells from the header what the rows are.
 * @param mapping canonical name → the file's own name, for headers that use neither a canonical name nor an alias
 * @throws RefusedFileError with code `unrecognised_columns` (names what was found and what is missing),
 * `duplicate_columns` or `invalid_mapping`
 */
export function detectLayout(header: readonly string[], mapping: Readonly<Record<string, string>> = {}): RecordLayout {
  const columns = new Map([...columnsByAlias(header), ...columnsByMapping(header, mapping)]);
  const fitting = SHAPES.filter((shape) => fits(shape, columns));
  const [shape] = fitting;
  if (shape === undefined || fitting.length > 1) throw unrecognised(header, columns, fitting);
  const known = new Set<CanonicalColumn>([...shape.required, ...shape.optional]);
  const read = new Map([...columns].filter(([name]) => known.has(name)));
  refuseRepeated(header, read);
  return { kind: shape.kind, header, columns: read };
}

/**
 * A column that is read must be there once: of two, nobody could tell which one counts. Repeated columns that nobody
 * reads do no harm.
 */
function refuseRepeated(header: readonly string[], read: ReadonlyMap<CanonicalColumn, number>): void {
  const names = header.map(normalise);
  for (const index of read.values()) {
    const places = names.flatMap((name, place) => (name === names[index] ? [place + 1] : []));
    if (places.length < 2) continue;
    const name = printable(header[index]!.replace(/^\uFEFF/, '').trim());
    throw invalidFile(
      'duplicate_columns',
      `The header has the column "${name}" more than once (columns ${places.join(', ')}). Rename or ` +
        `remove all but one.`,
    );
  }
}

const normalise = (name: string): string =>
  name
    .replace(/^\uFEFF/, '')
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');

function columnsByAlias(header: readonly string[]): Map<CanonicalColumn, number> {
  const names = header.map(normalise);
  const columns = new Map<CanonicalColumn, number>();
  for (const canonical of CANONICAL_COLUMNS) {
    const index = [canonical, ...ALIASES[canonical]]
      .map((name) => names.indexOf(name))
      .find((position) => position >= 0);
    if (index !== undefined) columns.set(canonical, index);
  }
  return columns;
}

function columnsByMapping(
  header: readonly string[],
  mapping: Readonly<Record<string, string>>,
): Map<CanonicalColumn, number> {
  const columns = new Map<CanonicalColumn, number>();
  const errors: ProblemDetail[] = [];
  for (const [canonical, name] of Object.entries(mapping)) {
    const exact = header.indexOf(name);
    const index = exact >= 0 ? exact : header.map(normalise).indexOf(normalise(name));
    const param = `/mapping/${canonical}`;
    if (!Object.hasOwn(ALIASES, canonical))
      errors.push({
        param,
        code: 'unknown_column',
        message: `"${canonical}" is not one of ${CANONICAL_COLUMNS.join(', ')}`,
      });
    else if (index < 0) errors.push({ param, code: 'unknown_column', message: `the file has no column "${name}"` });
    else columns.set(canonical as CanonicalColumn, index);
  }
  if (errors.length > 0) {
    throw invalidFile('invalid_mapping', `mapping: ${errors[0]!.message}`, { param: errors[0]!.param, errors });
  }
  return columns;
}

function fits(shape: KindShape, columns: ReadonlyMap<CanonicalColumn, number>): boolean {
  const anyOf = shape.anyOf ?? [];
  return (
    shape.required.every((name) => columns.has(name)) &&
    (anyOf.length === 0 || anyOf.some((name) => columns.has(name))) &&
    !shape.excluded.some((name) => columns.has(name))
  );
}

function unrecognised(
  header: readonly string[],
  columns: ReadonlyMap<CanonicalColumn, number>,
  fitting: readonly KindShape[],
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
  const wanted = SHAPES.map((shape) => {
    const missing = [...shape.required.filter((name) => !columns.has(name)), ...anyOfMissing(shape, columns)];
    const excess = shape.excluded.filter((name) => columns.has(name));
    const needs = [
      missing.length > 0 ? `needs ${missing.join(', ')}` : '',
      excess.length > 0 ? `must not have ${excess.join(', ')}` : '',
    ].filter(Boolean);
    return `${shape.kind}: ${needs.join(' and ') || 'fits'}`;
  }).join('; ');
  const what =
    fitting.length > 1
      ? `fit more than one kind of file (${fitting.map(({ kind }) => kind).join(', ')})`
      : 'fit no kind of file';
  return invalidFile(
    'unrecognised_columns',
    `The columns ${found} ${what}. ${wanted}. Rename them, or send a mapping.`,
  );
}

const isClickKind = (name: string): boolean => (CLICK_KINDS as readonly string[]).includes(name);

function anyOfMissing(shape: KindShape, columns: ReadonlyMap<CanonicalColumn, number>): string[] {
  const anyOf = shape.anyOf ?? [];
  return anyOf.length === 0 || anyOf.some((name) => columns.has(name))
    ? []
    : [anyOf.filter((name) => !isClickKind(name)).join(' or ')];
}
