import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** What a process has taken so far. */
export interface ProcessUsage {
  readonly cpuMs: number;
  /** Memory in use that no other process shares: the program itself is not counted, where the system tells it apart. */
  readonly ownBytes: number;
}

/** Linux counts processor time in hundredths of a second, whatever the kernel's own clock (proc(5), USER_HZ). */
const MS_PER_TICK = 10;
const KIB = 1024;
/** What the program itself takes of resident memory where the system does not tell it apart. */
const PROGRAM_BYTES = 64 * KIB * KIB;

/** @returns null when the process is gone, or could not be looked at */
export async function usageOf(pid: number): Promise<ProcessUsage | null> {
  try {
    return process.platform === 'linux' ? await fromProc(pid) : await fromPs(pid);
  } catch {
    // It ended between two looks, or this process has no file handle left; whoever watches looks again.
    return null;
  }
}

/** proc(5): the name may hold blanks and brackets, the fields count from behind its last one. */
async function fromProc(pid: number): Promise<ProcessUsage> {
  const [stat, status] = (await Promise.all(
    ['stat', 'status'].map((name) => readFile(`/proc/${pid}/${name}`, 'latin1')),
  )) as [string, string];
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [userTicks, systemTicks] = [fields[11], fields[12]].map(Number) as [number, number];
  return {
    cpuMs: (userTicks + systemTicks) * MS_PER_TICK,
    ownBytes: Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * KIB,
  };
}

async function fromPs(pid: number): Promise<ProcessUsage> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=,time=', '-p', String(pid)]);
  const [rss = '', time = ''] = stdout.trim().split(/\s+/);
  const seconds = time.split(/[-:]/).reduce((sum, part) => sum * 60 + Number(part), 0);
  return { cpuMs: seconds * 1000, ownBytes: Math.max(0, Number(rss) * KIB - PROGRAM_BYTES) };
}
