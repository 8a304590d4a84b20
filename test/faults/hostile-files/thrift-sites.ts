/**
 * Numbers and lengths in a struct of Thrift's compact protocol, in which Parquet writes its footer and page headers
 * (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md).
 */
export interface ThriftSite {
  /** Field numbers and places in lists from the root, such as `4.0.1.2.3.9`. */
  readonly path: string;
  readonly kind: 'integer' | 'length' | 'count' | 'boolean';
  /** Where its bytes are. */
  readonly start: number;
  readonly end: number;
  readonly value: bigint;
  /** Of a list's items. */
  readonly itemType?: number;
}

const [TRUE, FALSE, BYTE, I16, I64, DOUBLE, BINARY, LIST, SET, STRUCT] = [1, 2, 3, 4, 6, 7, 8, 9, 10, 12];
const LONG_LIST = 15;

/** @throws RangeError for what is no such struct */
export function thriftSites(
  bytes: Buffer,
  start: number,
): { readonly sites: readonly ThriftSite[]; readonly end: number } {
  const sites: ThriftSite[] = [];
  let at = start;

  const byte = (): number => bytes.readUInt8(at++);
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const next = byte();
      value |= BigInt(next & 0x7f) << shift;
      if (next < 0x80) return value;
    }
  };
  const note = (path: string, kind: ThriftSite['kind'], from: number, value: bigint, itemType?: number): void =>
    void sites.push({ path, kind, start: from, end: at, value, ...(itemType === undefined ? {} : { itemType }) });

  function value(type: number, path: string): void {
    const from = at;
    if (type === TRUE || type === FALSE) return;
    if (type === BYTE) at += 1;
    else if (type >= I16 && type <= I64) note(path, 'integer', from, unzigzag(varint()));
    else if (type === DOUBLE) at += 8;
    else if (type === BINARY) {
      const length = varint();
      note(path, 'length', from, length);
      at += Number(length);
    } else if (type === LIST || type === SET) list(path);
    else if (type === STRUCT) struct(path);
    else throw new RangeError(`type ${type} at ${from}`);
  }

  function list(path: string): void {
    const from = at;
    const header = byte();
    const itemType = header & 0x0f;
    const count = header >> 4 === LONG_LIST ? Number(varint()) : header >> 4;
    note(path, 'count', from, BigInt(count), itemType);
    for (let place = 0; place < count; place += 1) {
      if (itemType === TRUE || itemType === FALSE) at += 1;
      else value(itemType, `${path}.${place}`);
    }
  }

  function struct(path: string): void {
    for (let field = 0; ;) {
      const from = at;
      const header = byte();
      if (header === 0) return;
      const type = header & 0x0f;
      field = header >> 4 === 0 ? Number(unzigzag(varint())) : field + (header >> 4);
      const inner = path === '' ? String(field) : `${path}.${field}`;
      if (type === TRUE || type === FALSE) note(inner, 'boolean', from, BigInt(header));
      value(type, inner);
    }
  }

  struct('');
  return { sites, end: at };
}

/** The site's bytes for another value. */
export function encodeSite({ kind, itemType = 0 }: ThriftSite, value: bigint): Buffer {
  if (kind === 'boolean') return Buffer.of(Number(BigInt.asUintN(8, value)));
  if (kind === 'length') return varintOf(BigInt.asUintN(64, value));
  if (kind === 'integer') return varintOf(BigInt.asUintN(64, zigzag(BigInt.asIntN(64, value))));
  if (value >= 0n && value < BigInt(LONG_LIST)) return Buffer.of((Number(value) << 4) | itemType);
  return Buffer.concat([Buffer.of((LONG_LIST << 4) | itemType), varintOf(BigInt.asUintN(64, value))]);
}

export function varintOf(value: bigint): Buffer {
  const bytes: number[] = [];
  for (; value >= 0x80n; value >>= 7n) bytes.push(Number(value & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(value)]);
}

const zigzag = (value: bigint): bigint => (value << 1n) ^ (value >> 63n);
const unzigzag = (value: bigint): bigint => (value >> 1n) ^ -(value & 1n);
