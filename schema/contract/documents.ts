import { z } from 'zod';
import { capitalized, documentOf, fieldOf, isMutation, parametersOf, type Noun, type Row } from './noun.ts';

/** What a document of the graph asks for, to have a record whole. */
export function selectionOf(schema: z.ZodType): string {
  if (schema instanceof z.ZodObject) return `{ ${Object.entries(schema.shape).map(([name, member]) => `${name} ${selectionOf(member as z.ZodType)}`.trim()).join(' ')} }`;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return selectionOf(schema.def.innerType as z.ZodType);
  return schema instanceof z.ZodArray ? selectionOf(schema.def.element as z.ZodType) : '';
}

/** The documents of a noun: a fragment for its record, and one operation for each row. */
export function documentsOf(noun: Noun): string {
  const type = capitalized(noun.one);
  const operations = Object.entries(noun.operations).map(([id, row]) => documentText(id, row, noun));
  return `# Made from schema/contract/${noun.many}.ts by npm run schema.\n${[`fragment ${type}Record on ${type} ${selectionOf(noun.record)}`, ...operations].join('\n')}\n`;
}

function documentText(id: string, row: Row, noun: Noun): string {
  const field = fieldOf(id, row);
  const record = `...${capitalized(noun.one)}Record`;
  const trust = 'trust { ...Trust }';
  if (isMutation(row)) {
    const selection = 'gone' in row.answer ? `id deleted ${trust}` : `${noun.one} { ${record} } ${trust}`;
    return `mutation ${documentOf(id, row)}($input: ${capitalized(field)}Input!) { ${field}(input: $input) { ${selection} } }`;
  }
  if ('page' in row.answer) {
    const filter = row.filter === undefined ? ['', ''] : [`, $filter: ${capitalized(noun.one)}Filter`, ', filter: $filter'];
    return `query ${documentOf(id, row)}($first: Int, $offset: Int${filter[0]}) { ${field}(first: $first, offset: $offset${filter[1]}) { edges { node { ${record} } } totalCount ${trust} } }`;
  }
  const parameters = parametersOf(row);
  return `query ${documentOf(id, row)}(${parameters.map((name) => `$${name}: ID!`).join(', ')}) { ${field}(${parameters.map((name) => `${name}: $${name}`).join(', ')}) { ${record} ${trust} } }`;
}
