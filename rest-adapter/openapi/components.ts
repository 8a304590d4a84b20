import { z } from 'zod';
import { OWN_META } from '../../schema/contract/terms.ts';
import type { Json } from '../operation.ts';

/**
 * What `items` of a pair says, in place of `false`: as there are no more than two, it never applies. Linters ask for
 * schemas of all arrays, and generators of types would make a third member of one that is not composed.
 */
const THIRD_MEMBER: Json = { allOf: [{ type: 'string' }, { format: 'date' }] };

/** The schema of a request body, and the name of the body in the document, where the schema has an id. */
export interface RequestSchema {
  readonly name: string | undefined;
  readonly schema: Json;
}

/** Collects the schemas that have an id, and refers to them. */
export class Components {
  readonly schemas: Record<string, Json> = {};

  schemaOf(schema: z.ZodType): Json {
    const { written, definitions } = jsonSchemaOf(schema);
    this.#collect(Object.keys(definitions), definitions);
    return referring(written) as Json;
  }

  /**
   * As it stands in a request body. Generators of types take a member with a default for one that is always there,
   * which is true of answers, and only inside of request bodies for one that may be left out. So whatever has such
   * members stands there itself, and no schema in the components is shared with it.
   */
  requestSchemaOf(schema: z.ZodType): RequestSchema {
    const { written, definitions } = jsonSchemaOf(schema);
    const name = definitionNameOf(written);
    const standsThere = (each: string) => each === name || hasDefaults(definitions[each]!);
    const schemaThere = inlined(written, definitions, standsThere) as Json;
    this.#collect(
      Object.keys(definitions).filter((each) => !standsThere(each)),
      definitions,
    );
    return { name, schema: referring(schemaThere) as Json };
  }

  /** A schema that was written elsewhere. */
  named(name: string, schema: Json): Json {
    this.schemas[name] ??= changed(schema, withItems) as Json;
    return { $ref: `#/components/schemas/${name}` };
  }

  #collect(names: readonly string[], definitions: Readonly<Record<string, Json>>): void {
    for (const name of names) this.schemas[name] ??= referring(definitions[name]) as Json;
  }
}

/** As zod writes it, with the definitions that it refers to. */
function jsonSchemaOf(schema: z.ZodType): { readonly written: Json; readonly definitions: Record<string, Json> } {
  const { properties, $defs = {} } = z.toJSONSchema(z.object({ it: schema }), {
    io: 'input',
    override: ({ jsonSchema }) => publish(jsonSchema as Json),
  });
  return { written: properties!['it'] as Json, definitions: $defs as Record<string, Json> };
}

/** Changes what zod says of a schema into what the document says. */
function publish(schema: Json): void {
  const { openapi, description } = schema as { openapi?: Json; description?: string };
  for (const key of OWN_META) delete schema[key];
  // Patterns behind a format only repeat it.
  if (schema['format'] !== undefined) delete schema['pattern'];
  Object.assign(schema, withItems(schema));
  if (openapi === undefined) return;
  for (const key of Object.keys(schema)) delete schema[key];
  Object.assign(schema, openapi, description === undefined ? {} : { description });
}

function withItems(schema: Json): Json {
  return schema['prefixItems'] !== undefined && schema['items'] === false ? { ...schema, items: THIRD_MEMBER } : schema;
}

/** Whether an object in it has a member with a default. */
function hasDefaults(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  const { properties = {} } = schema as { properties?: Readonly<Record<string, Json>> };
  return Object.values(properties).some((member) => 'default' in member) || Object.values(schema).some(hasDefaults);
}

const DEFINITIONS = '#/$defs/';

function definitionNameOf({ $ref }: Json): string | undefined {
  return typeof $ref === 'string' ? $ref.slice(DEFINITIONS.length) : undefined;
}

/** Puts some definitions into the places of the references to them. */
function inlined(
  value: unknown,
  definitions: Readonly<Record<string, Json>>,
  isMeant: (name: string) => boolean,
): unknown {
  return changed(value, (object) => {
    const name = definitionNameOf(object);
    if (name === undefined || !isMeant(name)) return object;
    const { $ref: _, ...beside } = object;
    return { ...(inlined(definitions[name], definitions, isMeant) as Json), ...beside };
  });
}

/** Points references at the components of the document. */
function referring(value: unknown): unknown {
  return changed(value, (object) => {
    const name = definitionNameOf(object);
    return name === undefined ? object : { ...object, $ref: `#/components/schemas/${name}` };
  });
}

/** A copy with every object in it, from the inside out, replaced by what `change` makes of it. */
function changed(value: unknown, change: (object: Json) => Json): unknown {
  if (Array.isArray(value)) return value.map((each) => changed(each, change));
  if (typeof value !== 'object' || value === null) return value;
  return change(Object.fromEntries(Object.entries(value).map(([key, member]) => [key, changed(member, change)])));
}
