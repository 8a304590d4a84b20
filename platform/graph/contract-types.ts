import 'reflect-metadata';
import type { GraphQLScalarType } from 'graphql';
import {
  Directive,
  Field,
  Float,
  ID,
  InputType,
  Int,
  ObjectType,
  registerEnumType,
  type ClassType,
} from 'type-graphql';
import { z } from 'zod';
import type { Frozen } from '../../schema/contract/frozen.ts';
import { graphNameOf, graphTypes, origin, saidOf } from '../../schema/contract/terms.ts';
import { trustEnvelope } from '../../schema/contract/trust-envelope.ts';
import type * as domain from '../../schema/trust-envelope.ts';
import { enumOf } from './enum-of.ts';
import { CentsScalar, DateScalar, DateTimeScalar, JsonScalar, UrlScalar } from './scalars.ts';

/**
 * The graph's types of the shapes in `schema/contract`. A shape has one type per process, however often it is asked
 * for.
 */

export type Trusted = { readonly trust: domain.TrustEnvelope };
/** What a resolver gives for a record; one may have a say of its own about its envelope. */
export type GraphRecord<Schema extends z.ZodObject> = Frozen<z.output<Schema>> &
  ('trust' extends keyof z.output<Schema> ? unknown : Trusted);

const SCALARS = { ID, String, Float, Cents: CentsScalar, JSON: JsonScalar, URL: UrlScalar } as const;
const types = new WeakMap<z.ZodType, object>();

function kept<Type extends object>(schema: z.ZodType, make: () => Type): Type {
  const type = (types.get(schema) as Type | undefined) ?? make();
  types.set(schema, type);
  return type;
}

export function descriptionOf(schema: z.ZodType): string {
  const { graph, description } = saidOf(schema);
  if (graph !== undefined) return graph;
  if (description === undefined) throw new Error('a member of the contract has no description');
  return description.endsWith('.') ? description : `${description}.`;
}

/** The type of records; `trust` is the description of the envelope that they carry, and parts of records carry none. */
export function objectTypeOf<Schema extends z.ZodObject>(schema: Schema, trust: string): ClassType<GraphRecord<Schema>>;
export function objectTypeOf<Schema extends z.ZodObject>(schema: Schema): ClassType<z.output<Schema>>;
export function objectTypeOf(schema: z.ZodObject, trust?: string): ClassType {
  return kept(origin(schema), () => {
    const name = graphNameOf(schema);
    const { description, isShareable } = graphTypes.get(schema) ?? {};
    const type = classNamed(name);
    ObjectType(name, { description: description ?? descriptionOf(schema) })(type);
    if (isShareable) Directive('@shareable')(type);
    addFields(type, schema.shape);
    if (trust !== undefined && !('trust' in schema.shape)) {
      Field(() => objectTypeOf(trustEnvelope), { description: trust })(type.prototype as object, 'trust');
    }
    return type;
  });
}

export function inputTypeOf<Schema extends z.ZodObject>(
  name: string,
  schema: Schema,
  description = descriptionOf(schema),
): ClassType<z.output<Schema>> {
  const type = classNamed(name);
  InputType(name, { description })(type);
  addFields(type, schema.shape, partOfInput);
  return type as ClassType<z.output<Schema>>;
}

const inputs = new WeakMap<z.ZodType, ClassType>();

/** The input type of a record that stands inside of an input; one that answers have too has a name of its own there. */
function partOfInput(schema: z.ZodObject): ClassType {
  const said = graphTypes.get(schema);
  const name = said?.name ?? `${String(schema.meta()?.id)}Input`;
  const made = inputs.get(origin(schema)) ?? inputTypeOf(name, schema, said?.description);
  inputs.set(origin(schema), made);
  return made;
}

/** GraphQL's enum of a list of values; the schemas that only describe it anew share it. */
export function enumTypeOf<Value extends Record<string, string>>(
  schema: z.ZodEnum<Value>,
): Readonly<Record<string, Value[keyof Value]>> {
  return kept(origin(schema), () => {
    const { name, description } = graphTypes.get(schema) ?? {};
    if (name === undefined) throw new Error(`the enum of ${schema.options.join(', ')} has no name in the graph`);
    const type = enumOf(schema.options);
    registerEnumType(type, { name, ...(description !== undefined && { description }) });
    return type;
  });
}

/** Makes the type of a record in a record. */
type PartOf = (schema: z.ZodObject) => ClassType;

/** Gives a type the members of a shape, but for those that REST alone has. */
export function addFields(
  type: ClassType,
  shape: Readonly<Record<string, unknown>>,
  partOf: PartOf = objectTypeOf,
): void {
  for (const [name, member] of Object.entries(shape)) {
    const schema = member as z.ZodType;
    if (schema.meta()?.onlyInRest === true) continue;
    const { inner, nullable } = unwrapped(schema);
    // At once: type-graphql finds an enum that is registered later in no schema.
    const made = typeOf(inner, partOf);
    Field(() => made, { nullable, description: descriptionOf(schema) })(type.prototype as object, name);
  }
}

function unwrapped(schema: z.ZodType): { readonly inner: z.ZodType; readonly nullable: boolean } {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return { inner: unwrapped(schema.def.innerType as z.ZodType).inner, nullable: true };
  return { inner: schema, nullable: false };
}

type GraphType = GraphQLScalarType | ClassType | object;

function typeOf(schema: z.ZodType, partOf: PartOf): GraphType | [GraphType] {
  const { scalar } = saidOf(schema);
  if (scalar !== undefined) return SCALARS[scalar];
  if (schema instanceof z.ZodObject) return partOf(schema);
  if (schema instanceof z.ZodEnum) return enumTypeOf(schema as z.ZodEnum<Record<string, string>>);
  if (schema instanceof z.ZodArray) return [typeOf(schema.def.element as z.ZodType, partOf)];
  if (schema instanceof z.ZodTuple) return [typeOf(schema.def.items[0] as z.ZodType, partOf)];
  if (schema instanceof z.ZodCodec) return typeOf(schema.def.in as z.ZodType, partOf);
  // What REST takes in many forms, the graph takes in the first.
  if (schema instanceof z.ZodPipe) return typeOf(schema.def.in as z.ZodType, partOf);
  if (schema instanceof z.ZodUnion) return typeOf(schema.def.options[0] as z.ZodType, partOf);
  if (schema instanceof z.ZodBoolean) return Boolean;
  if (schema instanceof z.ZodDate) return DateTimeScalar;
  if (schema instanceof z.ZodRecord || schema instanceof z.ZodUnknown) return JsonScalar;
  if (schema instanceof z.ZodNumber) return schema.format === 'safeint' ? Int : Float;
  const format =
    (schema as { format?: string | null }).format ?? (schema.meta() as { format?: string } | undefined)?.format;
  if (format === 'datetime') return DateTimeScalar;
  return format === 'date' ? DateScalar : String;
}

/** A class that is called so. */
export function classNamed(name: string): ClassType {
  // oxlint-disable-next-line typescript/no-extraneous-class -- its members are what the decorators say
  return { [name]: class {} }[name]!;
}
