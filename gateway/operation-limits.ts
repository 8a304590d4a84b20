import {
  getNamedType,
  isCompositeType,
  isIntrospectionType,
  isListType,
  isObjectType,
  isInterfaceType,
  getNullableType,
  Kind,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql';
import { ProblemError } from '../schema/problems.ts';

/** What one operation of a stranger may ask for. */
export interface OperationLimits {
  /** Characters of the document. What is long goes into variables. */
  readonly maxCharacters: number;
  /** Lexical tokens of the document; the parser stops behind them. */
  readonly maxTokens: number;
  /** Comments, which the parser keeps as tokens and does not count as such. */
  readonly maxComments: number;
  /** Fields inside one another, fragments spread out. Introspection is not counted: its standard query is deeper. */
  readonly maxDepth: number;
  /** Selection sets inside one another: fields, and fragments that a field does not stand between. */
  readonly maxNesting: number;
  readonly maxAliases: number;
  readonly maxRootFields: number;
  /**
   * Objects that the answer may hold: each field with a selection counts 1, times the page sizes around it; an edge and
   * its node are one, and an interval is a figure.
   */
  readonly maxCost: number;
  /** Selections with all fragments spread out: what planning has to look at. */
  readonly maxSelections: number;
  /**
   * `@include` and `@skip` with all fragments spread out: the planner plans for each anew, two milliseconds at a time.
   */
  readonly maxConditions: number;
  /** Times that one name may stand in a selection set with all fragments spread out. */
  readonly maxRepeats: number;
  /** Objects that an answer about the schema may hold. */
  readonly maxSchemaObjects: number;
}

/** Several times what the largest document of the doors needs, and far below what hurts. */
export const DEFAULT_LIMITS: OperationLimits = {
  maxCharacters: 65_536,
  maxTokens: 2_000,
  maxComments: 500,
  maxDepth: 10,
  maxNesting: 30,
  maxAliases: 15,
  maxRootFields: 10,
  maxCost: 2_000,
  maxSelections: 5_000,
  maxConditions: 10,
  maxRepeats: 10,
  maxSchemaObjects: 200_000,
};

/**
 * What an operation asks for, in the units of {@link OperationLimits}. Infinity where fragments multiply beyond
 * counting.
 */
export interface OperationSize {
  readonly depth: number;
  readonly nesting: number;
  readonly aliases: number;
  readonly rootFields: number;
  readonly cost: number;
  readonly selections: number;
  readonly conditions: number;
  /** Types, fields, arguments and so on that `__schema` and `__type` show. */
  readonly schemaObjects: number;
}

/** About as many as the schema has of each, or one of its larger types. */
const SCHEMA_LISTS: Readonly<Record<string, number>> = {
  types: 200,
  directives: 10,
  fields: 15,
  args: 3,
  inputFields: 10,
  enumValues: 10,
  interfaces: 1,
  possibleTypes: 2,
};
/** Types that say more of what they stand beside. */
const NO_OBJECTS = /(?:Edge|Interval)$/;
/** A page nobody gave a size has this many rows. */
const DEFAULT_PAGE = 20;
/** A size that is not a number is refused later; until then it counts as a full page. */
const LARGEST_PAGE = 100;

/**
 * Refuses an operation that asks for too much.
 * @param document valid against `schema`
 * @throws ProblemError `invalid_request` whose code names the limit
 */
export function assertWithinLimits(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
  limits: OperationLimits,
): void {
  const size = measureOperation(schema, document, operation, variables);
  const checks: readonly (readonly [code: string, what: string, value: number, limit: number])[] = [
    ['too_many_root_fields', 'root fields', size.rootFields, limits.maxRootFields],
    ['too_many_aliases', 'aliases', size.aliases, limits.maxAliases],
    ['too_deep', 'levels', size.depth, limits.maxDepth],
    ['too_nested', 'selection sets inside one another', size.nesting, limits.maxNesting],
    ['too_many_selections', 'selections', size.selections, limits.maxSelections],
    ['too_many_conditions', 'conditions', size.conditions, limits.maxConditions],
    ['too_costly', 'points of cost', size.cost, limits.maxCost],
    ['too_much_of_the_schema', 'objects of the schema', size.schemaObjects, limits.maxSchemaObjects],
  ];
  for (const [code, what, value, limit] of checks) {
    if (value > limit)
      throw new ProblemError('invalid_request', `The operation has ${value} ${what}; at most ${limit} are allowed.`, {
        code,
      });
  }
}

/** Measures an operation in one walk; each fragment is measured once, however often it is spread. */
export function measureOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Readonly<Record<string, unknown>>,
): OperationSize {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  const measured = new Map<string, Measure>();
  const variableOf: VariableOf = (name) => {
    const declared = operation.variableDefinitions?.find(({ variable }) => variable.name.value === name);
    return (
      variables[name] ?? (declared?.defaultValue === undefined ? undefined : valueFromASTUntyped(declared.defaultValue))
    );
  };

  const ofFragment = (name: string): Measure => {
    const known = measured.get(name);
    if (known !== undefined) return known;
    const fragment = fragments.get(name)!;
    const measure = ofSelections(fragment.selectionSet, schema.getType(fragment.typeCondition.name.value));
    measured.set(name, measure);
    return measure;
  };

  const ofSelections = (selectionSet: SelectionSetNode, parent: GraphQLNamedType | undefined): Measure => {
    const total = { ...NOTHING };
    for (const selection of selectionSet.selections) {
      total.conditions += selection.directives?.length ?? 0;
      const part = ofSelection(selection, parent);
      // What is left out is planned for all the same.
      add(total, isLeftOut(selection, variableOf) ? { ...part, cost: 0, listCost: 0 } : part);
    }
    return total;
  };

  const ofSelection = (selection: SelectionNode, parent: GraphQLNamedType | undefined): Measure => {
    if (selection.kind === Kind.FIELD) return ofField(selection, parent);
    if (selection.kind === Kind.FRAGMENT_SPREAD) return inside(ofFragment(selection.name.value));
    const { typeCondition } = selection;
    const type = typeCondition === undefined ? parent : schema.getType(typeCondition.name.value);
    return inside(ofSelections(selection.selectionSet, type));
  };

  const ofField = (field: FieldNode, parent: GraphQLNamedType | undefined): Measure => {
    const definition =
      isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[field.name.value] : undefined;
    const own = { ...NOTHING, depth: 1, aliases: field.alias === undefined ? 0 : 1, selections: 1, fields: 1 };
    if (field.selectionSet === undefined) return own;
    if (definition === undefined) {
      const { selections, conditions, nesting, aliases, schemaObjects } = ofSelections(
        field.selectionSet,
        introspected(schema, field),
      );
      return {
        ...own,
        selections: 1 + selections,
        conditions,
        nesting: 1 + nesting,
        aliases: own.aliases + aliases,
        schemaObjects: 1 + schemaObjects,
      };
    }
    const type = getNamedType(definition.type);
    const below = ofSelections(field.selectionSet, isCompositeType(type) ? type : undefined);
    const isList = isListType(getNullableType(definition.type));
    const each = (NO_OBJECTS.test(type.name) ? 0 : 1) + below.cost;
    // The size of a page multiplies its lists: the edges of a connection, but not its trust or pageInfo.
    const rows = pageSize(field, definition, variableOf);
    const cost =
      rows === undefined ? each : isList ? rows * each : 1 + (below.cost - below.listCost) + rows * below.listCost;
    return {
      depth: isIntrospectionType(type) ? 1 : 1 + below.depth,
      nesting: 1 + below.nesting,
      aliases: own.aliases + below.aliases,
      selections: 1 + below.selections,
      conditions: below.conditions,
      fields: 1,
      cost,
      listCost: isList ? cost : 0,
      schemaObjects:
        parent !== undefined && isIntrospectionType(parent)
          ? (SCHEMA_LISTS[field.name.value] ?? 1) * (1 + below.schemaObjects)
          : below.schemaObjects,
    };
  };

  const { depth, nesting, aliases, selections, conditions, fields, cost, schemaObjects } = ofSelections(
    operation.selectionSet,
    schema.getRootType(operation.operation) ?? undefined,
  );
  return { depth, nesting, aliases, selections, conditions, rootFields: fields, cost, schemaObjects };
}

