import { z } from 'zod';
import { namedBy } from './named.ts';
import { capitalized, documentOf, fieldOf, isMutation, typeNameOf, type Noun, type Row } from './noun.ts';
import { restName } from './rest-form.ts';

/** What a document of the graph asks for, to have a record whole. */
export function selectionOf(schema: z.ZodType): string {
  if (schema instanceof z.ZodObject) return `{ ${membersOf(schema)} }`;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return selectionOf(schema.def.innerType as z.ZodType);
  return schema instanceof z.ZodArray ? selectionOf(schema.def.element as z.ZodType) : '';
}

/** A member that REST calls otherwise goes by that name, so that the answer has it. */
function membersOf({ shape }: z.ZodObject): string {
  const members = Object.entries(shape) as [string, z.ZodType][];
  return members
    .filter(([, member]) => member.meta()?.field !== null)
    .map(([name, member]) => {
      const { rest, field = name } = member.meta() ?? {};
      const asked = rest === undefined && field === name ? name : `${restName(name, member)}: ${field}`;
      return `${asked} ${selectionOf(member)}`.trim();
    })
    .join(' ');
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
  const beside = noun.page === undefined ? '' : ` ${membersOf(noun.page)}`;
  const selection = isPage ? `edges { node { ${record} } } totalCount${beside}` : record;
  const declared = variables.map(([name, type]) => `$${name}: ${type}`).join(', ');
  const given = variables.map(([name]) => `${name}: $${name}`).join(', ');
  return `query ${documentOf(id, row)}(${declared}) { ${field}(${given}) { ${selection} ${TRUST} } }`;
}

function answerSelection({ answer }: Row, noun: Noun): string {
  if ('outcome' in answer) return membersOf(answer.outcome);
  return 'gone' in answer ? 'id deleted' : `${noun.one} { ...${typeNameOf(noun)}Record }`;
}
