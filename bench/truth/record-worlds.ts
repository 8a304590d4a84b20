import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { WorldAnswer } from './world-process.ts';
import type { WorldRecord } from './world-record.ts';

/** Works the worlds off in `processes` child processes; records come back in the order of `names`. */
export async function recordWorlds(
  names: readonly string[],
  processes: number,
  onRecord: (record: WorldRecord, tookMs: number, done: number) => void,
): Promise<WorldRecord[]> {
  const waiting = [...names];
  const records = new Map<string, WorldRecord>();
  const work = async (): Promise<void> => {
    // Same loader as this process: fork hands our own flags on.
    const child = fork(fileURLToPath(new URL('./world-process.ts', import.meta.url)));
    const ended = once(child, 'exit').then(([code, signal]) => {
      throw new Error(`a process that simulates worlds ended (${String(code ?? signal)})`);
    });
    ended.catch(() => undefined);
    try {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        child.send(name);
        const [{ record, tookMs }] = (await Promise.race([once(child, 'message'), ended])) as [WorldAnswer];
        records.set(record.name, record);
        onRecord(record, tookMs, records.size);
      }
    } finally {
      child.kill();
    }
  };
  await Promise.all(Array.from({ length: Math.min(processes, names.length) }, work));
  return names.map((name) => records.get(name)!);
}
