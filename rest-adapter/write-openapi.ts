import { writeFile } from 'node:fs/promises';
import { buildOpenApi } from './openapi.ts';

/** The document as it is kept in the repository, for an address of nobody. */
export function keptOpenApi(): string {
  return `${JSON.stringify(buildOpenApi('https://api.example/v1'), null, 2)}\n`;
}

if (process.argv[1] === import.meta.filename)
  await writeFile(new URL('../schema/openapi.json', import.meta.url), keptOpenApi());
