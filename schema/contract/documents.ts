import { z } from 'zod';
import { namedBy } from './named.ts';
import { capitalized, documentOf, fieldOf, isMutation, typeNameOf } from './noun.ts';
import type { FlatBody, Noun, Row } from './noun.ts';
import { membersInRest, restName } from './rest-form.ts';
import { graphNameOf, origin } from './terms.ts';
import { trustEnvelope } from './trust-envelope.ts';

type Sections = NonNullable<Noun['sections']>;

/** What is asked of a record. */
interface Wanted {
  /** As much as another record shows of it. */
  readonly shown?: z.ZodObject | undefined;
  readonly sections?: Sections | undefined;
}

/** What a document of the graph asks for, to have a record whole, or as much of it as another record shows. */
export function selectionOf(schema: z.ZodType, shown: z.ZodType = schema): string {
  const whole = recordIn(schema);
  if (whole === undefined) return '';
  return isEnvelope(whole) ? '{ ...Trust }' : `{ ${membersOf(whole, { shown: recordIn(shown) })} }`;
}

const isEnvelope = (schema: z.ZodObject): boolean => origin(schema) === origin(trustEnvelope);

function recordIn(schema: z.ZodType): z.ZodObject | undefined {
  if (schema instanceof z.ZodObject) return schema;
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable;
  if (isWrapped) return recordIn(schema.def.innerType as z.ZodType);
  return schema instanceof z.ZodArray ? recordIn(schema.def.element as z.ZodType) : undefined;
}

/** A member that REST calls otherwise goes by that name, so that the answer has it; variables decide about sections. */
function membersOf(whole: z.ZodObject, { shown = whole, sections = {} }: Wanted = {}): string {
  const isRenamed = (member: z.ZodType) => member.meta()?.rest !== undefined;
  const asked = (name: string, member: z.ZodType) => (isRenamed(member) ? `${restName(name, member)}: ${name}` : name);
  const condition = (name: string) => (name in sections ? `@include(if: $${name})` : '');
  return membersInRest(whole)
    .filter(([name, member]) => Object.hasOwn(shown.shape, name) && member.meta()?.onlyInRest !== true)
    .map(([name, member]) => [name, member, shown.shape[name] as z.ZodType] as const)
    .map(([name, member, part]) =>
      [asked(name, part), condition(name), selectionOf(member, part)].filter(Boolean).join(' '),
    )
    .join(' ');
}

/**
 * The members that REST shows flat, as far as it shows them, and all others. What it shows of the flat one beyond the
 * record, the graph resolves there.
 */
function flatMembersOf(whole: z.ZodObject, inRest: FlatBody | undefined): string {
  if (inRest === undefined) return membersOf(whole);
  const { shows, flat } = inRest;
  const record = recordIn(whole.shape[flat] as z.ZodType) ?? z.object({});
  const beyond = Object.entries(shows.shape).filter(([name]) => !(name in whole.shape || name in record.shape));
  const all = whole.extend({ [flat]: record.extend(Object.fromEntries(beyond)) });
  return membersOf(all, { shown: z.object({ ...whole.shape, ...shows.shape, [flat]: shows }) });
}

/** What asks for a record under a name. */
export function fragmentOf(name: string, record: z.ZodObject): string {
  return `fragment ${name} on ${graphNameOf(record)} { ${membersOf(record)} }`;
}

/** The documents of a noun: a fragment for its record, and one operation for each row. */
export function documentsOf(noun: Noun): string {
  const type = typeNameOf(noun);
  const members = membersOf(noun.shows ?? noun.record, { sections: noun.sections });
  const record = `fragment ${type}Record on ${type} { ${members} }`;
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
    ...('page' in row.answer
      ? ([
          ['first', 'Int'],
          ['offset', 'Int'],
        ] as const)
      : []),
    ...(row.filter === undefined
      ? []
      : [['filter', `${typeNameOf(noun)}Filter${'outcome' in row.answer ? '!' : ''}`] as const]),
    ...(row.switches ?? []).map((name) => [name, 'Boolean'] as const),
  ];
  const declared = listed([...variables.map(([name, type]) => `$${name}: ${type}`), ...wanted]);
  const given = listed(variables.map(([name]) => `${name}: $${name}`));
  return `query ${documentOf(id, row)}${declared} { ${field}${given} { ${answerSelection(row, noun)} } }`;
}

/** In parentheses, which GraphQL does not take around nothing. */
const listed = (members: readonly string[]): string => (members.length === 0 ? '' : `(${members.join(', ')})`);

/** The variables that say which sections an answer comes with. */
function variablesFor({ answer }: Row, sections: Sections = {}): string[] {
  if (!('page' in answer || 'one' in answer)) return [];
  return Object.entries(sections).map(([name, isUsual]) => `$${name}: Boolean = ${isUsual && 'one' in answer}`);
}

const TRUST = 'trust { ...Trust }';

function answerSelection(row: Row, noun: Noun): string {
  const { answer } = row;
  const record = `...${typeNameOf(noun)}Record`;
  if ('outcome' in answer) return `${flatMembersOf(answer.outcome, answer.inRest)} ${TRUST}`;
  if ('gone' in answer) return `id deleted ${TRUST}`;
  if ('page' in answer) {
    const beside = answer.beside === undefined ? '' : `${membersOf(answer.beside)} `;
    return `edges { node { ${record} } } ${beside}totalCount ${TRUST}`;
  }
  if (answer.beside !== undefined)
    return `${flatMembersOf(answer.one.extend(answer.beside.shape), answer.inRest)} ${TRUST}`;
  const one = isMutation(row) ? `${noun.one} { ${record} }` : record;
  return 'trust' in noun.record.shape ? one : `${one} ${TRUST}`;
}
