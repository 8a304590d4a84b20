/**
 * `npm test` is the short run; `npm run test:long` repeats with longer sizes, and in the other layout, what asks here,
 * and runs the files named `….long.test.ts`. Whatever is found in the long run is worth an example in the short one.
 */
export type RunLength = 'short' | 'long';

export const RUN_LENGTH: RunLength = process.env['LIFTGRAPH_TEST_RUN'] === 'long' ? 'long' : 'short';

/** How much of something this run does. */
export function sized<Size>(sizes: Readonly<Record<RunLength, Size>>): Size {
  return sizes[RUN_LENGTH];
}
