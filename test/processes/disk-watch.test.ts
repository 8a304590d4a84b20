import { mkdtempSync, rmSync } from 'node:fs';
import { statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import * as fc from 'fast-check';
import { pino, type Logger } from 'pino';
import { DiskFullError, DiskWatch } from '../../processes/disk-watch.ts';
import { ProblemError } from '../../schema/problems.ts';

const MEBIBYTE = 1024 ** 2;
const silent = pino({ level: 'silent' });
const NEARLY_FULL = new RegExp(
  String.raw`^the disk of /srv/data is nearly full: 300 MiB are free and 512 MiB are kept in reserve\. ` +
    '.*503.*LIFTGRAPH_DATA_DIR.*DISK_RESERVE_BYTES',
);
const FULL = new RegExp(
  '^the disk of /srv/data is full: 3 MiB are free, and the stores need up to 128 MiB to start' +
    String.raw`\. Make room .*LIFTGRAPH_DATA_DIR.*\(ENOSPC: .*\)$`,
);

function remembering(): {
  readonly logger: Logger;
  readonly lines: () => { readonly level: number; readonly msg: string }[];
} {
  const written: string[] = [];
  return {
    logger: pino(
      { level: 'info' },
      new Writable({ write: (line, _encoding, done) => (written.push(String(line)), done()) }),
    ),
    lines: () => written.map((line) => JSON.parse(line) as never),
  };
}

/** Whether something is refused now. */
function refuses(disk: DiskWatch): boolean {
  try {
    disk.refuseWithoutRoom();
    return false;
  } catch (error) {
    expect(error).toBeInstanceOf(ProblemError);
    expect((error as ProblemError).problem).toMatchObject({
      type: 'service_unavailable',
      status: 503,
      code: 'disk_nearly_full',
      retryAfterS: 30,
    });
    expect((error as ProblemError).message).toMatch(/^The disk is nearly full/);
    return true;
  }
}

describe('a disk', () => {
  test('is nearly full below the reserve, and has room again above 5/4 of it, whatever lies between', async () => {
    const reserveBytes = 400 * MEBIBYTE;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 700 }), { minLength: 1, maxLength: 20 }), async (course) => {
        let free = 0;
        const disk = new DiskWatch({
          folders: ['/data'],
          reserveBytes,
          logger: silent,
          freeBytesOf: async () => free * MEBIBYTE,
        });
        let expected = false;
        for (free of course) {
          await disk.look();
          expected = free < (expected ? 500 : 400);
          expect([refuses(disk), disk.isNearlyFull, disk.check().status]).toEqual([
            expected,
            expected,
            expected ? 'degraded' : 'ok',
          ]);
          expect(disk.check().refusesWork).toBe(expected ? true : undefined);
        }
      }),
    );
  });

  test('that fills while it is watched: the log names it, what is free, what is kept, what to do, once', async () => {
    const { logger, lines } = remembering();
    let free = 900;
    const disk = new DiskWatch({
      folders: ['/srv/data'],
      reserveBytes: 512 * MEBIBYTE,
      logger,
      freeBytesOf: async () => free * MEBIBYTE,
    });
    disk.start();
    free = 300.7;
    for (const deadlineMs = performance.now() + 20_000; !disk.isNearlyFull && performance.now() < deadlineMs;)
      await sleep(50);
    expect(refuses(disk)).toBe(true);
    await disk.look();
    free = 650;
    for (const deadlineMs = performance.now() + 20_000; disk.isNearlyFull && performance.now() < deadlineMs;)
      await sleep(50);
    expect(refuses(disk)).toBe(false);
    await disk.stop();
    expect(lines().map(({ level, msg }) => [level, msg])).toEqual([
      [50, expect.stringMatching(NEARLY_FULL)],
      [30, expect.stringContaining('has room again')],
    ]);
  });

  test('is as full as the fullest of several', async () => {
    const freeBytes: Record<string, number> = { '/data': 900 * MEBIBYTE, '/elsewhere': 900 * MEBIBYTE };
    const disk = new DiskWatch({
      folders: ['/data'],
      reserveBytes: 512 * MEBIBYTE,
      logger: silent,
      freeBytesOf: async (folder) => freeBytes[folder]!,
    });
    disk.start(['/elsewhere']);
    freeBytes['/elsewhere'] = MEBIBYTE;
    await disk.look();
    expect(refuses(disk)).toBe(true);
    await disk.stop();
  });

  test('is asked of the system, also for a folder that is yet to be made', async () => {
    const folder = join(tmpdir(), 'not', 'made', 'yet');
    const { bavail, bsize } = await statfs(tmpdir());
    const watch = (reserveBytes: number) => new DiskWatch({ folders: [folder], reserveBytes, logger: silent });
    const [roomy, full] = [watch(1), watch(bavail * bsize * 2)];
    await Promise.all([roomy.look(), full.look()]);
    expect([refuses(roomy), refuses(full)]).toEqual([false, true]);
  });

  test('that cannot be asked about refuses nothing, and is complained of once', async () => {
    const { logger, lines } = remembering();
    const disk = new DiskWatch({
      folders: ['/data'],
      reserveBytes: 1,
      logger,
      freeBytesOf: () => Promise.reject(new Error('EIO')),
    });
    await disk.look();
    await disk.look();
    expect(refuses(disk)).toBe(false);
    expect(lines()).toHaveLength(1);
  });
});

describe('a start that failed', () => {
  const watch = (freeBytes: number) =>
    new DiskWatch({ folders: ['/srv/data'], reserveBytes: 0, logger: silent, freeBytesOf: async () => freeBytes });

  test('on a full disk names the disk, what is free, what is needed and what to do', async () => {
    // A device of Linux that is always full.
    const error = await writeFile('/dev/full', 'x').catch((thrown: unknown) => thrown);
    const explained = await watch(3 * MEBIBYTE).explained(error);
    expect(explained).toBeInstanceOf(DiskFullError);
    expect((explained as Error).message).toMatch(FULL);
    // Explained once, however often it passes.
    expect(await watch(0).explained(explained)).toBe(explained);
  });

  test('of a store that does not say what it lacked', async () => {
    const error = new Error('PostgreSQL ended while starting: FATAL:  could not write\nat line 2');
    expect(String(await watch(3 * MEBIBYTE).explained(error, true))).toMatch(
      /the disk of \/srv\/data is full.*\(PostgreSQL ended while starting: FATAL: {2}could not write\)$/,
    );
    expect(await watch(1000 * MEBIBYTE).explained(error, true)).toBe(error);
  });

  test('for another reason keeps that', async () => {
    const error = new Error('port 4000 is taken');
    expect(await watch(0).explained(error)).toBe(error);
    const folder = mkdtempSync(join(tmpdir(), 'disk-'));
    expect(await new DiskWatch({ folders: [], reserveBytes: 1, logger: silent }).explained(error, true)).toBe(error);
    rmSync(folder, { recursive: true });
  });
});
