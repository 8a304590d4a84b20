import { readdirSync, readFileSync } from 'node:fs';
import { Kind, parse, type DefinitionNode, type FieldDefinitionNode, type ObjectTypeDefinitionNode } from 'graphql';

const SCHEMA = new URL('../../schema/', import.meta.url);
const definitionsOf = (file: string): readonly DefinitionNode[] =>
  parse(readFileSync(new URL(file, SCHEMA), 'utf8')).definitions;
const isObject = (definition: DefinitionNode): definition is ObjectTypeDefinitionNode =>
  definition.kind === Kind.OBJECT_TYPE_DEFINITION;
const isEntity = ({ directives = [] }: ObjectTypeDefinitionNode) => directives.some(({ name }) => name.value === 'key');
/** Named only, to be brought along from its owner. */
const isExternal = ({ directives = [] }: FieldDefinitionNode) =>
  directives.some(({ name }) => name.value === 'external');
const mayBeNull = ({ type }: FieldDefinitionNode) => type.kind !== Kind.NON_NULL_TYPE;

const SUBGRAPHS = readdirSync(new URL('subgraphs/', SCHEMA)).map((file) =>
  definitionsOf(`subgraphs/${file}`).filter(isObject),
);
const SUPERGRAPH = definitionsOf('supergraph.graphql');
const ROOTS: ReadonlySet<string> = new Set(['Query', 'Mutation', 'Subscription']);

describe('one failed field takes nothing else of an answer away', () => {
  test.each(['Query', 'Mutation'])('each field of %s may be null', (root) => {
    const fields = SUPERGRAPH.filter(isObject).find(({ name }) => name.value === root)?.fields ?? [];
    expect(fields.length).toBeGreaterThan(10);
    expect(fields.filter((field) => !mayBeNull(field)).map(({ name }) => name.value)).toEqual([]);
  });

  test('each field that a subgraph adds to an entity of another may be null: that subgraph may be away', () => {
    const entities = new Map<string, ObjectTypeDefinitionNode[]>();
    for (const type of SUBGRAPHS.flat().filter(isEntity))
      entities.set(type.name.value, [...(entities.get(type.name.value) ?? []), type]);
    const added = [...entities.values()].flatMap((types) => {
      // Whoever says most of an entity is its owner.
      const [, ...guests] = types.toSorted((one, other) => (other.fields?.length ?? 0) - (one.fields?.length ?? 0));
      return guests.flatMap(({ name, fields = [] }) =>
        fields
          .filter((field) => field.name.value !== 'id' && !isExternal(field))
          .map((field) => ({ name: `${name.value}.${field.name.value}`, mayBeNull: mayBeNull(field) })),
      );
    });
    expect(added.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['Agent.totalDeltaRCents', 'Attribution.platformFeeCents']),
    );
    expect(added.filter((field) => !field.mayBeNull)).toEqual([]);
  });
});

test('whatever a root field answers carries a trust envelope', () => {
  const objects = SUPERGRAPH.filter(isObject);
  const answers = objects.filter(({ name }) => ROOTS.has(name.value)).flatMap(({ fields = [] }) => fields);
  expect(answers.length).toBeGreaterThan(40);
  const without = answers.filter(({ type }) => {
    const named = type.kind === Kind.NON_NULL_TYPE ? type.type : type;
    const answer = objects.find(({ name }) => named.kind === Kind.NAMED_TYPE && name.value === named.name.value);
    return !answer?.fields?.some(({ name }) => name.value === 'trust');
  });
  expect(without.map(({ name }) => name.value)).toEqual([]);
});

test.each(['TierChange', 'AttributionChange', 'AttributionProgress', 'DataSourceChange'])(
  '%s has the members that all subscriptions have in common',
  (type) => {
    const fields = SUPERGRAPH.filter(isObject).find(({ name }) => name.value === type)?.fields ?? [];
    const common = ['sequence', 'kind', 'progress', 'stage', 'channelImpact', 'result', 'trust'];
    expect(fields.map(({ name }) => name.value)).toEqual(expect.arrayContaining(common));
  },
);

test('everything that a client sees of the graph is described, arguments of an input type by their type', () => {
  const inputs = new Set(
    SUPERGRAPH.filter(({ kind }) => kind === Kind.INPUT_OBJECT_TYPE_DEFINITION).map((definition) =>
      'name' in definition ? definition.name?.value : undefined,
    ),
  );
  const undescribed: string[] = [];
  for (const definition of SUPERGRAPH) {
    if (!('description' in definition) || !('name' in definition) || /^(join|link)__/.test(definition.name!.value))
      continue;
    const type = definition.name!.value;
    if (definition.description === undefined && !ROOTS.has(type) && definition.kind !== Kind.DIRECTIVE_DEFINITION)
      undescribed.push(type);
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION && definition.kind !== Kind.INPUT_OBJECT_TYPE_DEFINITION)
      continue;
    for (const field of definition.fields ?? []) {
      if (field.description === undefined) undescribed.push(`${type}.${field.name.value}`);
      for (const argument of ('arguments' in field ? field.arguments : undefined) ?? []) {
        const named = argument.type.kind === Kind.NON_NULL_TYPE ? argument.type.type : argument.type;
        const isInput = named.kind === Kind.NAMED_TYPE && inputs.has(named.name.value);
        if (argument.description === undefined && !isInput)
          undescribed.push(`${type}.${field.name.value}(${argument.name.value})`);
      }
    }
  }
  expect(undescribed).toEqual([]);
});
