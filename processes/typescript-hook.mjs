// Lets Node run our TypeScript, decorators included, without a build step:
//   node --import ./processes/typescript-hook.mjs processes/start.ts
// Node's own type stripping cannot emit decorator metadata, which type-graphql needs. Threads have no decorators, and
// must not load swc, which crashes when a thread ends; they run what others have kept, or what Node strips: each time
// anew would cost a thread three quarters of its start.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire, enableCompileCache, registerHooks, stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread, threadId } from 'node:worker_threads';

/**
 * What processes before this one have transformed and compiled, which is a third of the processor time of loading.
 * Beside the packages: only those write here who may change what runs anyway. Without the right to, everything works
 * and is slower.
 */
const CACHE = fileURLToPath(new URL('../node_modules/.cache/liftgraph', import.meta.url));
const TRANSFORMED = join(CACHE, 'transformed');
const require = createRequire(import.meta.url);
const { version } = require('@swc/core/package.json');
const SETTINGS = `${version} ${readFileSync(new URL('../.swcrc', import.meta.url), 'utf8')}`;

enableCompileCache(join(CACHE, 'compiled'));
registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith('file:') || !url.endsWith('.ts') || url.includes('/node_modules/'))
      return nextLoad(url, context);
    const { source } = nextLoad(url, { ...context, format: 'module' });
    return { format: 'module', source: transformed(fileURLToPath(url), String(source)), shortCircuit: true };
  },
});

function transformed(filename, source) {
  const digest = sha256(SETTINGS, source);
  const place = join(TRANSFORMED, sha256(filename));
  const kept = readKept(place);
  if (kept?.startsWith(digest)) return kept.slice(digest.length);
  const code = isMainThread ? bySwc(filename, source) : stripTypeScriptTypes(source);
  keep(place, digest + code);
  return code;
}

/** Loaded by the first file that nobody has kept. */
function bySwc(filename, source) {
  return require('@swc/core').transformSync(source, { filename, sourceMaps: 'inline', swcrc: true }).code;
}

function sha256(...texts) {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(text);
  return hash.digest('hex');
}

function readKept(place) {
  try {
    return readFileSync(place, 'utf8');
  } catch {
    return undefined;
  }
}

/** Renamed into its place: another process reads all of it or nothing. */
function keep(place, text) {
  try {
    mkdirSync(TRANSFORMED, { recursive: true });
    const unfinished = `${place}.${process.pid}.${threadId}`;
    writeFileSync(unfinished, text);
    renameSync(unfinished, place);
  } catch {
    // A cache only.
  }
}
