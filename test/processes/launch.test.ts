import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../..', import.meta.url));
let project: string;
let running: ChildProcess[];

/** A project of the same shape whose start is a server that says who it is and how it was stopped. */
beforeEach(() => {
  running = [];
  project = mkdtempSync(join(tmpdir(), 'liftgraph-launch-'));
  cpSync(join(repository, 'processes'), join(project, 'processes'), {
    recursive: true,
    filter: (path) => !path.endsWith('.ts'),
  });
  cpSync(join(repository, '.swcrc'), join(project, '.swcrc'));
  cpSync(join(repository, 'processes/parent-watch.ts'), join(project, 'processes/parent-watch.ts'));
  writeFileSync(
    join(project, 'package.json'),
    '{ "type": "module", "scripts": { "start": "node processes/launch.mjs start" } }',
  );
  symlinkSync(join(repository, 'node_modules'), join(project, 'node_modules'));
  writeFileSync(
    join(project, 'processes/start.ts'),
    `import { appendFileSync } from 'node:fs';
     import { watchParent } from './parent-watch.ts';
     const say = (line: string) => appendFileSync('said.txt', line + '\\n');
     const stop = (why: string) => { say('stopped by ' + why); setTimeout(() => process.exit(7), 50); };
     process.on('SIGINT', () => stop('SIGINT'));
     process.on('SIGTERM', () => stop('SIGTERM'));
     watchParent(() => stop('the end of its parent'));
     say(process.version + ' ' + process.argv.slice(2).join(' '));
     say('pid ' + process.pid);
     setInterval(() => {}, 1000);`,
  );
  mkdirSync(join(project, 'elsewhere'));
  writeFileSync(
    join(project, 'processes/cli.ts'),
    `console.log(process.cwd(), process.argv.slice(2).join(' ')); process.exitCode = 3;`,
  );
});

afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(project, { recursive: true, force: true });
});

function run(program: string, args: string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}): ChildProcess {
  const { npm_lifecycle_event: _event, npm_command: _command, ...environment } = process.env;
  const child = spawn(program, args, { cwd: project, stdio: ['ignore', 'pipe', 'pipe'], env: environment, ...options });
  running.push(child);
  return child;
}
const launch = (...args: string[]) => run(process.execPath, ['processes/launch.mjs', ...args]);

