// Jest's testRunner: jest-circus, on modules that Node itself has loaded. Jest's own way loads all of them anew for
// every test file, each time into another context: seconds of compiling, and code that never gets warm. Here the files
// of one worker share what they import. Nothing can be mocked this way, and nothing is: tests run against the real
// thing.
import { createRequire, flushCompileCache, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { configureGlobal } from 'fast-check';
import '../processes/typescript-hook.mjs';

const require = createRequire(import.meta.url);
const { default: circus } = require('jest-circus/runner');
/** What jest-circus keeps on the global object, which Jest's own way makes anew for every file. */
const STATE = ['EVENT_HANDLERS', 'TEST_TIMEOUT_SYMBOL'].map((name) => Symbol.for(name));
const GLOBALS = new URL('./native-globals.mjs', import.meta.url).href;
const STACK_FRAMES = 15;

registerHooks({
  resolve: (specifier, context, nextResolve) =>
    specifier === '@jest/globals' ? { url: GLOBALS, shortCircuit: true } : nextResolve(specifier, context),
});

/** The arguments and the result are those of jest-circus/runner. */
async function runNatively(globalConfig, config, environment, runtime, testPath, sendMessageToJest) {
  configureGlobal({ seed: globalConfig.seed });
  for (const symbol of STATE) delete globalThis[symbol];
  // Jest maps stacks of what it has compiled; Node those of what it has loaded. Each maps all frames of all errors.
  delete Error.prepareStackTrace;
  Error.stackTraceLimit = STACK_FRAMES;
  process.setSourceMapsEnabled(true);
  const native = Object.assign(Object.create(runtime), {
    requireInternalModule: requireAnew,
    setGlobalsForRuntime: (globals) => Object.assign(globalThis, globals),
    unstable_shouldLoadAsEsm: () => true,
    unstable_importModule: (path) => import(pathToFileURL(path).href),
  });
  const result = await circus(globalConfig, config, environment, native, testPath, sendMessageToJest);
  // Node would write what it has compiled at the end of the process, for seconds where the cache is cold; Jest gives a
  // worker half of one, then kills it, cache and all, and says that it failed to exit gracefully.
  flushCompileCache();
  return result;
}

/** The module, with its state as at the start. */
function requireAnew(path) {
  delete require.cache[path];
  return require(path);
}

export { runNatively as default };
