import type { CanonicalColumn } from '../../../../../schema/origins/canonical-columns.ts';
import { STORED_TABLES, type StoredTable } from '../stored-tables.ts';
import { IntegerColumn, TextColumn, TextListColumn, type BlockColumn } from './block-columns.ts';
import {
  CurrencyCell,
  FlagCell,
  NumberCell,
  PathCell,
  TextCell,
  TimeCell,
  type Cell,
  type TimeBounds,
} from './cells.ts';
import { CurrencyNameCell } from './currency-name-cell.ts';
import { ClickCells, ReferrerCell } from './origin-cells.ts';
import { RateCell } from './rate-cell.ts';
import type { RecordKind } from './record-kind.ts';
import { UserCell } from './user-cell.ts';

/** A cell of a row and where it stands in the file; `place` is -1 for a column that the file does not have. */
export interface PlacedCell {
  readonly column: CanonicalColumn;
  readonly cell: Cell;
}

/** A table that rows of a file go to, with the columns of its next block. */
export interface RecordTable {
  readonly name: StoredTable;
  readonly columns: readonly BlockColumn[];
  /** Adds the row whose cells have been read. */
  add(line: number): void;
}

/** What the rows of one kind are made of, and where they go. */
export interface RecordShape {
  /** In the order in which faults are told. */
  readonly cells: readonly PlacedCell[];
  readonly currency: CurrencyCell | null;
  /** Of the row that has been read. A code when it cannot be used although each of its cells can. */
  fault(): { readonly column: CanonicalColumn; readonly code: 'missing_value' } | null;
  tableOf(): RecordTable;
  /** When the row happened, milliseconds since 1970; NaN where it has no time. */
  timeMs(): number;
  readonly tables: readonly RecordTable[];
}

export interface ShapeOptions {
  readonly bounds: TimeBounds;
  /** Currency of the source, null while it has none. */
  readonly currency: string | null;
}

const DEFAULT_CONVERSION_EVENT = Buffer.from('purchase');
const NO_FAULT = (): null => null;

/** The cells and tables of a kind of record. */
export function recordShape(kind: RecordKind, options: ShapeOptions): RecordShape {
  switch (kind) {
    case 'touchpoints':
      return touchShape(options);
    case 'events':
      return eventShape(options);
    case 'conversions':
      return conversionShape(options);
    case 'spend':
      return spendShape(options);
    case 'paths':
      return pathShape(options);
    case 'identities':
      return identityShape();
    case 'fx':
      return rateShape(options);
  }
}

type Adds = Readonly<Record<string, (column: never, line: number) => void>>;

/** A table whose columns are filled by one function each. */
function tableFilledBy<Name extends StoredTable>(
  name: Name,
  fill: { readonly [Column in keyof (typeof STORED_TABLES)[Name]]: FillOf<(typeof STORED_TABLES)[Name][Column]> },
): RecordTable {
  const fills = fill as unknown as Adds;
  const columns = Object.entries(STORED_TABLES[name]).map(([column, type]) => {
    const block =
      type === 'String'
        ? new TextColumn(column)
        : type === 'Array(String)'
          ? new TextListColumn(column)
          : new IntegerColumn(column, type);
    return { block, add: fills[column] as (block: BlockColumn, line: number) => void };
  });
  return {
    name,
    columns: columns.map(({ block }) => block),
    add(line) {
      for (let index = 0; index < columns.length; index += 1) columns[index]!.add(columns[index]!.block, line);
    },
  };
}

type FillOf<Type> = (
  column: Type extends 'String' ? TextColumn : Type extends 'Array(String)' ? TextListColumn : IntegerColumn,
  line: number,
) => void;

const text =
  (cell: TextCell | UserCell | CurrencyNameCell) =>
  (column: TextColumn): void =>
    cell.addTo(column);
const number =
  (cell: NumberCell | FlagCell | TimeCell) =>
  (column: IntegerColumn): void =>
    cell.addTo(column);
