import { z } from 'zod';
import { namedBy } from './named.ts';
import { capitalized, documentOf, fieldOf, isMutation, typeNameOf, type Noun, type Row } from './noun.ts';
import { membersInRest, restName } from './rest-form.ts';
import { graphNameOf, origin } from './terms.ts';
import { trustEnvelope } from './trust-envelope.ts';

type Sections = NonNullable<Noun['sections']>;

/** What a document of the graph asks for, to have a record whole. */
export function selectionOf(schema: z.ZodType): string {
  if (schema instanceof z.ZodObject) return isEnvelope(schema) ? '{ ...Trust }' : `{ ${membersOf(schema)} }`;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return selectionOf(schema.def.innerType as z.ZodType);
  return schema instanceof z.ZodArray ? selectionOf(schema.def.element as z.ZodType) : '';
}

const isEnvelope = (schema: z.ZodObject): boolean => origin(schema) === origin(trustEnvelope);

/** A member that REST calls otherwise goes by that name, so that the answer has it; variables decide about sections. */
function membersOf(record: z.ZodObject, sections: Sections = {}): string {
  const isRenamed = (member: z.ZodType) => member.meta()?.rest !== undefined;
  const asked = (name: string, member: z.ZodType) => (isRenamed(member) ? `${restName(name, member)}: ${name}` : name);
  const condition = (name: string) => (name in sections ? `@include(if: $${name})` : '');
  return membersInRest(record)
    .filter(([, member]) => member.meta()?.onlyInRest !== true)
    .map(([name, member]) => [asked(name, member), condition(name), selectionOf(member)].filter(Boolean).join(' '))
    .join(' ');
}

/** What asks for a record under a name. */
export function fragmentOf(name: string, record: z.ZodObject, sections?: Sections): string {
  return `fragment ${name} on ${graphNameOf(record)} { ${membersOf(record, sections)} }`;
}

/** The documents of a noun: a fragment for its record, and one operation for each row. */
export function documentsOf(noun: Noun): string {
  const record = fragmentOf(`${typeNameOf(noun)}Record`, noun.shows ?? noun.record, noun.sections);
  const operations = Object.entries(noun.operations).map(([id, row]) => documentText(id, row, noun));
  return `# Made from schema/contract/${noun.many}.ts by npm run schema.\n${[record, ...operations].join('\n')}\n`;
}

function documentText(id: string, row: Row, noun: Noun): string {
  const field = fieldOf(id, row);
  const wanted = variablesFor(row, noun.sections);
  if (isMutation(row)) {
    const called = `${documentOf(id, row)}(${[`$input: ${capitalized(field)}Input!`, ...wanted].join(', ')})`;
    return `mutation ${called} { ${field}(input: $input) { ${answerSelection(row, noun)} } }`;
  }
  const variables: readonly (readonly [name: string, type: string])[] = [
    ...Object.keys(namedBy(row, noun).shape).map((name) => [name, 'ID!'] as const),
    ...('page' in row.answer ? [['first', 'Int'], ['offset', 'Int']] as const : []),
    ...(row.filter === undefined ? [] : [['filter', `${typeNameOf(noun)}Filter`] as const]),
    ...(row.switches ?? []).map((name) => [name, 'Boolean'] as const),
  ];
  const declared = [...variables.map(([name, type]) => `$${name}: ${type}`), ...wanted].join(', ');
  const given = variables.map(([name]) => `${name}: $${name}`).join(', ');
  return `query ${documentOf(id, row)}(${declared}) { ${field}(${given}) { ${answerSelection(row, noun)} } }`;
}

/** The variables that say which sections an answer comes with. */
function variablesFor({ answer }: Row, sections: Sections = {}): string[] {
  if (!('page' in answer || 'one' in answer)) return [];
  return Object.entries(sections).map(([name, isUsual]) => `$${name}: Boolean = ${isUsual && 'one' in answer}`);
}

const TRUST = 'trust { ...Trust }';

function answerSelection(row: Row, noun: Noun): string {
  const { answer } = row;
  const record = `...${typeNameOf(noun)}Record`;
  if ('outcome' in answer) return `${membersOf(answer.outcome)} ${TRUST}`;
  if ('gone' in answer) return `id deleted ${TRUST}`;
  if ('page' in answer) return `edges { node { ${record} } } totalCount ${TRUST}`;
  const one = isMutation(row) ? `${noun.one} { ${record} }` : record;
  return 'trust' in noun.record.shape ? one : `${one} ${TRUST}`;
}
