import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ProblemError } from '../../../../schema/problems.ts';
import { usageOf, type ProcessUsage } from './process-usage.ts';
import { limitExceeded, type Refusal } from './reader/refused-file.ts';
import { budgetOf, type PassedLimit, type ReadingLimits } from './reading-limits.ts';
import {
  FRAME,
  FRAME_HEAD_BYTES,
  MAX_FRAME_BYTES,
  type FrameKind,
  type ReadingProgress,
  type RoomWanted,
  type SentOrder,
} from './reading-messages.ts';

/** Beside this file under its own extension: TypeScript in the checkout, JavaScript in a build. */
const PROGRAM = fileURLToPath(
  new URL(`./reader/reader-program${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`, import.meta.url),
);
/** The reader reads its own program and the packages it needs, and nothing else of the machine but its files. */
const CODE = [
  '.',
  '../../../../schema/origins',
  '../../../../package.json',
  '../../../../node_modules',
  '../../../../../node_modules',
].map((path) => fileURLToPath(new URL(path, import.meta.url)));
const WATCH_MS = 100;
const KEPT_OUTPUT = 2_000;
/** Of its memory, what a reader needs beside its heap: its window of the file, a page, a block. */
const BUFFER_BYTES = 48 * 1024 * 1024;

/** Processor time that the system lets a reader have, at the least: enough for many small files. */
const MIN_CPU_MS = 120_000;
/** A reader that has grown over this is not used again. */
const REUSE_BYTES = 64 * 1024 * 1024;

/** One part of what a reader says. */
export interface Frame {
  readonly kind: FrameKind;
  readonly content: Buffer;
}

export interface ReaderOptions {
  /** The one folder of files that it may open, and may unpack to. */
  readonly folder: string;
  /** A file elsewhere that it may open too. */
  readonly alsoReads: string | undefined;
  readonly limits: ReadingLimits;
  /** Where readers keep their compiled program, so that the next one starts in a third of the time. */
  readonly cacheFolder: string;
  /** The most that its first file may take, milliseconds of processor time. */
  readonly cpuMs: number;
  /** How far it stands back for other processes, as nice(1) has it. */
  readonly niceness: number;
}

/**
 * A process that reads files, one after the other, all of one tenant. Its environment is empty, it may open its own
 * program and those files only, and it is ended when one takes more than the limits allow, or when whoever asked gives
 * up.
 */
