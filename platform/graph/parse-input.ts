import type { z } from 'zod';
import { ProblemError, type ProblemDetail } from '../../schema/problems.ts';

/**
 * Parses what a caller sent against a schema of ours.
 * @throws ProblemError `validation_error` that names every offending member as a JSON Pointer in the contract's
 *   snake_case, the first one also in `param`.
 */
export function parseInput<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw validationProblem(parsed.error.issues);
}

/** The `validation_error` for a list of zod issues. */
export function validationProblem(issues: readonly z.core.$ZodIssue[]): ProblemError {
  const errors = issues.map(detail);
  const first = errors[0]!;
  return new ProblemError('validation_error', `${first.param.slice(1).replaceAll('/', '.') || 'body'}: ${first.message}`, { code: first.code, param: first.param, errors });
}

function detail(issue: z.core.$ZodIssue): ProblemDetail {
  return { param: `/${issue.path.map((part) => snakeCase(String(part))).join('/')}`, code: issue.code, message: issue.message };
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
}
