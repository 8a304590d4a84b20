import { readFileSync } from 'node:fs';

/** Where the limit cannot be read: macOS gives processes more, and so do all systems that Liftgraph runs on. */
const ASSUMED_LIMIT = 4_096;
/** What a process has open besides connections of clients and to databases: listening sockets, files, webhooks. */
const OWN_FILES = 512;
/** More cost memory that others need: a connection takes 10 to 20 KiB, with TLS some 60. */
const MANY_CONNECTIONS = 10_000;
const FEW_CONNECTIONS = 64;

/** How many files this process may have open; connections are files. Node has raised the limit when it started. */
export function openFilesLimit(): number {
  try {
    return limitIn(readFileSync('/proc/self/limits', 'utf8')) ?? ASSUMED_LIMIT;
  } catch {
    // Linux alone has that file.
    return ASSUMED_LIMIT;
  }
}

/** The soft limit in the text of proc_pid_limits(5); Infinity for `unlimited`, undefined when there is none. */
export function limitIn(text: string): number | undefined {
  const soft = /^Max open files\s+(\d+|unlimited)\s/m.exec(text)?.[1];
  return soft === undefined ? undefined : soft === 'unlimited' ? Infinity : Number(soft);
}

/** How many connections of clients that limit leaves room for, beside a pool of so many to the database. */
export function mostConnections(limit: number, databasePoolMax: number): number {
  return Math.max(FEW_CONNECTIONS, limit - OWN_FILES - databasePoolMax);
}

/** How many there are by default: half of it, since a request may open a file of its own, such as one to a subgraph. */
export function usualConnections(limit: number, databasePoolMax: number): number {
  return Math.min(MANY_CONNECTIONS, Math.max(FEW_CONNECTIONS, Math.floor(mostConnections(limit, databasePoolMax) / 2)));
}
