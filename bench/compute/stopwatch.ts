/** Best of several runs, in milliseconds. */
export function bestOfMs(runs: number, work: () => unknown): number {
  let best = Infinity;
  for (let run = 0; run < runs; run++) {
    const begin = performance.now();
    work();
    best = Math.min(best, performance.now() - begin);
  }
  return best;
}

export const say = (line: string): void => void process.stdout.write(`${line}\n`);

export const sayTime = (name: string, ms: number): void => say(`${name.padEnd(34)} ${ms.toFixed(1).padStart(9)} ms`);

/** One comparison in the same run on the same data. */
export function sayRatio(name: string, oursMs: number, obviousMs: number): void {
  say(
    `${name.padEnd(34)} ${oursMs.toFixed(1).padStart(9)} ms   obvious ${obviousMs.toFixed(1).padStart(9)} ms   ` +
      `${(obviousMs / oursMs).toFixed(1)}×`,
  );
}

export const sayMemory = (): void => say(`peak memory ${(process.resourceUsage().maxRSS / 1024).toFixed(0)} MB`);
