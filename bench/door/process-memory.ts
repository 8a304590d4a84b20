import { readFile } from 'node:fs/promises';
import { startedBy, survivorsOf, type Running } from '../../test/faults/process-tree.ts';

/** All that a process has started over time, and the memory that it holds in all. Linux only. */
export class ProcessFamily {
  readonly #pid: number;
  readonly #members = new Map<string, Running>();

  constructor(pid: number) {
    this.#pid = pid;
    this.#look();
  }

  /**
   * Proportional set size of all of them in MiB: a page that several share counts once. Those that an ended parent has
   * left behind count, too.
   */
  async pssMib(): Promise<number> {
    this.#look();
    const each = await Promise.all(this.left().map(({ pid }) => pssKib(pid)));
    return each.reduce((sum, kib) => sum + kib, 0) / 1024;
  }

  /** Those that still run. */
  left(): Running[] {
    return survivorsOf([...this.#members.values()]);
  }

  #look(): void {
    for (const member of startedBy(this.#pid)) this.#members.set(`${member.pid}/${member.started}`, member);
  }
}

/** 0 for one that has just ended. */
async function pssKib(pid: number): Promise<number> {
  try {
    return Number(/^Pss:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1] ?? 0);
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return 0;
    throw error;
  }
}
