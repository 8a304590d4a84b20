import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { XLSX } from '../../../../../subgraphs/attribution/intake/files/reader/source-file.ts';
import {
  FRAME,
  NO_WISHES,
  type ReadingFinding,
  type Refusal,
} from '../../../../../subgraphs/attribution/intake/files/reading-messages.ts';
import {
  ReadingRoom,
  type ReadingInstructions,
} from '../../../../../subgraphs/attribution/intake/files/reading-room.ts';
import { packedWorkbook, workbook } from './workbook-files.ts';

const ORDER: ReadingInstructions = {
  ...NO_WISHES,
  mediaType: XLSX,
  contentEncoding: 'identity',
  delimiter: 'auto',
  usualMapping: {},
  remembered: {},
  isDryRun: false,
  currency: null,
  rates: {},
  earliestMs: Date.parse('2000-01-01'),
  latestMs: Date.parse('2026-11-27'),
  maxBytes: 2 ** 30,
};
const HEAD = ['user_id', 'timestamp', 'channel'];
const ROW = ['u1', '2026-09-01 10:00:00', 'email'];
const SMALL = workbook({ rows: [HEAD, ROW] });
const PACKED = packedWorkbook({ rows: [HEAD, ROW] });
/** Far more than reading one takes, far less than a stuck reader has. */
const SOON_MS = 20_000;

describe('workbooks of strangers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'workbooks-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** What is said of a workbook by the process that reads it. */
  async function said(content: Buffer): Promise<ReadingFinding | Refusal> {
    const room = new ReadingRoom({ folder });
    try {
      await using file = await room.receive('tenant', [content], Infinity);
      for await (const { kind, content: frame } of room.read(file, ORDER)) {
        if (kind === FRAME.finding || kind === FRAME.refusal)
          return JSON.parse(frame.toString()) as ReadingFinding | Refusal;
      }
      throw new Error('nothing was said');
    } finally {
      await room.close();
    }
  }

  test('are read as their directory has them', async () => {
    expect(await said(SMALL)).toMatchObject({ accepted: 1, rejected: 0 });
    expect(await said(packedWorkbook({ rows: [HEAD, ROW] }))).toMatchObject({ accepted: 1, rejected: 0 });
  });

  test.each([
    ['a workbook twice', Buffer.concat([SMALL, SMALL])],
    ['the head of a file behind its end', Buffer.concat([SMALL, SMALL.subarray(0, 40)])],
    ['files longer than the archive', withDirectory((directory, at) => directory.writeUInt32LE(0x7fffffff, at + 20))],
    ['more files than there are', withEnd((end, at) => end.writeUInt16LE(9_999, at + 8))],
  ])('are read all the same: %s', async (_how, content) => {
    const startedMs = performance.now();
    expect(await said(content)).toMatchObject({ accepted: 1 });
    expect(performance.now() - startedMs).toBeLessThan(SOON_MS);
  });

  test.each([
    ['one without its end', SMALL.subarray(0, -30)],
    ['half of one', SMALL.subarray(0, SMALL.length / 2)],
    ['an end alone', SMALL.subarray(-22)],
    ['nothing', Buffer.alloc(0)],
    ['files that begin beyond the end', withDirectory((directory, at) => directory.writeUInt32LE(0x7fffffff, at + 42))],
    [
      'files that unfold to more than is said',
      withDirectory((directory, at) => directory.writeUInt32LE(9, at + 24), PACKED),
    ],
    ['a directory of another kind', withEnd((end, at) => end.writeUInt32LE(0xffffffff, at + 16))],
  ])('are refused at once: %s', async (_how, content) => {
    const startedMs = performance.now();
    expect(await said(content)).toMatchObject({ code: 'unreadable_workbook' });
    expect(performance.now() - startedMs).toBeLessThan(SOON_MS);
  });

  test('are refused where they unfold too far, before there is memory for it', async () => {
    const bomb = packedWorkbook({ rows: [HEAD, ROW], more: { 'xl/styles.xml': ' '.repeat(60_000_000) } });
    expect(await said(bomb)).toMatchObject({
      code: 'file_limit_exceeded',
      message: expect.stringContaining('unfolds too far'),
    });
  });

  test('what is nothing to read is not unpacked', async () => {
    const bomb = packedWorkbook({ rows: [HEAD, ROW], more: { 'xl/media/picture.bin': ' '.repeat(60_000_000) } });
    expect(await said(bomb)).toMatchObject({ accepted: 1 });
  });

  test('of many rows fill the pipe to the service, which is waited for', async () => {
    const rows = Array.from({ length: 30_000 }, (_, row) => [`user ${row} ${'x'.repeat(20)}`, ...ROW.slice(1)]);
    expect(await said(packedWorkbook({ rows: [HEAD, ...rows] }))).toMatchObject({ accepted: 30_000 });
  });
});

/** The small workbook with something else in the first entry of its directory. */
function withDirectory(change: (archive: Buffer, at: number) => void, of: Buffer = SMALL): Buffer {
  const archive = Buffer.from(of);
  change(archive, archive.readUInt32LE(archive.length - 6));
  return archive;
}

/** The small workbook with something else in its last record. */
function withEnd(change: (archive: Buffer, at: number) => void): Buffer {
  const archive = Buffer.from(SMALL);
  change(archive, archive.length - 22);
  return archive;
}
