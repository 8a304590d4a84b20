import type { ColumnType } from '../stored-tables.ts';

const FIRST_BYTES = 256;
const TWO_TO_32 = 2 ** 32;

/** Bytes that grow. What is written in a block stays allocated for the next. */
class GrowingBytes {
  #bytes: Buffer = Buffer.allocUnsafe(FIRST_BYTES);
  length = 0;

  /** Where `count` more bytes may be written. */
  reserve(count: number): Buffer {
    const needed = this.length + count;
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#bytes.length));
      this.#bytes.copy(larger, 0, 0, this.length);
      this.#bytes = larger;
    }
    return this.#bytes;
  }

  /** LEB128, as lengths stand in ClickHouse's Native format. */
  addLength(value: number): void {
    const bytes = this.reserve(5);
    let left = value;
    while (left >= 0x80) {
      bytes[this.length++] = (left & 0x7f) | 0x80;
      left >>>= 7;
    }
    bytes[this.length++] = left;
  }

  addText(data: Uint8Array, start: number, end: number): void {
    this.addLength(end - start);
    const bytes = this.reserve(end - start);
    let to = this.length;
    // Cells are short: a call of the platform's copy costs more than the bytes.
    for (let from = start; from < end; from += 1) bytes[to++] = data[from]!;
    this.length = to;
  }

  view(): Uint8Array {
    return this.#bytes.subarray(0, this.length);
  }
}

/** One column of a block. */
export abstract class BlockColumn {
  readonly name: string;
  readonly type: ColumnType;
  protected readonly content = new GrowingBytes();

  constructor(name: string, type: ColumnType) {
    this.name = name;
    this.type = type;
  }

  get bytes(): number {
    return this.content.length;
  }

  /** What stands in the block, in order. */
  parts(): readonly Uint8Array[] {
    return [this.content.view()];
  }

  clear(): void {
    this.content.length = 0;
  }
}

export class TextColumn extends BlockColumn {
  constructor(name: string) {
    super(name, 'String');
  }

  add(data: Uint8Array, start: number, end: number): void {
    this.content.addText(data, start, end);
  }
}

/** Whole numbers of 1, 4 or 8 bytes, little-endian; of 8 bytes up to 2^53 as a number, beyond as a bigint. */
export class IntegerColumn extends BlockColumn {
  readonly #width: 1 | 4 | 8;

  constructor(name: string, type: ColumnType) {
    super(name, type);
    this.#width = type === 'Int8' || type === 'UInt8' ? 1 : type === 'Date32' ? 4 : 8;
  }

  add(value: number | bigint): void {
    const bytes = this.content.reserve(this.#width);
    const at = this.content.length;
    if (typeof value === 'bigint') bytes.writeBigInt64LE(value, at);
    else if (this.#width === 1) bytes[at] = value & 0xff;
    else {
      writeInt32(bytes, at, value | 0);
      if (this.#width === 8) {
        writeInt32(bytes, at, value >>> 0);
        writeInt32(bytes, at + 4, Math.floor(value / TWO_TO_32) | 0);
      }
    }
    this.content.length = at + this.#width;
  }
}

/** Whole numbers of 8 bytes, some of which are not known: which ones, counted over the block, then the numbers. */
export class NullableIntegerColumn extends IntegerColumn {
  readonly #nulls = new GrowingBytes();

  override get bytes(): number {
    return super.bytes + this.#nulls.length;
  }

  override add(value: number | bigint | null): void {
    this.#nulls.reserve(1)[this.#nulls.length] = value === null ? 1 : 0;
    this.#nulls.length += 1;
    super.add(value ?? 0);
  }

  override parts(): readonly Uint8Array[] {
    return [this.#nulls.view(), ...super.parts()];
  }

  override clear(): void {
    super.clear();
    this.#nulls.length = 0;
  }
}

/** Lists of text: where each list ends, counted over the block, then the texts of all. */
export class TextListColumn extends BlockColumn {
  readonly #ends = new GrowingBytes();
  #texts = 0;

  constructor(name: string) {
    super(name, 'Array(String)');
  }

  override get bytes(): number {
    return this.content.length + this.#ends.length;
  }

  /** @param bounds where the texts begin and end in the data, in turn; of the first `count` texts */
  add(data: Uint8Array, bounds: readonly number[], count: number): void {
    for (let text = 0; text < count; text += 1) this.content.addText(data, bounds[2 * text]!, bounds[2 * text + 1]!);
    this.#texts += count;
    this.#ends.reserve(8).writeBigUInt64LE(BigInt(this.#texts), this.#ends.length);
    this.#ends.length += 8;
  }

  override parts(): readonly Uint8Array[] {
    return [this.#ends.view(), this.content.view()];
  }

  override clear(): void {
    super.clear();
    this.#ends.length = 0;
    this.#texts = 0;
  }
}

function writeInt32(bytes: Buffer, at: number, value: number): void {
  bytes[at] = value & 0xff;
  bytes[at + 1] = (value >>> 8) & 0xff;
  bytes[at + 2] = (value >>> 16) & 0xff;
  bytes[at + 3] = (value >>> 24) & 0xff;
}

/**
 * A block in ClickHouse's Native format: number of columns, number of rows, then name, type and values of each column.
 * https://clickhouse.com/docs/interfaces/formats/Native
 */
export function nativeBlock(columns: readonly BlockColumn[], rows: number): Uint8Array[] {
  const head = new GrowingBytes();
  head.addLength(columns.length);
  head.addLength(rows);
  const parts: Uint8Array[] = [head.view()];
  for (const column of columns) {
    const title = new GrowingBytes();
    for (const text of [column.name, column.type]) {
      const bytes = Buffer.from(text);
      title.addText(bytes, 0, bytes.length);
    }
    parts.push(title.view(), ...column.parts());
  }
  return parts;
}
