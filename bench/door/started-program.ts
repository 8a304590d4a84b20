import { spawn, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const HOOK = new URL('../../processes/typescript-hook.mjs', import.meta.url).href;

export interface StartedProgram {
  /** Where it listens. */
  readonly root: string;
  stop(): Promise<void>;
}

/**
 * Starts one of our programs as a process of its own and waits until it says where it listens.
 * @param program relative to this file
 * @param options of Node itself
 */
export async function startProgram(
  program: string,
  env: Readonly<Record<string, string>>,
  options: readonly string[] = [],
): Promise<StartedProgram> {
  const child: ChildProcess = spawn(
    process.execPath,
    [...options, '--import', HOOK, fileURLToPath(new URL(program, import.meta.url))],
    { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const root = await new Promise<string>((resolve, reject) => {
    let output = '';
    child.stdout!.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const address = / is up at (http:\/\/[^/\s]+)/.exec(output)?.[1];
      if (address !== undefined) resolve(address);
    });
    void ended.then(() => reject(new Error(`${program} ended: ${output.slice(-500)}`)));
  });
  return {
    root,
    stop: async () => {
      child.kill('SIGINT');
      await ended;
    },
  };
}
