import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRunFolder } from './run-folder.ts';

const HOOK = new URL('../processes/typescript-hook.mjs', import.meta.url).href;
const OPEN = `import { openRunFolder } from '${new URL('run-folder.ts', import.meta.url).href}';
console.log((await openRunFolder(process.argv[1])).path); setInterval(() => {}, 1000);`;

let parent: string;
beforeEach(() => (parent = mkdtempSync(join(tmpdir(), 'runs-'))));
afterEach(() => rmSync(parent, { recursive: true }));

test('a run that was killed leaves its folder to the next; one that goes on or is unknown keeps it', async () => {
  const runs = [0, 1].map(() =>
    spawn(process.execPath, ['--import', HOOK, '--input-type=module', '--eval', OPEN, parent], {
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
  try {
    const [killed, running] = await Promise.all(
      runs.map(async ({ stdout }) => String((await once(stdout, 'data'))[0]).trim()),
    );
    writeFileSync(join(killed!, 'tmp', 'left.txt'), 'x');
    const unknown = join(parent, 'liftgraph-test-unknown');
    mkdirSync(unknown);
    runs[0]!.kill('SIGKILL');
    await once(runs[0]!, 'exit');

    const own = await openRunFolder(parent);
    expect([killed!, running!, unknown, own.temporary].map((folder) => existsSync(folder))).toEqual([
      false,
      true,
      true,
      true,
    ]);
    own.remove();
    expect([running!, own.path].map((folder) => existsSync(folder))).toEqual([true, false]);
  } finally {
    for (const run of runs) run.kill('SIGKILL');
  }
});
