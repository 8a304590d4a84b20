import { ProblemError } from '../../../schema/problems.ts';
import { RateLimitError, type RateWindow } from '../limits/rate-limits.ts';
import { addressBlock } from './address-block.ts';
import type { Admission, Arrival } from './admission.ts';

/**
 * Counts a request that was refused before anybody knew who is calling, by the address that it came from. The refusal
 * itself stays what it is.
 * @returns where the windows of that address stand, also when they are used up; none while the database is away
 */
export async function countRefused(
  admission: Admission,
  arrival: Pick<Arrival, 'requestId' | 'origin'>,
): Promise<readonly RateWindow[]> {
  try {
    return await admission.countStranger('anonymous', addressBlock(arrival.origin.clientAddress), arrival);
  } catch (error) {
    if (error instanceof RateLimitError) return error.windows;
    if (error instanceof ProblemError) return [];
    throw error;
  }
}
