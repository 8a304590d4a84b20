import { rmSync } from 'node:fs';
import type { RunningServices } from './start-services.ts';

/** Jest's globalTeardown: nothing stays behind, neither processes nor files. */
async function stopServices(): Promise<void> {
  const { liftgraphServices } = globalThis as unknown as { liftgraphServices: RunningServices };
  await liftgraphServices.stop();
  rmSync(liftgraphServices.folder, { recursive: true, force: true });
}

export { stopServices as default };
