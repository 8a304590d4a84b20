import type { z } from 'zod';
import { restForm, toRest } from '../../schema/contract/rest-form.ts';
import type { ProblemDetail } from '../../schema/problems.ts';
import { faultsIn, requestProblem, withoutNulls } from '../../schema/request-faults.ts';
import { snakeCase } from '../../schema/snake-case.ts';
import { unknownMembers } from '../../schema/unknown-members.ts';

/**
 * Parses what a caller sent against a schema of ours.
 * @throws ProblemError `validation_error` as REST refuses the same: it names every offending member as a JSON Pointer
 *   in the contract's snake_case, the first one also in `param`.
 * @param status of the problem, for the operations that answer 400 (decision table of the contract, errors)
 */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  status: 400 | 422 = 422,
): z.output<Schema> {
  const given = withoutNulls(schema, input);
  const faults = [...unknownMembers(schema, given, 'unknown_member', pointerTo), ...faultsOfInput(schema, given)];
  if (faults.length > 0) throw requestProblem('validation_error', faults, status);
  // What REST leaves to the verb.
  return parsed(schema, given, status);
}

function parsed<Schema extends z.ZodType>(schema: Schema, given: unknown, status: 400 | 422): z.output<Schema> {
  const outcome = faultsIn(schema, given, pointerTo);
  if (outcome.faults === null) return outcome.value;
  throw requestProblem('validation_error', outcome.faults, status);
}

/**
 * Parses the input of a mutation against its shape in the contract; the ids that REST has in the path may stand beside
 * it.
 * @throws ProblemError `validation_error`
 * @param status of the problem, as in `parseInput`
 */
export function parseGraphInput<Schema extends z.ZodObject>(
  schema: Schema,
  input: unknown,
  status: 400 | 422 = 422,
): z.output<Schema> {
  const { shape } = schema;
  const members = Object.entries(input as object).filter(([name]) => Object.hasOwn(shape, name));
  return parseInput(schema, Object.fromEntries(members), status);
}

/**
 * Parses the filter of a page, whose members are texts of a query string in REST.
 * @throws ProblemError `validation_error`
 */
export function parseFilter<Schema extends z.ZodObject>(schema: Schema, filter: unknown): z.output<Schema> {
  return parsed(schema, withoutNulls(schema, filter ?? {}), 422);
}

/** What REST would say of the same input; nothing of members that are not known. */
export function faultsOfInput(schema: z.ZodType, input: unknown): readonly ProblemDetail[] {
  return faultsIn(restForm(schema), toRest(schema, input)).faults ?? [];
}

/** Members that REST would not know in the same input, as {@link faultsOfInput} says of the others what is wrong. */
export function unknownInRest(schema: z.ZodType, input: unknown): readonly ProblemDetail[] {
  return unknownMembers(restForm(schema), toRest(schema, input), 'unknown_member', pointerTo);
}

/** Where a member stands, as a JSON Pointer in the contract's snake_case. */
export function pointerTo(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${snakeCase(String(part))}`).join('');
}
