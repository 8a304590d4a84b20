/** A test on a cell: when `fails` (SQL) holds, the row is rejected with `code`. */
export interface CellCheck {
  readonly fails: string;
  readonly code: string;
}

/** How one cell (a String expression) becomes a value of the table, and what can be wrong with it. */
export interface ParsedCell {
  /** SQL of the value; never NULL, a neutral value where a check fails. */
  readonly value: string;
  readonly checks: readonly CellCheck[];
}

const MAX_TEXT_BYTES = 512;
const FLAG_SET = `('1', '1.0', 'true', 't', 'yes', 'y')`;
const FLAG_UNSET = `('', '0', '0.0', 'false', 'f', 'no', 'n')`;

/** What no name has: C0 controls other than tab and line ends, which quoted text may hold. */
const CONTROL_CHARACTER = String.raw`'[\x01-\x08\x0B\x0C\x0E-\x1F]'`;
/** Local time is at most 14 hours ahead of UTC, and offsets are whole minutes. */
const MAX_OFFSET_MINUTES = 14 * 60;

const missing = (cell: string): CellCheck => ({ fails: `${cell} = ''`, code: 'missing_value' });

/** Text as it stands, of at most {@link MAX_TEXT_BYTES}. */
export function textCell(cell: string, { required }: { required: boolean }): ParsedCell {
  return {
    value: cell,
    checks: [...(required ? [missing(cell)] : []), { fails: `length(${cell}) > ${MAX_TEXT_BYTES}`, code: 'value_too_long' }, ...characterChecks(cell)],
  };
}

/** Characters that no name may hold. */
export function characterChecks(cell: string): readonly CellCheck[] {
  return [
    { fails: `NOT isValidUTF8(${cell})`, code: 'invalid_encoding' },
    // PostgreSQL, which keeps the results, has no text with NUL in it.
    { fails: `position(${cell}, char(0)) > 0`, code: 'nul_character' },
    { fails: `match(${cell}, ${CONTROL_CHARACTER})`, code: 'control_character' },
  ];
}

/** The engine reads any offset, +99:00 too. */
function offsetCheck(cell: string): CellCheck {
  const rest = `substring(${cell}, 12)`;
  const offset = `replaceOne(substring(${rest}, greatest(position(${rest}, '+'), position(${rest}, '-')) + 1), ':', '')`;
  const minutes = `toUInt16OrZero(substring(${offset}, 3, 2))`;
  return {
    // Most cells are short or end in Z, and are done with here.
    fails: `length(${cell}) > 15 AND NOT endsWith(${cell}, 'Z') AND match(${rest}, '[+-]') AND (${minutes} > 59 OR toUInt16OrZero(substring(${offset}, 1, 2)) * 60 + ${minutes} > ${MAX_OFFSET_MINUTES})`,
    code: 'offset_out_of_range',
  };
}

/**
 * ISO 8601 (with or without offset), `YYYY-MM-DD HH:MM:SS`, epoch seconds or milliseconds; UTC where no offset stands.
 * The engine's best-effort parser does the work; the guards keep out what it would guess at: 12/01/2025, 25:00, "2025".
 */
export function timestampCell(cell: string): ParsedCell {
  const inRange = `substring(${cell}, 12, 2) < '24' AND substring(${cell}, 15, 2) < '60' AND substring(${cell}, 18, 2) < '61'`;
  const shape = `if(substring(${cell}, 5, 1) = '-', substring(${cell}, 8, 1) = '-' AND ${inRange}, match(${cell}, '^\\\\d{10}(\\\\d{3})?(\\\\.\\\\d+)?$'))`;
  const parsed = `if(${shape}, parseDateTime64BestEffortOrNull(${cell}, 3, 'UTC'), NULL)`;
  return {
    value: `ifNull(${parsed}, toDateTime64(0, 3, 'UTC'))`,
    checks: [
      missing(cell),
      { fails: `${parsed} IS NULL`, code: 'unparseable_timestamp' },
      offsetCheck(cell),
      { fails: `${parsed} < toDateTime64('1990-01-01 00:00:00', 3, 'UTC') OR ${parsed} > {latest_time:DateTime64(3, 'UTC')}`, code: 'timestamp_out_of_range' },
    ],
  };
}

/** A day, taken from a date or a time. */
export function dateCell(cell: string, { required }: { required: boolean }): ParsedCell {
  const parsed = `if(substring(${cell}, 5, 1) = '-' AND substring(${cell}, 8, 1) = '-', parseDateTime64BestEffortOrNull(${cell}, 3, 'UTC'), NULL)`;
  return {
    value: `toDate32(ifNull(${parsed}, toDateTime64(0, 3, 'UTC')))`,
    checks: [...(required ? [missing(cell)] : []), { fails: `${cell} != '' AND ${parsed} IS NULL`, code: 'unparseable_date' }, offsetCheck(cell)],
  };
}

/** Decimals beyond `scale` are cut off; an empty cell is 0. */
export function decimalCell(cell: string, scale: number, options: { required: boolean; signed: boolean }): ParsedCell {
  const parsed = `toDecimal64OrNull(${cell}, ${scale})`;
  return {
    value: `ifNull(${parsed}, toDecimal64(0, ${scale}))`,
    checks: [
      ...(options.required ? [missing(cell)] : []),
      { fails: `${cell} != '' AND ${parsed} IS NULL`, code: 'unparseable_number' },
      ...(options.signed ? [] : [{ fails: `ifNull(${parsed}, 0) < 0`, code: 'negative_value' }]),
    ],
  };
}

/** A count; a fraction of zero ("3.0") is let pass. */
export function countCell(cell: string): ParsedCell {
  const parsed = decimalCell(cell, 0, { required: false, signed: false });
  return { value: `toUInt64(greatest(${parsed.value}, 0))`, checks: parsed.checks };
}

/** 1 or 0; an empty cell is 0. */
export function flagCell(cell: string): ParsedCell {
  return {
    value: `toUInt8(lower(${cell}) IN ${FLAG_SET})`,
    checks: [{ fails: `lower(${cell}) NOT IN ${FLAG_SET} AND lower(${cell}) NOT IN ${FLAG_UNSET}`, code: 'unparseable_flag' }],
  };
}

/** 1, 0, or -1 where the cell says nothing. */
export function tristateCell(cell: string): ParsedCell {
  return { value: `if(${cell} = '', toInt8(-1), toInt8(lower(${cell}) IN ${FLAG_SET}))`, checks: flagCell(cell).checks };
}

/** Rows in another currency than the source's are refused; an empty cell means the source's own. */
export function currencyCell(cell: string): ParsedCell {
  return {
    value: '{currency:String}',
    checks: [{ fails: `${cell} != '' AND upper(trimBoth(${cell})) != {currency:String}`, code: 'wrong_currency' }],
  };
}
