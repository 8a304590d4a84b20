import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startedBy, type Running } from './process-tree.ts';

const REPOSITORY = fileURLToPath(new URL('../..', import.meta.url));
/** Started as `npm start` does, or without the launcher, so that a kill meets the service itself. */
const PROGRAMS = {
  launcher: [join(REPOSITORY, 'processes/launch.mjs'), 'start'],
  service: [
    '--expose-gc',
    '--enable-source-maps',
    '--import',
    new URL('../../processes/typescript-hook.mjs', import.meta.url).href,
    join(REPOSITORY, 'processes/start.ts'),
  ],
} as const;

/** The customers of the fault runs ask more often than an agent may. */
const GENEROUS = 'discovery=100000,self_hosted=100000,register=100000';

/** One line of the log. */
export interface LogLine {
  readonly msg: string;
  readonly [member: string]: unknown;
}

export interface ServiceOptions {
  readonly env: Readonly<Record<string, string>>;
  /** `service` */
  readonly program?: keyof typeof PROGRAMS;
  readonly args?: readonly string[];
  /** Options of Node.js itself. */
  readonly nodeOptions?: readonly string[];
  readonly cwd?: string;
}

/** How a process ended, and all that it printed. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A real process of Liftgraph, as a user starts it. */
export class Service {
  readonly #child: ChildProcess;
  readonly #waiting = new Set<() => void>();
  #stdout = '';
  #stderr = '';
  #isOver = false;
  #isFrozen = false;
  readonly ended: Promise<Ended>;

  private constructor({ env, program = 'service', args = [], nodeOptions = [], cwd = REPOSITORY }: ServiceOptions) {
    // What npm sets would make the launcher watch npm's processes, and Jest's options are not the service's.
    const inherited = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !/^npm_|^NODE_|^JEST_|^LIFTGRAPH_|^PORT$|_URL$/i.test(name)),
    );
    this.#child = spawn(process.execPath, [...nodeOptions, ...PROGRAMS[program], ...args], {
      cwd,
      env: { ...inherited, PORT: '0', RATE_LIMITS: GENEROUS, ...env },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    // By its end the service learns of ours, even by kill -9. It need not keep us alive.
    this.#child.channel!.unref();
    this.#child.stdout!.on('data', (chunk: Buffer) => this.#heard(() => (this.#stdout += chunk.toString())));
    this.#child.stderr!.on('data', (chunk: Buffer) => this.#heard(() => (this.#stderr += chunk.toString())));
    this.ended = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => {
        this.#heard(() => (this.#isOver = true));
        resolve({ code, signal, stdout: this.#stdout, stderr: this.#stderr });
      });
    });
  }

  /** Spawns the process and does not wait for anything. */
  static spawn(options: ServiceOptions): Service {
    return new Service(options);
  }

  /** Resolves when it is up. */
  static async start(options: ServiceOptions): Promise<Service> {
    const service = new Service(options);
    await service.printed(/ is up(?: at|:) .*\n/);
    return service;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  /** `http://127.0.0.1:port` */
  get root(): string {
    return / is up at (http:\/\/[^/\s]+)/.exec(this.#stdout)![1]!;
  }

  /** Resolves when its standard output has matched. @throws Error when it ends before */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#until(() => pattern.exec(this.#stdout) ?? undefined, String(pattern));
  }

  /** Resolves with the first line of the log, past or future, that is like this. @throws Error when it ends before */
  async logged(msg: string, isWanted: (line: LogLine) => boolean = () => true): Promise<LogLine> {
    return this.#until(() => this.log().find((line) => line.msg === msg && isWanted(line)), JSON.stringify(msg));
  }

  log(): LogLine[] {
    const whole = this.#stdout.slice(0, this.#stdout.lastIndexOf('\n') + 1);
    return whole
      .split('\n')
      .filter((line) => line.startsWith('{"level"'))
      .map((line) => JSON.parse(line) as LogLine);
  }

  /** Whether it was sent SIGSTOP and not yet SIGCONT: it hears of nothing but SIGKILL. */
  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  signal(signal: NodeJS.Signals): void {
    if (signal === 'SIGSTOP' || signal === 'SIGCONT') this.#isFrozen = signal === 'SIGSTOP';
    this.#child.kill(signal);
  }

  /** Ends it with the signal and returns how it ended. */
  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<Ended> {
    this.signal(signal);
    return this.ended;
  }

  /** It and everything that it started, directly or not. */
  tree(): Running[] {
    return startedBy(this.pid);
  }

  #heard(note: () => void): void {
    note();
    for (const look of this.#waiting) look();
  }

  async #until<T>(find: () => T | undefined, wanted: string): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const look = (): void => {
      const found = find();
      if (found !== undefined) resolve(found);
      else if (this.#isOver)
        reject(
          new Error(`the process ended before it printed ${wanted}:\n${this.#stdout.slice(-2000)}\n${this.#stderr}`),
        );
    };
    this.#waiting.add(look);
    look();
    try {
      return await promise;
    } finally {
      this.#waiting.delete(look);
    }
  }
}
