import { z } from 'zod';
import { namedBy } from './named.ts';
import { capitalized, documentOf, fieldOf, isMutation, typeNameOf } from './noun.ts';
import type { Noun, OutcomeAnswer, Row } from './noun.ts';
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
    .filter(([, member]) => member.meta()?.onlyInRest !== true)
    .map(([name, member]) => {
      const asked = member.meta()?.rest === undefined ? name : `${restName(name, member)}: ${name}`;
      return `${asked} ${selectionOf(member)}`.trim();
    })
    .join(' ');
}

/** The documents of a noun: a fragment for its record, and one operation for each row. */
export function documentsOf(noun: Noun): string {
  const type = typeNameOf(noun);
  const operations = Object.entries(noun.operations).map(([id, row]) => documentText(id, row, noun));
  const record = `fragment ${type}Record on ${type} ${selectionOf(noun.shows ?? noun.record)}`;
  return `# Made from schema/contract/${noun.many}.ts by npm run schema.\n${[record, ...operations].join('\n')}\n`;
}

const TRUST = 'trust { ...Trust }';

function documentText(id: string, row: Row, noun: Noun): string {
  const field = fieldOf(id, row);
  const selection = `${answerSelection(row, noun)} ${TRUST}`;
  if (isMutation(row)) {
    const called = `${documentOf(id, row)}($input: ${capitalized(field)}Input!)`;
    return `mutation ${called} { ${field}(input: $input) { ${selection} } }`;
  }
  const variables: readonly (readonly [name: string, type: string])[] = [
    ...Object.keys(namedBy(row, noun).shape).map((name) => [name, 'ID!'] as const),
    ...('page' in row.answer ? [['first', 'Int'], ['offset', 'Int']] as const : []),
    ...(row.filter === undefined ? [] : [['filter', `${typeNameOf(noun)}Filter`] as const]),
    ...(row.switches ?? []).map((name) => [name, 'Boolean'] as const),
  ];
  const declared = listed(variables.map(([name, type]) => `$${name}: ${type}`));
  const given = listed(variables.map(([name]) => `${name}: $${name}`));
  return `query ${documentOf(id, row)}${declared} { ${field}${given} { ${selection} } }`;
}

/** In parentheses, which GraphQL does not take around nothing. */
const listed = (members: readonly string[]): string => (members.length === 0 ? '' : `(${members.join(', ')})`);

function answerSelection(row: Row, noun: Noun): string {
  const { answer } = row;
  const record = `...${typeNameOf(noun)}Record`;
  if ('outcome' in answer) return membersOf(askedOutcome(answer));
  if ('gone' in answer) return 'id deleted';
  if ('page' in answer) {
    const beside = answer.beside === undefined ? '' : `${membersOf(answer.beside)} `;
    return `edges { node { ${record} } } ${beside}totalCount`;
  }
  return isMutation(row) ? `${noun.one} { ${record} }` : record;
}

/** A payload whose flat member has no more than REST shows of it. */
function askedOutcome({ outcome, inRest }: OutcomeAnswer): z.ZodObject {
  if (inRest === undefined) return outcome;
  const { shows, flat } = inRest;
  const ofFlat = Object.entries(shows.shape).filter(([name]) => !(name in outcome.shape));
  return outcome.extend({ [flat]: z.object(Object.fromEntries(ofFlat)) });
}
