import { ProblemError } from '../schema/problems.ts';

/** SQLSTATE disk_full, the engine's NOT_ENOUGH_SPACE, and what Node says of the system's two ways to have no room. */
const CODES: ReadonlySet<string> = new Set(['53100', '243', 'ENOSPC', 'EDQUOT']);
/**
 * The engine wraps what the system said, and passes on what Node said, under codes of its own or none; SQLite has words
 * of its own.
 */
const WORDS = [
  /^(?:ENOSPC|EDQUOT):/,
  /^database or disk is full$/,
  /\berrno: (?:28|122)\b/,
  /: \[?(?:No space left on device|Disk quota exceeded)/,
];
const RETRY_AFTER_S = 30;
const MAX_CAUSES = 5;

const saysSo = (message: string): boolean => WORDS.some((words) => words.test(message));

/** True when a store or a file could not be written because its disk, or the share of it that we may use, is full. */
export function isDiskFull(error: unknown): boolean {
  for (
    let current = linkOf(error), depth = 0;
    current !== undefined && depth < MAX_CAUSES;
    current = linkOf(current.cause), depth += 1
  ) {
    if (CODES.has(String(current.code)) || saysSo(String(current.message))) return true;
  }
  return false;
}

/** What a caller may hear of it: nothing was stored, and a later try may succeed. */
export function diskFullProblem(cause: unknown): ProblemError {
  return new ProblemError(
    'service_unavailable',
    'The disk of the service is full, so nothing was stored. Try again later: whoever runs the service has to make ' +
      'room first.',
    { code: 'disk_full', retryAfterS: RETRY_AFTER_S, cause },
  );
}

interface ErrorLink {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
}

/** Read by shape: an error of Node's own may come from another realm. */
const linkOf = (error: unknown): ErrorLink | undefined =>
  typeof error === 'object' && error !== null ? error : undefined;
