import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
/** Whatever decides a figure: the journeys, the models, and how their credit becomes cents. */
const ROOMS = [
  'compute',
  'subgraphs/attribution/analysis/journeys',
  'subgraphs/attribution/intake/touchpoints',
  'subgraphs/attribution/analysis/attributions',
];
const SOURCE = /\.(?:ts|js|json)$/;

let version: string | undefined;

/**
 * Names the code that makes the figures: `sha256:` over the files of its rooms, by name and content. Equal files give
 * equal names, in a checkout as in a build of the same release; read once per process.
 */
export function codeVersion(): string {
  if (version === undefined) {
    const hash = createHash('sha256');
    for (const file of ROOMS.flatMap(filesOf).toSorted())
      hash
        .update(`${relative(ROOT, file)}\0`)
        .update(readFileSync(file))
        .update('\0');
    version = `sha256:${hash.digest('hex')}`;
  }
  return version;
}

function filesOf(room: string): string[] {
  return readdirSync(join(ROOT, room), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && SOURCE.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}
