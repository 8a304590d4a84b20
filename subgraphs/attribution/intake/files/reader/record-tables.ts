import type { CanonicalColumn } from '../../../../../schema/origins/canonical-columns.ts';
import {
  FlagCell,
  KnownNumberCell,
  NumberCell,
  PathCell,
  TextCell,
  TimeCell,
  type Cell,
  type TimeBounds,
  type TimeStyle,
} from './cells.ts';
import { day, number, text } from './column-fills.ts';
import { CurrencyNameCell } from './currency-name-cell.ts';
import { ClickCells, ReferrerCell } from './origin-cells.ts';
import type { ExchangeRates } from './currency-rates.ts';
import { Exchange, type Money, type MoneyFault } from './exchange.ts';
import type { OrderLines } from './order-lines.ts';
import { OrderMoney, REVENUE_DECIMALS } from './order-money.ts';
import { moneyOf, orderTables } from './order-tables.ts';
import { RateCell } from './rate-cell.ts';
import type { RecordKind } from './record-kind.ts';
import { tableFilledBy, type RecordTable } from './record-table.ts';
import { summedSpend } from './spend-table.ts';
import type { DecimalSign } from './styles/number-style.ts';
import { UserCell } from './user-cell.ts';

/** A cell of a row and where it stands in the file; `place` is -1 for a column that the file does not have. */
export interface PlacedCell {
  readonly column: CanonicalColumn;
  readonly cell: Cell;
}

/** What the rows of one kind are made of, and where they go. */
export interface RecordShape {
  /** In the order in which faults are told. */
  readonly cells: readonly PlacedCell[];
  /** Puts what is in another currency in that of the source; null where nothing names one. */
  readonly exchange: Exchange | null;
  /** Of rows that are orders; null in tables without any. */
  readonly order: OrderMoney | null;
  /** Of the row that has been read. A code when it cannot be used although each of its cells can. */
  fault(): { readonly column: CanonicalColumn; readonly code: 'missing_value' | MoneyFault } | null;
  tableOf(): RecordTable;
  /** When the row happened, milliseconds since 1970; NaN where it has no time. */
  timeMs(): number;
  readonly tables: readonly RecordTable[];
}

export interface ShapeOptions {
  readonly bounds: TimeBounds;
  /** Currency of the source, null while it has none. */
  readonly currency: string | null;
  /** Of amounts that name none; null for that of the source. */
  readonly unnamed: string | null;
  /** What other currencies are worth in it. */
  readonly rates: ExchangeRates;
  readonly styles: Styles;
  /** Where rows are lines of orders; else null. */
  readonly lines: OrderLines | null;
}

/** How the columns of a file are written; null where plainly. */
export interface Styles {
  decimalOf(column: CanonicalColumn): DecimalSign | null;
  timeOf(column: CanonicalColumn): TimeStyle | null;
}

export const PLAIN_STYLES: Styles = { decimalOf: () => null, timeOf: () => null };

const COST_DECIMALS = 6;
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

/** An amount or count of a column. */
function amount(
  { styles }: ShapeOptions,
  column: CanonicalColumn,
  scale: number,
  rules: { readonly isRequired?: boolean; readonly mayBeNegative?: boolean } = {},
): NumberCell {
  const { isRequired = false, mayBeNegative = false } = rules;
  return new NumberCell(scale, { isRequired, mayBeNegative, decimal: styles.decimalOf(column) });
}

/** Cost of the goods of an order, in its currency; not known where nothing stands. */
const goodsCost = ({ styles }: ShapeOptions): KnownNumberCell =>
  new KnownNumberCell(REVENUE_DECIMALS, { isRequired: false, mayBeNegative: false, decimal: styles.decimalOf('cogs') });

const moment = ({ bounds, styles }: ShapeOptions, column: 'timestamp' | 'date', isRequired: boolean): TimeCell =>
  new TimeCell(bounds, isRequired, styles.timeOf(column), column === 'date');

function touchCells(options: ShapeOptions) {
  return {
    user_id: new UserCell(),
    timestamp: moment(options, 'timestamp', true),
    event_id: new TextCell(false),
    campaign: new TextCell(false),
    source: new TextCell(false),
    medium: new TextCell(false),
    cost: amount(options, 'cost', COST_DECIMALS),
    event_type: new TextCell(false),
    channel: new TextCell(false),
    referrer: new ReferrerCell(),
  };
}

