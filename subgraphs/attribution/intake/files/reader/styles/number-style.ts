/** Which sign stands before the decimals. */
export const DECIMAL_SIGNS = ['point', 'comma'] as const;
export type DecimalSign = (typeof DECIMAL_SIGNS)[number];

/** What one number tells of how its column writes numbers. */
export type NumberTrait =
  /** `12.50`, `1,258.00`, `1,258,000`: a point stands before decimals. */
  | 'point'
  /** `12,50`, `1.258,00`, `1.258.000`: a comma does. */
  | 'comma'
  /** `1.258`, `1,258`: decimals under one reading, thousands under the other. */
  | 'open'
  /** `1258`, `1 258`: the same under both. */
  | 'plain'
  | 'empty'
  | 'unreadable';

const POINT = 0x2e;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
/** Stands for a blank or an apostrophe between digits. */
const GAP = 0x5f;
const LOWER_E = 0x65;
const TWO = 0x32;
/** Of a cell with a number, in bytes; a longer one is none. */
const LONGEST = 64;
const GROUP = 3;
/** What exports write where there is no number. */
const NOTHING = /^(?:-{1,3}|–|—|n\/?a|null|nil|none|\(not set\)|#n\/a)$/i;
/** A currency beside the number: a sign, with letters ahead or none (`US$`), a code, or an abbreviation. */
const UNIT = /^(?:[A-Za-z]{0,3}[$€£¥￥₹₺₽₩₪฿₫₴₦]|[A-Z]{3}|S?Fr\.?|Ft|Kč|[Kk]r\.?|lei|RM|R|Rp\.?|Rs\.?|TL|zł|円|元)$/u;
const EXPONENTIAL = /^[-+]?(?:\d+\.?\d*|\.\d+)e[-+]?\d{1,4}$/iu;
const BLANKS = /[\s\u00A0\u2007\u2009\u202F]+/gu;
const GAPS = /[\s\u00A0\u2007\u2009\u202F'’_]/gu;
const SIGNS = /[-−+]/gu;

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= NINE;

/**
 * A number as people and programs write it, taken apart: sign, currency, percent and brackets aside, what is left is
 * digits and what stands between them.
 */
export class WrittenNumber {
  isNegative = false;
  isPercent = false;
  #isExponential = false;
  /** The currency beside the number, as it stands; empty where none does. */
  unit = '';
  /** Digits, `.`, `,` and {@link GAP}. */
  readonly #body = Buffer.alloc(LONGEST);
  #length = 0;

  take(data: Uint8Array, start: number, end: number): NumberTrait {
    this.isNegative = false;
    this.isPercent = false;
    this.#isExponential = false;
    this.unit = '';
    this.#length = 0;
    if (start === end) return 'empty';
    if (end - start > LONGEST) return 'unreadable';
    if (!this.#isBare(data, start, end)) {
      const text = Buffer.from(data.buffer, data.byteOffset + start, end - start)
        .toString()
        .trim();
      if (text === '' || NOTHING.test(text)) return 'empty';
      this.#isExponential = EXPONENTIAL.test(text);
      if (this.#isExponential) {
        this.#length = this.#body.write(text, 'latin1');
        return 'plain';
      }
      if (!this.#strip(text)) return 'unreadable';
    }
    return this.#trait();
  }

  /** Most cells are digits and separators alone. */
  #isBare(data: Uint8Array, start: number, end: number): boolean {
    this.isNegative = data[start] === MINUS;
    for (let at = this.isNegative ? start + 1 : start; at < end; at += 1) {
      const byte = data[at]!;
      if (!isDigit(byte) && byte !== POINT && byte !== COMMA) return false;
      this.#body[this.#length++] = byte;
    }
    return this.#length > 0;
  }

  /** Takes brackets, sign, currency and percent off. @returns whether digits are left, and nothing that is unknown */
  #strip(cell: string): boolean {
    this.isNegative = cell.includes('(') && cell.endsWith(')');
    const text = this.isNegative ? cell.slice(0, -1).replace('(', '').trim() : cell;
    const first = text.search(/[.,]?\d/u);
    if (first < 0) return false;
    let last = text.length;
    while (last > first && !isDigit(text.charCodeAt(last - 1))) last -= 1;
    const [before, after] = [text.slice(0, first), text.slice(last)].map((side) => side.replaceAll(BLANKS, ''));
    const signs = (before! + after!).match(SIGNS) ?? [];
    if (signs.length > 1 || last === first) return false;
    if (signs.length === 1 && signs[0] !== '+') this.isNegative = !this.isNegative;
    this.isPercent = after!.includes('%');
    const units = [before!, after!].map((side) => side.replaceAll(SIGNS, '').replace('%', '')).filter(Boolean);
    if (units.length > 1 || (units.length === 1 && !UNIT.test(units[0]!))) return false;
    this.unit = units[0] ?? '';
    const body = text.slice(first, last).replaceAll(GAPS, '_');
    this.#length = this.#body.write(body, 'latin1');
    return /^[\d.,_]+$/u.test(body);
  }

  #trait(): NumberTrait {
    const body = this.#body.subarray(0, this.#length);
    const [points, commas, gaps] = [count(body, POINT), count(body, COMMA), count(body, GAP)];
    if (points + commas === 0) return isGrouped(body, 0, body.length, gaps === 0 ? -1 : GAP) ? 'plain' : 'unreadable';
    const last = Math.max(body.lastIndexOf(POINT), body.lastIndexOf(COMMA));
    const sign = body[last]!;
    const [trait, other] = sign === POINT ? (['point', 'comma'] as const) : (['comma', 'point'] as const);
    const isRepeated = (sign === POINT ? points : commas) > 1;
    // A sign that stands twice parts thousands; decimals would have had to stand behind another one.
    if (isRepeated) return points * commas + gaps === 0 && isGrouped(body, 0, body.length, sign) ? other : 'unreadable';
    if (points + commas > 1 && gaps > 0) return 'unreadable';
    const separator = points + commas > 1 ? (sign === POINT ? COMMA : POINT) : gaps > 0 ? GAP : -1;
    const isBare = last === 0;
    if (count(body.subarray(last + 1), GAP) > 0) return 'unreadable';
    if (!isBare && !isGrouped(body, 0, last, separator)) return 'unreadable';
    if (isBare && last + 1 === body.length) return 'unreadable';
    const mayGroup =
      separator < 0 && body.length - last - 1 === GROUP && last >= 1 && last <= GROUP && body[0] !== ZERO;
    return mayGroup ? 'open' : trait;
  }

  /**
   * Writes the number in plain digits: sign, digits, a point and the decimals, and `e-2` for a percentage.
   * @returns how many bytes; -1 where it cannot be read with this decimal sign
   */
  writePlain(decimal: DecimalSign, into: Uint8Array): number {
    const sign = decimal === 'point' ? POINT : COMMA;
    const body = this.#body.subarray(0, this.#length);
    if (this.#isExponential) {
      into.set(body);
      return body.length;
    }
    const found = body.indexOf(sign);
    const wholeEnd = found < 0 ? body.length : found;
    if (wholeEnd > 0 && !isGrouped(body, 0, wholeEnd, separatorIn(body, wholeEnd))) return -1;
    let length = 0;
    if (this.isNegative) into[length++] = MINUS;
    for (let at = 0; at < wholeEnd; at += 1) if (isDigit(body[at]!)) into[length++] = body[at]!;
    if (found >= 0) {
      into[length++] = POINT;
      for (let at = found + 1; at < body.length; at += 1) {
        if (!isDigit(body[at]!)) return -1;
        into[length++] = body[at]!;
      }
    }
    if (this.isPercent) for (const byte of [LOWER_E, MINUS, TWO]) into[length++] = byte;
    return length;
  }
}

