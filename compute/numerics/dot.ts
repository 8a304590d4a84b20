/**
 * Σ a[i]·b[j] of `count` entries from `i` and `j` on: two sums side by side, for one alone would wait for each of its
 * additions.
 */
export function dot(a: Float64Array, i: number, b: Float64Array, j: number, count: number): number {
  let even = 0;
  let odd = 0;
  const end = i + count;
  for (; i + 1 < end; i += 2, j += 2) {
    even += a[i]! * b[j]!;
    odd += a[i + 1]! * b[j + 1]!;
  }
  if (i < end) even += a[i]! * b[j]!;
  return even + odd;
}
