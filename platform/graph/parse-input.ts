import type { z } from 'zod';
import { faultMessage } from '../../schema/fault-message.ts';
import { ProblemError, type ProblemDetail } from '../../schema/problems.ts';

/**
 * Parses what a caller sent against a schema of ours.
 * @throws ProblemError `validation_error` that names every offending member as a JSON Pointer in the contract's
 *   snake_case, the first one also in `param`.
 * @param status of the problem, for the operations that answer 400 (decision table of the contract, errors)
 */
export function parseInput<Schema extends z.ZodType>(schema: Schema, input: unknown, status: 400 | 422 = 422): z.output<Schema> {
  const parsed = schema.safeParse(input, { error: faultMessage });
  if (parsed.success) return parsed.data;
  throw validationError(parsed.error.issues.flatMap(details), status);
}

/** The `validation_error` that lists what does not fit, at least one member, and leads with the first. */
export function validationError(errors: readonly ProblemDetail[], status: 400 | 422): ProblemError {
  const first = errors[0]!;
  return new ProblemError('validation_error', `${first.param.slice(1).replaceAll('/', '.') || 'body'}: ${first.message}`, { code: first.code, param: first.param, errors, status });
}

function details(issue: z.core.$ZodIssue): ProblemDetail[] {
  const param = pointerTo(issue.path);
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => ({ param: `${param}/${key}`, code: 'unknown_member', message: 'is not a member that is known here' }));
  return [{ param, code: issue.code === 'custom' ? 'invalid_value' : issue.code, message: issue.message }];
}

/** Where a member stands, as a JSON Pointer in the contract's snake_case. */
export function pointerTo(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${snakeCase(String(part))}`).join('');
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
}