const day =
  (cell: TimeCell) =>
  (column: IntegerColumn): void =>
    cell.addDayTo(column);
/** Without a name of its own an event is a purchase. */
const eventName =
  (cell: TextCell) =>
  (column: TextColumn): void =>
    cell.isEmpty ? column.add(DEFAULT_CONVERSION_EVENT, 0, DEFAULT_CONVERSION_EVENT.length) : cell.addTo(column);

function touchCells({ bounds }: ShapeOptions) {
  return {
    user_id: new UserCell(),
    timestamp: new TimeCell(bounds, true),
    event_id: new TextCell(false),
    campaign: new TextCell(false),
    source: new TextCell(false),
    medium: new TextCell(false),
    cost: new NumberCell(6, { isRequired: false, mayBeNegative: false }),
    event_type: new TextCell(false),
    channel: new TextCell(false),
    referrer: new ReferrerCell(),
  };
}

function touchTable(cells: ReturnType<typeof touchCells>, clicks: ClickCells): RecordTable {
  return tableFilledBy('touchpoints', {
    user_id: text(cells.user_id),
    ts: number(cells.timestamp),
    event_id: text(cells.event_id),
    channel: text(cells.channel),
    campaign: text(cells.campaign),
    source: text(cells.source),
    medium: text(cells.medium),
    cost: number(cells.cost),
    event_type: text(cells.event_type),
    referrer: (column) => cells.referrer.addTo(column),
    click_id: (column) => clicks.addTo(column),
  });
}

const placed = (cells: Readonly<Partial<Record<CanonicalColumn, Cell>>>): PlacedCell[] =>
  Object.entries(cells).map(([column, cell]) => ({ column: column as CanonicalColumn, cell }));

function touchShape(options: ShapeOptions): RecordShape {
  const cells = touchCells(options);
  const clicks = new ClickCells();
  const table = touchTable(cells, clicks);
  return {
    cells: placed({ ...cells, ...clicks.cells }),
    currency: null,
    fault: () => originFault(cells, clicks),
    tables: [table],
    tableOf: () => table,
    timeMs: () => cells.timestamp.ms,
  };
}

/** A touch whose channel nothing tells. */
function originFault(
  { channel, source, medium, referrer }: ReturnType<typeof touchCells>,
  clicks: ClickCells,
): ReturnType<RecordShape['fault']> {
  return channel.isEmpty && source.isEmpty && medium.isEmpty && referrer.isEmpty && clicks.isEmpty
    ? { column: 'channel', code: 'missing_value' }
    : null;
}

/**
 * Touches and conversions in one table. A touch needs a channel, or what tells it; on a conversion the channel is the
 * click that closed it, if any.
 */
function eventShape(options: ShapeOptions): RecordShape {
  const cells = {
    ...touchCells(options),
    conversion: new FlagCell(0),
    order_id: new TextCell(false),
    revenue: new NumberCell(4, { isRequired: false, mayBeNegative: true }),
    currency: new CurrencyCell(options.currency),
    new_customer: new FlagCell(-1),
    conversion_event: new TextCell(false),
  };
  const clicks = new ClickCells();
  const touches = touchTable(cells, clicks);
  const conversions = conversionTable(cells);
  const isTouch = () => cells.conversion.value === 0;
  return {
    cells: placed({ ...cells, ...clicks.cells }),
    currency: cells.currency,
    tables: [touches, conversions],
    fault: () => (isTouch() ? originFault(cells, clicks) : null),
    tableOf: () => (isTouch() ? touches : conversions),
    timeMs: () => cells.timestamp.ms,
  };
}

function conversionTable(cells: {
  order_id: TextCell;
  user_id: UserCell;
  timestamp: TimeCell;
  event_id: TextCell;
  revenue: NumberCell;
  new_customer: FlagCell;
  conversion_event: TextCell;
  channel: TextCell;
  campaign: TextCell;
}): RecordTable {
  return tableFilledBy('conversions', {
    order_id: text(cells.order_id),
    user_id: text(cells.user_id),
    ts: number(cells.timestamp),
    event_id: text(cells.event_id),
    revenue: number(cells.revenue),
    new_customer: number(cells.new_customer),
    conversion_event: eventName(cells.conversion_event),
    channel: text(cells.channel),
    campaign: text(cells.campaign),
  });
}

