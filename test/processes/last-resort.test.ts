import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';

const FILE = pathToFileURL(resolve(import.meta.dirname, '../../processes/last-resort.ts')).href;

const ended = async (program: string) => {
  const child = spawn(
    process.execPath,
    ['--input-type=module-typescript', '-e', `import { killWithin } from '${FILE}'; ${program}`],
    { stdio: 'ignore', env: {} },
  );
  return once(child, 'exit');
};

test('a process whose main thread never looks up is ended in time', async () => {
  expect(await ended('killWithin(200); for (;;);')).toEqual([null, 'SIGKILL']);
});

test('who ends by itself is not kept waiting', async () => {
  const startedMs = performance.now();
  expect(await ended('killWithin(60_000); setTimeout(() => undefined, 100);')).toEqual([0, null]);
  expect(performance.now() - startedMs).toBeLessThan(20_000);
});
