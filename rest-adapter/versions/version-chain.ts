import type { Json } from '../operation.ts';
import { hreiVersionChange } from './hrei-version-change.ts';
import type { VersionChange } from './version-change.ts';

/**
 * Every change that some supported version has to be spared of, newest first. The code behind knows the newest shape
 * only.
 */
export const VERSION_CHANGES: readonly VersionChange[] = [hreiVersionChange];

/** Takes a body in the newest shape back, change by change, to the version that the caller asked for. */
export function bodyInVersion(body: Json, version: string, changes: readonly VersionChange[]): Json {
  // Dates of this format sort as text.
  return changes.reduce((newer, change) => (change.version > version ? change.undo(newer) : newer), body);
}
