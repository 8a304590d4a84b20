import { GraphQLError, parse, specifiedRules, validate, type DocumentNode, type GraphQLSchema } from 'graphql';
import { KeptTexts } from './kept-texts.ts';

/** A document fit to execute, or why it is not. */
export type CheckedDocument = { readonly document: DocumentNode } | { readonly errors: readonly GraphQLError[] };

/** Documents parsed and validated against one schema; the ones used last are kept by their text. */
export class Documents {
  readonly #schema: GraphQLSchema;
  readonly #limits: { readonly maxTokens?: number; readonly maxComments?: number };
  readonly #hidesSchema: boolean;
  readonly #kept = new KeptTexts<DocumentNode>();

  /** @param options `hidesSchema`: errors do not guess which names were meant */
  constructor(
    schema: GraphQLSchema,
    options: { readonly maxTokens?: number; readonly maxComments?: number; readonly hidesSchema?: boolean } = {},
  ) {
    this.#schema = schema;
    const { hidesSchema = false, ...limits } = options;
    this.#limits = limits;
    this.#hidesSchema = hidesSchema;
  }

  /** @throws GraphQLError when the text is not GraphQL, or too long */
  check(source: string): CheckedDocument {
    const kept = this.#kept.get(source);
    if (kept !== undefined) return { document: kept };
    const document = parse(source, this.#limits);
    const errors = validationErrors(this.#schema, document, this.#hidesSchema);
    if (errors.length > 0) return { errors };
    this.#kept.keep(source, document, source.length);
    return { document };
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
