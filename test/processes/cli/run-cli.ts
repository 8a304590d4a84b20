import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCli {
  readonly child: ChildProcess;
  readonly result: Promise<CliResult>;
}

/**
 * Starts the command line as a process of its own, as a shell would; temporary files go below `temporary`, `env` adds
 * variables, `input` is what it reads.
 */
export function startCli(
  args: readonly string[],
  {
    cwd,
    temporary,
    env,
    input,
  }: {
    readonly cwd: string;
    readonly temporary: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly input?: string;
  },
): RunningCli {
  const child = spawn(
    process.execPath,
    ['--import', `${root}processes/typescript-hook.mjs`, `${root}processes/cli.ts`, ...args],
    {
      cwd,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], TMPDIR: temporary, ...env },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    },
  );
  child.stdin?.end(input);
  const output = { stdout: '', stderr: '' };
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  const result = new Promise<CliResult>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...output }));
  });
  return { child, result };
}
