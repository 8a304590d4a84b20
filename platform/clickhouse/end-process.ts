import { writeSync } from 'node:fs';

const STDERR = 2;

/**
 * Ends this process, the engine's: hard, since the engine waits for its statements when a process exits in order.
 * Everything acknowledged is in its files.
 */
export function endProcess(cause?: string): void {
  try {
    if (cause !== undefined) writeSync(STDERR, `the engine's process was ended: ${cause}\n`);
  } finally {
    process.kill(process.pid, 'SIGKILL');
  }
}
