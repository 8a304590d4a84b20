const ZERO = 0x30;
const NINE = 0x39;
const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const LOWER_E = 0x65;
const UPPER_E = 0x45;
/** Amounts are at most so large in size, in major units of a currency; counts too. */
export const MAX_AMOUNT = 1e12;
/** Below it, amounts times ten to the sixth are exact as numbers. */
const EXACT_AMOUNT = 9e9;
const MAX_EXPONENT = 30;
const MAX_SIGNIFICANT = 4 * MAX_EXPONENT;
/** With sign, point and exponent. */
const LONGEST_EXPONENTIAL = MAX_SIGNIFICANT + 8;

export type DecimalFault = 'not_a_number' | 'amount_out_of_range';

/**
 * One decimal number at a time, of at most `scale` decimals: those beyond are cut off. One decimal sign at most, an
 * exponent may follow (`1e3`).
 */
export class DecimalReader {
  readonly #scale: number;
  readonly unit: number;
  /** The number just read, times ten to the scale; a bigint where a number would not be exact. */
  value: number | bigint = 0;
  isNegative = false;
  /** Numbers such as `1.258`, in which the point may part thousands; and those of which the point can't. */
  open = 0;
  settled = 0;

  constructor(scale: number) {
    this.#scale = scale;
    this.unit = 10 ** scale;
  }

  read(data: Uint8Array, start: number, end: number): DecimalFault | null {
    this.isNegative = data[start] === MINUS;
    let at = this.isNegative || data[start] === PLUS ? start + 1 : start;
    const first = at;
    let integer = 0;
    for (; at < end && data[at]! >= ZERO && data[at]! <= NINE; at += 1) {
      // Larger than any amount: its exact size no longer matters.
      if (integer < MAX_AMOUNT * 10) integer = integer * 10 + data[at]! - ZERO;
    }
    const integerDigits = at - first;
    let fraction = 0;
    let fractionDigits = 0;
    if (at < end && data[at] === POINT) {
      for (at += 1; at < end && data[at]! >= ZERO && data[at]! <= NINE; at += 1, fractionDigits += 1) {
        if (fractionDigits < this.#scale) fraction = fraction * 10 + data[at]! - ZERO;
      }
    }
    if (integerDigits + fractionDigits === 0) return 'not_a_number';
    if (at < end) return this.#readExponential(data, start, at, end);
    if (fractionDigits > 0) {
      const mayPartThousands = fractionDigits === 3 && integerDigits >= 1 && integerDigits <= 3 && data[first] !== ZERO;
      if (mayPartThousands) this.open += 1;
      else this.settled += 1;
    }
    return this.#keep(integer, fraction * 10 ** Math.max(0, this.#scale - fractionDigits));
  }

  /** Rare: moves the point in the text and reads that. */
  #readExponential(data: Uint8Array, start: number, mantissaEnd: number, end: number): DecimalFault | null {
    if (data[mantissaEnd] !== LOWER_E && data[mantissaEnd] !== UPPER_E) return 'not_a_number';
    // The expression below tries every place of a point in it.
    if (end - start > LONGEST_EXPONENTIAL) return 'not_a_number';
    const text = Buffer.from(data.buffer, data.byteOffset + start, end - start).toString('latin1');
    const [, sign, integer, fraction = '', exponentText] = /^([+-]?)(\d*)\.?(\d*)e([+-]?\d{1,4})$/i.exec(text) ?? [];
    if (sign === undefined) return 'not_a_number';
    const exponent = Math.max(-MAX_EXPONENT, Math.min(MAX_EXPONENT, Number(exponentText)));
    const significant = integer! + fraction;
    if (significant.length > MAX_SIGNIFICANT) return 'not_a_number';
    const point = integer!.length + exponent;
    const moved =
      point <= 0
        ? `.${'0'.repeat(-point)}${significant}`
        : `${significant.slice(0, point).padEnd(point, '0')}.${significant.slice(point)}`;
    const plain = Buffer.from(sign + moved);
    return this.read(plain, 0, plain.length);
  }

  #keep(integer: number, fraction: number): DecimalFault | null {
    if (integer > MAX_AMOUNT || (integer === MAX_AMOUNT && fraction > 0)) return 'amount_out_of_range';
    if (integer < EXACT_AMOUNT) {
      const size = integer * this.unit + fraction;
      this.value = this.isNegative ? -size : size;
    } else {
      const size = BigInt(integer) * BigInt(this.unit) + BigInt(fraction);
      this.value = this.isNegative ? -size : size;
    }
    return null;
  }
}
