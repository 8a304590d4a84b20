import type { DestinationStream } from 'pino';

const LEVEL_COLOURS: Readonly<Record<string, number>> = {
  trace: 90,
  debug: 36,
  info: 32,
  warn: 33,
  error: 31,
  fatal: 35,
};

/** Turns the log's JSON lines into `12:30:01.250 INFO message key=value` for a person at a terminal. */
export function prettyLogStream(target: { write(text: string): unknown }): DestinationStream {
  return {
    write(line: string): void {
      target.write(prettyLine(line));
    },
  };
}

function prettyLine(line: string): string {
  const { time, level, msg, err, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const clock = String(time).slice(11, 23);
  const label = `\u001B[${LEVEL_COLOURS[String(level)] ?? 0}m${String(level).toUpperCase().padEnd(5)}\u001B[0m`;
  const members = Object.entries(rest).map(
    ([key, value]) => ` ${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  const stack = isError(err) ? `\n${err.stack ?? err.message}` : '';
  return `${clock} ${label} ${typeof msg === 'string' ? msg : ''}${members.join('')}${stack}\n`;
}

function isError(value: unknown): value is { message: string; stack?: string } {
  return typeof value === 'object' && value !== null && 'message' in value;
}
