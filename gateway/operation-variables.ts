import {
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
  typeFromAST,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLLeafType,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { faultsOfInput, pointerTo, unknownInRest } from '../platform/graph/parse-input.ts';
import { INPUTS } from '../schema/contract/inputs.ts';
import type { ProblemDetail, ProblemError } from '../schema/problems.ts';
import { requestProblem, withoutNulls } from '../schema/request-faults.ts';
import { didYouMean } from '../schema/unknown-members.ts';

/** Whoever sends more that does not fit learns of the rest next time; finding and describing it all took seconds. */
const MOST_MISFITS = 20;
/** A name that is nowhere known may be as long as the request. */
const LONGEST_NAME = 64;

type Path = readonly (string | number)[];

/** A value that a caller gave for an argument or a variable. */
export interface GivenValue {
  readonly name: string;
  readonly value: unknown;
  readonly type: GraphQLInputType;
}

/**
 * Refuses variables that do not fit their types, before graphql-js does: it would go through all of them, name none by
 * a pointer, and repeat their values. A member is called as in REST (`/data_source_id`): below a variable that holds an
 * input object by the path in it, any other variable by its own name.
 * @param operation valid against `schema`
 * @throws ProblemError `validation_error`, as REST refuses the same
 */
export function assertFittingVariables(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): void {
  const refusal = refusalOf(given(schema, operation, variables));
  if (refusal !== undefined) throw refusal;
}

function* given(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): Generator<GivenValue> {
  for (const { variable, type: typeNode, defaultValue } of variableDefinitions) {
    const name = variable.name.value;
    const type = typeFromAST(schema, typeNode) as GraphQLInputType;
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (value !== undefined || (defaultValue === undefined && isNonNullType(type))) yield { name, value, type };
  }
}

/** The problem that tells of what does not fit its type; undefined where all does. */
export function refusalOf(values: Iterable<GivenValue>): ProblemError | undefined {
  const errors: ProblemDetail[] = [];
  let status: 400 | 422 | undefined;
  for (const each of values) {
    const misfits: ProblemDetail[] = [];
    for (const misfit of misfitsOf(each)) {
      misfits.push(misfit);
      if (errors.length + misfits.length === MOST_MISFITS) break;
    }
    if (misfits.length === 0) continue;
    const input = INPUTS.get(String(isNonNullType(each.type) ? each.type.ofType : each.type));
    status ??= input?.badInputStatus;
    const isObject = typeof each.value === 'object' && each.value !== null;
    errors.push(...(input === undefined || !isObject ? misfits : inWordsOfRest(misfits, input.schema, each.value)));
    if (errors.length >= MOST_MISFITS) break;
  }
  return errors.length === 0 ? undefined : requestProblem('validation_error', errors, status);
}

/**
 * What REST says of the same input comes in place of what the graph's types say: its schema knows more than they do.
 * What only they refuse is told behind it. Enum values are called as they are here.
 */
function inWordsOfRest(
  misfits: readonly ProblemDetail[],
  schema: Parameters<typeof faultsOfInput>[0],
  value: unknown,
): readonly ProblemDetail[] {
  const unfit = misfits.filter(({ code }) => code !== 'unknown_member');
  // Such as `{ start, end, ende }` in place of a list of days, which the graph's types have no members for.
  const inOtherForms = unknownInRest(schema, value).filter(({ param }) =>
    unfit.some((misfit) => param.startsWith(`${misfit.param}/`)),
  );
  const faults = faultsOfInput(schema, withoutNulls(schema, value)).map(
    (fault) =>
      unfit.find(
        ({ param, code, message }) => param === fault.param && code === fault.code && message.startsWith(ONE_OF),
      ) ?? fault,
  );
  // A value that is no list stands for a list of one, to the graph alone.
  const unknown = misfits.filter(
    ({ code, param }) =>
      code === 'unknown_member' &&
      !faults.some((fault) => fault.code === 'invalid_type' && param.startsWith(`${fault.param}/`)),
  );
  const told = [...unknown, ...inOtherForms, ...faults];
  return [...told, ...unfit.filter(({ param }) => !told.some((fault) => isAbout(param, fault.param)))];
}

/** Whether two places are one, or one lies in the other. */
function isAbout(one: string, other: string): boolean {
  return one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);
}

function* misfitsOf({ name, value, type }: GivenValue): Generator<ProblemDetail> {
  const isObject = isInputObjectType(isNonNullType(type) ? type.ofType : type);
  yield* misfitsIn(value, type, isObject && typeof value === 'object' && value !== null ? [] : [name]);
}

/** Walks as `coerceInputValue` of graphql-js does, and stops where its caller does. */
function* misfitsIn(value: unknown, type: GraphQLInputType, path: Path): Generator<ProblemDetail> {
  if (isNonNullType(type)) {
    if (value === undefined || value === null)
      yield misfit(path, 'required', value === null ? 'must not be null' : 'is required');
    else yield* misfitsIn(value, type.ofType, path);
  } else if (value === undefined || value === null) {
    return;
  } else if (isListType(type)) {
    // A value that is no list stands for a list of one.
    if (!Array.isArray(value)) yield* misfitsIn(value, type.ofType, path);
    else for (const [index, item] of value.entries()) yield* misfitsIn(item, type.ofType, [...path, index]);
  } else if (isInputObjectType(type)) {
    yield* misfitsInObject(value, type, path);
  } else {
    const expected = expectation(value, type);
    if (expected !== undefined) yield misfit(path, 'invalid_value', expected);
  }
}

function* misfitsInObject(value: {}, type: GraphQLInputObjectType, path: Path): Generator<ProblemDetail> {
  if (typeof value !== 'object' || Array.isArray(value)) return yield misfit(path, 'invalid_type', 'must be an object');
  const fields = type.getFields();
  for (const field of Object.values(fields)) {
    const member = (value as Readonly<Record<string, unknown>>)[field.name];
    if (member !== undefined) yield* misfitsIn(member, field.type, [...path, field.name]);
    else if (isRequiredInputField(field)) yield misfit([...path, field.name], 'required', 'is required');
  }
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(fields, name)) continue;
    const meant = didYouMean(name, Object.keys(fields));
    yield misfit([...path, name.slice(0, LONGEST_NAME)], 'unknown_member', `is not known here${meant}`);
  }
}

function misfit(path: Path, code: string, message: string): ProblemDetail {
  return { param: pointerTo(path), code, message };
}

const ONE_OF = 'must be one of ';

/** What a leaf has to be; in the words of REST where it has any. Values are not repeated: they may be secrets. */
const EXPECTED: Readonly<Record<string, string>> = {
  ID: 'must be a string',
  String: 'must be a string',
  Int: 'must be a whole number between -2147483648 and 2147483647',
  Float: 'must be a number',
  Boolean: 'must be true or false',
  Cents: 'must be a whole number of minor units, exact up to 2^53 - 1',
  Date: 'must be a date, YYYY-MM-DD',
  DateTime: 'must be a moment such as 2026-02-01T09:30:00Z',
  URL: 'must be an address with its scheme, such as https://shop.example/',
};

/** Undefined for a value that fits. */
function expectation(value: unknown, type: GraphQLLeafType): string | undefined {
  try {
    if (type.parseValue(value) !== undefined) return undefined;
  } catch {
    // Its message would repeat the value.
  }
  const names = isEnumType(type) ? type.getValues().map(({ name }) => name) : [];
  return names.length > 0 ? `${ONE_OF}${names.join(', ')}` : (EXPECTED[type.name] ?? `must be a ${type.name}`);
}
