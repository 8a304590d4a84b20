import type { IntegerColumn, TextColumn } from './block-columns.ts';
import type { FlagCell, NumberCell, TextCell, TimeCell } from './cells.ts';
import type { CurrencyNameCell } from './currency-name-cell.ts';
import type { UserCell } from './user-cell.ts';

/* How cells of a row that has been read fill the columns of its table. */

const DEFAULT_CONVERSION_EVENT = Buffer.from('purchase');

export const text =
  (cell: TextCell | UserCell | CurrencyNameCell) =>
  (column: TextColumn): void =>
    cell.addTo(column);
export const number =
  (cell: NumberCell | FlagCell | TimeCell) =>
  (column: IntegerColumn): void =>
    cell.addTo(column);
export const day =
  (cell: TimeCell) =>
  (column: IntegerColumn): void =>
    column.add(cell.day);
/** Without a name of its own an event is a purchase. */
export const eventName =
  (cell: TextCell) =>
  (column: TextColumn): void =>
    cell.isEmpty ? column.add(DEFAULT_CONVERSION_EVENT, 0, DEFAULT_CONVERSION_EVENT.length) : cell.addTo(column);
