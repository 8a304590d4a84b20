import { z } from 'zod';

/** Longest wait that `Prefer: wait` may ask for, and the wait without it, in seconds. */
const MAX_WAIT_S = 60;
const DEFAULT_WAIT_S = 25;

/** The header of operations that wait for what is computed. */
export const waitHeader = z.object({
  prefer: z.string().optional().meta({ description: 'wait=N (0 to 60 seconds), respond-async (RFC 7240)' }),
});

/** How long a request for a job waits, and what `Preference-Applied` says about it. */
export interface WaitPreference {
  readonly waitS: number;
  readonly applied: string | null;
}

/** Whether a `Prefer` header asks for the resource in the answer (RFC 7240 §4.2). */
export function prefersRepresentation(header: string | undefined): boolean {
  return preferencesIn(header).get('return') === 'representation';
}

/**
 * Reads `wait` and `respond-async` of a `Prefer` header (RFC 7240). Unknown or malformed preferences are ignored,
 * as the RFC asks; a wait beyond the limit is cut to it. `respond-async` alone does not wait at all.
 */
export function waitPreference(header: string | undefined): WaitPreference {
  const preferences = preferencesIn(header);
  const applied: string[] = [];
  const isAsync = preferences.get('respond-async') === '';
  if (isAsync) applied.push('respond-async');
  const wait = preferences.get('wait');
  let waitS = isAsync ? 0 : DEFAULT_WAIT_S;
  if (wait !== undefined && /^\d{1,9}$/.test(wait)) {
    waitS = Math.min(Number(wait), MAX_WAIT_S);
    applied.push(`wait=${waitS}`);
  }
  return { waitS, applied: applied.length === 0 ? null : applied.join(', ') };
}

/** Preferences by lower-case name. */
function preferencesIn(header: string | undefined): ReadonlyMap<string, string> {
  const preferences = new Map<string, string>();
  for (const item of (header ?? '').split(',')) {
    const [name, value = ''] = item
      .split(';', 1)[0]!
      .split('=', 2)
      .map((part) => part.trim());
    // The first mention of a preference counts.
    if (!preferences.has(name!.toLowerCase())) preferences.set(name!.toLowerCase(), value.replace(/^"(.*)"$/, '$1'));
  }
  return preferences;
}
