import { existsSync, readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

const NICENESS = 5;
/** Names the thread that looks at it: `<pid>/task/<tid>` (proc(5)). */
const OWN_THREAD = '/proc/thread-self';

/**
 * Lets every other thread of this process go first where there are fewer cores than work: whoever asks something waits
 * for no model. On Linux each thread has a niceness of its own (setpriority(2)); elsewhere this does nothing.
 */
export function stepBehind(): void {
  if (process.platform !== 'linux' || !existsSync(OWN_THREAD)) return;
  setPriority(Number(readlinkSync(OWN_THREAD).split('/').at(-1)), NICENESS);
}
