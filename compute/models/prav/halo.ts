import type { HazardSums } from './hazard-sums.ts';

/**
 * Visits after a touch must exceed those before it by this many standard errors, and by this part of what they exceed
 * the average by, to count as brought by it.
 */
const HALO_ERRORS = 2;
const HALO_PART = 0.25;

/**
 * Unpaid visits that a touch of each paid channel brings by itself. People in the market visit as often before a touch
 * as after it; a touch can raise only what comes after: halo = visits after − visits before, where the difference is
 * beyond chance (delete-a-group jackknife) and a sizeable part of all excess. 0 otherwise. `sums` has one cell per
 * group.
 */
export function haloOf(
  { cells, flanked, visitsAfter, visitsBefore, visitCount, userDays }: HazardSums,
  isBaseline: Uint8Array,
  placeboWindowDays: number,
): Float64Array {
  const channels = isBaseline.length;
  const total = (rows: Float64Array, c: number, width: number): number => {
    let sum = 0;
    for (let cell = 0; cell < cells; cell++) sum += rows[cell * width + c]!;
    return sum;
  };
  const days = total(userDays, 0, 1);
  const average = days > 0 ? (total(visitCount, 0, 1) / days) * placeboWindowDays : 0;
  return Float64Array.from(isBaseline, (baseline, c) => {
    const touches = total(flanked, c, channels);
    if (baseline === 1 || touches === 0) return 0;
    const after = total(visitsAfter, c, channels);
    const before = total(visitsBefore, c, channels);
    const difference = (after - before) / touches;
    let squares = 0;
    for (let cell = 0; cell < cells; cell++) {
      const i = cell * channels + c;
      const without = (after - before - visitsAfter[i]! + visitsBefore[i]!) / Math.max(1, touches - flanked[i]!);
      squares += (without - difference) ** 2;
    }
    const error = Math.sqrt(((cells - 1) / cells) * squares);
    return difference > HALO_ERRORS * error && difference > HALO_PART * (after / touches - average) ? difference : 0;
  });
}