function touchTable(cells: ReturnType<typeof touchCells>, clicks: ClickCells, exchange?: Exchange): RecordTable {
  return tableFilledBy('touchpoints', {
    user_id: text(cells.user_id),
    ts: number(cells.timestamp),
    event_id: text(cells.event_id),
    channel: text(cells.channel),
    campaign: text(cells.campaign),
    source: text(cells.source),
    medium: text(cells.medium),
    cost: exchange === undefined ? number(cells.cost) : (column) => column.add(exchange.own(cells.cost.value)),
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
    exchange: null,
    order: null,
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
  const touch = touchCells(options);
  const exchange = new Exchange(
    options,
    touch.timestamp,
    () => (isTouch() ? touchMoney() : moneyOf(order)),
    () => (isTouch() ? 0 : (order.cogs() ?? 0)),
  );
  const cells = {
    ...touch,
    conversion: new FlagCell(0),
    order_id: new TextCell(false),
    revenue: amount(options, 'revenue', REVENUE_DECIMALS, { mayBeNegative: true }),
    refunded: amount(options, 'refunded', REVENUE_DECIMALS, { mayBeNegative: true }),
    cogs: goodsCost(options),
    currency: exchange.currency,
    new_customer: new FlagCell(-1),
    conversion_event: new TextCell(false),
  };
  const clicks = new ClickCells();
  const order = new OrderMoney(cells, null);
  const touches = touchTable(cells, clicks, exchange);
  const orders = orderTables(exchange, order, cells);
  const isTouch = (): boolean => cells.conversion.value === 0;
  const touchMoney = (): Money => ({ amount: cells.cost.value, unit: 10 ** COST_DECIMALS });
  return {
    cells: placed({ ...cells, ...clicks.cells }),
    exchange,
    order,
    tables: [touches, ...orders.tables],
    fault: () => (isTouch() ? originFault(cells, clicks) : orders.fault()) ?? exchange.fault(),
    tableOf: () => (isTouch() ? touches : orders.tableOf()),
    timeMs: () => cells.timestamp.ms,
  };
}

function conversionShape(options: ShapeOptions): RecordShape {
  const timestamp = moment(options, 'timestamp', true);
  const exchange = new Exchange(
    options,
    timestamp,
    () => moneyOf(order),
    () => order.cogs() ?? 0,
  );
  const cells = {
    order_id: new TextCell(true),
    user_id: new UserCell(),
    timestamp,
    revenue: amount(options, 'revenue', REVENUE_DECIMALS, { isRequired: true, mayBeNegative: true }),
    refunded: amount(options, 'refunded', REVENUE_DECIMALS, { mayBeNegative: true }),
    cogs: goodsCost(options),
    event_id: new TextCell(false),
    currency: exchange.currency,
    new_customer: new FlagCell(-1),
    conversion_event: new TextCell(false),
    channel: new TextCell(false),
    campaign: new TextCell(false),
  };
  const order = new OrderMoney(cells, options.lines);
  const orders = orderTables(exchange, order, cells);
  return {
    cells: placed(cells),
    exchange,
    order,
    fault: () => orders.fault() ?? exchange.fault(),
    tables: orders.tables,
    tableOf: () => orders.tableOf(),
    timeMs: () => cells.timestamp.ms,
  };
}

function spendShape(options: ShapeOptions): RecordShape {
  const date = moment(options, 'date', true);
  const exchange = new Exchange(options, date, () => ({ amount: cells.spend.value, unit: 10 ** COST_DECIMALS }));
  const cells = {
    date,
    channel: new TextCell(true),
    campaign: new TextCell(false),
    spend: amount(options, 'spend', COST_DECIMALS, { isRequired: true }),
    impressions: amount(options, 'impressions', 0),
    clicks: amount(options, 'clicks', 0),
    currency: exchange.currency,
  };
  const table = summedSpend(cells, (amount) => exchange.own(amount));
  return {
    cells: placed(cells),
    exchange,
    order: null,
    fault: () => exchange.fault(),
    tables: [table],
    tableOf: () => table,
    timeMs: () => cells.date.ms,
  };
}

function pathShape(options: ShapeOptions): RecordShape {
  const date = moment(options, 'date', false);
  const exchange = new Exchange(options, date, () => ({ amount: cells.revenue.value, unit: 10 ** REVENUE_DECIMALS }));
  const cells = {
    path: new PathCell(),
    conversions: amount(options, 'conversions', 4),
    revenue: amount(options, 'revenue', REVENUE_DECIMALS, { mayBeNegative: true }),
    nulls: amount(options, 'nulls', 4),
    date,
    currency: exchange.currency,
  };
  const table = tableFilledBy('paths', {
    path: (column) => cells.path.addTo(column),
    conversions: number(cells.conversions),
    revenue: (column) => column.add(exchange.own(cells.revenue.value)),
    nulls: number(cells.nulls),
    dated: (column) => column.add(Number.isNaN(cells.date.ms) ? 0 : 1),
    date: day(cells.date),
    line: (column, line) => column.add(line),
  });
  return {
    cells: placed(cells),
    exchange,
    order: null,
    fault: () => exchange.fault(),
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
    exchange: null,
    order: null,
    fault: NO_FAULT,
    tables: [table],
    tableOf: () => table,
    timeMs: () => Number.NaN,
  };
}

/** Rates of exchange: the currency of a row is what is priced, not that of the source. */
function rateShape(options: ShapeOptions): RecordShape {
  const cells = {
    date: moment(options, 'date', true),
    currency: new CurrencyNameCell(),
    rate: new RateCell(options.styles.decimalOf('rate')),
  };
  const table = tableFilledBy('fx', {
    date: day(cells.date),
    currency: text(cells.currency),
    rate: (column) => cells.rate.addTo(column),
  });
  return {
    cells: placed(cells),
    exchange: null,
    order: null,
    fault: NO_FAULT,
    tables: [table],
    tableOf: () => table,
    timeMs: () => Number.NaN,
  };
}
