import { z } from 'zod';
import { faultCode, faultMessage } from '../../schema/fault-message.ts';
import { ProblemError, type ProblemDetail } from '../../schema/problems.ts';
import { snakeCase } from '../../schema/snake-case.ts';

/**
 * Parses what a caller sent against a schema of ours.
 * @throws ProblemError `validation_error` that names every offending member as a JSON Pointer in the contract's
 *   snake_case, the first one also in `param`.
 * @param status of the problem, for the operations that answer 400 (decision table of the contract, errors)
 */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  status: 400 | 422 = 422,
): z.output<Schema> {
  const parsed = schema.safeParse(input, { error: faultMessage });
  if (parsed.success) return parsed.data;
  throw validationError(parsed.error.issues.flatMap(details), status);
}

/**
 * Parses the input of a mutation against its shape in the contract. The graph's null for what may be absent is absence,
 * unless it is a value there.
 * @throws ProblemError `validation_error`
 * @param status of the problem, as in `parseInput`
 */
export function parseGraphInput<Schema extends z.ZodObject>(
  schema: Schema,
  input: unknown,
  status: 400 | 422 = 422,
): z.output<Schema> {
  return parseInput(schema, withoutAbsent(schema, input), status);
}

/** Of records and lists in the input, too. */
function withoutAbsent(schema: unknown, value: unknown): unknown {
  if (schema instanceof z.ZodOptional) return withoutAbsent(schema.def.innerType, value);
  if (schema instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((each) => withoutAbsent(schema.def.element, each));
  }
  if (!(schema instanceof z.ZodObject) || typeof value !== 'object' || value === null) return value;
  const { shape } = schema;
  const given = Object.entries(value).filter(([name, member]) => !isAbsent(shape[name], member));
  return Object.fromEntries(given.map(([name, member]) => [name, withoutAbsent(shape[name], member)]));
}

/** A null is a value where the member may be null as well as absent. */
function isAbsent(schema: unknown, value: unknown): boolean {
  const mayBeNull = schema instanceof z.ZodOptional && schema.def.innerType instanceof z.ZodNullable;
  return value === undefined || (value === null && schema instanceof z.ZodOptional && !mayBeNull);
}

/** The `validation_error` that lists what does not fit, at least one member, and leads with the first. */
export function validationError(errors: readonly ProblemDetail[], status: 400 | 422): ProblemError {
  const first = errors[0]!;
  return new ProblemError(
    'validation_error',
    `${first.param.slice(1).replaceAll('/', '.') || 'body'}: ${first.message}`,
    { code: first.code, param: first.param, errors, status },
  );
}

function details(issue: z.core.$ZodIssue): ProblemDetail[] {
  const param = pointerTo(issue.path);
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({
      param: `${param}/${key}`,
      code: 'unknown_member',
      message: 'is not a member that is known here',
    }));
  return [{ param, code: faultCode(issue), message: issue.message }];
}

/** Where a member stands, as a JSON Pointer in the contract's snake_case. */
export function pointerTo(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${snakeCase(String(part))}`).join('');
}
