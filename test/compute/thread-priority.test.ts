import { once } from 'node:events';
import { getPriority } from 'node:os';
import { Worker } from 'node:worker_threads';

test('a thread that steps behind leaves the main thread where it was', async () => {
  const file = new URL('../../compute/thread-priority.ts', import.meta.url).href;
  const program = `
    import { existsSync, readlinkSync } from 'node:fs';
    import { getPriority } from 'node:os';
    import { parentPort } from 'node:worker_threads';
    import { stepBehind } from '${file}';
    stepBehind();
    const own = existsSync('/proc/thread-self') ? Number(readlinkSync('/proc/thread-self').split('/').at(-1)) : 0;
    parentPort.postMessage(getPriority(own));`;
  const before = getPriority();
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`));
  const [niceness] = (await once(worker, 'message')) as [number];
  await worker.terminate();
  expect(niceness).toBe(process.platform === 'linux' ? Math.max(5, before) : before);
  expect(getPriority()).toBe(before);
});
