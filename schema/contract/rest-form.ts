import { z } from 'zod';
import { snakeCase, type SnakeCase } from '../snake-case.ts';
import { inRest, ownRestForm, saidOf } from './terms.ts';

/** What REST calls a member. */
export function restName(name: string, member: unknown): string {
  return (member as z.ZodType | undefined)?.meta()?.rest ?? snakeCase(name);
}

/** The members of a record in REST's order. */
export function membersInRest({ shape }: z.ZodObject): (readonly [string, z.ZodType])[] {
  const members = Object.entries(shape) as [string, z.ZodType][];
  const placed = members.filter(([, member]) => member.meta()?.restAfter === undefined);
  for (const each of members) {
    const before = each[1].meta()?.restAfter;
    if (before !== undefined) placed.splice(placed.findIndex(([name]) => name === before) + 1, 0, each);
  }
  return placed;
}

/**
 * What REST reads and writes, as a type, of the input of a schema whose members all go by their names in snake_case.
 */
export type InRest<Value> = Value extends readonly (infer Element)[]
  ? InRest<Element>[]
  : Value extends object
    ? { [Name in keyof Value & string as SnakeCase<Name>]: InRest<Value[Name]> }
    : Value;

const forms = new WeakMap<z.ZodType, z.ZodType>();

/**
 * The schema of what REST reads and writes: members in snake_case, texts where the graph has a `Date`. What needs no
 * change stays itself.
 */
export function restForm<Schema extends z.ZodType>(
  schema: Schema,
): Schema extends z.ZodObject ? z.ZodObject : z.ZodType {
  let form = forms.get(schema);
  if (form === undefined) {
    form = made(schema);
    forms.set(schema, form);
  }
  return form as Schema extends z.ZodObject ? z.ZodObject : z.ZodType;
}

/** A record as a member of another: the graph says what it is there; in REST it stays itself. */
export function memberOf<Record extends z.ZodObject>(record: Record, graph: string): Record {
  const member = record.meta({ graph });
  forms.set(member, restForm(record));
  return member;
}

/**
 * Entries that the graph lists as records of two members, and REST shows as a map from the first to the second.
 */
export function mapInRest<Entry extends z.ZodObject>(entry: Entry): z.ZodArray<Entry> {
  const [, value] = Object.values(entry.shape) as z.ZodType[];
  return inRest(z.record(z.string(), restForm(value!)), z.array(entry)).meta({ mapInRest: true });
}

function made(schema: z.ZodType): z.ZodType {
  const own = ownRestForm(schema);
  if (own !== undefined) return documented(own.form, schema);
  if (schema instanceof z.ZodObject) return objectForm(schema);
  if (schema instanceof z.ZodCodec) return documented(restForm(schema.def.in as z.ZodType), schema);
  const inner = innerOf(schema);
  if (inner === undefined || restForm(inner) === inner) return schema;
  const form = restForm(inner);
  if (schema instanceof z.ZodOptional) return documented(form.optional(), schema);
  if (schema instanceof z.ZodNullable) return documented(form.nullable(), schema);
  return documented(
    z.array(form).check(...(((schema.def as z.core.$ZodArrayDef).checks ?? []) as z.core.$ZodCheck<unknown[]>[])),
    schema,
  );
}

function innerOf(schema: z.ZodType): z.ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return schema.def.innerType as z.ZodType;
  return schema instanceof z.ZodArray ? (schema.def.element as z.ZodType) : undefined;
}

function objectForm(schema: z.ZodObject): z.ZodObject {
  const renamed = membersInRest(schema).map(([name, member]) => [restName(name, member), restForm(member)]);
  const open = z.object(Object.fromEntries(renamed) as z.ZodRawShape);
  // What a strict object says of members that it does not know.
  const { catchall } = schema.def;
  const plain = catchall === undefined ? open : open.catchall(catchall as z.ZodType);
  // Rules between members know the graph's names.
  const rules = z.custom<unknown>().check(...((schema.def.checks ?? []) as z.core.$ZodCheck<unknown>[]));
  const ruled =
    schema.def.checks === undefined
      ? plain
      : plain.check(
          z.core._check(
            (payload: z.core.ParsePayload) => {
              const { error } = rules.safeParse(fromRest(schema, payload.value));
              for (const issue of error?.issues ?? []) {
                const path = issue.path.map((part) =>
                  typeof part === 'string' ? restName(part, schema.shape[part]) : part,
                );
                payload.issues.push({ ...issue, path, input: payload.value } as z.core.$ZodRawIssue);
              }
            },
            { when: whenOf(schema) },
          ),
        );
  return documented(ruled, schema) as z.ZodObject;
}

/** When the rules between members are asked, where they say so themselves. */
function whenOf({ def }: z.ZodObject): ((payload: z.core.ParsePayload) => boolean) | undefined {
  return (def.checks ?? []).map((check) => check._zod.def.when).find((when) => when !== undefined);
}

function documented(form: z.ZodType, schema: z.ZodType): z.ZodType {
  const said = schema.meta();
  return said === undefined ? form : form.meta(said);
}

/** What REST sent, parsed by the form of a schema, with the graph's names. */
export function fromRest(schema: z.ZodType, value: unknown): unknown {
  // Rules are also asked about what does not fit otherwise.
  if (typeof value !== 'object' || value === null) return value;
  if (schema instanceof z.ZodObject) {
    const given = value as Readonly<Record<string, unknown>>;
    return Object.fromEntries(
      Object.entries(schema.shape)
        .map(([name, member]) => [name, member as z.ZodType, given[restName(name, member)]] as const)
        .filter(([, , each]) => each !== undefined)
        .map(([name, member, each]) => [name, fromRest(member, each)]),
    );
  }
  const inner = innerOf(schema);
  if (inner === undefined) return value;
  if (!(schema instanceof z.ZodArray)) return fromRest(inner, value);
  return Array.isArray(value) ? value.map((each) => fromRest(inner, each)) : value;
}

/**
 * What the graph was sent, as REST is sent it: the opposite of {@link fromRest}, for what has not been checked yet.
 * Members that are not known keep their places, and values that do not fit stay as they are.
 */
export function toRest(schema: unknown, value: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return toRest(schema.def.innerType, value);
  const write = schema instanceof z.ZodType ? ownRestForm(schema)?.write : undefined;
  if (write !== undefined) return write(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? value : value.toISOString();
  if (schema instanceof z.ZodEnum) return optionOf(schema as z.ZodEnum<Record<string, string>>, value);
  if (typeof value !== 'object' || value === null) return value;
  if (schema instanceof z.ZodArray)
    return Array.isArray(value) ? value.map((each) => toRest(schema.def.element, each)) : value;
  if (schema instanceof z.ZodObject) {
    if (Array.isArray(value)) return value;
    const { shape } = schema;
    const members = Object.entries(value).map(([name, member]) => [
      restName(name, Object.hasOwn(shape, name) ? shape[name] : undefined),
      toRest(Object.hasOwn(shape, name) ? shape[name] : undefined, member),
    ]);
    return Object.fromEntries(members);
  }
  return value;
}

/** The value behind a name of the graph's enum; one that the graph keeps as a text has none. */
function optionOf(schema: z.ZodEnum<Record<string, string>>, value: unknown): unknown {
  if (saidOf(schema).scalar !== undefined || typeof value !== 'string') return value;
  return schema.options.find((option) => option.toUpperCase() === value) ?? value;
}
