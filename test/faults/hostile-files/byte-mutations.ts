import type { Random } from '../../../compute/numerics/random.ts';

/** What became of some bytes, and in words how. */
export interface Mutated {
  readonly bytes: Buffer;
  readonly how: string;
}

/** Nothing grows beyond this: what is large on purpose is a shape of its own. */
const MOST_BYTES = 1 << 20;
const MOST_MUTATIONS = 4;
/** Where sizes, signs and counts turn over. */
export const TURNING_POINTS: readonly bigint[] = [
  0n,
  1n,
  -1n,
  2n,
  127n,
  128n,
  255n,
  65_535n,
  65_536n,
  2n ** 31n - 1n,
  2n ** 31n,
  -(2n ** 31n),
  2n ** 32n - 1n,
  2n ** 32n,
  2n ** 40n,
  2n ** 53n,
  2n ** 62n,
  2n ** 63n - 1n,
  -(2n ** 63n),
];
/** Bytes that one format or another reads in a way of its own. */
const HOSTILE_TEXTS = [
  '"',
  '""',
  "'",
  '\\',
  '\0',
  ',',
  ';',
  '\t',
  '\r',
  '\n',
  '\r\n',
  '\ufeff',
  '{',
  '}',
  '[',
  ']',
  '`',
  '\\u0000',
  '\\ud800',
];

/** Below a bound. */
export function below(bound: number, random: Random): number {
  return Math.floor(random() * bound);
}

export function oneOf<T>(choices: readonly T[], random: Random): T {
  return choices[below(choices.length, random)]!;
}

type Mutation = (bytes: Buffer, place: number, random: Random) => Buffer;

const spliced = (bytes: Buffer, start: number, end: number, between: Uint8Array): Buffer =>
  Buffer.concat([bytes.subarray(0, start), between, bytes.subarray(end)]);
const blockAt = (bytes: Buffer, place: number, random: Random): Buffer =>
  bytes.subarray(place, place + 1 + below(64, random));
const noise = (random: Random): Buffer =>
  Buffer.from(Array.from({ length: 1 + below(16, random) }, () => below(256, random)));

const MUTATIONS: Readonly<Record<string, Mutation>> = {
  flip: (bytes, place, random) =>
    spliced(bytes, place, place + 1, Uint8Array.of((bytes[place] ?? 0) ^ (1 << below(8, random)))),
  set: (bytes, place, random) =>
    spliced(bytes, place, place + 1, Uint8Array.of(oneOf([0, 1, 0x7f, 0x80, 0xff, below(256, random)], random))),
  insert: (bytes, place, random) => spliced(bytes, place, place, noise(random)),
  'insert text': (bytes, place, random) => spliced(bytes, place, place, Buffer.from(oneOf(HOSTILE_TEXTS, random))),
  delete: (bytes, place, random) => spliced(bytes, place, place + 1 + below(32, random), new Uint8Array()),
  truncate: (bytes, place) => bytes.subarray(0, place),
  behead: (bytes, place) => bytes.subarray(place),
  splice: (bytes, place, random) => spliced(bytes, place, place, blockAt(bytes, below(bytes.length, random), random)),
  overwrite: (bytes, place, random) => {
    const block = blockAt(bytes, below(bytes.length, random), random);
    return spliced(bytes, place, place + block.length, block);
  },
  repeat: (bytes, place, random) => {
    const block = blockAt(bytes, place, random);
    const times = oneOf([2, 10, 100, 1_000], random);
    return spliced(bytes, place, place, Buffer.concat(Array.from({ length: times }, () => block)));
  },
  'length field': (bytes, place, random) => {
    const field = Buffer.alloc(oneOf([4, 8], random));
    const value = oneOf(TURNING_POINTS, random);
    if (field.length === 8) field.writeBigInt64LE(BigInt.asIntN(64, value));
    else field.writeInt32LE(Number(BigInt.asIntN(32, value)));
    return spliced(bytes, place, place + field.length, random() < 0.5 ? field : field.toReversed());
  },
};
const NAMES = Object.keys(MUTATIONS);

/** The bytes after one to four mutations, the same for the same random numbers. */
export function mutated(original: Uint8Array, random: Random): Mutated {
  let bytes = Buffer.from(original);
  const how: string[] = [];
  for (let left = 1 + below(MOST_MUTATIONS, random); left > 0; left -= 1) {
    const name = oneOf(NAMES, random);
    const place = below(bytes.length + 1, random);
    bytes = Buffer.from(MUTATIONS[name]!(bytes, place, random).subarray(0, MOST_BYTES));
    how.push(`${name} at ${place}`);
  }
  return { bytes, how: how.join(', ') };
}
