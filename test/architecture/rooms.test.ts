import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');

/** Which rooms a file may import from, by the path of the file; the first matching row counts. */
const IMPORT_TABLE: readonly (readonly [room: string, mayImport: readonly string[]])[] = [
  ['schema/', ['schema/']],
  ['compute/', ['compute/', 'schema/', 'platform/fair-turns.ts']],
  ['platform/', ['platform/', 'schema/']],
  ['services/', ['services/', 'platform/', 'schema/']],
  [
    'subgraphs/attribution/',
    [
      'subgraphs/attribution/',
      'services/',
      'platform/',
      'schema/',
      'compute/pool.ts',
      'compute/tasks.ts',
      'compute/journey-tables.ts',
      'compute/outcome.ts',
      'compute/run-options.ts',
      'compute/models/experiment-design/experiment-designs.ts',
      'compute/numerics/largest-remainder.ts',
      'report/attribution-report.ts',
      'report/report-file.ts',
    ],
  ],
  ['subgraphs/agents/', ['subgraphs/agents/', 'services/', 'platform/', 'schema/']],
  ['subgraphs/billing/', ['subgraphs/billing/', 'services/', 'platform/', 'schema/']],
  ['gateway/', ['gateway/', 'services/identity/', 'services/idempotency/', 'platform/', 'schema/']],
  [
    'rest-adapter/',
    [
      'rest-adapter/',
      'schema/',
      'services/',
      'platform/coalescer.ts',
      'platform/json-extent.ts',
      'platform/most-held.ts',
      'gateway/client.ts',
    ],
  ],
  ['report/', ['report/', 'schema/', 'compute/numerics/normal-quantile.ts']],
  ['examples/', ['examples/']],
];

/** Rooms whose parts import leftwards only: what stands later may build on what stands earlier. */
const ORDERS: readonly (readonly [room: string, parts: readonly string[]])[] = [
  ['services/', ['trust', 'events', 'audit', 'idempotency', 'identity', 'webhooks']],
  ['services/identity/', ['limits', 'accounts', 'keys', 'opening', 'workspaces', 'admission', 'oauth']],
  ['subgraphs/attribution/', ['runs', 'intake', 'analysis', 'sandbox']],
  ['subgraphs/attribution/intake/', ['connectors', 'data-sources', 'touchpoints', 'channel-rules', 'files', 'quality']],
  ['subgraphs/attribution/intake/files/reader/', ['styles', 'presets']],
  [
    'subgraphs/attribution/analysis/',
    ['journeys', 'experiments', 'attributions', 'verification', 'insights', 'designs', 'reports'],
  ],
  ['subgraphs/agents/', ['registry', 'referrals']],
  [
    'subgraphs/billing/',
    [
      'plans',
      'ledger',
      'fees',
      'value-proofs',
      'commissions',
      'payouts',
      'spend-limits',
      'subscriptions',
      'books',
      'invoices',
      'usage',
    ],
  ],
];

interface Import {
  readonly from: string;
  readonly to: string;
}

function sourceFiles(room: string): string[] {
  return readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => join(room, name));
}

function importsOf(file: string, text: string): Import[] {
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map((match) => match[1]!);
  return specifiers.map((specifier) => ({ from: file, to: relative(ROOT, resolve(ROOT, dirname(file), specifier)) }));
}

function forbidden(edges: readonly Import[]): string[] {
  return edges
    .filter(({ from, to }) => {
      const row = IMPORT_TABLE.find(([room]) => from.startsWith(room));
      return row !== undefined && !row[1].some((allowed) => to.startsWith(allowed));
    })
    .map(({ from, to }) => `${from} may not import ${to}`);
}

function rightwards(edges: readonly Import[]): string[] {
  return ORDERS.flatMap(([room, parts]) => {
    const place = (file: string) => parts.findIndex((part) => file.startsWith(`${room}${part}/`));
    return edges
      .filter(({ from, to }) => place(from) >= 0 && place(to) > place(from))
      .map(({ from, to }) => `${from} imports rightwards: ${to}`);
  });
}

/** Folders of an ordered room that have no place in its order, and so would not be looked at. */
function unplaced(room: string, parts: readonly string[], folders: readonly string[]): string[] {
  return folders
    .filter((folder) => !parts.includes(folder))
    .map((folder) => `${room}${folder} has no place in ORDERS: its place decides, at the right of all that it imports`);
}

function foldersIn(room: string): string[] {
  return readdirSync(join(ROOT, room), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);
}

