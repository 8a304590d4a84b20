// npm start, npm test, … : installs what is missing, then runs the Node.js that this project pins.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { ensureInstalled, npmCommand, programOf, root, runNode, typescript } from './bootstrap.mjs';

const commands = {
  start: {
    what: 'everything in one process: REST, GraphQL, a worker, the stores',
    run: (args) => runNode([...typescript('processes/start.ts'), ...args], { ownEnd: true }),
  },
  test: { what: 'the tests; arguments go to Jest', development: true, run: test },
  'test:long': {
    what: 'what takes longer than npm test may: more, and the subgraphs apart; arguments go to Jest',
    development: true,
    run: testLong,
  },
  explore: {
    what: 'the property tests on examples drawn anew, until one fails; arguments go to Jest',
    development: true,
    run: explore,
  },
  'test:browser': { what: 'the pages in a real Chromium; arguments go to Jest', development: true, run: testBrowser },
  check: { what: 'types, lint and format', development: true, run: check },
  format: { what: 'the code, formatted as check wants it', development: true, run: format },
  build: {
    what:
      'JavaScript into dist/, the typed client into dist/client, the list of what it is made of into ' +
      'dist/sbom.cdx.json',
    development: true,
    run: build,
  },
  schema: {
    what: 'schema/*.graphql, schema/openapi.json and the types of its client, printed anew from the code',
    development: true,
    run: schema,
  },
  bench: { what: 'a benchmark: bench <name>', development: true, run: bench },
};

/** Test files wait for servers and leases half of their time: four at a time keep two cores busy. */
const SIDE_BY_SIDE = '--maxWorkers=4';
/** What measures how soon something happens: one at a time. */
const ALONE = 'test/faults/(admission|database-outage|graceful-stop)\\.test';
const ALONE_IN_LONG_RUN =
  'test/(faults/(admission|graphql-bombs\\.long|hostile-files)|services/webhooks/delivery-pace\\.long)\\.test';
/** Of files that are no part of `npm test`. */
const LONG = '\\.long\\.test\\.ts$';
/** What a test file says that does more, or something else, in the long run: see test/run-length.ts. */
const HAS_LONGER_RUN = /\b(?:sized|LAYOUTS)\b/;
/**
 * What property tests draw their examples by, unless `--seed` names another: a test that turns red does so for what was
 * changed, and not for that day's draw. `npm run explore` draws others.
 */
const SEED = '--seed=380154';
/** Exit codes above it: ended by a signal. */
const SIGNALLED = 128;

/** The whole suite, or what the arguments choose. */
async function test(args) {
  if (args.length > 0) return jest(['--runInBand', ...args]);
  return sideBySideThenAlone(
    [ignoring(LONG, ALONE)],
    testFiles((_text, file) => new RegExp(ALONE).test(file)),
  );
}

/** What has a longer run, or what the arguments choose of it. */
async function testLong(args) {
  process.env.LIFTGRAPH_TEST_RUN = 'long';
  if (args.length > 0) return jest(['--runInBand', ...args]);
  const files = testFiles((text, file) => file.endsWith('.long.test.ts') || HAS_LONGER_RUN.test(text));
  const isAlone = (file) => new RegExp(ALONE_IN_LONG_RUN).test(file);
  return sideBySideThenAlone(
    files.filter((file) => !isAlone(file)),
    files.filter(isAlone),
  );
}

async function sideBySideThenAlone(sideBySide, alone) {
  const code = await jest([...sideBySide, SIDE_BY_SIDE]);
  // Whoever ends the tests by a signal wants no more of them.
  if (code > SIGNALLED) return code;
  return (await jest([...alone, '--runInBand'])) || code;
}

/** Never before the name of a file, which Jest would take for one more pattern. */
function ignoring(...patterns) {
  return `--testPathIgnorePatterns=${['/node_modules/', '/test/browser/', ...patterns].join('|')}`;
}

function testFiles(isMeant) {
  const files = readdirSync(join(root, 'test'), { recursive: true }).filter((file) => file.endsWith('.test.ts'));
  return files
    .map((file) => join('test', file))
    .filter((file) => isMeant(readFileSync(join(root, file), 'utf8'), file));
}

/** Draws again and again. Jest names the seed of a failure. */
async function explore(args) {
  const chosen = args.length > 0 ? args : testFiles((text) => text.includes("from 'fast-check'"));
  for (;;) {
    const code = await jest([SIDE_BY_SIDE, '--silent', `--seed=${randomInt(2 ** 31)}`, '--showSeed', ...chosen]);
    if (code !== 0) return code;
  }
}

/** Code of Node's quickest compiler ends a worker of Jest by SIGSEGV once in many runs (nodejs/node#62393). */
const STEADY = '--no-sparkplug';

function jest(args) {
  return runNode([
    STEADY,
    programOf('jest/bin/jest.js'),
    ...(args.some((arg) => arg.startsWith('--seed')) ? [] : [SEED]),
    ...args,
  ]);
}

const CHROMIUM = '/usr/bin/chromium';

