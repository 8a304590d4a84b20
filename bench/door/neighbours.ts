// What a tenant notices while ten agents that registered themselves do everything that stopped the service once, all at
// the same time: its reads, uploads and analyses against those on the quiet service, its failures, the memory of all
// processes, and how the service ends. Linux only; needs a machine with nothing else to do.
//   npm run bench door/neighbours [seconds, default 120] [--only NUMBER[,NUMBER…]]
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataFolder } from '../../test/faults/data-folder.ts';
import { Service } from '../../test/faults/service.ts';
import { ATTACKS, type AttackCounts } from './hostile-agents.ts';
import { Neighbour, type Noticed } from './neighbour.ts';
import { ProcessFamily } from './process-memory.ts';

const numbers = process.argv.includes('--only')
  ? process.argv[process.argv.indexOf('--only') + 1]!.split(',').map(Number)
  : Object.keys(ATTACKS).map(Number);
const seconds = Number(/^\d+$/.exec(process.argv[2] ?? '')?.[0] ?? 120);
const QUIET_S = 20;
/** Five times what a new agent may, so that each of the ten has calls enough for all of it. */
const LIMITS = 'discovery=300/100000';
const NEIGHBOUR_PER_MINUTE = 1_000_000;
/** A quiet service on a quiet machine answers reads well within this. */
const BUSY_MS = 100;
const SAMPLE_MS = 1_000;
/** Whatever the service does, it does not get to take the whole machine. */
const ABORT_MIB = 7_000;
const KILL_MS = 90_000;
const HOOK = new URL('../../processes/typescript-hook.mjs', import.meta.url).href;
const PROGRAM = fileURLToPath(new URL('hostile-agents.ts', import.meta.url));
/** Whoever keeps connections needs as many files as the service has, and is a process apart. */
const CONNECTIONS = 12;

let missed = 0;
const print = (line: string): void => void process.stdout.write(`${line}\n`);
function verdict(isMet: boolean, bar: string): string {
  if (!isMet) missed += 1;
  return `(${bar}: ${isMet ? 'met' : 'MISSED'})`;
}
const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
const ms = (value: number): string => `${value.toFixed(0)} ms`;
const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.min(values.length - 1, Math.floor(values.length * share))] ??
  Number.NaN;
const listed = (counts: Iterable<readonly [string | number, number]>): string =>
  [...counts].map(([what, count]) => `${what === '0' || what === 0 ? 'no answer' : what} ×${count}`).join(', ');

class Attackers {
  readonly #child: ChildProcess;
  counts: AttackCounts = {};

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on('message', (message) => {
      if (typeof message === 'object') this.counts = message as AttackCounts;
    });
  }

  /** Resolves when they have registered. */
  static async start(root: string, those: readonly number[]): Promise<Attackers> {
    const child = fork(PROGRAM, [root, String(seconds), those.join(',')], { execArgv: ['--import', HOOK] });
    const [message] = (await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(([code]) => [`exit ${String(code)}`]),
    ])) as [unknown];
    if (message !== 'registered') throw new Error(`the hostile agents could not register: ${String(message)}`);
    return new Attackers(child);
  }

  begin(): void {
    this.#child.send('begin');
  }

  end(): void {
    if (this.#child.exitCode === null) this.#child.kill('SIGKILL');
  }
}

/** Samples of the memory of all processes, until told otherwise. */
async function watchMemory(
  family: ProcessFamily,
  isOver: () => boolean,
  abort: () => void,
): Promise<readonly number[]> {
  const samples: number[] = [];
  while (!isOver()) {
    const mib = await family.pssMib();
    samples.push(mib);
    if (mib > ABORT_MIB) {
      print(`${Math.round(mib)} MiB: the run ends here, by force`);
      abort();
    }
    await sleep(SAMPLE_MS);
  }
  return samples;
}

