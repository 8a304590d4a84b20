import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { notYetFoundSound, sharedFloat64, sharedUint16, sharedUint32 } from '../../compute/journey-tables.ts';
import type { PathTable } from '../../compute/journey-tables.ts';
import { ChannelNames, readRows } from './journey-rows.ts';

/** The rows of a file that begin in [from, to), and where their paths go. */
export interface FilePart {
  readonly file: string;
  readonly from: number;
  readonly to: number;
  readonly room: PathTable;
  /** away from the middle of the room, on this side of it */
  readonly side: 'ahead' | 'behind';
}

/** What a reader answers: how many paths and steps it wrote, by its own numbering of the channels. */
export interface PartRead {
  readonly channels: readonly string[];
  readonly paths: number;
  readonly steps: number;
}

/** Touches up to which a path's code (CODE_BITS per touch, 1 + the channel) finds it in a table of 4 MB. */
const SHORT = 5;
const CODE_BITS = 4;
const MOST_CODED = 2 ** CODE_BITS - 1;
/** No row is shorter than `a,0,0,1` and no touch than `a>`. Memory that is never written costs nothing. */
const LEAST_ROW_BYTES = 8;
const LEAST_TOUCH_BYTES = 2;
/** The head of the file that readers look at first, so that they number the channels alike. */
const HEAD_BYTES = 1 << 16;

/**
 * Paths with their sums. Short paths, the ones that come again and again, are counted by their code; of longer ones
 * nearly each is new, and looking for the others costs more than it saves.
 */
class PathColumns {
  private readonly room: PathTable;
  private readonly squares: Float64Array;
  private readonly direction: 1 | -1;
  /** the edge of what is written: a number of a path, and of a step */
  private path: number;
  private step: number;
  /** by code: journeys of one null each, which are nearly all; everything else */
  private readonly plain = new Uint32Array(2 ** (SHORT * CODE_BITS));
  private readonly others = new Map<number, { conversions: number; value: number; nulls: number; squares: number }>();

  constructor(room: PathTable, side: FilePart['side']) {
    this.room = room;
    this.squares = room.valueSquares!;
    this.direction = side === 'behind' ? 1 : -1;
    [this.path, this.step] = [middleOf(room.nulls), middleOf(room.steps)];
  }

  add(path: Uint16Array, length: number, conversions: number, value: number, nulls: number): void {
    const code = length <= SHORT ? codeOf(path, length) : 0;
    const squares = conversions === 0 ? value * value : (value * value) / conversions;
    if (code === 0) {
      const number = this.append(path, length);
      this.room.nulls[number] = nulls;
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
    const appendCoded = (code: number, nulls: number): number => {
      let length = 0;
      for (let shift = (SHORT - 1) * CODE_BITS; shift >= 0; shift -= CODE_BITS) {
        const digit = (code >> shift) & MOST_CODED;
        if (digit > 0) path[length++] = digit - 1;
      }
      const number = this.append(path, length);
      this.room.nulls[number] = nulls;
      return number;
    };
    for (const [code, { conversions, value, nulls, squares }] of this.others) {
      this.put(appendCoded(code, this.plain[code]! + nulls), conversions, value, squares);
      this.plain[code] = 0;
    }
    for (let code = 1; code < this.plain.length; code++)
      if (this.plain[code] !== 0) appendCoded(code, this.plain[code]!);
    const written = (edge: number, middle: number): number => (edge - middle) * this.direction;
    return {
      channels,
      paths: written(this.path, middleOf(this.room.nulls)),
      steps: written(this.step, middleOf(this.room.steps)),
    };
  }

  private put(number: number, conversions: number, value: number, squares: number): void {
    this.room.conversions[number] = conversions;
    this.room.value[number] = value;
    this.squares[number] = squares;
  }

  private append(path: Uint16Array, length: number): number {
    const { steps, offsets } = this.room;
    const isBehind = this.direction === 1;
    const begin = isBehind ? this.step : this.step - length;
    for (let t = 0; t < length; t++) steps[begin + t] = path[t]!;
    const number = isBehind ? this.path : this.path - 1;
    this.step = isBehind ? begin + length : begin;
    this.path += this.direction;
    offsets[this.path] = this.step;
    return number;
  }
}

/** 0 where a channel's number is too large for a code. */
function codeOf(path: Uint16Array, length: number): number {
  let code = 0;
  let bits = 0;
  for (let t = 0; t < length; t++) {
    bits |= path[t]! + 1;
    code = (code << CODE_BITS) + path[t]! + 1;
  }
  return bits > MOST_CODED ? 0 : code;
}

const middleOf = (column: { readonly length: number }): number => column.length / 2;

/**
 * Room for the paths of a file of `bytes` bytes on either side of its middle, on shared memory that starts as zeros.
 */
export function roomFor(bytes: number): PathTable {
  const paths = 2 * Math.ceil(bytes / LEAST_ROW_BYTES);
  return {
    channels: [],
    offsets: sharedUint32(paths + 1),
    steps: sharedUint16(2 * Math.ceil(bytes / LEAST_TOUCH_BYTES)),
    conversions: sharedFloat64(paths),
    value: sharedFloat64(paths),
    nulls: sharedFloat64(paths),
    valueSquares: sharedFloat64(paths),
  };
}

/** Writes the paths of a part of a file into its side of the room. */
export function readPart({ file, from, to, room, side }: FilePart): PartRead {
  const paths = new PathColumns(room, side);
  const names = new ChannelNames();
  readRows(file, 0, HEAD_BYTES, names, () => undefined);
  readRows(file, from, to, names, (path, length, conversions, value, nulls) =>
    paths.add(path, length, conversions, value, nulls),
  );
  return paths.result(names.all);
}

/**
 * What was written on both sides of the middle, channels numbered alike. A path of both stands there twice, which no
 * model minds.
 */
export function joined(room: PathTable, ahead: PartRead, behind: PartRead): PathTable {
  const [middlePath, middleStep] = [middleOf(room.nulls), middleOf(room.steps)];
  const channels = [...new Set([...ahead.channels, ...behind.channels])];
  const renumbered = Uint16Array.from(behind.channels, (name) => channels.indexOf(name));
  const isAlike = renumbered.every((number, c) => number === c);
  const last = middleStep + behind.steps;
  if (!isAlike) for (let i = middleStep; i < last; i++) room.steps[i] = renumbered[room.steps[i]!]!;
  const first = middleStep - ahead.steps;
  const [from, to] = [middlePath - ahead.paths, middlePath + behind.paths];
  room.offsets[middlePath] = middleStep;
  const offsets = room.offsets.subarray(from, to + 1);
  for (let p = 0; p < offsets.length; p++) offsets[p]! -= first;
  const kept = (column: Float64Array): Float64Array => column.subarray(from, to);
  return {
    channels,
    offsets,
    steps: room.steps.subarray(first, last),
    conversions: kept(room.conversions),
    value: kept(room.value),
    nulls: kept(room.nulls),
    valueSquares: kept(room.valueSquares!),
    soundness: notYetFoundSound(),
  };
}

/** In a thread of its own: reads the parts of files that it is sent. */
export const READER = 'reader of journeys';
if (!isMainThread && parentPort !== null && workerData === READER) {
  const port = parentPort;
  port.on('message', (part: FilePart) => port.postMessage(readPart(part), []));
  port.postMessage('ready', []);
}