/** `listCost` is the part of `cost` that stands below lists; `fields` counts one level only. */
interface Measure {
  depth: number;
  nesting: number;
  aliases: number;
  selections: number;
  conditions: number;
  fields: number;
  cost: number;
  listCost: number;
  schemaObjects: number;
}

const NOTHING: Measure = {
  depth: 0,
  nesting: 0,
  aliases: 0,
  selections: 0,
  conditions: 0,
  fields: 0,
  cost: 0,
  listCost: 0,
  schemaObjects: 0,
};

/** A fragment as its parent sees it. */
function inside(measure: Measure): Measure {
  return { ...measure, nesting: 1 + measure.nesting };
}

function add(total: Measure, part: Measure): void {
  total.depth = Math.max(total.depth, part.depth);
  total.nesting = Math.max(total.nesting, part.nesting);
  total.aliases += part.aliases;
  total.selections += part.selections;
  total.conditions += part.conditions;
  total.fields += part.fields;
  total.cost += part.cost;
  total.listCost += part.listCost;
  total.schemaObjects += part.schemaObjects;
}

/** `__schema` and `__type` belong to no type's fields. */
function introspected(schema: GraphQLSchema, field: FieldNode): GraphQLNamedType | undefined {
  return schema.getType(field.name.value === '__schema' ? '__Schema' : '__Type');
}

/** The value of a variable, or its default. */
type VariableOf = (name: string) => unknown;

/** Whether `@include` or `@skip` leaves a selection out of the answer. */
function isLeftOut({ directives = [] }: SelectionNode, variableOf: VariableOf): boolean {
  return directives.some(({ name, arguments: given = [] }) => {
    const condition = given.find((argument) => argument.name.value === 'if')?.value;
    if (condition === undefined) return false;
    const value = condition.kind === Kind.VARIABLE ? variableOf(condition.name.value) : valueFromASTUntyped(condition);
    return value === (name.value === 'skip');
  });
}

/** Rows that the field's `first` or `last` asks for; undefined for a field that has no pages. */
function pageSize(
  field: FieldNode,
  definition: GraphQLField<unknown, unknown>,
  variableOf: VariableOf,
): number | undefined {
  if (!definition.args.some(({ name }) => name === 'first')) return undefined;
  const given = field.arguments?.find(
    ({ name, value }) => (name.value === 'first' || name.value === 'last') && value.kind !== Kind.NULL,
  )?.value;
  if (given === undefined) return DEFAULT_PAGE;
  if (given.kind === Kind.INT) return sized(Number(given.value));
  if (given.kind !== Kind.VARIABLE) return LARGEST_PAGE;
  const value = variableOf(given.name.value);
  return value === undefined || value === null ? DEFAULT_PAGE : sized(value);
}

function sized(rows: unknown): number {
  return typeof rows === 'number' && Number.isFinite(rows) ? Math.max(1, rows) : LARGEST_PAGE;
}
