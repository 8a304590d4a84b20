import { readFileSync } from 'node:fs';

/** Of the software, as package.json has it; beside this folder in a checkout, one further up when built. */
export function packageVersion(): string {
  const file = new URL(import.meta.url.endsWith('.ts') ? '../package.json' : '../../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version;
}
