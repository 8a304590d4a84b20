import { DEFAULT_SHOPPERS, generateShop, SHOP_NAME } from '../../examples/shop/generate.ts';
import { yesterdayUtc } from '../../examples/shop/shop-calendar.ts';
import { BadInputError } from './bad-input-error.ts';

export interface ExampleOptions {
  readonly end?: string;
  readonly seed: number;
  readonly users?: number;
}

/** `liftgraph example <directory>`: writes the example shop and says what to do with it. */
export async function runExample(
  directory: string,
  { end, seed, users = DEFAULT_SHOPPERS }: ExampleOptions,
): Promise<void> {
  const endDate = end ?? yesterdayUtc(new Date());
  const files = await generateShop({ directory, seed, endDate, users }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === undefined) throw error;
    throw new BadInputError(`${directory}: cannot write there (${error.code}). Choose another directory.`, {
      cause: error,
    });
  });
  process.stdout.write(
    `${SHOP_NAME}: half a year of an invented shop, up to ${endDate}.

  ${files.touchpoints}         what shoppers saw and clicked
  ${files.touchpointsNdjson}   the same, gzipped NDJSON
  ${files.orders}              what they bought
  ${files.spend}               what the channels cost
  ${files.events}              touches and orders in one table
  ${files.paths}               journeys added up by path
  ${files.truth}              what each channel truly caused; for comparison afterwards

Next:
  npx liftgraph analyze ${[files.touchpoints, files.orders, files.spend].map(quoted).join(' ')} --report report.html
`,
  );
}

/** For a shell: names with blanks and the like need quotes. */
function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
