import type { RunningServices } from './start-services.ts';

/** Jest's globalTeardown: nothing stays behind, neither processes nor files. */
async function stopServices(): Promise<void> {
  await (globalThis as unknown as { liftgraphServices: RunningServices }).liftgraphServices.stop();
}

export { stopServices as default };
