/**
 * Every method on shops by authors who had not read them: `npm run bench truth/judge [-- --people 60000] [simulator or
 * shop …]`. Prints a verdict for each simulator, and writes the records to `--out FILE`.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Method } from './estimate-world.ts';
import type { ShopOrder } from './judge-process.ts';
import type { ShopRecord } from './shop-record.ts';
import { SIMULATORS } from './simulators/registry.ts';
import { betterThan, verdictOn } from './verdict.ts';

const PEOPLE = 60_000;
const SHOWN = ['causal', 'prav', 'shapley', 'markov_1', 'last_click'] as const satisfies readonly Method[];
const RIVALS = ['last_click', 'markov_1', 'shapley', 'by_spend'] as const;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { people: { type: 'string', default: String(PEOPLE) }, out: { type: 'string' } },
});
const names = SIMULATORS.flatMap(({ name, shops }) =>
  Array.from({ length: shops }, (_, n) => `${name}_${n + 1}`),
).filter(
  (name) => positionals.length === 0 || positionals.some((start) => name === start || name.startsWith(`${start}_`)),
);
if (names.length === 0) throw new Error(`No simulator or shop is called so: ${positionals.join(', ')}.`);

const records = await judgeAll(names, Number(values.people));
if (values.out !== undefined)
  writeFileSync(values.out, `[\n${records.map((record) => JSON.stringify(record)).join(',\n')}\n]\n`);
for (const { name } of SIMULATORS) {
  const shops = records.filter(({ simulator }) => simulator === name);
  if (shops.length === 0) continue;
  console.log(`\n${name}: ${shops.length} shops`);
  console.log('             misplaced  shares   total    bias  of nothing  alarms  covered  score');
  for (const method of SHOWN) {
    const { misplaced, shareError, totalError, totalBias, claimedOfNothing, falseAlarms, coverage, intervalScore } =
      verdictOn(shops, method);
    const cells = [
      misplaced,
      shareError,
      totalError,
      totalBias,
      claimedOfNothing,
      falseAlarms,
      coverage,
      intervalScore,
    ];
    console.log(`${method.padEnd(12)} ${cells.map((cell) => (cell?.toFixed(3) ?? '–').padStart(8)).join(' ')}`);
  }
  const wins = RIVALS.map((rival) => `${rival} ${((betterThan(shops, 'causal', rival) ?? NaN) * 100).toFixed(0)} %`);
  console.log(`causal divides better than ${wins.join(', ')}`);
}

/** Records in the order of the names. */
async function judgeAll(all: readonly string[], people: number): Promise<ShopRecord[]> {
  const waiting = [...all];
  const found = new Map<string, ShopRecord>();
  const work = async (): Promise<void> => {
    const child = fork(fileURLToPath(new URL('./judge-process.ts', import.meta.url)));
    const ended = once(child, 'exit').then(([code, signal]) => {
      throw new Error(`a process that judges shops ended (${String(code ?? signal)})`);
    });
    ended.catch(() => undefined);
    try {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        child.send({ name, people } satisfies ShopOrder);
        const [record] = (await Promise.race([once(child, 'message'), ended])) as [ShopRecord];
        found.set(name, record);
        console.error(`${String(found.size).padStart(4)}/${all.length} ${name}`);
      }
    } finally {
      child.kill();
    }
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), all.length) }, work));
  return all.map((name) => found.get(name)!);
}
