import { suggestionList } from 'graphql/jsutils/suggestionList.js';
import { z } from 'zod';
import { MOST_DETAILS, type ProblemDetail } from './problems.ts';

type Path = readonly PropertyKey[];

interface Unknown {
  readonly path: Path;
  /** What stands there under other names. */
  readonly known: readonly string[];
}

/**
 * Members of a request that its schema does not name, anywhere in it. A misspelt one would be left out in silence, and
 * the request answered with defaults. Objects that are open to any member (`metadata`) stay so.
 * @param name writes the place of a member as error answers do
 */
export function unknownMembers(
  schema: z.ZodType | undefined,
  value: unknown,
  code: 'unknown_member' | 'unknown_parameter',
  name: (path: Path) => string,
): readonly ProblemDetail[] {
  if (schema === undefined) return [];
  // Finding a name that is near takes time, and nobody is told of more.
  return unknownsIn(schema, value, [])
    .slice(0, MOST_DETAILS)
    .map(({ path, known }) => ({
      param: name(path),
      code,
      message: `is not known here${didYouMean(String(path.at(-1)), known)}`,
    }));
}

/** Share of a name's letters. */
const NEAR = 0.3;

/** The end of a sentence about a name that is not known: the known one that is near, where there is one. */
export function didYouMean(given: string, known: readonly string[]): string {
  // Longer ones are nobody's slip of the finger, and comparing them takes time.
  const [near] = given.length > 64 ? [] : suggestionList(given, known).filter((name) => isNear(given, name));
  return near === undefined ? '' : `; did you mean ${near}?`;
}

/** Letters that have to be put in, left out, changed or swapped, `_` and case aside, are few beside those that stay. */
function isNear(given: string, name: string): boolean {
  const [a, b] = [given, name].map((each) => each.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')) as [string, string];
  let [before, row]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const kept = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      next.push(Math.min(kept, row[j]! + 1, next[j - 1]! + 1, isSwap ? before[j - 2]! + 1 : Infinity));
    }
    [before, row] = [row, next];
  }
  return row[b.length]! <= Math.max(1, NEAR * Math.min(a.length, b.length));
}

function unknownsIn(schema: z.ZodType, value: unknown, path: Path): readonly Unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  if (schema instanceof z.ZodPipe) {
    // What a transformation makes of the input has other members than the input.
    return schema.def.in instanceof z.ZodTransform ? [] : unknownsIn(schema.def.in as z.ZodType, value, path);
  }
  if (schema instanceof z.ZodUnion) return unknownsOfUnion(schema, value, path);
  if (schema instanceof z.ZodArray) {
    if (!Array.isArray(value)) return [];
    return value.flatMap((each, index) => unknownsIn(schema.def.element as z.ZodType, each, [...path, index]));
  }
  if (schema instanceof z.ZodObject) return Array.isArray(value) ? [] : unknownsOfObject(schema, value, path);
  if ('innerType' in schema.def) return unknownsIn(schema.def.innerType as z.ZodType, value, path);
  return [];
}

function unknownsOfObject({ def }: z.ZodObject, value: object, path: Path): readonly Unknown[] {
  const shape = def.shape as Readonly<Record<string, z.ZodType>>;
  const isOpen = def.catchall !== undefined && !(def.catchall instanceof z.ZodNever);
  return Object.entries(value).flatMap(([member, inside]): readonly Unknown[] => {
    const place = [...path, member];
    if (Object.hasOwn(shape, member)) return unknownsIn(shape[member]!, inside, place);
    return isOpen ? [] : [{ path: place, known: Object.keys(shape) }];
  });
}

/** Of the option that is meant: the one that the discriminator names, else one that fits, else the nearest. */
function unknownsOfUnion(union: z.ZodUnion, value: object, path: Path): readonly Unknown[] {
  const options = union.options as readonly z.ZodType[];
  const meant =
    union instanceof z.ZodDiscriminatedUnion
      ? options.filter((option) => isNamed(option, union.def.discriminator, value))
      : options.filter((option) => option.safeParse(value).success);
  const found = (meant.length > 0 ? meant : options).map((option) => unknownsIn(option, value, path));
  return found.toSorted((one, other) => one.length - other.length)[0] ?? [];
}

function isNamed(option: z.ZodType, discriminator: string, value: object): boolean {
  const label = option instanceof z.ZodObject ? (option.shape as Record<string, z.ZodType>)[discriminator] : undefined;
  return label?.safeParse((value as Record<string, unknown>)[discriminator]).success === true;
}
