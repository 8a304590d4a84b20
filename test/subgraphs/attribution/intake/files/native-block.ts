/** Rows of a block in ClickHouse's Native format, as far as our own readers write it. */
export function rowsOfBlock(block: Buffer): Record<string, string | number | null>[] {
  let at = 0;
  const length = (): number => {
    let [value, shift] = [0, 0];
    for (;;) {
      const byte = block[at++]!;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
      shift += 7;
    }
  };
  const text = (): string => {
    const bytes = length();
    at += bytes;
    return block.toString('utf8', at - bytes, at);
  };
  const [columns, rows] = [length(), length()];
  const found: Record<string, string | number | null>[] = Array.from({ length: rows }, () => ({}));
  for (let column = 0; column < columns; column += 1) {
    const [name, type] = [text(), text()];
    const known = /^Nullable\((.+)\)$/.exec(type)?.[1];
    const nulls = known === undefined ? null : block.subarray(at, (at += rows));
    for (const [place, row] of found.entries()) {
      const value = valueOf(known ?? type);
      row[name] = nulls?.[place] === 1 ? null : value;
    }
  }
  return found;

  function valueOf(type: string): string | number {
    if (type === 'String') return text();
    if (type === 'Int8' || type === 'UInt8') return block.readInt8(at++);
    if (type === 'Date32') {
      at += 4;
      return new Date(block.readInt32LE(at - 4) * 86_400_000).toISOString().slice(0, 10);
    }
    at += 8;
    const value = Number(block.readBigInt64LE(at - 8));
    const scale = /^Decimal\(18, (\d+)\)$/.exec(type)?.[1];
    if (scale !== undefined) return value / 10 ** Number(scale);
    return type.startsWith('DateTime64') ? new Date(value).toISOString() : value;
  }
}
