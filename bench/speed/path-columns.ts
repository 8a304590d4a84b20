import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { sharedFloat64, sharedUint16, sharedUint32 } from '../../compute/journey-tables.ts';
import type { PathTable } from '../../compute/journey-tables.ts';
import { readRows } from './journey-rows.ts';

/** The rows of a file that begin in [from, to). */
export interface FilePart {
  readonly file: string;
  readonly from: number;
  readonly to: number;
}

const COLUMNS = ['conversions', 'value', 'nulls', 'valueSquares'] as const;

/** Touches up to which a path's code (CODE_BITS per touch, 1 + the channel) finds it in a table of 4 MB. */
const SHORT = 5;
const CODE_BITS = 4;
/** A guess at the room that a file needs; more is made where it falls short. Memory that is not written costs nothing. */
const BYTES_PER_PATH = 64;
const BYTES_PER_TOUCH = 8;

const MOST_CODED = 2 ** CODE_BITS - 1;

/**
 * Paths with their sums. Short paths, the ones that come again and again, are added up; of longer ones nearly each is new, and
 * looking for the others costs more than it saves.
 */
class PathColumns {
  private count = 0;
  /** of the steps so far */
  private end = 0;
  private columns: ReturnType<typeof emptyTable>;
  /** 1 + the path of each code */
  private readonly known = new Int32Array(2 ** (SHORT * CODE_BITS));

  constructor(bytes: number) {
    this.columns = emptyTable([], Math.ceil(bytes / BYTES_PER_PATH), Math.ceil(bytes / BYTES_PER_TOUCH));
  }

  add(path: Uint16Array, length: number, conversions: number, value: number, nulls: number): void {
    let code = 0;
    let isShort = length <= SHORT;
    for (let t = 0; isShort && t < length; t++) {
      isShort = path[t]! < MOST_CODED;
      code = (code << CODE_BITS) + path[t]! + 1;
    }
    let number = isShort ? this.known[code]! - 1 : -1;
    if (number < 0) {
      number = this.append(path, length);
      if (isShort) this.known[code] = number + 1;
    }
    const { columns } = this;
    columns.nulls[number]! += nulls;
    if (conversions === 0 && value === 0) return;
    columns.conversions[number]! += conversions;
    columns.value[number]! += value;
    columns.valueSquares[number]! += (value * value) / Math.max(1, conversions);
  }

  table(channels: readonly string[]): PathTable {
    const { count, columns } = this;
    const kept = Object.fromEntries(COLUMNS.map((name) => [name, columns[name].subarray(0, count)])) as Record<(typeof COLUMNS)[number], Float64Array>;
    return { channels, offsets: columns.offsets.subarray(0, count + 1), steps: columns.steps.subarray(0, columns.offsets[count]), ...kept };
  }

  private append(path: Uint16Array, length: number): number {
    const number = this.count++;
    const first = this.end;
    if (number === this.columns.nulls.length || first + length > this.columns.steps.length) this.widen(length);
    const { steps, offsets } = this.columns;
    for (let t = 0; t < length; t++) steps[first + t] = path[t]!;
    this.end = first + length;
    offsets[number + 1] = this.end;
    return number;
  }

  private widen(length: number): void {
    const { columns } = this;
    this.columns = emptyTable([], 2 * columns.nulls.length + 1, 2 * (columns.steps.length + length));
    for (const name of [...COLUMNS, 'offsets', 'steps'] as const) this.columns[name].set(columns[name]);
  }
}

function emptyTable(channels: readonly string[], paths: number, steps: number) {
  return {
    channels,
    offsets: sharedUint32(paths + 1),
    steps: sharedUint16(steps),
    conversions: sharedFloat64(paths),
    value: sharedFloat64(paths),
    nulls: sharedFloat64(paths),
    valueSquares: sharedFloat64(paths),
  };
}

/** The paths of a part of a file. */
export function pathsOf({ file, from, to }: FilePart): PathTable {
  const paths = new PathColumns(to - from);
  const channels = readRows(file, from, to, (path, length, conversions, value, nulls) => paths.add(path, length, conversions, value, nulls));
  return paths.table(channels);
}

/** One table of several; a path of two parts stands in it twice, which no model minds. */
export function joined(parts: readonly PathTable[]): PathTable {
  const channels = [...new Set(parts.flatMap((part) => part.channels))];
  const number = new Map(channels.map((name, c) => [name, c]));
  const table = emptyTable(channels, parts.reduce((sum, part) => sum + part.conversions.length, 0), parts.reduce((sum, part) => sum + part.steps.length, 0));
  let atPath = 0;
  let atStep = 0;
  for (const part of parts) {
    const renumbered = Uint16Array.from(part.channels, (name) => number.get(name)!);
    for (let i = 0; i < part.steps.length; i++) table.steps[atStep + i] = renumbered[part.steps[i]!]!;
    for (let p = 1; p < part.offsets.length; p++) table.offsets[atPath + p] = atStep + part.offsets[p]!;
    for (const column of COLUMNS) table[column].set(part[column]!, atPath);
    atPath += part.conversions.length;
    atStep += part.steps.length;
  }
  return table;
}

/** In a thread of its own: answers each part of a file with its paths. */
export const READER = 'reader of journeys';
if (!isMainThread && parentPort !== null && workerData === READER) {
  const port = parentPort;
  port.on('message', (part: FilePart) => port.postMessage(pathsOf(part), []));
  port.postMessage('ready', []);
}