function conversionShape(options: ShapeOptions): RecordShape {
  const cells = {
    order_id: new TextCell(true),
    user_id: new UserCell(),
    timestamp: new TimeCell(options.bounds, true),
    revenue: new NumberCell(4, { isRequired: true, mayBeNegative: true }),
    event_id: new TextCell(false),
    currency: new CurrencyCell(options.currency),
    new_customer: new FlagCell(-1),
    conversion_event: new TextCell(false),
    channel: new TextCell(false),
    campaign: new TextCell(false),
  };
  const table = conversionTable(cells);
  return {
    cells: placed(cells),
    currency: cells.currency,
    fault: NO_FAULT,
    tables: [table],
    tableOf: () => table,
    timeMs: () => cells.timestamp.ms,
  };
}

function spendShape(options: ShapeOptions): RecordShape {
  const count = () => new NumberCell(0, { isRequired: false, mayBeNegative: false });
  const cells = {
    date: new TimeCell(options.bounds, true),
    channel: new TextCell(true),
    campaign: new TextCell(false),
    spend: new NumberCell(6, { isRequired: true, mayBeNegative: false }),
    impressions: count(),
    clicks: count(),
    currency: new CurrencyCell(options.currency),
  };
  const table = tableFilledBy('spend', {
    date: day(cells.date),
    channel: text(cells.channel),
    campaign: text(cells.campaign),
    spend: number(cells.spend),
    impressions: number(cells.impressions),
    clicks: number(cells.clicks),
  });
  return {
    cells: placed(cells),
    currency: cells.currency,
    fault: NO_FAULT,
    tables: [table],
    tableOf: () => table,
    timeMs: () => cells.date.ms,
  };
}

function pathShape(options: ShapeOptions): RecordShape {
  const amount = (mayBeNegative: boolean) => new NumberCell(4, { isRequired: false, mayBeNegative });
  const cells = {
    path: new PathCell(),
    conversions: amount(false),
    revenue: amount(true),
    nulls: amount(false),
    date: new TimeCell(options.bounds, false),
    currency: new CurrencyCell(options.currency),
  };
  const table = tableFilledBy('paths', {
    path: (column) => cells.path.addTo(column),
    conversions: number(cells.conversions),
    revenue: number(cells.revenue),
    nulls: number(cells.nulls),
    dated: (column) => column.add(Number.isNaN(cells.date.ms) ? 0 : 1),
    date: day(cells.date),
    line: (column, line) => column.add(line),
  });
  return {
    cells: placed(cells),
    currency: cells.currency,
    fault: NO_FAULT,
    tables: [table],
    tableOf: () => table,
    timeMs: () => cells.date.ms,
  };
}

/** Pairs of ids that are one person; they have no day. */
function identityShape(): RecordShape {
  const cells = { id: new UserCell(), same_as: new UserCell() };
  const table = tableFilledBy('identities', { id: text(cells.id), same_as: text(cells.same_as) });
  return {
    cells: placed(cells),
    currency: null,
    fault: NO_FAULT,
    tables: [table],
    tableOf: () => table,
    timeMs: () => Number.NaN,
  };
}

/** Rates of exchange: the currency of a row is what is priced, not that of the source. */
function rateShape(options: ShapeOptions): RecordShape {
  const cells = { date: new TimeCell(options.bounds, true), currency: new CurrencyNameCell(), rate: new RateCell() };
  const table = tableFilledBy('fx', {
    date: day(cells.date),
    currency: text(cells.currency),
    rate: (column) => cells.rate.addTo(column),
  });
  return {
    cells: placed(cells),
    currency: null,
    fault: NO_FAULT,
    tables: [table],
    tableOf: () => table,
    timeMs: () => Number.NaN,
  };
}