/** Apart from the other tests, because npm cannot install what it needs. */
async function testBrowser(args) {
  if (existsSync(CHROMIUM))
    return jest([
      '--runInBand',
      ...args,
      '--testPathIgnorePatterns=/node_modules/',
      '--testMatch=**/test/browser/*.test.ts',
    ]);
  console.error(`${CHROMIUM} is missing: install the Debian package chromium (apt-get install chromium).`);
  return 1;
}

async function check() {
  const codes = [
    await runNode([programOf('typescript/bin/tsc'), '-p', root]),
    await runNode([programOf('oxlint/bin/oxlint')]),
    await runNode([programOf('oxfmt/bin/oxfmt'), '--check']),
  ];
  return codes.find((code) => code !== 0) ?? 0;
}

function format() {
  return runNode([programOf('oxfmt/bin/oxfmt')]);
}

async function build() {
  for (const project of ['tsconfig.build.json', 'schema/client/tsconfig.json']) {
    const code = await runNode([programOf('typescript/bin/tsc'), '-p', join(root, project)]);
    if (code !== 0) return code;
  }
  copyAssets();
  packClient();
  return listComponents();
}

/**
 * dist/sbom.cdx.json: every package that a production installation has, with version, hash and licence (CycloneDX 1.5).
 */
function listComponents() {
  const [program, first] = npmCommand();
  const { status, stdout, stderr, error } = spawnSync(
    program,
    [...first, 'sbom', '--sbom-format=cyclonedx', '--sbom-type=application', '--omit=dev'],
    { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 27 },
  );
  if (status !== 0) {
    console.error(`npm sbom failed: ${error?.message ?? stderr}`);
    return 1;
  }
  const list = JSON.parse(stdout);
  // npm calls the whole by the folder that it lies in.
  list.metadata.component.name = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).name;
  writeFileSync(join(root, 'dist/sbom.cdx.json'), `${JSON.stringify(list, null, 2)}\n`);
  return 0;
}

/** dist/client as others install it: JavaScript with declarations. */
function packClient() {
  const { devDependencies: _, ...manifest } = JSON.parse(
    readFileSync(join(root, 'schema/client/package.json'), 'utf8'),
  );
  writeFileSync(
    join(root, 'dist/client/package.json'),
    `${JSON.stringify({ ...manifest, exports: { types: './client.d.ts', default: './client.js' } }, null, 2)}\n`,
  );
  cpSync(join(root, 'schema/client/README.md'), join(root, 'dist/client/README.md'));
}

/** What the compiler leaves behind: files that are read at run time. */
function copyAssets() {
  const rooms = [
    'schema',
    'compute',
    'platform',
    'services',
    'subgraphs',
    'gateway',
    'report',
    'rest-adapter',
    'processes',
  ].filter((room) => existsSync(join(root, room)));
  for (const room of rooms) {
    for (const file of readdirSync(join(root, room), { recursive: true })) {
      if (/\.(?:graphql|json|sql|html|css|mjs|csv)$/.test(file) && !file.includes('node_modules'))
        cpSync(join(root, room, file), join(root, 'dist', room, file));
    }
  }
  // The guides, which the service shows beside its reference.
  for (const shelf of ['docs/concepts', 'docs/operating'])
    cpSync(join(root, shelf), join(root, 'dist', shelf), { recursive: true });
}

async function schema() {
  if (!hasClientTools()) {
    console.error(`schema/client lacks packages that print its types: run npm install in ${root} first.`);
    return 1;
  }
  // The later ones print what the first has checked.
  for (const program of [
    'processes/print-schema.ts',
    'rest-adapter/write-openapi.ts',
    'schema/client/print-rest-api.ts',
  ]) {
    const code = await runNode(typescript(program));
    if (code !== 0) return code;
  }
  return 0;
}

/** The client has packages of its own, which a copied or linked node_modules does not bring. */
function hasClientTools() {
  try {
    createRequire(join(root, 'schema/client/package.json')).resolve('openapi-typescript');
    return true;
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return false;
    throw error;
  }
}

async function bench([name, ...args]) {
  // What exports something is a part of a benchmark, not one.
  const isWhole = (file) => file.endsWith('.ts') && !/^export /m.test(readFileSync(join(root, 'bench', file), 'utf8'));
  const available = readdirSync(join(root, 'bench'), { recursive: true })
    .filter(isWhole)
    .map((file) => file.slice(0, -'.ts'.length));
  if (available.includes(name)) return runNode([...typescript(`bench/${name}.ts`), ...args]);
  console.error(`Benchmarks: ${available.toSorted().join(', ')}`);
  return 2;
}

const [name, ...args] = process.argv.slice(2);
const command = Object.hasOwn(commands, name ?? '') ? commands[name] : undefined;
if (command === undefined) {
  console.error(
    [
      'Usage: node processes/launch.mjs <command>',
      ...Object.entries(commands).map(([each, { what }]) => `  ${each.padEnd(12)} ${what}`),
    ].join('\n'),
  );
  process.exitCode = 2;
} else {
  process.exitCode = ensureInstalled({ development: command.development === true }) ? await command.run(args) : 1;
}
