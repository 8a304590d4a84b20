import { z } from 'zod';
import { snakeCase } from '../snake-case.ts';
import { ownRestForm } from './terms.ts';

/** What REST calls a member. */
export function restName(name: string, member: unknown): string {
  return (member as z.ZodType | undefined)?.meta()?.rest ?? snakeCase(name);
}

const forms = new WeakMap<z.ZodType, z.ZodType>();

/** The schema of what REST reads and writes: members in snake_case, texts where the graph has a `Date`. What needs no change stays itself. */
export function restForm<Schema extends z.ZodType>(schema: Schema): Schema extends z.ZodObject ? z.ZodObject : z.ZodType {
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

function made(schema: z.ZodType): z.ZodType {
  const own = ownRestForm(schema);
  if (own !== undefined) return documented(own, schema);
  if (schema instanceof z.ZodObject) return objectForm(schema);
  if (schema instanceof z.ZodCodec) return documented(restForm(schema.def.in as z.ZodType), schema);
  const inner = innerOf(schema);
  if (inner === undefined || restForm(inner) === inner) return schema;
  const form = restForm(inner);
  if (schema instanceof z.ZodOptional) return documented(form.optional(), schema);
  if (schema instanceof z.ZodNullable) return documented(form.nullable(), schema);
  return documented(z.array(form).check(...((schema.def as z.core.$ZodArrayDef).checks ?? []) as z.core.$ZodCheck<unknown[]>[]), schema);
}

function innerOf(schema: z.ZodType): z.ZodType | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return schema.def.innerType as z.ZodType;
  return schema instanceof z.ZodArray ? (schema.def.element as z.ZodType) : undefined;
}

function objectForm(schema: z.ZodObject): z.ZodObject {
  const members = Object.entries(schema.shape) as [string, z.ZodType][];
  const renamed = members.map(([name, member]) => [restName(name, member), restForm(member)]);
  const shape = Object.fromEntries(renamed) as z.ZodRawShape;
  const plain = schema.def.catchall instanceof z.ZodNever ? z.strictObject(shape) : z.object(shape);
  // Rules between members know the graph's names.
  const rules = z.custom<unknown>().check(...((schema.def.checks ?? []) as z.core.$ZodCheck<unknown>[]));
  const ruled = schema.def.checks === undefined ? plain : plain.check((payload) => {
    const { error } = rules.safeParse(fromRest(schema, payload.value));
    for (const issue of error?.issues ?? []) {
      const path = issue.path.map((part) => (typeof part === 'string' ? restName(part, schema.shape[part]) : part));
      payload.issues.push({ ...issue, path, input: payload.value } as z.core.$ZodRawIssue);
    }
  });
  return documented(ruled, schema) as z.ZodObject;
}

function documented(form: z.ZodType, schema: z.ZodType): z.ZodType {
  const said = schema.meta();
  return said === undefined ? form : form.meta(said);
}

/** What REST sent, parsed by the form of a schema, with the graph's names. */
export function fromRest(schema: z.ZodType, value: unknown): unknown {
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
  if (inner === undefined || value === null || value === undefined) return value;
  return schema instanceof z.ZodArray ? (value as readonly unknown[]).map((each) => fromRest(inner, each)) : fromRest(inner, value);
}
