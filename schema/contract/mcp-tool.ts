import { z } from 'zod';
import { snakeCase } from '../snake-case.ts';
import { namedBy } from './named.ts';
import type { Noun, Row } from './noun.ts';
import { restForm } from './rest-form.ts';
import { OWN_META } from './terms.ts';

/** A tool as the Model Context Protocol lists it. */
export interface McpTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly outputSchema: object;
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint: boolean; readonly idempotentHint: boolean };
}

/** Sketch: the tool of a row takes the members of path, query and body as one object, in REST's names, and answers REST's body. */
export function mcpTool(id: string, row: Row, noun: Noun): McpTool {
  const paging = { page: z.int().min(1).default(1), per_page: z.int().min(1).max(100).default(20) };
  const input = z.object({ ...shapeOf(namedBy(row, noun)), ...('page' in row.answer ? paging : {}), ...shapeOf(row.filter), ...shapeOf(row.input) });
  const output = outputOf(row, noun).extend({ trust: z.looseObject({}).meta({ description: 'Trust envelope' }) });
  return {
    name: snakeCase(id),
    title: row.summary,
    description: row.description,
    inputSchema: jsonSchema(input),
    outputSchema: jsonSchema(output),
    annotations: { readOnlyHint: row.method === 'GET', destructiveHint: row.method === 'DELETE', idempotentHint: row.method !== 'POST' },
  };
}

function outputOf({ answer }: Row, noun: Noun): z.ZodObject {
  if ('page' in answer) return z.object({ [noun.many]: z.array(restForm(noun.record)), total: z.int().min(0) });
  if ('gone' in answer) return z.object({ id: z.string(), deleted: z.literal(true) });
  if ('outcome' in answer) return restForm(answer.inRest?.shows ?? answer.outcome);
  return restForm(noun.record);
}

const shapeOf = (schema: z.ZodObject | undefined): Record<string, z.ZodType> => (schema === undefined ? {} : restForm(schema).shape);

function jsonSchema(schema: z.ZodType): object {
  return z.toJSONSchema(schema, {
    io: 'input',
    reused: 'inline',
    override: ({ jsonSchema }) => {
      jsonSchema.description ??= (jsonSchema as { graph?: string }).graph as string;
      for (const key of ['id', ...OWN_META]) delete (jsonSchema as Record<string, unknown>)[key];
      if (jsonSchema.description === undefined) delete jsonSchema.description;
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
    },
  });
}
