import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Supergraph } from '@apollo/federation-internals';
import { execute, subscribe, type ExecutionResult, type GraphQLFieldResolver } from 'graphql';
import type { GraphClient } from '../../gateway/client.ts';
import { loadNamedDocuments } from '../../gateway/named-documents.ts';
import { ProblemError } from '../../schema/problems.ts';
import type { RequestContext } from '../../schema/principal.ts';
import { exampleAnswer, exampleMember } from './example-answers.ts';

/** The graph as it is printed, so that a new noun is part of it without another word. */
const API_SCHEMA = Supergraph.build(readFileSync(new URL('../../schema/supergraph.graphql', import.meta.url), 'utf8'))
  .apiSchema()
  .toGraphQLJSSchema();
const DOCUMENTS = loadNamedDocuments(fileURLToPath(new URL('../../schema/operations', import.meta.url)), API_SCHEMA);

type Resolver = (args: never, context: RequestContext) => unknown;
/**
 * Root resolvers by field; a subscription field returns an async iterable of its values. What they leave undefined, and
 * fields without a resolver, are as in the example of the contract.
 */
export type Resolvers = Readonly<Record<string, Resolver>>;

/** A client over the printed graph, with the documents of the repository. */
export function graphClient(
  resolvers: Resolvers,
): GraphClient & { readonly calls: { readonly name: string; readonly variables: unknown }[] } {
  const calls: { name: string; variables: unknown }[] = [];
  const request = (name: string, variables: Readonly<Record<string, unknown>>, contextValue: RequestContext) => {
    calls.push({ name, variables });
    const document = documentOf(name);
    return { schema: API_SCHEMA, document, variableValues: variables, contextValue, ...resolving(name, resolvers) };
  };
  return {
    calls,
    operations: [...DOCUMENTS.keys()],
    apiSchema: API_SCHEMA,
    document: documentOf,
    async execute(name, variables, context) {
      return dataOf(await execute(request(name, variables, context)));
    },
    subscribe(name, variables, context) {
      return eventsOf((async () => subscribe(request(name, variables, context)))());
    },
  };
}

function documentOf(name: string) {
  const found = DOCUMENTS.get(name);
  if (found === undefined) throw new Error(`no document ${name}`);
  return found.document;
}

type FieldResolver = GraphQLFieldResolver<unknown, RequestContext>;

/** How a document gets its answer: from the resolvers as far as they say it. */
function resolving(name: string, resolvers: Resolvers) {
  const subscribeFieldResolver: FieldResolver = (_source, args, context, { fieldName }) =>
    (resolvers[fieldName] ?? oneEvent)(args as never, context);
  const fieldResolver: FieldResolver = (source, args, context, info) => {
    const isRoot = info.path.prev === undefined;
    if (isRoot && info.operation.operation === 'subscription') return source;
    if (isRoot) return (resolvers[info.fieldName] ?? (() => exampleAnswer(name, info)))(args as never, context);
    const own = (source as Record<string, unknown>)[info.fieldName];
    return own === undefined ? exampleMember(name, info) : own;
  };
  return { fieldResolver, subscribeFieldResolver };
}

async function* oneEvent(): AsyncIterable<object> {
  yield {};
}

function dataOf(result: ExecutionResult): Record<string, unknown> {
  const error = result.errors?.[0];
  if (error === undefined) return result.data as Record<string, unknown>;
  throw error.originalError ?? new ProblemError('internal_error', error.message, { cause: error });
}

function eventsOf(opened: ReturnType<typeof subscribe>): AsyncIterableIterator<Record<string, unknown>> {
  const source = async () => {
    const iterator = await opened;
    if (!(Symbol.asyncIterator in iterator)) throw iterator.errors![0]!.originalError ?? iterator.errors![0]!;
    return iterator;
  };
  return {
    async next() {
      const { done, value } = await (await source()).next();
      return done === true ? { done, value: undefined } : { done: false, value: dataOf(value) };
    },
    async return() {
      await (await source()).return(undefined as never);
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