function report(quiet: Noticed, attacked: Noticed): void {
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => quantile(attacked.readsMs, share)) as [number, number, number];
  print(`reads, ${attacked.readsMs.length}: p99 ${ms(p99)} ${verdict(p99 <= 250, 'at most 250')}`);
  print(`  p50 ${ms(p50)}, max ${ms(max)}; quiet p99 ${ms(quantile(quiet.readsMs, 0.99))}`);
  for (const [what, before, during] of [
    ['uploads', quiet.uploadsMs, attacked.uploadsMs],
    ['analyses', quiet.analysesMs, attacked.analysesMs],
  ] as const) {
    const bar = 4 * median(before) + 2_000;
    const most = Math.max(...during);
    print(`${what}, ${during.length}: the slowest ${ms(most)} ${verdict(most <= bar, `at most ${ms(bar)}`)}`);
    print(`  median ${ms(median(during))}; quiet ${ms(median(before))}`);
  }
  const failures = [...attacked.statuses]
    .filter(([status]) => status >= 500 || status === 0)
    .reduce((sum, [, count]) => sum + count, 0);
  const throttled = attacked.statuses.get(429) ?? 0;
  print(`its answers: ${listed(attacked.statuses)}`);
  print(`  5xx or none: ${failures} ${verdict(failures === 0, 'none')}`);
  print(`  429: ${throttled} ${verdict(throttled === 0, 'none')}`);
  for (const refusal of attacked.refusals) print(`  ${refusal}`);
}

const folder = new DataFolder();
const service = await Service.start({
  env: { LIFTGRAPH_DATA_DIR: folder.path, LOG_LEVEL: 'warn', BILLING: 'on', RATE_LIMITS: LIMITS },
});
const family = new ProcessFamily(service.pid);
const attackers: Attackers[] = [];
const killAll = (): void => {
  for (const { pid } of family.left()) process.kill(pid, 'SIGKILL');
};
try {
  const neighbour = await Neighbour.register(service.root);
  // It is the only account yet. What it may ask for is agreed with it; what is measured is what others leave it.
  await folder.sql('update auth.accounts set requests_per_minute = $1, requests_per_day = null', [
    NEIGHBOUR_PER_MINUTE,
  ]);
  await neighbour.prepare();
  const quietEndMs = performance.now() + QUIET_S * 1_000;
  const quiet = await neighbour.live(() => performance.now() > quietEndMs);
  const work = `upload ${ms(median(quiet.uploadsMs))}, analysis ${ms(median(quiet.analysesMs))}`;
  print(`quiet: reads p99 ${ms(quantile(quiet.readsMs, 0.99))}, ${work}, ${(await family.pssMib()).toFixed(0)} MiB`);

  if (quantile(quiet.readsMs, 0.99) > BUSY_MS)
    print("  the machine is busy with something else: the figures below are not the service's alone");

  const groups = [
    numbers.filter((number) => number !== CONNECTIONS),
    numbers.filter((number) => number === CONNECTIONS),
  ];
  for (const group of groups) if (group.length > 0) attackers.push(await Attackers.start(service.root, group));
  const endMs = performance.now() + seconds * 1_000;
  const isOver = (): boolean => service.isOver || performance.now() > endMs;
  let isWatched = true;
  const memory = watchMemory(family, () => !isWatched || service.isOver, killAll);
  for (const group of attackers) group.begin();
  const attacked = await neighbour.live(isOver);
  print(`\n${seconds} s with findings ${numbers.join(', ')}${service.isOver ? '; the service ENDED' : ''}`);
  report(quiet, attacked);
  for (const [number, statuses] of attackers.flatMap(({ counts }) => Object.entries(counts)))
    print(`  finding ${number} was answered: ${listed(Object.entries(statuses as Record<string, number>))}`);

  const stopMs = performance.now();
  const force = setTimeout(killAll, KILL_MS);
  await service.stop('SIGTERM');
  clearTimeout(force);
  const stoppedMs = performance.now() - stopMs;
  isWatched = false;
  const samples = await memory;
  const most = Math.max(...samples);
  const shown = samples
    .filter((_, place) => place % 10 === 0)
    .map((mib) => mib.toFixed(0))
    .join(' ');
  print(`memory of all processes: most ${most.toFixed(0)} MiB ${verdict(most <= 2_048, 'at most 2048')}`);
  print(`  each ten seconds: ${shown} MiB`);
  print(`SIGTERM: ${(stoppedMs / 1_000).toFixed(1)} s ${verdict(stoppedMs <= 20_000, 'at most 20')}`);
  const left = family.left();
  const names = left.map(({ pid, name }) => `${name} ${pid}`).join(', ') || 'none';
  print(`processes left: ${names} ${verdict(left.length === 0, 'none')}`);
} finally {
  for (const group of attackers) group.end();
  killAll();
  await service.ended;
  folder.remove();
}
process.exitCode = missed === 0 ? 0 : 1;
