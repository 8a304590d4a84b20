import { z } from 'zod';
import { ProblemError, type ProblemDetail } from '../../schema/problems.ts';
import { faultsIn, jsonPointer, requestProblem, withoutNulls, type NamePath } from '../../schema/request-faults.ts';
import { unknownMembers } from '../../schema/unknown-members.ts';
import type { Step } from '../call.ts';
import { headerName } from '../header-name.ts';
import type { Json, Operation } from '../operation.ts';

/** Checks path, query, headers and body against the row's schemas and lists everything that does not fit. */
export const validateRequest: Step = {
  name: 'validate-request',
  problems: ['validation_error', 'invalid_request'],
  async run(call, next) {
    const { operation, http, route } = call;
    const headers = parse(operation.headerSchema, http.headers, (path) => `header:${headerName(String(path[0]))}`);
    // A header that cannot be read is a malformed request, not one that fails a schema.
    if (headers.errors.length > 0) throw requestProblem('invalid_request', headers.errors);
    const path = parse(
      operation.pathSchema,
      route.operation === null ? {} : route.path,
      (path) => `path:${path.join('.')}`,
    );
    const given = queryOf(http.querystring);
    const query = parse(operation.querySchema, given, nameOfParameter);
    // The body of an upload is a stream; its step checks it on the way through.
    const schema = operation.kind === 'upload' ? undefined : operation.bodySchema;
    const body = parse(schema, withoutNulls(schema, call.body), jsonPointer);
    const strangers = isLenient(operation) ? [] : unknownIn(operation, given, call.body);
    const errors = [
      ...strangers,
      ...path.errors,
      ...unstorable(given),
      ...toldOfRepetition(query.errors, given, operation.querySchema),
      ...body.errors,
    ];
    if (errors.length > 0)
      throw requestProblem(
        'validation_error',
        errors,
        errors.length === strangers.length + body.errors.length ? operation.badBodyStatus : undefined,
      );
    call.request = {
      path: (path.value ?? {}) as Json,
      query: (query.value ?? {}) as Json,
      headers: (headers.value ?? {}) as Json,
      body: body.value,
    };
    await next();
  },
};

/** Parameters that are not known are ignored (RFC 6749 §3.1, §3.2). */
function isLenient({ path }: Operation): boolean {
  return path.startsWith('/oauth/');
}

const NO_PARAMETERS = z.object({});
const NO_MEMBERS = z.object({});

function unknownIn(operation: Operation, query: Json, body: unknown): readonly ProblemDetail[] {
  return [
    ...unknownMembers(operation.querySchema ?? NO_PARAMETERS, query, 'unknown_parameter', nameOfParameter),
    ...(operation.kind === 'upload'
      ? []
      : unknownMembers(operation.bodySchema ?? NO_MEMBERS, body, 'unknown_member', jsonPointer)),
  ];
}

const nameOfParameter: NamePath = (path) => `query:${String(path[0] ?? '')}`;

/** Parses `input`; without a schema nothing is asked and nothing is passed on. */
export function parse(
  schema: z.ZodType | undefined,
  input: unknown,
  name: NamePath,
): { readonly value: unknown; readonly errors: readonly ProblemDetail[] } {
  if (schema === undefined) return { value: undefined, errors: [] };
  const parsed = faultsIn(schema, input, name);
  return parsed.faults === null ? { value: parsed.value, errors: [] } : { value: undefined, errors: parsed.faults };
}

/** PostgreSQL stores no NUL character and takes none in a question; bodies are refused for one when they are read. */
function unstorable(query: Readonly<Record<string, string | readonly string[]>>): ProblemDetail[] {
  return Object.entries(query)
    .filter(
      ([, value]) => value.includes('\0') || (typeof value !== 'string' && value.some((each) => each.includes('\0'))),
    )
    .map(([name]) => ({ param: `query:${name}`, code: 'unstorable_text', message: 'must not hold the NUL character' }));
}

/** Whoever repeats a parameter that stands for one value hears just that. */
function toldOfRepetition(
  errors: readonly ProblemDetail[],
  given: Readonly<Record<string, unknown>>,
  schema: z.ZodObject | undefined,
): ProblemDetail[] {
  return errors.map((error) => {
    const name = error.param.replace(/^query:/, '');
    const [value, member] = [given[name], schema?.shape[name] as z.ZodType | undefined];
    // What is wrong with an entry of a list has a place in it.
    const isRepeated =
      Array.isArray(value) && member?.safeParse(value).error?.issues.some(({ path }) => path.length === 0) === true;
    return isRepeated ? { ...error, code: 'invalid_type', message: 'is given more than once' } : error;
  });
}

/** No operation takes nearly as many. */
const MOST_PARAMETERS = 256;

/** A parameter that is repeated becomes an array, which only list parameters accept. */
function queryOf(querystring: string): Record<string, string | string[]> {
  if (querystring === '') return {};
  const values = new Map<string, string | string[]>();
  let count = 0;
  for (const [name, value] of new URLSearchParams(querystring)) {
    count += 1;
    if (count > MOST_PARAMETERS)
      throw new ProblemError('invalid_request', `The query has more than ${MOST_PARAMETERS} parameters.`, {
        code: 'too_many_parameters',
      });
    const before = values.get(name);
    if (Array.isArray(before)) before.push(value);
    else values.set(name, before === undefined ? value : [before, value]);
  }
  return Object.fromEntries(values);
}