function cycles(edges: readonly Import[]): string[] {
  const targets = new Map<string, string[]>();
  for (const { from, to } of edges) targets.set(from, [...(targets.get(from) ?? []), to]);
  const state = new Map<string, 'open' | 'done'>();
  const found: string[] = [];
  const visit = (file: string, trail: readonly string[]): void => {
    if (state.get(file) === 'open') found.push([...trail.slice(trail.indexOf(file)), file].join(' → '));
    if (state.has(file)) return;
    state.set(file, 'open');
    for (const target of targets.get(file) ?? []) visit(target, [...trail, file]);
    state.set(file, 'done');
  };
  for (const file of targets.keys()) visit(file, []);
  return found;
}

const ROOMS = readdirSync(ROOT, { withFileTypes: true })
  .filter(
    (entry) =>
      entry.isDirectory() && !entry.name.startsWith('.') && !['node_modules', 'dist', 'docs'].includes(entry.name),
  )
  .map((entry) => entry.name);
const files = ROOMS.flatMap(sourceFiles);
const edges = files.flatMap((file) => importsOf(file, readFileSync(join(ROOT, file), 'utf8')));

describe('the rooms of the house', () => {
  test('every room imports only what the table allows', () => {
    expect(forbidden(edges)).toEqual([]);
  });

  test('a forbidden import is caught', () => {
    expect(forbidden([{ from: 'compute/pool.ts', to: 'processes/config/config.ts' }])).toHaveLength(1);
    expect(
      forbidden([{ from: 'subgraphs/billing/plans/plan.ts', to: 'subgraphs/agents/registry/agent.ts' }]),
    ).toHaveLength(1);
    expect(
      forbidden(importsOf('schema/problems.ts', `export { x } from '../processes/config/config.ts';`)),
    ).toHaveLength(1);
  });

  test('features of an ordered room import leftwards only', () => {
    expect(rightwards(edges)).toEqual([]);
    expect(
      rightwards([
        {
          from: 'subgraphs/attribution/analysis/journeys/a.ts',
          to: 'subgraphs/attribution/analysis/attributions/b.ts',
        },
      ]),
    ).toHaveLength(1);
  });

  test('every folder of an ordered room has its place', () => {
    expect(ORDERS.flatMap(([room, parts]) => unplaced(room, parts, foldersIn(room)))).toEqual([]);
    expect(unplaced('services/', ['trust'], ['trust', 'stray'])).toHaveLength(1);
    // A row for a folder that is gone would keep nothing apart.
    expect(ORDERS.flatMap(([room, parts]) => parts.filter((part) => !foldersIn(room).includes(part)))).toEqual([]);
  });

  test('every room of several features has an order', () => {
    const rooms = ['services', 'subgraphs'].flatMap((top) =>
      readdirSync(join(ROOT, top), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map((entry) => `${relative(ROOT, join(entry.parentPath, entry.name))}/`),
    );
    const ordered = new Set(ORDERS.map(([room]) => room));
    expect(
      rooms
        .filter((room) => foldersIn(room).length > 1 && !ordered.has(room))
        .map((room) => `${room} has several folders and no row in ORDERS`),
    ).toEqual([]);
  });

  test('no file imports itself by way of others', () => {
    expect(cycles(edges)).toEqual([]);
    expect(
      cycles([
        { from: 'a.ts', to: 'b.ts' },
        { from: 'b.ts', to: 'c.ts' },
        { from: 'c.ts', to: 'a.ts' },
      ]),
    ).toEqual(['a.ts → b.ts → c.ts → a.ts']);
  });

  test('every file stays short enough to be read at one sitting', () => {
    const written = files.filter((file) => file !== 'schema/client/rest-api.ts');
    const long = written.filter((file) => readFileSync(join(ROOT, file), 'utf8').split('\n').length > 401);
    expect(long).toEqual([]);
  });

  test('no line is wider than 120 columns, strings and SQL included', () => {
    const written = files.filter((file) => file !== 'schema/client/rest-api.ts');
    const wide = written.flatMap((file) =>
      readFileSync(join(ROOT, file), 'utf8')
        .split('\n')
        .flatMap((line, index) => ([...line].length > 120 ? [`${file}:${index + 1}`] : [])),
    );
    expect(wide).toEqual([]);
  });

  test('file names say what is inside', () => {
    expect(
      files.filter((file) =>
        /(^|\/)(utils?|helpers?|common|misc|shared|lib|types|interfaces|constants|index)(\.tsx?$|\/)/.test(file),
      ),
    ).toEqual([]);
  });
});
