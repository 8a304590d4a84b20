import { channelFlanks } from './visit-flanks.ts';
import type { VisitFlanks } from './visit-flanks.ts';

/**
 * Visits after a touch must exceed those before it by this many standard errors, and by this part of what they exceed
 * the average by, to count as brought by it.
 */
const HALO_ERRORS = 2;
const HALO_PART = 0.25;

const sumOfCells = (cells: Float64Array): number => cells.reduce((sum, each) => sum + each, 0);

/**
 * Unpaid visits that a touch of each paid channel brings by itself. People in the market visit as often before a touch
 * as after it; a touch can raise only what comes after: halo = visits after − visits before, where the difference is
 * beyond chance (delete-a-group jackknife) and a sizeable part of all excess. 0 otherwise. `flanks` has one cell per
 * group.
 */
export function haloOf(flanks: VisitFlanks, isBaseline: Uint8Array, placeboWindowDays: number): Float64Array {
  const days = sumOfCells(flanks.userDays);
  const average = days > 0 ? (sumOfCells(flanks.visitCount) / days) * placeboWindowDays : 0;
  const found = channelFlanks(flanks, isBaseline.length);
  return Float64Array.from(isBaseline, (baseline, c) => {
    const { touches, before, after, differenceError } = found[c]!;
    if (baseline === 1 || touches === 0) return 0;
    const difference = after - before;
    return difference > HALO_ERRORS * differenceError && difference > HALO_PART * (after - average) ? difference : 0;
  });
}
