import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { seededRandom } from '../../compute/numerics/random.ts';

const NAMES = [
  'direct',
  'organic',
  'email',
  'search',
  'social',
  'display',
  'video',
  'affiliate',
  'retargeting',
  'referral',
  'podcast',
  'print',
];
const ROWS_PER_WRITE = 20_000;

/**
 * Writes raw journeys, one row each: 1 to 30 touches (mean about 5) of 12 channels, popular ones more often, each touch
 * likely to be followed by one of its neighbours; one in 25 converts.
 */
export function writeJourneys(file: string, journeys: number): void {
  const random = seededRandom(20);
  const out = openSync(file, 'w');
  let rows = 'path,conversions,revenue,nulls\n';
  for (let j = 0; j < journeys; j++) {
    let channel = Math.floor(random() ** 1.7 * NAMES.length);
    let path = NAMES[channel]!;
    for (let touches = Math.min(29, Math.floor(-4.5 * Math.log(1 - random()))); touches > 0; touches--) {
      channel =
        random() < 0.5
          ? Math.floor(random() ** 1.7 * NAMES.length)
          : (channel + Math.floor(random() * 3)) % NAMES.length;
      path += ` > ${NAMES[channel]!}`;
    }
    rows += random() < 0.04 ? `${path},1,${(20 + random() * 200).toFixed(2)},0\n` : `${path},0,0,1\n`;
    if ((j + 1) % ROWS_PER_WRITE === 0 || j + 1 === journeys) {
      writeSync(out, rows);
      rows = '';
    }
  }
  closeSync(out);
}

const CHUNK_BYTES = 1 << 20;
const [NEWLINE, SPACE, COMMA, MINUS, POINT, ZERO, ARROW] = [10, 32, 44, 45, 46, 48, 62];

/** Receives a row; `path` is valid during the call only. */
export type OnRow = (path: Uint16Array, length: number, conversions: number, value: number, nulls: number) => void;

/** Channels by the bytes of their names, numbered in the order of their appearance. */
export class ChannelNames {
  readonly all: string[] = [];
  private readonly slots = new Int32Array(1 << 16);
  private readonly hashes = new Int32Array(1 << 16);
  private readonly lengths = new Int32Array(1 << 16);

  /** The number of the channel whose name is `buffer[first .. end)`. */
  at(buffer: Buffer, first: number, end: number): number {
    const { slots, hashes, lengths } = this;
    let hash = 0;
    for (let at = first; at < end; at++) hash = (Math.imul(hash, 31) + buffer[at]!) | 0;
    let slot = (hash ^ (hash >>> 15)) & (slots.length - 1);
    for (; slots[slot] !== 0; slot = (slot + 1) & (slots.length - 1))
      if (hashes[slot] === hash && lengths[slot] === end - first) return slots[slot]! - 1;
    slots[slot] = this.all.push(buffer.toString('utf8', first, end));
    hashes[slot] = hash;
    lengths[slot] = end - first;
    return this.all.length - 1;
  }
}

/**
 * Reads rows of `path,conversions,revenue,nulls` without quotes: those that begin in [from, to) of the file, the header
 * left out. Channels are numbered by `names`, which learns new ones. Both sides of the comparison read with this.
 */
export function readRows(file: string, from: number, to: number, names: ChannelNames, onRow: OnRow): void {
  const input = openSync(file, 'r');
  const buffer = Buffer.allocUnsafe(2 * CHUNK_BYTES);
  const path = new Uint16Array(65_536);
  let i = 0;

  const numberHere = (): number => {
    const sign = buffer[i] === MINUS ? -1 : 1;
    if (sign < 0) i++;
    let digits = 0;
    let scale = 0;
    for (; ; i++) {
      const byte = buffer[i]!;
      if (byte === POINT) scale = 1;
      else if (byte >= ZERO && byte < ZERO + 10) {
        digits = digits * 10 + byte - ZERO;
        scale *= 10;
      } else break;
    }
    if (buffer[i] !== COMMA && buffer[i] !== NEWLINE) throw new Error(`not a number ahead of byte ${i}`);
    i++;
    return (sign * digits) / (scale === 0 ? 1 : scale);
  };

  // One byte early, and up to the next line: a row that begins at `from` itself is ours.
  let position = Math.max(0, from - 1);
  let held = 0;
  for (let first = true, ended = false; !ended; first = false) {
    const read = readSync(input, buffer, held, CHUNK_BYTES, position);
    const filled = held + read;
    const last = filled === 0 ? -1 : buffer.lastIndexOf(NEWLINE, filled - 1);
    if (read === 0 || last < 0) break;
    const offset = position - held;
    position += read;
    i = first ? buffer.indexOf(NEWLINE) + 1 : 0;
    while (i <= last && !(ended = offset + i >= to)) {
      let length = 0;
      for (let stop = 0; stop !== COMMA; i++) {
        let begin = i;
        while (buffer[begin] === SPACE) begin++;
        let end = begin;
        for (stop = buffer[end]!; stop !== ARROW && stop !== COMMA;) stop = buffer[++end]!;
        i = end;
        while (buffer[end - 1] === SPACE) end--;
        path[length++] = names.at(buffer, begin, end);
      }
      const conversions = numberHere();
      const value = numberHere();
      onRow(path, length, conversions, value, numberHere());
    }
    held = filled - last - 1;
    buffer.copyWithin(0, last + 1, filled);
  }
  closeSync(input);
}
