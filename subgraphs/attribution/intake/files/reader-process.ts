import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { setPriority } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ProblemError } from '../../../../schema/problems.ts';
import { usageOf } from './process-usage.ts';
import { budgetOf, type ReadingLimits } from './reading-limits.ts';
import { FRAME_HEAD_BYTES, MAX_FRAME_BYTES, type FrameKind, type ReadingOrder } from './reading-messages.ts';

/** Beside this file under its own extension: TypeScript in the checkout, JavaScript in a build. */
const PROGRAM = fileURLToPath(new URL(`./reader/reader-program${import.meta.url.slice(import.meta.url.lastIndexOf('.'))}`, import.meta.url));
/** The reader reads its own program and the packages it needs, and nothing else of the machine but its file. */
const CODE_FOLDERS = ['../../../../schema', '../../../../subgraphs', '../../../../platform', '../../../../package.json', '../../../../node_modules', '../../../../../node_modules'].map((path) => fileURLToPath(new URL(path, import.meta.url)));
const WATCH_MS = 100;
/** Behind whoever answers requests. */
const NICENESS = 10;
const KEPT_OUTPUT = 2_000;

/** One part of what a reader says. */
export interface Frame {
  readonly kind: FrameKind;
  readonly content: Buffer;
}

/**
 * A process that reads one file. Its environment is empty, it may open its own program and that file only, and it is
 * ended when it takes more than the limits allow, or when whoever asked gives up.
 */
export class ReaderProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #order: ReadingOrder;
  readonly #exited: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  readonly #waiting = new Stopwatch();
  #output = '';
  #ended = false;
  /** The limit that was passed, in words. */
  #passed: { readonly limit: string; readonly allowed: string } | undefined;
  #bytesRead: number;

  private constructor(order: ReadingOrder, fileBytes: number, cacheFolder: string) {
    this.#order = order;
    this.#bytesRead = fileBytes;
    this.#child = spawnReader(order, cacheFolder);
    this.#exited = new Promise((resolve) => {
      this.#child.once('exit', (code, signal) => resolve({ code, signal }));
      this.#child.once('error', () => resolve({ code: null, signal: null }));
    });
    void this.#exited.then(() => (this.#ended = true));
    // A process that died on its way has closed the pipe; its end tells.
    this.#child.stdin.on('error', () => undefined);
    this.#child.stderr.on('data', (chunk: Buffer) => (this.#output = (this.#output + chunk.toString()).slice(-KEPT_OUTPUT)));
    this.#child.stdin.end(JSON.stringify(order));
    void this.#watch();
  }

  /**
   * @param fileBytes size of the file; what reading it may take grows with it
   * @param cacheFolder where readers keep their compiled program, so that the next one starts in a third of the time
   */
  static start(order: ReadingOrder, fileBytes: number, cacheFolder: string): ReaderProcess {
    return new ReaderProcess(order, fileBytes, cacheFolder);
  }

  /** The limits are per mebibyte of content: a reader that gets on may take more. */
  hasRead(bytes: number): void {
    this.#bytesRead = Math.max(this.#bytesRead, bytes);
  }

  /**
   * What the reader says, in order. While the caller is busy with a frame the reader waits, and its clock stands still.
   * @throws ProblemError `validation_error` (`file_limit_exceeded`) when it was ended past a limit
   */
  async *frames(): AsyncGenerator<Frame> {
    const frames = framesOf(this.#child.stdout)[Symbol.asyncIterator]();
    try {
      for (;;) {
        this.#waiting.start();
        const step = await frames.next();
        this.#waiting.stop();
        if (step.done === true) break;
        yield step.value;
      }
      await this.#assertEnded();
    } finally {
      this.end();
      await this.#exited;
    }
  }

  end(): void {
    this.#child.kill('SIGKILL');
  }

  async #assertEnded(): Promise<void> {
    const { code, signal } = await this.#exited;
    if (this.#passed !== undefined) throw limitPassed(this.#passed);
    if (code === 0) return;
    // Limits that the system keeps (processor time), or the engine of the process itself (its heap).
    if (signal === 'SIGXCPU' || signal === 'SIGKILL') throw limitPassed({ limit: 'it takes too long to read', allowed: 'its size' });
    if (signal === 'SIGABRT' || signal === 'SIGTRAP' || /out of memory|allocation failed/i.test(this.#output)) throw limitPassed(memoryLimit(this.#order.limits));
    throw new Error(`the reader of a file ended with ${signal ?? code}: ${this.#output.trim()}`);
  }

  async #watch(): Promise<void> {
    const { pid } = this.#child;
    const { limits } = this.#order;
    while (!this.#ended && pid !== undefined) {
      const usage = await usageOf(pid);
      if (usage === null || this.#ended) return;
      const cpuMs = budgetOf(limits.cpuMs, this.#bytesRead);
      const waitMs = budgetOf(limits.waitMs, this.#bytesRead);
      if (usage.residentBytes > limits.memoryBytes) this.#pass(memoryLimit(limits));
      else if (usage.cpuMs > cpuMs) this.#pass({ limit: 'reading it takes too much processor time', allowed: `${Math.round(cpuMs / 1000)} s` });
      else if (this.#waiting.elapsedMs > waitMs) this.#pass({ limit: 'reading it takes too long', allowed: `${Math.round(waitMs / 1000)} s` });
      await sleep(WATCH_MS);
    }
  }

  #pass(passed: { readonly limit: string; readonly allowed: string }): void {
    this.#passed ??= passed;
    this.end();
  }
}

const memoryLimit = ({ memoryBytes }: ReadingLimits) => ({ limit: 'reading it takes too much memory', allowed: `${Math.round(memoryBytes / 1024 ** 2)} MiB` });

function limitPassed({ limit, allowed }: { readonly limit: string; readonly allowed: string }): ProblemError {
  const detail = { param: '/content', code: 'file_limit_exceeded', message: `${limit}: ${allowed} allowed` };
  return new ProblemError('validation_error', `The file exceeds a limit of reading: ${limit} (${allowed} allowed). Split it, or write it in a plainer form.`, { code: detail.code, param: detail.param, errors: [detail] });
}

/** `ulimit` holds also when nobody watches any more: a reader that is stuck ends although the service has gone. */
function spawnReader(order: ReadingOrder, cacheFolder: string): ChildProcessByStdio<Writable, Readable, Readable> {
  const heapMib = Math.round((order.limits.memoryBytes * 3) / 4 / 1024 ** 2);
  const mayRead = [...CODE_FOLDERS, order.path, order.unpackedPath, cacheFolder].map((path) => `--allow-fs-read=${path}`);
  const mayWrite = [order.unpackedPath, cacheFolder].map((path) => `--allow-fs-write=${path}`);
  const cpuMs = budgetOf(order.limits.cpuMs, order.maxBytes);
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', '--permission', ...mayRead, ...mayWrite, `--max-old-space-size=${heapMib}`, '--max-semi-space-size=16', PROGRAM];
  const child = spawn('/bin/sh', ['-c', `ulimit -t ${Math.ceil(cpuMs / 1000)}; exec "$0" "$@"`, ...node], { stdio: ['pipe', 'pipe', 'pipe'], env: { NODE_COMPILE_CACHE: cacheFolder } });
  if (child.pid !== undefined) setPriority(child.pid, NICENESS);
  return child;
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
