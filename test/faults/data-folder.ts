import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Client } from 'pg';

/** As if an example shop had been written there before: a service that starts on it writes none. */
export function leaveOutExample(dataDirectory: string): void {
  mkdirSync(dataDirectory, { mode: 0o700 });
  mkdirSync(join(dataDirectory, 'example/2026-06-30'), { recursive: true });
}

/** A data directory for a service that keeps its own stores. */
export class DataFolder {
  readonly path: string;

  /** @param options `withExample`: the first start writes the example shop, which takes it two seconds */
  constructor({ name = 'data', withExample = false } = {}) {
    const parent = mkdtempSync(join(tmpdir(), 'liftgraph-fault-'));
    // Under root, PostgreSQL's own account passes through here to its files.
    chmodSync(parent, 0o711);
    this.path = join(parent, name);
    if (!withExample) leaveOutExample(this.path);
  }

  /** The columnar engine of the service that runs on it. */
  enginePid(): number {
    return Number(readFileSync(join(this.path, 'clickhouse', 'engine.pid'), 'utf8'));
  }

  /** The postmaster of the service that runs on it. */
  postmasterPid(): number {
    return Number(this.#postmaster()[0]);
  }

  /** Says one statement past row level security, as only somebody with the files could. */
  async sql<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const client = new Client({
      host: '127.0.0.1',
      port: Number(this.#postmaster()[3]),
      user: 'postgres',
      password: this.#record().superuserPassword,
      database: 'liftgraph',
    });
    await client.connect();
    try {
      return (await client.query(text, [...values])).rows as Row[];
    } finally {
      await client.end();
    }
  }

  remove(): void {
    rmSync(dirname(this.path), { recursive: true, force: true });
  }

  #record(): { readonly folder: string; readonly superuserPassword: string } {
    return JSON.parse(readFileSync(join(this.path, 'postgres.json'), 'utf8')) as never;
  }

  /** Lines of its lock file: process id, data directory, start time, port. */
  #postmaster(): string[] {
    return readFileSync(join(this.path, this.#record().folder, 'data', 'postmaster.pid'), 'utf8').split('\n');
  }
}
