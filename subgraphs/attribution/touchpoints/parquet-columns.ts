import { open } from 'node:fs/promises';
import { ProblemError } from '../../../schema/problems.ts';

/**
 * Column names of a Parquet file, from its footer: `… FileMetaData, length (4 bytes), "PAR1"`, FileMetaData in Thrift's
 * compact protocol. Formats: https://parquet.apache.org/docs/file-format/ and thrift-compact-protocol.md of Apache Thrift.
 */

const MAGIC = 'PAR1';
const TAIL_BYTES = 8;
const MAX_FOOTER_BYTES = 64 * 1024 * 1024;
/** Fields of FileMetaData and SchemaElement, by parquet.thrift. */
const SCHEMA_FIELD = 2;
const NAME_FIELD = 4;
const CHILDREN_FIELD = 5;

/** @returns the names of the top-level columns that hold plain values @throws ProblemError `validation_error`, code `unreadable_parquet` */
export async function parquetColumns(path: string): Promise<string[]> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const tail = Buffer.alloc(TAIL_BYTES);
    if (size < 2 * TAIL_BYTES) throw unreadable();
    await file.read(tail, 0, TAIL_BYTES, size - TAIL_BYTES);
    const footerBytes = tail.readUInt32LE(0);
    if (tail.toString('latin1', 4) !== MAGIC || footerBytes > Math.min(MAX_FOOTER_BYTES, size - TAIL_BYTES)) throw unreadable();
    const footer = Buffer.alloc(footerBytes);
    await file.read(footer, 0, footerBytes, size - TAIL_BYTES - footerBytes);
    return topLevelColumns(schemaOf(new CompactReader(footer)));
  } catch (error) {
    if (error instanceof RangeError) throw unreadable(error);
    throw error;
  } finally {
    await file.close();
  }
}

const unreadable = (cause?: unknown): ProblemError =>
  new ProblemError('validation_error', 'The file is not a readable Parquet file. Write it again, or send CSV.', { code: 'unreadable_parquet', param: '/content', cause });

interface SchemaElement {
  readonly name: string;
  readonly children: number;
}

/** The schema is a tree in depth-first order, the root first. */
function topLevelColumns([root, ...elements]: readonly SchemaElement[]): string[] {
  const columns: string[] = [];
  let index = 0;
  const subtree = (): void => {
    for (let children = elements[index++]?.children ?? 0; children > 0 && index < elements.length; children -= 1) subtree();
  };
  for (let left = root?.children ?? 0; left > 0 && index < elements.length; left -= 1) {
    const { name, children } = elements[index]!;
    if (children === 0) columns.push(name);
    subtree();
  }
  return columns;
}

function schemaOf(reader: CompactReader): SchemaElement[] {
  const elements: SchemaElement[] = [];
  reader.struct((field, type) => {
    if (field !== SCHEMA_FIELD) return reader.skip(type);
    for (let left = reader.listLength(); left > 0; left -= 1) {
      const element = { name: '', children: 0 };
      reader.struct((member, memberType) => {
        if (member === NAME_FIELD) element.name = reader.text();
        else if (member === CHILDREN_FIELD) element.children = reader.zigzag();
        else reader.skip(memberType);
      });
      elements.push(element);
    }
  });
  return elements;
}

/** Thrift's compact protocol, as far as needed. Reading past the end throws RangeError. */
class CompactReader {
  readonly #data: Buffer;
  #position = 0;

  constructor(data: Buffer) {
    this.#data = data;
  }

  struct(field: (id: number, type: number) => void): void {
    let id = 0;
    for (let header = this.#byte(); header !== 0; header = this.#byte()) {
      const delta = header >> 4;
      id = delta === 0 ? this.zigzag() : id + delta;
      field(id, header & 0x0f);
    }
  }

  listLength(): number {
    const header = this.#byte();
    return header >> 4 === 15 ? this.#varint() : header >> 4;
  }

  zigzag(): number {
    const value = this.#varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  text(): string {
    const length = this.#varint();
    const start = this.#advance(length);
    return this.#data.toString('utf8', start, start + length);
  }

  skip(type: number): void {
    switch (type) {
      case 1: case 2: return;
      case 3: return void this.#advance(1);
      case 4: case 5: case 6: return void this.#varint();
      case 7: return void this.#advance(8);
      case 8: return void this.#advance(this.#varint());
      case 9: case 10: return this.#skipList();
      case 12: return this.struct((_, member) => this.skip(member));
      default: throw new RangeError(`unknown type ${type}`);
    }
  }

  #skipList(): void {
    const header = this.#byte();
    const length = header >> 4 === 15 ? this.#varint() : header >> 4;
    const type = header & 0x0f;
    // Booleans take a byte each in a list.
    for (let left = length; left > 0; left -= 1) this.skip(type <= 2 ? 3 : type);
  }

  #byte(): number {
    return this.#data.readUInt8(this.#advance(1));
  }

  #varint(): number {
    let value = 0;
    for (let scale = 1; scale < Number.MAX_SAFE_INTEGER; scale *= 128) {
      const byte = this.#byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    return value;
  }

  #advance(bytes: number): number {
    const start = this.#position;
    this.#position += bytes;
    if (bytes < 0 || this.#position > this.#data.length) throw new RangeError('the footer ends too early');
    return start;
  }
}
