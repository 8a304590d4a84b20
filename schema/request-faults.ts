import { z } from 'zod';
import { faultCode, faultMessage } from './fault-message.ts';
import { ProblemError, type ProblemDetail } from './problems.ts';

/* What is wrong with a value that somebody sent: said once, so that both doors say the same. */

/** Writes the place of a member as error answers do. */
export type NamePath = (path: readonly PropertyKey[]) => string;

/** RFC 6901. */
export function jsonPointer(path: readonly PropertyKey[]): string {
  return path.map((part) => `/${String(part).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/**
 * Parses a value, and lists everything that does not fit. Members that are not known are left to `unknownMembers`,
 * which also says what may be meant.
 */
export function faultsIn<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  name: NamePath = jsonPointer,
): { readonly value: z.output<Schema>; readonly faults: null } | { readonly faults: readonly ProblemDetail[] } {
  const parsed = schema.safeParse(value, { reportInput: true, error: faultMessage });
  return parsed.success
    ? { value: parsed.data, faults: null }
    : { faults: withoutFollowing(inOrderOf(schema, parsed.error.issues).flatMap((issue) => details(issue, name))) };
}

/** As the members stand in the shape: what rules between them find comes behind all others by itself. */
function inOrderOf(schema: z.ZodType, issues: readonly z.core.$ZodIssue[]): readonly z.core.$ZodIssue[] {
  if (!(schema instanceof z.ZodObject)) return issues;
  const members = Object.keys(schema.shape);
  const placeOf = ({ path }: z.core.$ZodIssue): number => members.indexOf(String(path[0]));
  return issues.toSorted((a, b) => placeOf(a) - placeOf(b));
}

/** Of a value of the wrong type nothing else is said: a text is no list with too many entries. */
function withoutFollowing(faults: readonly ProblemDetail[]): readonly ProblemDetail[] {
  const ofWrongType = new Set(faults.filter(({ code }) => code === 'invalid_type').map(({ param }) => param));
  return faults.filter(({ code, param }) => code === 'invalid_type' || !ofWrongType.has(param));
}

function details(issue: z.core.$ZodIssue, name: NamePath): readonly ProblemDetail[] {
  if (issue.code === 'unrecognized_keys') return [];
  const param = name(issue.path);
  // Zod reports a missing member as one of the wrong type or value.
  if (isMissing(issue)) return [{ param, code: 'required', message: 'is required' }];
  return [{ param, code: faultCode(issue), message: issue.message }];
}

function isMissing(issue: z.core.$ZodIssue): boolean {
  if (issue.code === 'custom') return false;
  // What tells the options of a union apart stands in the value that is reported.
  const label = issue.code === 'invalid_union' ? (issue as { discriminator?: string }).discriminator : undefined;
  return (label === undefined ? issue.input : (issue.input as Record<string, unknown>)[label]) === undefined;
}

/**
 * A null in place of what may be left out is not given, unless null is a value there (`PATCH` removes a callback_url
 * with it): one rule for every member of every request, at both doors.
 */
export function withoutNulls(schema: unknown, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (schema instanceof z.ZodPipe) return withoutNulls(schema.def.in, value);
  // Members that options share are alike in all of them.
  if (schema instanceof z.ZodUnion)
    return schema.options.reduce((left: unknown, option) => withoutNulls(option, left), value);
  if (schema instanceof z.ZodArray)
    return Array.isArray(value) ? value.map((each) => withoutNulls(schema.def.element, each)) : value;
  if (schema instanceof z.ZodObject) {
    if (Array.isArray(value)) return value;
    const { shape } = schema;
    const given = Object.entries(value).filter(([name, member]) => !isLeftOut(shape[name], member));
    return Object.fromEntries(given.map(([name, member]) => [name, withoutNulls(shape[name], member)]));
  }
  const { innerType } = (schema as { def?: { innerType?: unknown } } | undefined)?.def ?? {};
  return innerType === undefined ? value : withoutNulls(innerType, value);
}

function isLeftOut(schema: z.ZodType | undefined, value: unknown): boolean {
  if (value === undefined) return true;
  return value === null && schema?._zod.optin === 'optional' && !schema.safeParse(null).success;
}

/** The problem that lists everything that does not fit, at least one member, and leads with the first. */
export function requestProblem(
  type: 'validation_error' | 'invalid_request',
  errors: readonly ProblemDetail[],
  status?: number,
): ProblemError {
  const first = errors[0]!;
  const place = first.param.replace(/^[a-z]+:/, '').replace(/^\//, '');
  return new ProblemError(type, `${place.replaceAll('/', '.') || 'body'}: ${first.message}`, {
    code: first.code,
    param: first.param,
    errors,
    ...(status === undefined ? {} : { status }),
  });
}
