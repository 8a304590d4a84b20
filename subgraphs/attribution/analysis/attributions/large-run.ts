/** A run of more touches takes seconds, while others wait. */
export const MANY_TOUCHES = 1_000_000;
/** Below so many channels the models take time by the touch; beyond, by its square. */
const FEW_CHANNELS = 30;

/**
 * Whether a run may take seconds, and so has to leave a worker and a thread to those of others. A touch is worth the
 * more the more channels there are: half a million touches of six channels are done sooner than 20,000 of 500.
 */
export function isLargeRun(touches: number, channels: number): boolean {
  return touches * (1 + (channels / FEW_CHANNELS) ** 2) > MANY_TOUCHES;
}
