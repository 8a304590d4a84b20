import { GraphQLError, parse, specifiedRules, validate, type DocumentNode, type GraphQLSchema } from 'graphql';

/** Sources beyond this length are parsed each time, so that a full cache stays small. */
const LONGEST_KEPT = 20_000;

/** A document fit to execute, or why it is not. */
export type CheckedDocument = { readonly document: DocumentNode } | { readonly errors: readonly GraphQLError[] };

/** Documents parsed and validated against one schema; the ones used last are kept by their text. */
export class Documents {
  readonly #schema: GraphQLSchema;
  readonly #maxTokens: number | undefined;
  readonly #hidesSchema: boolean;
  readonly #capacity: number;
  readonly #kept = new Map<string, DocumentNode>();

  /** @param options `hidesSchema`: errors do not guess which names were meant */
  constructor(
    schema: GraphQLSchema,
    options: { readonly maxTokens?: number; readonly hidesSchema?: boolean; readonly capacity?: number } = {},
  ) {
    this.#schema = schema;
    this.#maxTokens = options.maxTokens;
    this.#hidesSchema = options.hidesSchema ?? false;
    this.#capacity = options.capacity ?? 500;
  }

  /** @throws GraphQLError when the text is not GraphQL, or too long */
  check(source: string): CheckedDocument {
    const kept = this.#kept.get(source);
    if (kept !== undefined) {
      this.#kept.delete(source);
      this.#kept.set(source, kept);
      return { document: kept };
    }
    const document = parse(source, { maxTokens: this.#maxTokens });
    const errors = validationErrors(this.#schema, document, this.#hidesSchema);
    if (errors.length > 0) return { errors };
    if (source.length <= LONGEST_KEPT) this.#keep(source, document);
    return { document };
  }

  #keep(source: string, document: DocumentNode): void {
    this.#kept.set(source, document);
    if (this.#kept.size > this.#capacity) this.#kept.delete(this.#kept.keys().next().value!);
  }
}

/** One rule throws instead of reporting: a condition on the root field of a subscription needs a variable's value. */
function validationErrors(
  schema: GraphQLSchema,
  document: DocumentNode,
  hideSuggestions: boolean,
): readonly GraphQLError[] {
  try {
    return validate(schema, document, specifiedRules, { hideSuggestions });
  } catch (error) {
    if (error instanceof GraphQLError) return [error];
    throw error;
  }
}
