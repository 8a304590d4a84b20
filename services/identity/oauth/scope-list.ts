import { ProblemError } from '../../../schema/problems.ts';
import { SCOPES, type Scope } from '../../../schema/principal.ts';

/**
 * Scopes of a `scope` parameter, separated by spaces, each once; all ten where it names none.
 * @throws ProblemError `invalid_scope` for one that does not exist.
 */
export function parseScopes(scope: string | undefined): readonly Scope[] {
  const names = namesIn(scope);
  for (const name of names)
    if (!(SCOPES as readonly string[]).includes(name))
      throw invalidScope(`There is no scope ${name.slice(0, 64)}. The scopes are ${SCOPES.join(' ')}.`);
  return names.size === 0 ? SCOPES : SCOPES.filter((known) => names.has(known));
}

/**
 * The scopes that a client gets of those which it may have: all of them, or what it asks for.
 * @throws ProblemError `invalid_scope` for one that does not exist, or that it may not have.
 */
export function grantedScopes(scope: string | undefined, allowed: readonly Scope[]): readonly Scope[] {
  if (namesIn(scope).size === 0) return allowed;
  const asked = parseScopes(scope);
  for (const name of asked)
    if (!allowed.includes(name))
      throw invalidScope(`The scope ${name} is not among those that may be granted here: ${allowed.join(' ')}.`);
  return asked;
}

function namesIn(scope: string | undefined): ReadonlySet<string> {
  return new Set((scope ?? '').split(' ').filter((name) => name !== ''));
}

function invalidScope(message: string): ProblemError {
  return new ProblemError('invalid_scope', message, { param: '/scope' });
}