/** Bytes that the plain form of any number fits into. */
export const PLAIN_BYTES = LONGEST + 8;

function count(body: Uint8Array, byte: number): number {
  let found = 0;
  for (let at = 0; at < body.length; at += 1) if (body[at] === byte) found += 1;
  return found;
}

/** The first byte that is no digit; -1 where all are. */
function separatorIn(body: Uint8Array, end: number): number {
  for (let at = 0; at < end; at += 1) if (!isDigit(body[at]!)) return body[at]!;
  return -1;
}

/**
 * Whether digits stand in groups: a first one of one to three, then of three each; in India of two before the last.
 * @param separator what parts them; -1 where nothing may
 */
function isGrouped(body: Uint8Array, start: number, end: number, separator: number): boolean {
  let digits = 0;
  let [groups, pairs, triples, firstDigits] = [0, 0, 0, 0];
  for (let at = start; at <= end; at += 1) {
    if (at < end && isDigit(body[at]!)) {
      digits += 1;
      continue;
    }
    if (at < end && body[at] !== separator) return false;
    const isLast = at === end;
    if (groups === 0) {
      firstDigits = digits;
      if (digits === 0 || (!isLast && digits > GROUP)) return false;
    } else if (isLast) {
      if (digits !== GROUP) return false;
    } else if (digits === 2) pairs += 1;
    else if (digits === GROUP) triples += 1;
    else return false;
    groups += 1;
    digits = 0;
  }
  // Lakhs and crores: pairs behind one or two digits.
  return pairs === 0 || (triples === 0 && separator !== POINT && firstDigits < GROUP);
}

/** Of the numbers that tell; what is beyond it is refused row by row. */
const SETTLING_SHARE = 0.8;

/** What the numbers of a column tell of how they are written. */
export class NumberEvidence {
  readonly #number = new WrittenNumber();
  readonly #units = new Set<string>();
  #counts: Record<NumberTrait, number> = { point: 0, comma: 0, open: 0, plain: 0, empty: 0, unreadable: 0 };
  /** A number that can be read in two ways; empty where there is none. */
  example = '';
  /** What stands between its digits. */
  openSign: DecimalSign = 'point';

  add(data: Uint8Array, start: number, end: number): void {
    const trait = this.#number.take(data, start, end);
    this.#counts[trait] += 1;
    if (this.#number.unit !== '' && this.#units.size < 8) this.#units.add(this.#number.unit);
    if (trait !== 'open' || this.example !== '') return;
    this.example = Buffer.from(data.subarray(start, end)).toString();
    this.openSign = this.example.includes(',') ? 'comma' : 'point';
  }

  /** The currencies that stand beside numbers, as they are written there. */
  get units(): readonly string[] {
    return [...this.#units];
  }

  /** Share of the filled cells that are numbers. */
  get readableShare(): number {
    const { point, comma, open, plain, unreadable } = this.#counts;
    const numbers = point + comma + open + plain;
    return numbers + unreadable === 0 ? 0 : numbers / (numbers + unreadable);
  }

  /** The sign that the column settles by itself; `open` where it does not, null where it makes no difference. */
  decimalSign(): DecimalSign | 'open' | null {
    const { point, comma, open } = this.#counts;
    if (point + comma === 0) return open > 0 ? 'open' : null;
    if (point >= SETTLING_SHARE * (point + comma)) return 'point';
    return comma >= SETTLING_SHARE * (point + comma) ? 'comma' : 'open';
  }
}
