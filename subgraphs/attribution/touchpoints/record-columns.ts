import { characterChecks, countCell, currencyCell, dateCell, decimalCell, flagCell, textCell, timestampCell, tristateCell, type CellCheck, type ParsedCell } from './cell-parsers.ts';
import type { CanonicalColumn, RecordKind } from './record-kind.ts';

/** A column of an intake table: its value, and the checks on the canonical columns it is made of. */
export interface IntakeColumn {
  readonly name: string;
  readonly value: string;
  readonly checks: readonly (CellCheck & { readonly column: CanonicalColumn })[];
}

export interface IntakeShape {
  readonly intake: 'touch_intake' | 'event_intake' | 'conversion_intake' | 'spend_intake' | 'path_intake';
  readonly columns: readonly IntakeColumn[];
}

/** SQL of the cell of a canonical column, undefined when the file does not have it. */
export type CellOf = (column: CanonicalColumn) => string | undefined;

const DEFAULT_CONVERSION_EVENT = 'purchase';

export interface IntakeOptions {
  /** The data is known to be valid UTF-8: no cell needs to be looked at for it. */
  readonly knownUtf8: boolean;
}

/** What each kind of record stores, from the cells that the file has. */
export function intakeShape(kind: RecordKind, cellOf: CellOf, options: IntakeOptions): IntakeShape {
  const column = (canonical: CanonicalColumn, parse: (cell: string) => ParsedCell, absent: string, name: string = canonical): IntakeColumn => {
    const cell = cellOf(canonical);
    if (cell === undefined) return { name, value: absent, checks: [] };
    const parsed = parse(cell);
    const checks = options.knownUtf8 ? parsed.checks.filter(({ code }) => code !== 'invalid_encoding') : parsed.checks;
    return { name, value: parsed.value, checks: checks.map((check) => ({ ...check, column: canonical })) };
  };
  const text = (canonical: CanonicalColumn, required = false) => column(canonical, (cell) => textCell(cell, { required }), `''`);
  const money = (canonical: CanonicalColumn, scale: number, required: boolean, signed: boolean) =>
    column(canonical, (cell) => decimalCell(cell, scale, { required, signed }), `toDecimal64(0, ${scale})`);
  const time = column('timestamp', timestampCell, `toDateTime64(0, 3, 'UTC')`, 'ts');
  const currency = column('currency', currencyCell, '{currency:String}');
  const conversionEvent = column(
    'conversion_event',
    (cell) => ({ ...textCell(cell, { required: false }), value: `if(${cell} = '', '${DEFAULT_CONVERSION_EVENT}', ${cell})` }),
    `'${DEFAULT_CONVERSION_EVENT}'`,
  );
  const newCustomer = column('new_customer', tristateCell, 'toInt8(-1)');
  const touch = [text('user_id', true), time, text('event_id'), text('campaign'), text('source'), text('medium'), money('cost', 6, false, false), text('event_type')];

  switch (kind) {
    case 'touchpoints':
      return { intake: 'touch_intake', columns: [...touch, text('channel', true)] };
    case 'events': {
      const isConversion = column('conversion', flagCell, '0', 'is_conversion');
      return {
        intake: 'event_intake',
        columns: [
          ...touch, isConversion, channelUnless(isConversion.value, text('channel')),
          text('order_id'), money('revenue', 4, false, true), currency, newCustomer, conversionEvent,
        ],
      };
    }
    case 'conversions':
      return {
        intake: 'conversion_intake',
        columns: [
          text('order_id', true), text('user_id', true), time, money('revenue', 4, true, true), text('event_id'), currency, newCustomer, conversionEvent,
          text('channel'), text('campaign'),
        ],
      };
    case 'spend':
      return {
        intake: 'spend_intake',
        columns: [
          column('date', (cell) => dateCell(cell, { required: true }), 'toDate32(0)'), text('channel', true), text('campaign'), money('spend', 6, true, false),
          column('impressions', countCell, '0'), column('clicks', countCell, '0'), unstored(currency),
        ],
      };
    case 'paths': {
      const date = column('date', (cell) => dateCell(cell, { required: false }), 'toDate32(0)');
      return {
        intake: 'path_intake',
        columns: [
          column('path', pathCell, '[]'), money('conversions', 4, false, false), money('revenue', 4, false, true), money('nulls', 4, false, false),
          date, { name: 'dated', value: cellOf('date') === undefined ? '0' : `toUInt8(${cellOf('date')} != '')`, checks: [] }, unstored(currency),
        ],
      };
    }
  }
}

/** A touch needs a channel; on a conversion the channel is the click that closed it, if any. */
function channelUnless(isConversion: string, channel: IntakeColumn): IntakeColumn {
  return { ...channel, checks: [{ column: 'channel', code: 'missing_value', fails: `${channel.value} = '' AND ${isConversion} = 0` }, ...channel.checks] };
}

/** Steps stand between `>`; blanks around them do not count. An empty path is a conversion without a touch. */
function pathCell(cell: string): ParsedCell {
  const steps = `arrayFilter(step -> step != '', arrayMap(step -> trimBoth(step), splitByChar('>', ${cell})))`;
  return {
    value: steps,
    checks: [
      { fails: `arrayExists(step -> length(step) > 512, ${steps})`, code: 'value_too_long' },
      ...characterChecks(cell),
    ],
  };
}

/** Checked, but no column of its own. */
const unstored = (column: IntakeColumn): IntakeColumn => ({ ...column, name: '' });
