import { setTimeout as sleep } from 'node:timers/promises';
import type { Job } from '../../../platform/jobs/jobs.ts';
import type { StageEvent } from './run-progress.ts';
import type { RunJob } from './run-queues.ts';

const SHORT_PAUSE_MS = 500;

/** Waits until rows may be read again; for longer without a worker's place, which somebody else may have. */
export async function pause({ signal, aside }: Pick<Job<RunJob>, 'signal' | 'aside'>, ms: number): Promise<void> {
  const wait = async (): Promise<void> => sleep(ms, undefined, { signal });
  if (ms <= SHORT_PAUSE_MS || !(await aside(wait))) await wait();
}

const DELAY_STEP_MS = 500;

/**
 * Takes the time that a test key asked for, without a worker's place, in steps that whoever watches the run sees: from
 * `stage` a fifth of the way on.
 */
export async function slowDown(
  { data: { delayMs }, signal, aside }: Job<RunJob>,
  stage: Pick<StageEvent, 'stage' | 'progress'>,
  tell: (event: StageEvent) => void,
): Promise<void> {
  const steps = Math.ceil(delayMs / DELAY_STEP_MS);
  await aside(async () => {
    for (let step = 1; step <= steps; step += 1) {
      await sleep(delayMs / steps, undefined, { signal });
      tell({
        kind: 'PROGRESS',
        stage: stage.stage,
        progress: stage.progress + (0.2 * step) / steps,
        message: 'Taking the time that SVC-Sandbox-Delay asks for',
      });
    }
  });
}
