import { ProblemError } from '../../../schema/problems.ts';
import { throughOutages } from '../../../platform/jobs/through-outages.ts';

/** How often work is tried that always fails so, and how long the pauses between are. */
async function pausesOf(error: Error): Promise<readonly number[]> {
  const pauses: number[] = [];
  const work = async (): Promise<never> => {
    throw error;
  };
  const pause = async (ms: number): Promise<void> => void pauses.push(ms);
  await expect(throughOutages(new AbortController().signal, work, pause)).rejects.toBe(error);
  return pauses;
}

const outage = (code?: string) =>
  new ProblemError('service_unavailable', 'no', { retryAfterS: 1, ...(code === undefined ? {} : { code }) });

test('an outage is waited out, a want of memory for a few tries', async () => {
  expect(await pausesOf(outage())).toHaveLength(7);
  expect(await pausesOf(outage('memory_short'))).toHaveLength(2);
});

test.each([
  ['an error', new Error('no')],
  ['a statement that was ended', outage('statement_ended')],
  ['one that is too large', outage('statement_too_large')],
])('%s is not tried again', async (_what, error) => {
  expect(await pausesOf(error)).toEqual([]);
});
