import type { ProblemError } from '../../../schema/problems.ts';

/**
 * `WWW-Authenticate` of a refusal (RFC 6750 §3; RFC 9728 §5.1 says where a client learns how to be let in); undefined
 * for problems that no other credential would mend.
 * @param root address of the service without `/v1`
 * @param scopeOfOperation that it needs, null where it needs none; the problem may name another
 */
export function challengeOf(problem: ProblemError, root: string, scopeOfOperation: string | null): string | undefined {
  const metadata = `resource_metadata="${root}/.well-known/oauth-protected-resource"`;
  // A client or a grant was refused: no token was shown that could be invalid.
  if (problem.type === 'invalid_client' || problem.type === 'invalid_grant')
    return problem.problem.status === 401 ? `Bearer realm="svc", ${metadata}` : undefined;
  if (problem.problem.status === 401) return `Bearer realm="svc", error="invalid_token", ${metadata}`;
  const scope = problem.problem.scope ?? scopeOfOperation;
  return problem.type === 'insufficient_permissions' ? insufficientScope(scope) : undefined;
}

/** @param scope the scopes that are needed, apart by spaces; null where none is told */
export function insufficientScope(scope: string | null): string {
  return `Bearer realm="svc", error="insufficient_scope"${scope === null ? '' : `, scope="${scope}"`}`;
}