export class ReaderProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #limits: ReadingLimits;
  readonly #frames: AsyncIterator<Frame>;
  readonly #exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  #output = '';
  #ended = false;
  #isGivenUp = false;
  /** Of the file under way. */
  #reading: Reading | undefined;
  /** What the system still lets it have. */
  #cpuLeftMs: number;
  #cpuMs = 0;
  #ownBytes = 0;

  constructor(options: ReaderOptions) {
    this.#limits = options.limits;
    this.#cpuLeftMs = Math.max(MIN_CPU_MS, options.cpuMs);
    this.#child = spawnReader(options, this.#cpuLeftMs);
    this.#frames = framesOf(this.#child.stdout)[Symbol.asyncIterator]();
    this.#exited = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => resolve({ code, signal }));
      this.#child.once('error', (error) => {
        this.#output += error.message;
        resolve({ code: null, signal: null });
      });
    });
    void this.#exited.then(() => (this.#ended = true));
    // A process that died on its way has closed the pipe; its end tells.
    this.#child.stdin.on('error', () => undefined);
    this.#child.stderr.on(
      'data',
      (chunk: Buffer) => (this.#output = (this.#output + chunk.toString()).slice(-KEPT_OUTPUT)),
    );
    void this.#watch();
  }

  /** Whether it can be given a file that may take so much. */
  mayRead(cpuMs: number): boolean {
    return !this.#ended && !this.#isGivenUp && this.#ownBytes < REUSE_BYTES && this.#cpuLeftMs - this.#cpuMs > cpuMs;
  }

  /**
   * Has a file read: what the reader says of it, in order. While the caller is busy with a frame the reader waits, and
   * its clock stands still. A caller who stops listening, or an error, ends the process.
   * @param room waits until the reader may have unpacked so many bytes in all; throws when it may not
   * @throws ProblemError `validation_error` (`file_limit_exceeded`) when it was ended past a limit
   */
  async *read(
    order: SentOrder,
    fileBytes: number,
    room: (bytes: number) => Promise<void>,
  ): AsyncGenerator<Frame, void, undefined> {
    const reading = (this.#reading = new Reading(fileBytes, this.#cpuMs));
    let isDone = false;
    try {
      this.#say(order);
      while (!isDone) {
        reading.waiting.start();
        const step = await this.#frames.next();
        reading.waiting.stop();
        if (step.done === true) throw await this.#failure(reading);
        const { kind, content } = step.value;
        if (kind === FRAME.room) {
          const wanted = JSON.parse(content.toString()) as RoomWanted;
          await room(wanted.bytes);
          reading.bytes = Math.max(reading.bytes, wanted.bytes);
          this.#say({});
          continue;
        }
        if (kind === FRAME.progress)
          reading.bytes = Math.max(reading.bytes, (JSON.parse(content.toString()) as ReadingProgress).bytes);
        isDone = kind === FRAME.finding || kind === FRAME.refusal;
        // Whoever has heard the last word may not come back for another.
        if (isDone) this.#reading = undefined;
        yield step.value;
      }
    } finally {
      if (this.#reading !== undefined) this.end();
    }
  }

  #say(message: object): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** What it has taken so far, milliseconds of processor time. */
  async cpuMs(): Promise<number> {
    const { pid } = this.#child;
    const usage = this.#ended || pid === undefined ? null : await usageOf(pid);
    return (this.#cpuMs = Math.max(this.#cpuMs, usage?.cpuMs ?? 0));
  }

  /** Whatever it is doing. */
  end(): void {
    this.#isGivenUp = true;
    this.#child.kill('SIGKILL');
  }

  async #failure(reading: Reading): Promise<Error> {
    const { code, signal } = await this.#exited;
    const { bytes, passed } = reading;
    const limitPassed = ({ name, limit, allowed }: Excess): ProblemError =>
      refusalProblem(limitExceeded(limit, allowed, { name, limits: this.#limits, bytes }).refusal);
    if (passed !== undefined) return limitPassed(passed);
    if (this.#child.pid === undefined) return noProcess(this.#output);
    if (this.#isGivenUp) return new Error('the reader of a file was ended before its last row');
    // Limits that the system keeps, or the engine of the process itself (its heap).
    if (signal === 'SIGXCPU' || signal === 'SIGKILL') {
      const allowed = `${Math.round(this.#cpuLeftMs / 1000)} s, ${memoryLimit(this.#limits).allowed}`;
      const limit = 'reading it takes more time or memory than the system gives';
      return limitPassed({ name: 'memoryBytes', limit, allowed });
    }
    if (signal === 'SIGABRT' || signal === 'SIGTRAP' || /out of memory|allocation failed/i.test(this.#output))
      return limitPassed(memoryLimit(this.#limits));
    return new Error(`the reader of a file ended with ${signal ?? code}: ${this.#output.trim()}`);
  }

  async #watch(): Promise<void> {
    const { pid } = this.#child;
    if (pid === undefined) return;
    while (!this.#ended) {
      const usage = await usageOf(pid);
      // A look that failed, for want of a file handle perhaps, is no reason not to look again.
      if (usage !== null) {
        this.#cpuMs = usage.cpuMs;
        this.#ownBytes = usage.ownBytes;
      }
      const passed = usage === null ? undefined : this.#reading?.limitPassed(usage, this.#limits);
      if (passed !== undefined) {
        this.#reading!.passed ??= passed;
        this.end();
      }
      await sleep(WATCH_MS, undefined, { ref: false });
    }
  }
}

interface Excess {
  readonly name: keyof ReadingLimits;
  /** In words. */
  readonly limit: string;
  readonly allowed: string;
}

/** What one file has taken so far. */
class Reading {
  /** Of its content, or of the file while that is more: what reading it may take grows with it. */
  bytes: number;
  passed: Excess | undefined;
  /** Runs while others wait for the reader. */
  readonly waiting = new Stopwatch();
  readonly #cpuBeforeMs: number;
  /** When it was last seen to do something. */
  #busy = { cpuMs: 0, waitedMs: 0 };

  constructor(fileBytes: number, cpuBeforeMs: number) {
    this.bytes = fileBytes;
    this.#cpuBeforeMs = cpuBeforeMs;
  }

  limitPassed({ cpuMs, ownBytes }: ProcessUsage, limits: ReadingLimits): Excess | undefined {
    const [allowedCpuMs, allowedWaitMs] = [budgetOf(limits.cpuMs, this.bytes), budgetOf(limits.waitMs, this.bytes)];
    if (cpuMs !== this.#busy.cpuMs) this.#busy = { cpuMs, waitedMs: this.waiting.elapsedMs };
    if (ownBytes > limits.memoryBytes) return memoryLimit(limits);
    if (cpuMs - this.#cpuBeforeMs > allowedCpuMs)
      return { name: 'cpuMs', limit: 'reading it takes too much processor time', allowed: secondsText(allowedCpuMs) };
    if (this.waiting.elapsedMs > allowedWaitMs)
      return { name: 'waitMs', limit: 'reading it takes too long', allowed: secondsText(allowedWaitMs) };
    if (this.waiting.elapsedMs - this.#busy.waitedMs > limits.idleMs)
      return { name: 'idleMs', limit: 'reading it comes to a stop', allowed: secondsText(limits.idleMs) };
    return undefined;
  }
}

const secondsText = (ms: number): string => `${Math.round(ms / 100) / 10} s`;

const memoryLimit = ({ memoryBytes }: ReadingLimits): Excess => ({
  name: 'memoryBytes',
  limit: 'reading it takes too much memory',
  allowed: `${Math.round(memoryBytes / 1024 ** 2)} MiB`,
});

/** A file took more than it may. */
export class PassedLimitError extends ProblemError {
  readonly passed: PassedLimit;

  constructor({ type, message, ...options }: Omit<Refusal, 'passed'>, passed: PassedLimit) {
    super(type, message, options);
    this.passed = passed;
  }
}

/** What a reader says of a file, as the service throws it. */
export const refusalProblem = ({ passed, ...refusal }: Refusal): ProblemError => {
  const { type, message, ...options } = refusal;
  return passed === undefined ? new ProblemError(type, message, options) : new PassedLimitError(refusal, passed);
};

/** The machine has no room for one more process. */
const noProcess = (cause: string): ProblemError =>
  new ProblemError('service_unavailable', 'The service cannot read files at the moment. Try again in a few seconds.', {
    retryAfterS: 2,
    cause,
  });

/** `ulimit` holds also when nobody watches any more: a reader that is stuck ends although the service has gone. */
function spawnReader(
  { folder, alsoReads, limits, cacheFolder, niceness }: ReaderOptions,
  cpuMs: number,
): ChildProcessByStdio<Writable, Readable, Readable> {
  const mayRead = [...CODE, folder, cacheFolder, ...(alsoReads === undefined ? [] : [alsoReads])].map(
    (path) => `--allow-fs-read=${path}`,
  );
  const mayWrite = [folder, cacheFolder].map((path) => `--allow-fs-write=${path}`);
  const heapBytes = Math.max(limits.memoryBytes / 2, limits.memoryBytes - BUFFER_BYTES);
  const heap = [
    `--max-old-space-size=${Math.round(heapBytes / 1024 ** 2)}`,
    '--max-semi-space-size=2',
    '--v8-pool-size=1',
  ];
  const node = [
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    '--permission',
    ...mayRead,
    ...mayWrite,
    ...heap,
    PROGRAM,
  ];
  return spawn('/bin/sh', ['-c', `ulimit -t ${Math.ceil(cpuMs / 1000)}; exec nice -n ${niceness} "$0" "$@"`, ...node], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { NODE_COMPILE_CACHE: cacheFolder },
  });
}

/** Splits a stream into frames. @throws Error for what no reader of ours says */
async function* framesOf(stream: Readable): AsyncGenerator<Frame> {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  let content: Buffer | undefined;
  let filled = 0;
  for await (let piece of stream as AsyncIterable<Buffer>) {
    while (piece.length > 0) {
      const target = content ?? head;
      const taken = Math.min(piece.length, target.length - filled);
      piece.copy(target, filled, 0, taken);
      filled += taken;
      piece = piece.subarray(taken);
      if (filled < target.length) continue;
      filled = 0;
      if (content === undefined) content = contentOf(head);
      else {
        yield { kind: head.readUInt8(0) as FrameKind, content };
        content = undefined;
      }
    }
  }
}

function contentOf(head: Buffer): Buffer {
  const length = head.readUInt32BE(1);
  if (length === 0 || length > MAX_FRAME_BYTES) throw new Error('a reader said something that no reader says');
  return Buffer.allocUnsafe(length);
}

/** Time while it runs, in milliseconds. */
class Stopwatch {
  #beforeMs = 0;
  #startedMs: number | undefined;

  get elapsedMs(): number {
    return this.#beforeMs + (this.#startedMs === undefined ? 0 : performance.now() - this.#startedMs);
  }

  start(): void {
    this.#startedMs = performance.now();
  }

  stop(): void {
    this.#beforeMs = this.elapsedMs;
    this.#startedMs = undefined;
  }
}
