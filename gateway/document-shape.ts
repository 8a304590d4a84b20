import { Kind, parse, type DocumentNode, type FragmentDefinitionNode, type SelectionSetNode } from 'graphql';
import { ProblemError } from '../schema/problems.ts';
import type { OperationLimits } from './operation-limits.ts';

/** Documents that fit are remembered by their text, up to so many of up to so many characters. */
const REMEMBERED = 500;
const LONGEST_REMEMBERED = 20_000;

/**
 * Refuses documents whose shape alone makes them costly to validate or to plan, before either is done: validation
 * compares every two fields of one name (GraphQL §5.3.2), which is quadratic.
 */
export class DocumentShapes {
  readonly #limits: OperationLimits;
  readonly #fitting = new Set<string>();

  constructor(limits: OperationLimits) {
    this.#limits = limits;
  }

  /**
   * @throws ProblemError `invalid_request` whose code names the limit
   * @throws GraphQLError when the text is not GraphQL, or too long
   */
  assertFitting(source: string): void {
    if (this.#fitting.has(source)) return;
    const { maxCharacters, maxTokens, maxComments } = this.#limits;
    if (source.length > maxCharacters)
      throw new ProblemError(
        'invalid_request',
        `The document has ${source.length} characters; at most ${maxCharacters} are allowed. Send values as variables.`,
        { code: 'too_long' },
      );
    const document = parse(source, { maxTokens, maxComments, noLocation: true });
    const { repeats, conditions, selections } = shapeOf(document);
    const checks: readonly (readonly [code: string, what: string, value: number, limit: number])[] = [
      ['too_many_selections', 'selections', selections, this.#limits.maxSelections],
      ['too_many_conditions', 'conditions', conditions, this.#limits.maxConditions],
      ['too_many_repeats', 'selections of one field beside each other', repeats, this.#limits.maxRepeats],
    ];
    for (const [code, what, value, limit] of checks) {
      if (value > limit)
        throw new ProblemError('invalid_request', `The document has ${value} ${what}; at most ${limit} are allowed.`, {
          code,
        });
    }
    if (source.length > LONGEST_REMEMBERED) return;
    this.#fitting.add(source);
    if (this.#fitting.size > REMEMBERED) this.#fitting.delete(this.#fitting.values().next().value!);
  }
}

interface Shape {
  /** How often the name that stands most often in one selection set stands there, fragments spread out. */
  readonly repeats: number;
  readonly conditions: number;
  readonly selections: number;
  /** How often each name stands in the selection set itself. */
  readonly names: ReadonlyMap<string, number>;
}

const NOTHING: Shape = { repeats: 0, conditions: 0, selections: 0, names: new Map() };
/** A fragment inside itself: validation refuses it. Counting goes on as if it were not there. */
const CYCLE = NOTHING;

function shapeOf(document: DocumentNode): Omit<Shape, 'names'> {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  const known = new Map<string, Shape>();

  const ofFragment = (name: string): Shape => {
    const shape = known.get(name);
    if (shape !== undefined) return shape;
    known.set(name, CYCLE);
    const fragment = fragments.get(name);
    const found = fragment === undefined ? NOTHING : ofSelections(fragment.selectionSet);
    known.set(name, found);
    return found;
  };

  const ofSelections = ({ selections }: SelectionSetNode): Shape => {
    const names = new Map<string, number>();
    const total = { repeats: 0, conditions: 0, selections: 0 };
    const add = (shape: Omit<Shape, 'names'>): void => {
      total.repeats = Math.max(total.repeats, shape.repeats);
      total.conditions += shape.conditions;
      total.selections += shape.selections;
    };
    for (const selection of selections) {
      total.selections += 1;
      total.conditions += selection.directives?.length ?? 0;
      if (selection.kind === Kind.FIELD) {
        if (selection.name.value === 'isOneOf')
          throw new ProblemError('invalid_request', 'The schema here does not tell isOneOf. Leave it out.', {
            code: 'invalid_document',
          });
        const name = (selection.alias ?? selection.name).value;
        names.set(name, (names.get(name) ?? 0) + 1);
        if (selection.selectionSet !== undefined) add(ofSelections(selection.selectionSet));
        continue;
      }
      const spread =
        selection.kind === Kind.FRAGMENT_SPREAD
          ? ofFragment(selection.name.value)
          : ofSelections(selection.selectionSet);
      add(spread);
      for (const [name, count] of spread.names) names.set(name, (names.get(name) ?? 0) + count);
    }
    for (const count of names.values()) total.repeats = Math.max(total.repeats, count);
    return { ...total, names };
  };

  // Fragments that nothing spreads are validated as well.
  for (const name of fragments.keys()) ofFragment(name);
  const shapes = document.definitions.map((definition) =>
    definition.kind === Kind.OPERATION_DEFINITION
      ? ofSelections(definition.selectionSet)
      : definition.kind === Kind.FRAGMENT_DEFINITION
        ? ofFragment(definition.name.value)
        : NOTHING,
  );
  return {
    repeats: shapes.reduce((most, { repeats }) => Math.max(most, repeats), 0),
    conditions: shapes.reduce((most, { conditions }) => Math.max(most, conditions), 0),
    selections: shapes.reduce((most, { selections }) => Math.max(most, selections), 0),
  };
}
