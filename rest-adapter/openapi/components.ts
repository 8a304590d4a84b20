import { z } from 'zod';
import { OWN_META } from '../../schema/contract/terms.ts';
import type { Json } from '../operation.ts';

/**
 * What `items` of a pair says, in place of `false`: as there are no more than two, it never applies. Linters ask for
 * schemas of all arrays, and generators of types would make a third member of one that is not composed.
 */
const THIRD_MEMBER: Json = { allOf: [{ type: 'string' }, { format: 'date' }] };

/** Collects the schemas that have an id, and refers to them. */
export class Components {
  readonly schemas: Record<string, Json> = {};

  schemaOf(schema: z.ZodType): Json {
    const { properties, $defs } = z.toJSONSchema(z.object({ it: schema }), {
      io: 'input',
      override: ({ jsonSchema }) => published(jsonSchema as Json),
    });
    for (const [name, definition] of Object.entries($defs ?? {})) this.schemas[name] ??= referring(definition) as Json;
    return referring(properties!['it']) as Json;
  }
}

/** Changes what zod says of a schema into what we publish of it. */
function published(schema: Json): void {
  const { openapi, description } = schema as { openapi?: Json; description?: string };
  for (const key of OWN_META) delete schema[key];
  // Patterns behind a format only repeat it.
  if (schema['format'] !== undefined) delete schema['pattern'];
  if (schema['prefixItems'] !== undefined && schema['items'] === false) schema['items'] = THIRD_MEMBER;
  if (openapi === undefined) return;
  for (const key of Object.keys(schema)) delete schema[key];
  Object.assign(schema, openapi, description === undefined ? {} : { description });
}

/** Points references at the components of the document. */
function referring(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(referring);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      key === '$ref' && typeof member === 'string'
        ? member.replace('#/$defs/', '#/components/schemas/')
        : referring(member),
    ]),
  );
}
