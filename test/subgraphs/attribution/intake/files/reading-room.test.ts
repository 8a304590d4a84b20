import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import {
  FRAME,
  NO_WISHES,
  type ReadingFinding,
  type Refusal,
} from '../../../../../subgraphs/attribution/intake/files/reading-messages.ts';
import {
  budgetOf,
  READING_LIMITS,
  SMALL_FILE_LIMITS,
  type ReadingLimits,
} from '../../../../../subgraphs/attribution/intake/files/reading-limits.ts';
import {
  ReadingRoom,
  type FileSize,
  type ReadingInstructions,
} from '../../../../../subgraphs/attribution/intake/files/reading-room.ts';

const MIB = 1024 * 1024;
const HEADER = 'user_id,timestamp,channel\n';
const ROW = 'u,2025-01-01,a\n';
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'liftgraph-room-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const ORDER: ReadingInstructions = {
  mediaType: 'text/csv',
  contentEncoding: 'identity',
  delimiter: 'auto',
  ...NO_WISHES,
  usualMapping: {},
  remembered: {},
  isDryRun: false,
  currency: null,
  rates: {},
  earliestMs: 0,
  latestMs: 4e12,
  maxBytes: 1024 * MIB,
};
const PARQUET = { mediaType: 'application/vnd.apache.parquet' };

interface Read {
  readonly finding?: ReadingFinding;
  readonly refusal?: Refusal;
  readonly blocks: number;
  readonly longestBlock: number;
}

async function read(
  content: string | Buffer,
  limits: Partial<ReadingLimits> = {},
  instructions: Partial<ReadingInstructions> = {},
): Promise<Read> {
  const room = new ReadingRoom({ folder, limits });
  try {
    await using file = await room.receive('tenant', [Buffer.from(content)], Infinity);
    const blocks: number[] = [];
    const counted = () => ({ blocks: blocks.length, longestBlock: Math.max(...blocks) });
    for await (const { kind, content: said } of room.read(file, { ...ORDER, ...instructions })) {
      if (kind === FRAME.block) blocks.push(said.length);
      if (kind === FRAME.finding) return { finding: JSON.parse(said.toString()) as ReadingFinding, ...counted() };
      if (kind === FRAME.refusal) return { refusal: JSON.parse(said.toString()) as Refusal, ...counted() };
    }
    throw new Error('nothing was said');
  } finally {
    await room.close();
  }
}

const exceeded = (word: string) =>
  expect.objectContaining({
    type: 'validation_error',
    message: expect.stringContaining(word),
    problem: expect.objectContaining({ code: 'file_limit_exceeded', param: '/content' }),
  });

test('a file is read by a process that ends', async () => {
  const { finding, blocks } = await read(HEADER + ROW);
  expect(finding).toMatchObject({ kind: 'touchpoints', accepted: 1, rejected: 0 });
  expect(blocks).toBe(1);
});

test('lines that each leave a quote open are read in the time that their size takes', async () => {
  // Four megabytes; what was quadratic took 98 s for a tenth of it.
  const lines = Math.ceil((4 * MIB) / 5);
  const { finding } = await read(`${HEADER}${'a"b,\n'.repeat(lines)}`);
  expect(finding).toMatchObject({ accepted: 0, rejected: lines });
  const quoted = await read(`${HEADER}${'"a,b\n'.repeat(lines)}`);
  expect(quoted.finding!.rejected).toBeGreaterThan(0);
});

test('of many rejects the first thousand are kept, the rest counted', async () => {
  const { finding } = await read(`${HEADER}${'u,never,a\n'.repeat(5_000)}`);
  expect(finding).toMatchObject({ accepted: 0, rejected: 5_000 });
  expect(finding!.rejects).toHaveLength(1_000);
  expect(finding!.rejects.at(-1)).toMatchObject({ line: 1_001, code: 'not_a_date', value: 'never' });
});

