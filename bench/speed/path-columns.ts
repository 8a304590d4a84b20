import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { sharedFloat64, sharedUint16, sharedUint32 } from '../../compute/journey-tables.ts';
import type { PathTable } from '../../compute/journey-tables.ts';
import { readRows } from './journey-rows.ts';

/** The rows of a file that begin in [from, to), and where their paths go. */
export interface FilePart {
  readonly file: string;
  readonly from: number;
  readonly to: number;
  readonly columns: PathTable;
}

/** What a reader answers: how many paths and steps it wrote, by its own numbering of the channels. */
export interface PartRead {
  readonly channels: readonly string[];
  readonly paths: number;
  readonly steps: number;
}

const COLUMNS = ['conversions', 'value', 'nulls', 'valueSquares'] as const;

/** Touches up to which a path's code (CODE_BITS per touch, 1 + the channel) finds it in a table of 4 MB. */
const SHORT = 5;
const CODE_BITS = 4;
/** No row is shorter than `a,0,0,1` and no touch than `a>`. Memory that is never written costs nothing. */
const LEAST_ROW_BYTES = 8;
const LEAST_TOUCH_BYTES = 2;

const MOST_CODED = 2 ** CODE_BITS - 1;

/**
 * Paths with their sums. Short paths, the ones that come again and again, are counted by their code; of longer ones nearly each
 * is new, and looking for the others costs more than it saves.
 */
class PathColumns {
  private count = 0;
  private end = 0;
  private readonly columns: PathTable;
  private readonly squares: Float64Array;
  /** by code: journeys of one null each, which are nearly all; everything else */
  private readonly plain = new Uint32Array(2 ** (SHORT * CODE_BITS));
  private readonly others = new Map<number, { conversions: number; value: number; nulls: number; squares: number }>();

  constructor(columns: PathTable) {
    this.columns = columns;
    this.squares = columns.valueSquares!;
  }

  add(path: Uint16Array, length: number, conversions: number, value: number, nulls: number): void {
    let code = 0;
    let isShort = length <= SHORT;
    for (let t = 0; isShort && t < length; t++) {
      isShort = path[t]! < MOST_CODED;
      code = (code << CODE_BITS) + path[t]! + 1;
    }
    const squares = conversions === 0 ? value * value : (value * value) / conversions;
    if (!isShort) {
      const number = this.append(path, length);
      this.columns.nulls[number] = nulls;
      if (conversions !== 0 || value !== 0) this.put(number, conversions, value, squares);
    } else if (conversions === 0 && value === 0 && nulls === 1) this.plain[code]!++;
    else {
      const sums = this.others.get(code) ?? { conversions: 0, value: 0, nulls: 0, squares: 0 };
      sums.conversions += conversions;
      sums.value += value;
      sums.nulls += nulls;
      sums.squares += squares;
      this.others.set(code, sums);
    }
  }

  result(channels: readonly string[]): PartRead {
    const path = new Uint16Array(SHORT);
    for (let code = 1; code < this.plain.length; code++) {
      const others = this.others.get(code);
      if (this.plain[code] === 0 && others === undefined) continue;
      let length = 0;
      for (let shift = (SHORT - 1) * CODE_BITS; shift >= 0; shift -= CODE_BITS) {
        const digit = (code >> shift) & MOST_CODED;
        if (digit > 0) path[length++] = digit - 1;
      }
      const number = this.append(path, length);
      this.columns.nulls[number] = this.plain[code]! + (others?.nulls ?? 0);
      if (others !== undefined) this.put(number, others.conversions, others.value, others.squares);
    }
    return { channels, paths: this.count, steps: this.end };
  }

  private put(number: number, conversions: number, value: number, squares: number): void {
    this.columns.conversions[number] = conversions;
    this.columns.value[number] = value;
    this.squares[number] = squares;
  }

  private append(path: Uint16Array, length: number): number {
    const { steps, offsets } = this.columns;
    const number = this.count++;
    for (let t = 0; t < length; t++) steps[this.end + t] = path[t]!;
    this.end += length;
    offsets[number + 1] = this.end;
    return number;
  }
}

/** Room for the paths of any file of `bytes` bytes, on shared memory that starts as zeros. */
export function roomFor(bytes: number): PathTable {
  const paths = Math.ceil(bytes / LEAST_ROW_BYTES);
  return {
    channels: [],
    offsets: sharedUint32(paths + 1),
    steps: sharedUint16(Math.ceil(bytes / LEAST_TOUCH_BYTES)),
    conversions: sharedFloat64(paths),
    value: sharedFloat64(paths),
    nulls: sharedFloat64(paths),
    valueSquares: sharedFloat64(paths),
  };
}

/** The room from `bytes` bytes on. */
export function roomBehind(room: PathTable, bytes: number): PathTable {
  const paths = Math.ceil(bytes / LEAST_ROW_BYTES);
  const rest = Object.fromEntries(COLUMNS.map((name) => [name, room[name]!.subarray(paths)])) as Record<(typeof COLUMNS)[number], Float64Array>;
  return { channels: [], offsets: room.offsets.subarray(paths), steps: room.steps.subarray(Math.ceil(bytes / LEAST_TOUCH_BYTES)), ...rest };
}

/** Writes the paths of a part of a file into its room. */
export function readPart({ file, from, to, columns }: FilePart): PartRead {
  const paths = new PathColumns(columns);
  const channels = readRows(file, from, to, (path, length, conversions, value, nulls) => paths.add(path, length, conversions, value, nulls));
  return paths.result(channels);
}

/** Moves the parts together at the head of the room, channels numbered alike. A path of two parts stands there twice, which no model minds. */
export function joined(room: PathTable, parts: readonly { readonly columns: PathTable; readonly read: PartRead }[]): PathTable {
  const channels = [...new Set(parts.flatMap(({ read }) => read.channels))];
  const number = new Map(channels.map((name, c) => [name, c]));
  let paths = 0;
  let steps = 0;
  for (const { columns, read } of parts) {
    const renumbered = Uint16Array.from(read.channels, (name) => number.get(name)!);
    for (let i = 0; i < read.steps; i++) room.steps[steps + i] = renumbered[columns.steps[i]!]!;
    for (let p = 1; p <= read.paths; p++) room.offsets[paths + p] = steps + columns.offsets[p]!;
    if (paths > 0) for (const name of COLUMNS) room[name]!.set(columns[name]!.subarray(0, read.paths), paths);
    paths += read.paths;
    steps += read.steps;
  }
  const kept = Object.fromEntries(COLUMNS.map((name) => [name, room[name]!.subarray(0, paths)])) as Record<(typeof COLUMNS)[number], Float64Array>;
  return { channels, offsets: room.offsets.subarray(0, paths + 1), steps: room.steps.subarray(0, steps), ...kept };
}

/** In a thread of its own: reads the parts of files that it is sent. */
export const READER = 'reader of journeys';
if (!isMainThread && parentPort !== null && workerData === READER) {
  const port = parentPort;
  port.on('message', (part: FilePart) => port.postMessage(readPart(part), []));
  port.postMessage('ready', []);
}
