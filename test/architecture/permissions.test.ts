import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseSync, type ClassMember, type ModuleItem, type Span } from '@swc/core';

const ROOT = resolve(import.meta.dirname, '../..');

/**
 * Fields that anybody may ask, or that only pass on what the reference already says. Everything else asserts an action.
 */
const OPEN_FIELDS = [
  'AgentResolver.registerAgent',
  'ResultVerificationResolver.verifyResult',
  // A reference, which the agents subgraph resolves by its own permission.
  'AttributionLinksResolver.agent',
  // An address alone; what lies there asserts the action.
  'AttributionLinksResolver.reportUrl',
  // Resolved by DataSourceResolver.resolveReference.
  'AttributionLinksResolver.dataSource',
];
/** Of type-graphql, or of the types of a noun, as in `@ofSources.Query('listDataSources')`. */
const FIELD_DECORATOR = /^(?:\w+\.)?(?:Query|Mutation|Subscription|FieldResolver)\(/;

interface Field {
  readonly name: string;
  readonly asserts: boolean;
}

/**
 * Every field and entity that a file of resolvers answers, and whether an assertion is on its way, in this file.
 * @param guards functions of other files that assert
 */
function fieldsOf(text: string, guards: readonly string[] = []): Field[] {
  // Spans count bytes, from wherever the last parse ended; the semicolon is where this one begins.
  const bytes = Buffer.from(`;${text}`);
  const module = parseSync(`;${text}`, { syntax: 'typescript', decorators: true, target: 'es2022' });
  const firstByte = module.span.start;
  const source = ({ start, end }: Span): string => bytes.subarray(start - firstByte, end - firstByte).toString();
  const definitions = new Map<string, string>();
  const found: { readonly name: string; readonly text: string }[] = [];

  const visitMember = (className: string, member: ClassMember): void => {
    if (member.type === 'Constructor') {
      for (const [, field] of source(member.span).matchAll(/this\.(#\w+) =/g))
        definitions.set(field!, source(member.span));
    }
    if (member.type !== 'ClassMethod' && member.type !== 'PrivateMethod') return;
    const key = member.key as unknown as { readonly type: string; readonly value: string };
    const name = key.type === 'PrivateName' ? `#${key.value}` : key.value;
    const decorators = member.function.decorators ?? [];
    const whole = [...decorators.map((decorator) => source(decorator.span)), source(member.span)].join('\n');
    definitions.set(name, whole);
    if (
      name === 'resolveReference' ||
      decorators.some(({ expression }) => FIELD_DECORATOR.test(source((expression as { readonly span: Span }).span)))
    )
      found.push({ name: `${className}.${name}`, text: whole });
  };
  const visit = (item: ModuleItem | { readonly type: string }): void => {
    const statement = item as {
      type: string;
      declaration?: { type: string };
      identifier?: { value: string };
      body?: unknown;
      span: Span;
    };
    if (statement.type === 'ExportDeclaration') visit(statement.declaration!);
    else if (statement.type === 'ClassDeclaration')
      for (const member of statement.body as readonly ClassMember[]) visitMember(statement.identifier!.value, member);
    else if (statement.type === 'FunctionDeclaration') {
      definitions.set(statement.identifier!.value, source(statement.span));
      // Classes may be made inside a function that has their services.
      for (const inner of (statement.body as { stmts: readonly { type: string }[] }).stmts) visit(inner);
    }
  };
  for (const item of module.body) visit(item);

  for (const guard of guards) definitions.set(guard, 'assertAction(');
  const asserts = (code: string, seen: ReadonlySet<string> = new Set()): boolean => {
    if (code.includes('assertAction(')) return true;
    const called = [...code.matchAll(/(?:this\.)?(#?\w+)\(/g)]
      .map((match) => match[1]!)
      .filter((name) => definitions.has(name) && !seen.has(name));
    return called.some((name) => asserts(definitions.get(name)!, new Set([...seen, name])));
  };
  return found.map((field) => ({ name: field.name, asserts: asserts(field.text) }));
}

const files = ['subgraphs', 'services'].flatMap((room) =>
  readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' }).map((name) => join(ROOT, room, name)),
);
/** Functions whose first statement asserts, for resolvers that share more than an action. */
const guards = files
  .filter((name) => name.endsWith('.ts'))
  .flatMap((name) =>
    [...readFileSync(name, 'utf8').matchAll(/^export function (\w+)\([^\n]*\{\n {2}const \w+ = assertAction\(/gm)].map(
      (match) => match[1]!,
    ),
  );
const fields = files
  .filter((name) => name.endsWith('-resolver.ts'))
  .flatMap((name) => fieldsOf(readFileSync(name, 'utf8'), guards));

describe('permissions', () => {
  test('every field and every entity asserts an action before it answers, or is declared open', () => {
    expect(fields.length).toBeGreaterThan(20);
    expect(
      fields
        .filter(({ asserts }) => !asserts)
        .map(({ name }) => name)
        .toSorted(),
    ).toEqual(OPEN_FIELDS.toSorted());
  });

  test('every entity that a subgraph resolves goes through a resolver', () => {
    const references = files
      .filter((name) => name.endsWith('/subgraph.ts'))
      .flatMap((name) =>
        [
          ...(/references: \{([\s\S]*?)\n {4}\}/.exec(readFileSync(name, 'utf8'))?.[1] ?? '').matchAll(
            /^\s+\w+: (.+),$/gm,
          ),
        ].map((match) => match[1]!),
      );
    expect(references.length).toBeGreaterThan(3);
    for (const reference of references)
      expect(reference).toMatch(/^\(reference, context\) => \w+\.resolveReference\(reference, context\)$/);
  });

  test('a field without an assertion is found, one that asserts by way of another method is not', () => {
    const resolver = `
      import { Query } from 'type-graphql';
      @Resolver()
      export class ShopResolver {
        @Query(() => String, { description: 'für alle' }) open(): string { return 'x'; }
        @Query(() => String) guarded(context: Context): string { return this.#read(context); }
        resolveReference(): string { return this.open(); }
        #read(context: Context): string { assertAction(context.principal, 'agent:read'); return 'x'; }
      }`;
    expect(fieldsOf(resolver)).toEqual([
      { name: 'ShopResolver.open', asserts: false },
      { name: 'ShopResolver.guarded', asserts: true },
      { name: 'ShopResolver.resolveReference', asserts: false },
    ]);
  });
});