describe('past a limit the reader is ended, and the upload fails for good', () => {
  const large = HEADER + ROW.repeat(1_000_000);

  test('memory', async () => {
    await expect(read(large, { memoryBytes: 48 * MIB })).rejects.toEqual(exceeded('memory (48 MiB allowed)'));
  });

  test('processor time', async () => {
    await expect(read(large, { cpuMs: { base: 20, perMebibyte: 0 } })).rejects.toEqual(exceeded('processor time'));
  });

  test('the time that it lets others wait', async () => {
    await expect(read(large, { waitMs: { base: 20, perMebibyte: 0 } })).rejects.toEqual(exceeded('too long'));
  });

  test('the engine of the process itself, where its heap is too small', async () => {
    const rows = Array.from({ length: 900 }, () => Array.from({ length: 9_000 }, () => []));
    await expect(
      read(JSON.stringify(rows), { memoryBytes: 120 * MIB }, { mediaType: 'application/json' }),
    ).rejects.toEqual(exceeded('memory'));
  });
});

describe('blocks are short, since the engine takes many times of each', () => {
  const shortest = 9 * MIB;

  test('rows that are longer as columns than in the file', async () => {
    const { finding, blocks, longestBlock } = await read(`path,conversions\n${'a,1\n'.repeat(MIB)}`);
    expect(finding).toMatchObject({ kind: 'paths', accepted: MIB });
    expect([blocks > 4, longestBlock < shortest]).toEqual([true, true]);
  });

  test('many long names within a page of Parquet', async () => {
    const column = (name: string, width: number) => ({
      name,
      type: 'STRING' as const,
      data: Array.from({ length: 16_000 }, (_, row) => `${name}${row}`.padEnd(width, 'z')),
    });
    const times = { name: 'timestamp', type: 'STRING' as const, data: Array<string>(16_000).fill('2025-01-01') };
    const columnData = [
      column('user_id', 500),
      times,
      ...['channel', 'campaign', 'source', 'medium', 'event_id'].map((name) => column(name, 500)),
    ];
    const { finding, longestBlock } = await read(Buffer.from(parquetWriteBuffer({ columnData })), {}, PARQUET);
    expect(finding).toMatchObject({ accepted: 16_000 });
    expect(longestBlock).toBeLessThan(shortest);
  });
});

test('a reader that waits for what never comes is ended', async () => {
  const pipe = join(folder, 'pipe');
  spawnSync('mkfifo', [pipe]);
  const room = new ReadingRoom({ folder, limits: { idleMs: 300 } });
  await using file = await room.inPlace('tenant', pipe, 1);
  const reading = (async () => {
    for await (const frame of room.read(file, ORDER)) void frame;
  })();
  await expect(reading).rejects.toEqual(exceeded('comes to a stop'));
  await room.close();
});

