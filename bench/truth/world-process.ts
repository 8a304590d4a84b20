/** A process of its own that works worlds off: a name comes in, its record goes out. Started by record-worlds.ts. */
import { recordOf } from './world-record.ts';
import type { WorldRecord } from './world-record.ts';
import { everyWorld } from './worlds.ts';

/** What goes out for each name that comes in. */
export interface WorldAnswer {
  readonly record: WorldRecord;
  readonly tookMs: number;
}

const worlds = everyWorld();

process.on('message', (name: string) => {
  const world = worlds.find((one) => one.name === name);
  if (world === undefined) throw new Error(`There is no world ${name}.`);
  const startedMs = performance.now();
  void recordOf(world.spec()).then((record) =>
    process.send!({ record, tookMs: performance.now() - startedMs } satisfies WorldAnswer),
  );
});
// The launcher's watch over its tools (exit-with-parent.mjs) lets go of the channel; waiting on it is all that we do.
process.channel?.ref();
