/** Maps columns of a result's own channel list onto the answer's, by name. Channels a result does not know get 0. */
export function aligner(
  target: readonly string[],
  source: readonly string[],
): (values: Float64Array, rows?: number) => Float64Array {
  const column = new Map(source.map((name, index) => [name, index]));
  const from = target.map((name) => column.get(name) ?? -1);
  return (values, rows = 1) => {
    const aligned = new Float64Array(rows * target.length);
    for (let row = 0; row < rows; row++) {
      from.forEach((index, c) => {
        if (index >= 0) aligned[row * target.length + c] = values[row * source.length + index]!;
      });
    }
    return aligned;
  };
}
