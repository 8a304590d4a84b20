// Lets Node run our TypeScript, decorators included, without a build step:
//   node --import ./processes/typescript-hook.mjs processes/all.ts
// Node's own type stripping cannot emit decorator metadata, which type-graphql needs.
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';

registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith('file:') || !url.endsWith('.ts') || url.includes('/node_modules/')) return nextLoad(url, context);
    const { source } = nextLoad(url, { ...context, format: 'module' });
    const { code } = transformSync(String(source), { filename: fileURLToPath(url), sourceMaps: 'inline', swcrc: true });
    return { format: 'module', source: code, shortCircuit: true };
  },
});
