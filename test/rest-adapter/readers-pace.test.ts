import { setTimeout as sleep } from 'node:timers/promises';
import { atReadersPace } from '../../rest-adapter/readers-pace.ts';

const CHUNK = Buffer.alloc(1_000);
/** A thousand bytes take a tenth of a second. */
const PACE = { bytesPerS: 10_000, patienceMs: 400, longestMs: 60_000 };
/** For those who are not to be cut, on a busy machine either. */
const PATIENT = { ...PACE, patienceMs: 2_000 };

/** How a reader fares who takes so long for each chunk, while each takes so long to come. */
async function read(
  { chunks, readerMs, sourceMs = 0 }: { chunks: number; readerMs: number; sourceMs?: number },
  pace = PACE,
) {
  let isClosed = false;
  let taken = 0;
  const cut = new AbortController();
  async function* source(): AsyncGenerator<Buffer> {
    try {
      for (let chunk = 0; chunk < chunks; chunk += 1) {
        await sleep(sourceMs);
        yield CHUNK;
      }
    } finally {
      isClosed = true;
    }
  }
  for await (const chunk of atReadersPace(source(), () => cut.abort(), pace)) {
    taken += chunk.length;
    await sleep(readerMs, undefined, { signal: cut.signal }).catch(() => undefined);
    if (cut.signal.aborted) break;
  }
  return { isCut: cut.signal.aborted, taken, isClosed };
}

test('a reader who stands still is cut when his patience is over, and the source is closed', async () => {
  const startedMs = performance.now();
  expect(await read({ chunks: 100, readerMs: 60_000 })).toEqual({ isCut: true, taken: 1_000, isClosed: true });
  expect(performance.now() - startedMs).toBeLessThan(5_000);
});

test('a reader who never stands still but is slower than the pace is cut, too', async () => {
  const { isCut, taken } = await read({ chunks: 100, readerMs: 300 });
  expect(isCut).toBe(true);
  expect(taken).toBeLessThan(5_000);
});

test('a reader who keeps the pace is not cut, whatever the source takes', async () => {
  const quick = { isCut: false, taken: 30_000, isClosed: true };
  expect(await read({ chunks: 30, readerMs: 80 }, PATIENT)).toEqual(quick);
  const waiting = { isCut: false, taken: 3_000, isClosed: true };
  expect(await read({ chunks: 3, readerMs: 10, sourceMs: 800 }, PATIENT)).toEqual(waiting);
});

test('a pause behind a quick beginning is forgiven', async () => {
  const cut = new AbortController();
  let taken = 0;
  async function* source(): AsyncGenerator<Buffer> {
    for (let chunk = 0; chunk < 20; chunk += 1) yield CHUNK;
  }
  for await (const chunk of atReadersPace(source(), () => cut.abort(), PATIENT)) {
    taken += chunk.length;
    if (taken === 10_000) await sleep(1_000);
  }
  expect([cut.signal.aborted, taken]).toEqual([false, 20_000]);
});

test('a reader who keeps the pace is cut when the longest time is over, and not before', async () => {
  const keeping = { chunks: 100, readerMs: 20 };
  expect(await read(keeping, { ...PATIENT, longestMs: 500 })).toMatchObject({ isCut: true, isClosed: true });
  expect(await read(keeping, PATIENT)).toEqual({ isCut: false, taken: 100_000, isClosed: true });
});
