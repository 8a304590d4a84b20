import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** A process, told apart from a later one with the same number by when it started. */
export interface Running {
  readonly pid: number;
  readonly parent: number;
  readonly started: string;
  readonly name: string;
}

const POLL_MS = 20;

/** A process and everything that it started, directly or not. */
export function startedBy(pid: number): Running[] {
  const all = processes();
  const family = all.filter((each) => each.pid === pid);
  // Grows while it is walked.
  for (const { pid: parent } of family) family.push(...all.filter((each) => each.parent === parent));
  return family;
}

/** Those that still run. */
export function survivorsOf(family: readonly Running[]): Running[] {
  const alive = new Set(processes().map(identity));
  return family.filter((each) => alive.has(identity(each)));
}

/** Resolves when none of them runs any more; the limit of the test is the limit of the wait. */
export async function untilGone(family: readonly Running[]): Promise<void> {
  while (survivorsOf(family).length > 0) await sleep(POLL_MS);
}

const identity = ({ pid, started }: Running): string => `${pid}/${started}`;

function processes(): Running[] {
  if (process.platform !== 'linux') return fromPs();
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(fromProc).filter((each) => each !== undefined);
}

/** Undefined for one that is gone, or waits only to be buried by its parent. See proc_pid_stat(5). */
function fromProc(pid: string): Running | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const end = stat.lastIndexOf(')');
    const fields = stat.slice(end + 2).split(' ');
    if (fields[0] === 'Z') return undefined;
    return {
      pid: Number(pid),
      parent: Number(fields[1]),
      started: fields[19]!,
      name: stat.slice(stat.indexOf('(') + 1, end),
    };
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  }
}

function fromPs(): Running[] {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,lstart=,comm='], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  })
    .trim()
    .split('\n');
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => !fields[2]!.startsWith('Z'))
    .map(([pid, parent, , ...rest]) => ({
      pid: Number(pid),
      parent: Number(parent),
      started: rest.slice(0, 5).join(' '),
      name: rest.slice(5).join(' '),
    }));
}
