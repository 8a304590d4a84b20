import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectSource } from '../analyses.ts';
import { Caller } from '../../house.ts';
import { hostileCase, shapesOf, type HostileCase } from './cases.ts';
import { faultOf, sendCase, type Sender } from './judgement.ts';
import type { Format } from './shapes.ts';

export interface RunOptions {
  readonly seed: number;
  /** Of each format; its shapes come first, and come although they are more. */
  readonly cases: number;
  /** Of the shapes of a format, one in so many is sent. */
  readonly everyShape: number;
  readonly formats: readonly Format[];
  /** Only the case with this number. */
  readonly only?: number | undefined;
}

export interface RunReport {
  /** What was wrong, with the case that it was wrong for and where its file lies now. */
  readonly faults: readonly string[];
  /** How many were answered with each status, by format. */
  readonly statuses: Readonly<Record<string, Readonly<Record<number, number>>>>;
  /** The cases that took longest. */
  readonly slowest: readonly string[];
  readonly neighbour: { readonly reads: number; readonly slowestMs: number };
}

/** Senders at a time. */
const LANES = 4;
const MOST_FAULTS = 25;
const READ_EVERY_MS = 200;
/** A neighbour's read that takes as long as this was in somebody's way. */
const READ_MS = 2_500;
/** After a case without an answer the service gets this long to be itself again, or the run is over. */
const RECOVERY_MS = 30_000;
/** A run of the tests removes its temporary files; these are for whoever looks into them afterwards. */
const LASTING = tmpdir().replace(/[\\/]liftgraph-test-[^\\/]+[\\/]tmp$/, '');
const SHOWN = 8;
const TOO_MUCH = 'the run ends here';

/** Sends hostile files to a service and judges every answer, while a neighbour reads. */
export async function runHostileFiles(root: string, options: RunOptions): Promise<RunReport> {
  const neighbour = new Neighbour(root, await Caller.register(root));
  const senders = await Promise.all(Array.from({ length: LANES }, () => newSender(root)));
  const statuses: Record<string, Record<number, number>> = {};
  const faults: string[] = [];
  const took: { readonly what: string; readonly ms: number }[] = [];
  let folder: string | undefined;

  const keep = ({ format, index, headers, body }: HostileCase): string => {
    folder ??= mkdtempSync(join(LASTING, 'liftgraph-hostile-'));
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `${format}-${index}`);
    writeFileSync(file, body);
    writeFileSync(`${file}.headers.json`, JSON.stringify(headers));
    return file;
  };
  const note = (hostile: HostileCase, fault: string): void => {
    const { format, index, how } = hostile;
    faults.push(`${format} ${index}, seed ${options.seed} (${how}): ${fault} [${keep(hostile)}]`);
  };
  const judge = async (hostile: HostileCase, sender: Sender): Promise<void> => {
    try {
      const answer = await sendCase(hostile, await withMapping(hostile, sender));
      took.push({
        what: `${hostile.format} ${hostile.index}, ${hostile.how}`.slice(0, 80),
        ms: Math.round(answer.elapsedMs),
      });
      const counts = (statuses[hostile.format] ??= {});
      counts[answer.status] = (counts[answer.status] ?? 0) + 1;
      const fault = faultOf(hostile, answer);
      if (fault !== null) note(hostile, fault);
    } catch (error) {
      note(hostile, String(error));
      if (!(await neighbour.recovers())) throw new Error(TOO_MUCH, { cause: error });
    }
  };
  let heavyTurn: Promise<void> = Promise.resolve();
  const inTurn = (hostile: HostileCase, sender: Sender): Promise<void> => {
    if (hostile.isHeavy !== true) return judge(hostile, sender);
    heavyTurn = heavyTurn.then(() => judge(hostile, sender));
    return heavyTurn;
  };

  const reading = neighbour.read();
  try {
    const numbers = options.formats.flatMap((format) => numbersOf(format, options)).values();
    const work = async (sender: Sender): Promise<void> => {
      for (const [format, index] of numbers) {
        if (faults.length >= MOST_FAULTS) return;
        await inTurn(hostileCase(format, options.seed, index), sender);
      }
    };
    await Promise.all(senders.map(work));
  } catch (error) {
    if (!(error instanceof Error) || error.message !== TOO_MUCH) throw error;
    faults.push(`the service did not come back in ${RECOVERY_MS} ms`);
  } finally {
    neighbour.stop();
    await reading;
    for (const { agent } of senders) agent.destroy();
  }
  const slowest = took
    .toSorted((one, other) => other.ms - one.ms)
    .slice(0, SHOWN)
    .map(({ what, ms }) => `${ms} ms: ${what}`);
  return {
    slowest,
    faults: [...faults, ...neighbour.faults],
    statuses,
    neighbour: { reads: neighbour.reads, slowestMs: neighbour.slowestMs },
  };
}

