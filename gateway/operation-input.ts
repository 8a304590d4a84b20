import { Kind, visit, type DocumentNode } from 'graphql';
import { ProblemError } from '../schema/problems.ts';

/** As deep as the REST door takes a body; deeper ones would exhaust the stack of whoever walks them. */
const MAX_DEPTH = 64;

/**
 * Refuses what the REST door refuses while it reads a body: variables nested too deep, and text that cannot be kept.
 * PostgreSQL stores no NUL character, and UTF-8 has no half of a surrogate pair; JSON and GraphQL can escape both.
 * @throws ProblemError `invalid_request`
 */
export function assertSoundInput(document: DocumentNode, variables: Readonly<Record<string, unknown>>): void {
  visit(document, { [Kind.STRING]: ({ value }) => assertStorable(value) });
  assertSound(variables, 0);
}

function assertSound(value: unknown, depth: number): void {
  if (typeof value === 'string') assertStorable(value);
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_DEPTH)
    throw new ProblemError('invalid_request', `The variables are nested deeper than ${MAX_DEPTH} levels.`, {
      code: 'too_deep',
    });
  for (const [name, member] of Object.entries(value)) {
    assertStorable(name);
    assertSound(member, depth + 1);
  }
}

function assertStorable(text: string): void {
  const what = text.includes('\0') ? 'the NUL character' : text.isWellFormed() ? null : 'half of a surrogate pair';
  if (what !== null)
    throw new ProblemError('invalid_request', `A string holds ${what}, which cannot be stored.`, {
      code: 'unstorable_text',
    });
}
