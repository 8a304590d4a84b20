import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import type { Registry } from 'prom-client';
import { processRegistry } from '../../platform/telemetry/registry.ts';
import { DiskWatch } from '../../processes/disk-watch.ts';
import { openHouse, type House } from '../house.ts';
import { blocksOf, sectionOf, tablesOf } from './markdown.ts';

const PAGE = readFileSync(new URL('../../docs/operating/metrics.md', import.meta.url), 'utf8');

let house: House;
beforeAll(async () => {
  house = await openHouse('one process', {
    disk: new DiskWatch({ folders: [import.meta.dirname], reserveBytes: 0, logger: pino({ level: 'silent' }) }),
  });
});
afterAll(() => house?.stop());

/** As the page writes it: name, type, labels. */
type Described = readonly [name: string, type: string, labels: string];

/** What prom-client does not tell in its types. */
function registered(registry: Registry): Described[] {
  return (
    registry.getMetricsAsArray() as unknown as {
      name: string;
      type?: string;
      labelNames: readonly string[];
      constructor: { name: string };
    }[]
  ).map(({ name, type, labelNames, constructor }) => [
    name,
    type ?? constructor.name.toLowerCase(),
    labelNames.join(', '),
  ]);
}

function described(page: string): Described[] {
  return tablesOf(sectionOf(page, '## What there is'))
    .flatMap((table) => table.slice(1))
    .map(([name = '', type = '', labels = '']) => [name.replaceAll('`', ''), type, labels]);
}

const byName = (metrics: readonly Described[]): Described[] =>
  metrics.toSorted(([one], [other]) => (one < other ? -1 : 1));

test('the page describes every metric that there is, and no other', () => {
  const all = [...registered(house.backing.registry), ...registered(processRegistry({ version: '0', role: 'all' }))];
  expect(all.length).toBeGreaterThan(50);
  expect(byName(described(PAGE))).toEqual(byName(all));
});

test('what the alerts ask about is there, with the labels that they name', () => {
  const all = new Map(described(PAGE).map(([name, type, labels]) => [name, { type, labels: labels.split(', ') }]));
  const [, rules] = blocksOf(PAGE, 'yaml');
  const asked = [...rules!.matchAll(/\b((?:liftgraph|nodejs|process)_\w+)(?:\{([^}]*)\})?/g)];
  expect(asked.length).toBeGreaterThan(10);
  for (const [, name = '', selector = ''] of asked) {
    const metric = all.get(name) ?? all.get(name.replace(/_bucket$/, ''));
    expect([name, metric === undefined]).toEqual([name, false]);
    for (const [, label] of selector.matchAll(/(\w+)(?:=~?|!~|!=)"/g)) expect(metric!.labels).toContain(label);
  }
});