function numbersOf(format: Format, { cases, everyShape, only }: RunOptions): [Format, number][] {
  if (only !== undefined) return [[format, only]];
  const shapes = shapesOf(format);
  const isSent = (index: number): boolean => index >= shapes || index % everyShape === 0;
  return Array.from({ length: Math.max(cases, shapes) }, (_, index) => index)
    .filter(isSent)
    .map((index) => [format, index]);
}

async function newSender(root: string): Promise<Sender> {
  const caller = await Caller.register(root);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return { root, key: caller.key!, source: await connectSource(caller), agent };
}

/** The sender with a source that has the mapping of the case, where it takes one. */
async function withMapping({ mapping }: HostileCase, sender: Sender): Promise<Sender> {
  if (mapping === undefined) return sender;
  const body = { type: 'csv_upload', credentials: { mapping } };
  const { status, body: connected } = await new Caller(sender.root, sender.key).post('/data-sources/connect', body);
  if (status >= 500)
    throw new Error(`connecting with a mapping was answered with ${status}: ${JSON.stringify(connected)}`);
  return status === 201 ? { ...sender, source: String(connected['data_source_id']) } : sender;
}

/** Another tenant, who reads all the while. */
class Neighbour {
  readonly faults: string[] = [];
  reads = 0;
  slowestMs = 0;
  readonly #root: string;
  readonly #caller: Caller;
  #isOver = false;

  constructor(root: string, caller: Caller) {
    this.#root = root;
    this.#caller = caller;
  }

  async read(): Promise<void> {
    while (!this.#isOver) {
      const startedMs = performance.now();
      const fault = await this.#readOnce();
      const elapsedMs = Math.round(performance.now() - startedMs);
      this.reads += 1;
      this.slowestMs = Math.max(this.slowestMs, elapsedMs);
      if (fault !== null || elapsedMs > READ_MS)
        this.faults.push(`a neighbour's read: ${fault ?? 'answered'} after ${elapsedMs} ms`);
      await sleep(READ_EVERY_MS);
    }
  }

  stop(): void {
    this.#isOver = true;
  }

  /** Whether a read and the probe succeed within {@link RECOVERY_MS}. */
  async recovers(): Promise<boolean> {
    const startedMs = performance.now();
    while (performance.now() - startedMs < RECOVERY_MS) {
      const isReady = await fetch(`${this.#root}/readyz`, { signal: AbortSignal.timeout(READ_MS) }).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isReady && (await this.#readOnce()) === null) return true;
      await sleep(READ_EVERY_MS);
    }
    return false;
  }

  async #readOnce(): Promise<string | null> {
    try {
      const headers = { authorization: `Bearer ${this.#caller.key}` };
      const response = await fetch(`${this.#root}/v1/agents/me`, { headers, signal: AbortSignal.timeout(RECOVERY_MS) });
      await response.text();
      return response.status === 200 ? null : String(response.status);
    } catch (error) {
      return String(error);
    }
  }
}
