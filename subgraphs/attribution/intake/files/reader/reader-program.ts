import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { FRAME, FRAME_HEAD_BYTES, type FrameKind, type RoomWanted, type SentOrder } from '../reading-messages.ts';
import { ratesIn } from './currency-rates.ts';
import { readRecords } from './read-records.ts';
import { RefusedFileError } from './refused-file.ts';

/**
 * The process that reads files. It holds no secret and no connection: orders come in on standard input, one a line, and
 * what each file holds goes out on standard output. Whoever started it watches what it takes, and ends it past a limit.
 */
const OUT = 1;
const FULL_PIPE_MS = 2;
const NEVER = new Int32Array(new SharedArrayBuffer(4));
const PROGRESS_BYTES = 4 * 1024 * 1024;

/** Waits until all of it has been taken: that is what keeps this process from running ahead of the store. */
function send(kind: FrameKind, parts: readonly Uint8Array[]): void {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUInt8(kind, 0);
  head.writeUInt32BE(
    parts.reduce((sum, part) => sum + part.length, 0),
    1,
  );
  for (const part of [head, ...parts]) {
    for (let written = 0; written < part.length;) written += sent(part, written);
  }
}

/** Something in the program may have made the pipe one that does not wait: then it is full now and then. */
function sent(part: Uint8Array, from: number): number {
  for (;;) {
    try {
      return writeSync(OUT, part, from);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(NEVER, 0, 0, FULL_PIPE_MS);
    }
  }
}

const json = (value: unknown): Uint8Array => Buffer.from(`${JSON.stringify(value)}\n`);

// Errors are many in a hostile file, and nobody reads where they were made.
Error.stackTraceLimit = 0;
const lines = createInterface({ input: process.stdin, crlfDelay: Infinity })[Symbol.asyncIterator]();
for (let line = await lines.next(); line.done !== true; line = await lines.next())
  await answer(JSON.parse(line.value) as SentOrder);

async function answer(sentOrder: SentOrder): Promise<void> {
  let told = 0;
  const order = { ...sentOrder, rates: ratesIn(sentOrder.rates) };
  try {
    const finding = await readRecords(order, {
      progress(bytes) {
        if (bytes - told < PROGRESS_BYTES) return;
        told = bytes;
        send(FRAME.progress, [json({ bytes })]);
      },
      async room(bytes) {
        send(FRAME.room, [json({ bytes } satisfies RoomWanted)]);
        if ((await lines.next()).done === true) throw new Error('nobody gives room any more');
      },
      block: (head, parts) => send(FRAME.block, [json(head), ...parts]),
    });
    send(FRAME.finding, [json(finding)]);
  } catch (error) {
    if (!(error instanceof RefusedFileError)) throw error;
    send(FRAME.refusal, [json(error.refusal)]);
  }
}
