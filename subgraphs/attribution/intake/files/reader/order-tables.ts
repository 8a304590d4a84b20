import type { CanonicalColumn } from '../../../../../schema/origins/canonical-columns.ts';
import type { FlagCell, TextCell, TimeCell } from './cells.ts';
import { eventName, number, text } from './column-fills.ts';
import type { Exchange, Money } from './exchange.ts';
import { REVENUE_DECIMALS, type OrderMoney } from './order-money.ts';
import { tableFilledBy, type RecordTable } from './record-table.ts';
import type { UserCell } from './user-cell.ts';

interface OrderRowCells {
  readonly order_id: TextCell;
  readonly user_id: UserCell;
  readonly timestamp: TimeCell;
  readonly event_id: TextCell;
  readonly new_customer: FlagCell;
  readonly conversion_event: TextCell;
  readonly channel: TextCell;
  readonly campaign: TextCell;
}

/** Where orders go, and what was paid back of them. */
export interface OrderTables {
  readonly tables: readonly RecordTable[];
  tableOf(): RecordTable;
  fault(): { readonly column: CanonicalColumn; readonly code: 'amount_out_of_range' } | null;
}

export const moneyOf = (order: OrderMoney): Money => ({ amount: order.amount(), unit: 10 ** REVENUE_DECIMALS });

/** What was paid back lies beside the orders, in the currency of the row as well: the day of its order is not known. */
export function orderTables(exchange: Exchange, order: OrderMoney, cells: OrderRowCells): OrderTables {
  const alike = {
    order_id: text(cells.order_id),
    user_id: text(cells.user_id),
    ts: number(cells.timestamp),
    event_id: text(cells.event_id),
    new_customer: number(cells.new_customer),
    conversion_event: eventName(cells.conversion_event),
    channel: text(cells.channel),
    campaign: text(cells.campaign),
  };
  const conversions = tableFilledBy('conversions', {
    ...alike,
    revenue: (column) => column.add(exchange.own(order.amount())),
    cogs: (column) => {
      const cogs = order.cogs();
      column.add(cogs === null ? null : exchange.own(cogs));
    },
  });
  const refunds = tableFilledBy('refunds', {
    ...alike,
    revenue: (column) => column.add(exchange.own(order.amount())),
    written: (column) => column.add(order.amount()),
    written_currency: (column) => {
      const code = Buffer.from(order.foreign ?? '');
      column.add(code, 0, code.length);
    },
    needs_order: (column) => column.add(order.needsOrder ? 1 : 0),
    line: (column, line) => column.add(line),
  });
  return {
    tables: [conversions, refunds],
    tableOf: () => (order.isRefund ? refunds : conversions),
    fault: () => (order.isOutOfRange() ? { column: 'revenue', code: 'amount_out_of_range' } : null),
  };
}
