import { workerData } from 'node:worker_threads';
import { endProcess } from './end-process.ts';

/**
 * The thread that ends the engine's process when the process can't end itself: its main thread hangs in a call of the
 * engine, it takes more memory than it may, or its parent has gone and it did not stop. It calls nothing of the engine.
 */
export interface WatchdogOptions {
  /** One 32-bit counter, which the main thread raises at every beat once it is up. */
  readonly beats: SharedArrayBuffer;
  readonly beatMs: number;
  /** Resident. */
  readonly mostMemoryBytes: number;
}

/** Beats, not seconds: a machine that slept has not been silent. */
const SILENT_BEATS = 40;
const ORPHAN_BEATS = 20;

const { beats, beatMs, mostMemoryBytes } = workerData as WatchdogOptions;
const counter = new Int32Array(beats);
const parent = process.ppid;
let heard = 0;
let silent = 0;
let orphaned = 0;

setInterval(() => {
  const beat = Atomics.load(counter, 0);
  silent = beat > 0 && beat === heard ? silent + 1 : 0;
  heard = beat;
  orphaned = process.ppid === parent ? 0 : orphaned + 1;
  const takenBytes = process.memoryUsage.rss();
  if (takenBytes > mostMemoryBytes) endProcess(`it takes ${Math.round(takenBytes / 2 ** 20)} MiB of memory`);
  if (silent > SILENT_BEATS) endProcess('its main thread hangs');
  if (orphaned > ORPHAN_BEATS) endProcess('its parent has gone');
}, beatMs);
