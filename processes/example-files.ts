import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DEFAULT_SEED, generateShop } from '../examples/shop/generate.ts';
import { SHOP_DAYS } from '../examples/shop/shop-calendar.ts';

/** The example shop that the first request of a newcomer uploads. */
export interface ExampleFiles {
  readonly directory: string;
  /** First and last day of the shop's history, `YYYY-MM-DD`. */
  readonly dateRange: readonly [string, string];
}

const DAY_MS = 86_400_000;

/** Finds the example shop in the data directory, or writes it there: a folder named after its last day, yesterday. */
export async function prepareExample(dataDir: string, now: Date): Promise<ExampleFiles> {
  const parent = join(dataDir, 'example');
  await mkdir(parent, { recursive: true });
  const written = (await readdir(parent)).find((name) => /^\d{4}-\d{2}-\d{2}$/.test(name));
  const endDate = written ?? isoDay(now.getTime() - DAY_MS);
  const directory = join(parent, endDate);
  if (written === undefined) {
    // Written under another name first: a half-written shop must never look whole.
    await rm(`${directory}.new`, { recursive: true, force: true });
    await generateShop({ directory: `${directory}.new`, seed: DEFAULT_SEED, endDate });
    await rename(`${directory}.new`, directory);
  }
  return { directory, dateRange: [isoDay(Date.parse(endDate) - (SHOP_DAYS - 1) * DAY_MS), endDate] };
}

function isoDay(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}