describe('readers together', () => {
  test('a file that passes the limits of small ones is begun anew as a large one', async () => {
    const room = new ReadingRoom({ folder, smallLimits: { memoryBytes: 48 * MIB } });
    await using file = await room.receive('tenant', [Buffer.from(HEADER + ROW.repeat(1_000_000))], Infinity);
    const sizes: FileSize[] = [];
    const accepted = await room.inTurn(file, async (size) => {
      sizes.push(size);
      for await (const { kind, content } of room.read(file, ORDER, size))
        if (kind === FRAME.finding) return (JSON.parse(content.toString()) as ReadingFinding).accepted;
      throw new Error('nothing was found');
    });
    expect([sizes, accepted]).toEqual([['small', 'large'], 1_000_000]);
    await room.close();
  });

  test('one that passes a limit that is hardly higher for large ones is not begun anew', async () => {
    const room = new ReadingRoom({
      folder,
      smallLimits: { cpuMs: { base: 20, perMebibyte: 0 } },
      limits: { cpuMs: { base: 25, perMebibyte: 0 } },
    });
    await using file = await room.receive('tenant', [Buffer.from(HEADER + ROW.repeat(1_000_000))], Infinity);
    const sizes: FileSize[] = [];
    const reading = room.inTurn(file, async (size) => {
      sizes.push(size);
      for await (const frame of room.read(file, ORDER, size)) void frame;
    });
    await expect(reading).rejects.toEqual(exceeded('processor time'));
    expect(sizes).toEqual(['small']);
    await room.close();
  });

  test('a small file has a second of processor time, and no turn of small files takes more than three', () => {
    const limits = { ...READING_LIMITS, ...SMALL_FILE_LIMITS };
    const budgets = [0, 26 * 1024, MIB, 32 * MIB, 1024 * MIB].map((bytes) =>
      [limits, READING_LIMITS].map(({ cpuMs }) => Math.round(budgetOf(cpuMs, bytes) / 10) / 100),
    );
    expect(budgets).toEqual([
      [1, 1],
      [1, 1.06],
      [1.05, 3.25],
      [2.6, 11],
      [3, 259],
    ]);
  });

  test('of those who wait goes first whose turns are short', async () => {
    const room = new ReadingRoom({ folder });
    const begun: string[] = [];
    const turnOf = (tenant: string, ms: number) => {
      const file = { tenant, path: '', unpackedPath: '', bytes: 1, [Symbol.asyncDispose]: () => Promise.resolve() };
      return room.inTurn(file, async () => {
        begun.push(tenant);
        await sleep(ms);
      });
    };
    await turnOf('neighbour', 10);
    const hogs = Array.from({ length: 20 }, (_, index) => turnOf(`hog ${index % 10}`, 100));
    for (let turns = 0; turns < 3; turns += 1) await turnOf('neighbour', 10);
    await Promise.all(hogs);
    // Three find places at the start, and three at most begin between two turns of the neighbour.
    expect(begun.lastIndexOf('neighbour')).toBeLessThan(13);
  });

  test('what is wrong with the file itself is told at once', async () => {
    const room = new ReadingRoom({ folder });
    await using file = await room.receive('tenant', [Buffer.from(HEADER)], Infinity);
    const sizes: FileSize[] = [];
    const failing = room.inTurn(file, (size) => {
      sizes.push(size);
      return Promise.reject(new Error('no such column'));
    });
    await expect(failing).rejects.toThrow('no such column');
    expect(sizes).toEqual(['small']);
  });

  test('of all tenants, three small files and two large ones are read at a time', async () => {
    const room = new ReadingRoom({ folder });
    const gate = Promise.withResolvers<void>();
    const begun: FileSize[] = [];
    const works = Array.from({ length: 16 }, (_, index) => {
      const bytes = index % 2 === 0 ? 1 : 1024 * MIB;
      const file = {
        tenant: `tenant ${index}`,
        path: '',
        unpackedPath: '',
        bytes,
        [Symbol.asyncDispose]: () => Promise.resolve(),
      };
      return room.inTurn(file, (size) => {
        begun.push(size);
        return gate.promise;
      });
    });
    await sleep(0);
    expect(begun.toSorted()).toEqual(['large', 'large', 'small', 'small', 'small']);
    gate.resolve();
    await Promise.all(works);
  });

  test('two long blocks are stored at a time, and short ones at once', async () => {
    const room = new ReadingRoom({ folder });
    const gate = Promise.withResolvers<void>();
    const begun: string[] = [];
    const store = (name: string) => () => {
      begun.push(name);
      return gate.promise;
    };
    const long = Array.from({ length: 8 }, (_, index) => room.stored(`tenant ${index}`, 8 * MIB, store('long')));
    const short = room.stored('neighbour', 1024, store('short'));
    await sleep(0);
    expect(begun.toSorted()).toEqual(['long', 'long', 'short']);
    gate.resolve();
    await Promise.all([...long, short]);
  });
});

