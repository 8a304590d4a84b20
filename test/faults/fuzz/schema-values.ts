import * as fc from 'fast-check';
import { daysAgo } from '../../days-ago.ts';

export type JsonSchema = { readonly [keyword: string]: unknown };

/** Values that have broken things elsewhere. */
export const HOSTILE: readonly unknown[] = [
  null,
  '',
  ' ',
  '\0',
  '\ud800',
  '\u202e',
  '💥'.repeat(300),
  'x'.repeat(5_000),
  '../../etc/passwd',
  "'; drop table agents; --",
  '{{7*7}}',
  '${jndi:ldap://x}',
  '<script>',
  '%s%n',
  'null',
  'NaN',
  '-0',
  '__proto__',
  'constructor',
  0,
  -0,
  -1,
  1e308,
  -1e308,
  1e-320,
  2 ** 53,
  -(2 ** 63),
  0.1 + 0.2,
  true,
  false,
  [],
  {},
  [[]],
  { $ref: '#' },
  { constructor: { prototype: {} } },
  '2026-02-30',
  '0000-01-01',
  '9999-12-31',
  '+275760-09-13',
  'ds_',
  'attr_0000000000000000000000',
  'agent_zzzzzzzzzzzzzzzzzzzzzz',
];

const hostile = fc.constantFrom(...HOSTILE);

/**
 * Values that a schema of the document asks for, more or less: what a careful client, a careless one and an attacker
 * send.
 */
export function valuesOf(
  schema: JsonSchema,
  components: Readonly<Record<string, JsonSchema>>,
  depth = 0,
): fc.Arbitrary<unknown> {
  const wanted = wantedBy(schema, components, depth);
  return fc.oneof(
    { weight: 30, arbitrary: wanted },
    { weight: 1, arbitrary: hostile },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  );
}

function wantedBy(
  schema: JsonSchema,
  components: Readonly<Record<string, JsonSchema>>,
  depth: number,
): fc.Arbitrary<unknown> {
  const {
    $ref: reference,
    const: only,
    enum: choices,
    anyOf,
    oneOf,
    type,
  } = schema as {
    $ref?: string;
    const?: unknown;
    enum?: unknown[];
    anyOf?: JsonSchema[];
    oneOf?: JsonSchema[];
    type?: string | string[];
  };
  if (depth > 6 || typeof schema !== 'object') return hostile;
  if (reference !== undefined) return valuesOf(components[reference.split('/').at(-1)!]!, components, depth + 1);
  if ('const' in schema) return fc.constant(only);
  if (choices !== undefined) return fc.constantFrom(...choices);
  const variants = anyOf ?? oneOf;
  if (variants !== undefined) return fc.oneof(...variants.map((variant) => valuesOf(variant, components, depth + 1)));
  switch (Array.isArray(type) ? type[0] : type) {
    case 'string':
      return textOf(schema);
    case 'integer':
      return fc.integer({ min: Number(schema['minimum'] ?? -5), max: Number(schema['maximum'] ?? 1_000) });
    case 'number':
      return fc.double({ min: Number(schema['minimum'] ?? -1e6), max: Number(schema['maximum'] ?? 1e6), noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'array':
      return fc.array(valuesOf((schema['items'] ?? {}) as JsonSchema, components, depth + 1), {
        minLength: Number(schema['minItems'] ?? 0),
        maxLength: Math.min(4, Number(schema['maxItems'] ?? 3)),
      });
    case 'object':
      return objectOf(schema, components, depth);
    default:
      return fc.jsonValue({ maxDepth: 1 });
  }
}

function textOf({ format, pattern }: JsonSchema): fc.Arbitrary<string> {
  if (format === 'date') return fc.constantFrom(daysAgo(31), daysAgo(1), daysAgo(500), daysAgo(-30));
  if (format === 'date-time')
    return fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00+14:00');
  if (format === 'uri')
    return fc.constantFrom('https://hooks.example/x', 'http://127.0.0.1/', 'https://user:pass@hooks.example/');
  if (format === 'email') return fc.constantFrom('somebody@example.org', 'a@b');
  if (typeof pattern === 'string') return fc.constantFrom('REF_ABCD', 'shop-agent', 'abc-123');
  return fc.oneof(
    fc.constantFrom('email', 'name', 'USD', `${daysAgo(31)},${daysAgo(1)}`, 'a b'),
    fc.string({ unit: 'grapheme', maxLength: 12 }),
  );
}

function objectOf(
  schema: JsonSchema,
  components: Readonly<Record<string, JsonSchema>>,
  depth: number,
): fc.Arbitrary<unknown> {
  const properties = (schema['properties'] ?? {}) as Record<string, JsonSchema>;
  const required = new Set((schema['required'] ?? []) as string[]);
  const members = Object.fromEntries(
    Object.entries(properties).map(([name, member]) => [name, valuesOf(member, components, depth + 1)]),
  );
  // Now and then a required member is missing, or there is one that is not known.
  return fc
    .tuple(
      fc.record(members, { requiredKeys: [...required].filter((name) => name in members) }),
      rarely(15, fc.constantFrom(...required, '')),
      rarely(20, fc.constantFrom('strange', '__proto__', 'constructor', 'Type')),
    )
    .map(([value, missing, added]) => {
      const entries = Object.entries(value as object).filter(([name]) => name !== missing);
      return Object.fromEntries(added === null ? entries : [...entries, [added, 1]]);
    });
}

/** A value in one of so many draws; null in the others. */
function rarely<Value>(draws: number, values: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> {
  return fc.oneof({ weight: draws - 1, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: values });
}
