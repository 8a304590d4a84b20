import { readFile, writeFile } from 'node:fs/promises';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';

/** Headers that the client sets by itself: no caller has to name them. */
const OWN_HEADERS: ReadonlySet<string> = new Set(['X-Nonce', 'SVC-API-Version']);
const JSON_TYPE = 'application/json';

type WrittenResponses = Readonly<Record<string, { content?: Readonly<Record<string, unknown>> }>>;

/** What is rewritten of an operation. */
interface WrittenOperation {
  parameters?: readonly { readonly name: string }[];
  readonly responses?: WrittenResponses;
}

function keepJson(responses: WrittenResponses = {}): void {
  for (const response of Object.values(responses)) {
    const json = response.content?.[JSON_TYPE];
    if (json !== undefined) response.content = { [JSON_TYPE]: json };
  }
}

/**
 * The types of every operation, made from the OpenAPI document of the contract as this client speaks it: its own
 * headers left out, and answers as the JSON that it asks for.
 */
export async function printRestApi(): Promise<string> {
  const document = JSON.parse(await readFile(new URL('../openapi.json', import.meta.url), 'utf8')) as OpenAPI3;
  for (const item of Object.values(document.paths ?? {})) {
    for (const operation of Object.values(item as Readonly<Record<string, WrittenOperation>>)) {
      if (operation.parameters !== undefined)
        operation.parameters = operation.parameters.filter(({ name }) => !OWN_HEADERS.has(name));
      keepJson(operation.responses);
    }
  }
  keepJson(document.components?.responses as WrittenResponses | undefined);
  const types = astToString(await openapiTS(document));
  return `// Printed from schema/openapi.json: npm run schema\n${types}`;
}

if (process.argv[1] === import.meta.filename)
  await writeFile(new URL('rest-api.ts', import.meta.url), await printRestApi());