test('a gzipped Parquet file is unpacked as far as there is room on the disk', async () => {
  const own = join(folder, 'unpacked');
  let mostUnpacked = 0;
  const freeBytesOf = (place: string) => {
    for (const name of readdirSync(place))
      if (name.endsWith('.unpacked')) mostUnpacked = Math.max(mostUnpacked, statSync(join(place, name)).size);
    return Promise.resolve(164 * MIB);
  };
  const room = new ReadingRoom({ folder: own, reserveBytes: 4 * MIB, freeBytesOf });
  const packed = gzipSync(Buffer.concat([randomBytes(2 * MIB), Buffer.alloc(120 * MIB)]));
  await using file = await room.receive('tenant', [packed], Infinity);
  const frames = room.read(file, { ...ORDER, ...PARQUET });
  await expect(frames.next()).rejects.toMatchObject({ type: 'service_unavailable', problem: { code: 'disk_full' } });
  // A quarter of 160 MiB, less what was received.
  expect(mostUnpacked).toBeGreaterThan(8 * MIB);
  expect(mostUnpacked).toBeLessThan(40 * MIB);
  expect(existsSync(file.unpackedPath)).toBe(false);
  await room.close();
});

test('gzip that unfolds too far is refused while it unfolds', async () => {
  const bomb = gzipSync(HEADER + '\n'.repeat(64 * MIB));
  expect(bomb.length).toBeLessThan(100_000);
  expect((await read(bomb)).refusal).toMatchObject({
    type: 'validation_error',
    code: 'file_limit_exceeded',
    message: expect.stringContaining('unfolds'),
  });
});

test('a reader opens its file and its program, and no other', async () => {
  const secret = join(folder, 'secret.csv');
  await writeFile(secret, HEADER + ROW);
  const room = new ReadingRoom({ folder });
  await using file = await room.receive('tenant', [Buffer.from(HEADER)], Infinity);
  // The permission is for the file that was received; the order is changed to name another one on its way.
  const changed = { ...ORDER, toJSON: () => ({ ...ORDER, path: secret, unpackedPath: `${secret}.unpacked` }) };
  await expect(room.read(file, changed).next()).rejects.toThrow(/ERR_ACCESS_DENIED|permission/i);
  await room.close();
});

test('what killed processes left is removed, what others are reading stays', async () => {
  const own = join(folder, 'leftovers');
  for (const name of ['999999999-gone', `${process.ppid}-alive`]) {
    mkdirSync(join(own, name), { recursive: true });
    writeFileSync(join(own, name, '1'), 'rows');
  }
  const room = new ReadingRoom({ folder: own });
  await using file = await room.receive('tenant', [Buffer.from(ROW)], Infinity);
  expect(readdirSync(own).filter((name) => name.endsWith('gone'))).toEqual([]);
  expect(readdirSync(own)).toContain(`${process.ppid}-alive`);
  expect(existsSync(file.path)).toBe(true);
  await file[Symbol.asyncDispose]();
  expect(existsSync(file.path)).toBe(false);
  await room.close();
});

test('a body that breaks off leaves nothing', async () => {
  const own = join(folder, 'broken');
  const room = new ReadingRoom({ folder: own });
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(HEADER);
    throw new Error('gone');
  }
  await expect(room.receive('tenant', broken(), Infinity)).rejects.toThrow('gone');
  await expect(room.receive('tenant', [Buffer.alloc(100)], 50)).rejects.toMatchObject({ type: 'payload_too_large' });
  expect(readdirSync(own, { recursive: true }).filter((name) => /\/\d+$/.test(String(name)))).toEqual([]);
  await room.close();
});

test('a tenant has a hundred uploads under way at most, and its neighbours as many', () => {
  const room = new ReadingRoom({ folder });
  const leave = Array.from({ length: 100 }, () => room.enter('busy'));
  expect(() => room.enter('busy')).toThrow(
    expect.objectContaining({ type: 'rate_limit_exceeded', problem: expect.objectContaining({ code: 'concurrency' }) }),
  );
  room.enter('neighbour')();
  leave[0]!();
  room.enter('busy');
});
