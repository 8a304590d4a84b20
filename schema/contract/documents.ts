import { z } from 'zod';
import { namedBy } from './named.ts';
import { capitalized, documentOf, fieldOf, isMutation, typeNameOf } from './noun.ts';
import type { FlatBody, Noun, Row } from './noun.ts';
import { restName } from './rest-form.ts';

/** What a document of the graph asks for, to have a record whole, or as much of it as another record shows. */
export function selectionOf(schema: z.ZodType, shown: z.ZodType = schema): string {
  const [whole, part] = [recordIn(schema), recordIn(shown)];
  return whole === undefined ? '' : `{ ${membersOf(whole, part)} }`;
}

function recordIn(schema: z.ZodType): z.ZodObject | undefined {
  if (schema instanceof z.ZodObject) return schema;
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable;
  if (isWrapped) return recordIn(schema.def.innerType as z.ZodType);
  return schema instanceof z.ZodArray ? recordIn(schema.def.element as z.ZodType) : undefined;
}

/** A member that REST calls otherwise goes by that name, so that the answer has it. */
function membersOf(whole: z.ZodObject, { shape: shown }: z.ZodObject = whole): string {
  const members = Object.entries(whole.shape) as [string, z.ZodType][];
  const isRenamed = (member: z.ZodType) => member.meta()?.rest !== undefined;
  const asked = (name: string, member: z.ZodType) => (isRenamed(member) ? `${restName(name, member)}: ${name}` : name);
  return members
    .filter(([name]) => Object.hasOwn(shown, name))
    .map(([name, member]) => [name, member, shown[name] as z.ZodType] as const)
    .map(([name, member, part]) => `${asked(name, part)} ${selectionOf(member, part)}`.trim())
    .join(' ');
}

/** The members that REST shows flat, as far as it shows them, and all others. */
function flatMembersOf(whole: z.ZodObject, inRest: FlatBody | undefined): string {
  if (inRest === undefined) return membersOf(whole);
  const { shows, flat } = inRest;
  return membersOf(whole, z.object({ ...whole.shape, ...shows.shape, [flat]: shows }));
}

/** The documents of a noun: a fragment for its record, and one operation for each row. */
export function documentsOf(noun: Noun): string {
  const type = typeNameOf(noun);
  const operations = Object.entries(noun.operations).map(([id, row]) => documentText(id, row, noun));
  return `# Made from schema/contract/${noun.many}.ts by npm run schema.\n${[`fragment ${type}Record on ${type} ${selectionOf(noun.record)}`, ...operations].join('\n')}\n`;
}

const TRUST = 'trust { ...Trust }';

function documentText(id: string, row: Row, noun: Noun): string {
  const field = fieldOf(id, row);
  const record = `...${typeNameOf(noun)}Record`;
  if (isMutation(row)) {
    const selection = `${answerSelection(row, noun)} ${TRUST}`;
    const called = `${documentOf(id, row)}($input: ${capitalized(field)}Input!)`;
    return `mutation ${called} { ${field}(input: $input) { ${selection} } }`;
  }
  const isPage = 'page' in row.answer;
  const variables: readonly (readonly [name: string, type: string])[] = [
    ...Object.keys(namedBy(row, noun).shape).map((name) => [name, 'ID!'] as const),
    ...(isPage ? [['first', 'Int'], ['offset', 'Int']] as const : []),
    ...(row.filter === undefined ? [] : [['filter', `${typeNameOf(noun)}Filter`] as const]),
    ...(row.switches ?? []).map((name) => [name, 'Boolean'] as const),
  ];
  const selection = isPage ? pageSelection(row, record) : readingSelection(row, record);
  const declared = variables.map(([name, type]) => `$${name}: ${type}`).join(', ');
  const given = variables.map(([name]) => `${name}: $${name}`).join(', ');
  return `query ${documentOf(id, row)}(${declared}) { ${field}(${given}) { ${selection} ${TRUST} } }`;
}

function pageSelection({ answer }: Row, record: string): string {
  const beside = 'page' in answer && answer.beside !== undefined ? `${membersOf(answer.beside)} ` : '';
  return `edges { node { ${record} } } ${beside}totalCount`;
}

function readingSelection({ answer }: Row, record: string): string {
  const hasMore = 'one' in answer && answer.beside !== undefined;
  return hasMore ? flatMembersOf(answer.one.extend(answer.beside.shape), answer.inRest) : record;
}

function answerSelection({ answer }: Row, noun: Noun): string {
  if ('outcome' in answer) return flatMembersOf(answer.outcome, answer.inRest);
  return 'gone' in answer ? 'id deleted' : `${noun.one} { ...${typeNameOf(noun)}Record }`;
}