const said = () => {
  try {
    return readFileSync(join(project, 'said.txt'), 'utf8').trim().split('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
};
async function untilSaid(count: number): Promise<string[]> {
  for (;;) {
    const lines = said();
    if (lines.length >= count) return lines;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
const exitOf = async (child: ChildProcess) => (await once(child, 'exit'))[0] as number | null;
const outputOf = async (child: ChildProcess) => {
  const chunks: string[] = [];
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
  await once(child, 'close');
  return chunks.join('');
};

describe('launch', () => {
  test('start runs the pinned Node with the arguments, passes signals on once, and returns the exit code', async () => {
    const child = launch('start', '--print-config');
    const { version } = JSON.parse(readFileSync(join(repository, 'node_modules/node/package.json'), 'utf8')) as {
      version: string;
    };
    expect((await untilSaid(2))[0]).toBe(`v${version} --print-config`);
    const exit = exitOf(child);
    // A terminal sends Ctrl-C to everyone, and npm forwards it as well.
    child.kill('SIGINT');
    child.kill('SIGINT');
    expect(await exit).toBe(7);
    expect(said().slice(2)).toEqual(['stopped by SIGINT']);
  });

  test('the server stops when its launcher is killed with -9', async () => {
    const child = launch('start');
    await untilSaid(2);
    child.kill('SIGKILL');
    expect((await untilSaid(3))[2]).toBe('stopped by the end of its parent');
  });

  test('under npm, the server stops when npm is killed with -9', async () => {
    const npm = run('npm', ['start']);
    await untilSaid(2);
    npm.kill('SIGKILL');
    expect((await untilSaid(3))[2]).toBe('stopped by SIGTERM');
  });

  test('started directly it may outlive its parent, as daemons do', async () => {
    const shell = run('/bin/sh', ['-c', '"$1" processes/launch.mjs start & echo $!', 'sh', process.execPath]);
    const [launcher] = (await once(shell.stdout!, 'data')) as [Buffer];
    await exitOf(shell);
    await untilSaid(2);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(said()).toHaveLength(2);
    process.kill(Number(launcher.toString()), 'SIGTERM');
    expect((await untilSaid(3))[2]).toBe('stopped by SIGTERM');
  });

  test('schema prints nothing where the client lacks its packages', async () => {
    mkdirSync(join(project, 'schema/client'), { recursive: true });
    const child = launch('schema');
    const [output, code] = await Promise.all([outputOf(child), exitOf(child)]);
    expect([output, code]).toEqual([
      `schema/client lacks packages that print its types: run npm install in ${project} first.\n`,
      1,
    ]);
  });

  test('an unknown command lists the known ones', async () => {
    const child = launch('fly');
    const [output, code] = await Promise.all([outputOf(child), exitOf(child)]);
    expect(output).toMatch(/Usage: .*launch\.mjs <command>\n {2}start {2}.*\n {2}test /);
    expect(code).toBe(2);
  });

  test('the command line runs where it was called, and its exit code is returned', async () => {
    const child = run(process.execPath, [join(project, 'processes/liftgraph.mjs'), 'analyze', 'orders.csv'], {
      cwd: join(project, 'elsewhere'),
    });
    const [output, code] = await Promise.all([outputOf(child), exitOf(child)]);
    expect(output).toBe(`${join(project, 'elsewhere')} analyze orders.csv\n`);
    expect(code).toBe(3);
  });

  test('missing packages are installed first, by the lock file, and a failure is told', async () => {
    const npm = join(project, 'npm.mjs');
    writeFileSync(
      npm,
      `import { appendFileSync } from 'node:fs'; appendFileSync('npm.txt', process.argv.slice(2).join(' ') + '\\n'); ` +
        `process.exit(1);`,
    );
    writeFileSync(
      join(project, 'package-lock.json'),
      JSON.stringify({
        packages: {
          '': {},
          'node_modules/not-there': { version: '1.0.0' },
          'node_modules/other-platform': { version: '1.0.0', optional: true },
          'node_modules/tool': { version: '1.0.0', dev: true },
        },
      }),
    );
    const child = run(process.execPath, ['processes/launch.mjs', 'start'], {
      env: { ...process.env, npm_execpath: npm },
    });
    const [output, code] = await Promise.all([outputOf(child), exitOf(child)]);
    expect(output).toContain('Installing 1 packages');
    expect(output).toContain(`npm install failed: run it in ${project}`);
    expect(readFileSync(join(project, 'npm.txt'), 'utf8')).toBe(
      'install --no-save --no-fund --no-audit --loglevel=error\n',
    );
    expect(code).toBe(1);

    // Without any tool of development around, a start asks for none.
    unlinkSync(join(project, 'node_modules'));
    mkdirSync(join(project, 'node_modules'));
    symlinkSync(join(repository, 'node_modules/node'), join(project, 'node_modules/node'));
    for (const command of ['start', 'check'])
      await exitOf(
        run(process.execPath, ['processes/launch.mjs', command], { env: { ...process.env, npm_execpath: npm } }),
      );
    expect(readFileSync(join(project, 'npm.txt'), 'utf8').trim().split('\n').slice(1)).toEqual([
      'install --no-save --no-fund --no-audit --loglevel=error --omit=dev',
      'install --no-save --no-fund --no-audit --loglevel=error',
    ]);
  });
});

test('this installation is complete by the same measure', async () => {
  const { ensureInstalled, nodeProgram } = (await import(
    join(dirname(fileURLToPath(import.meta.url)), '../../processes/bootstrap.mjs')
  )) as {
    ensureInstalled(options: { development: boolean }): boolean;
    nodeProgram(): string | undefined;
  };
  expect(ensureInstalled({ development: true })).toBe(true);
  expect(nodeProgram()).toMatch(/node_modules\/node\/bin\/node/);
});
