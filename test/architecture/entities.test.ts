import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { agentsEntities } from '../../subgraphs/agents/subgraph.ts';
import { attributionEntities } from '../../subgraphs/attribution/subgraph.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** Entities by the file that defines them. */
const DEFINED = ['subgraphs', 'services'].flatMap((room) =>
  readdirSync(join(ROOT, room), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) =>
      namesIn(readFileSync(join(ROOT, room, name), 'utf8')).map((entity) => [entity, `${room}/${name}`]),
    ),
);

function namesIn(text: string): string[] {
  return [...text.matchAll(/defineEntity\(\{\s*name: '(\w+)'/g)].map((match) => match[1]!);
}

test('MikroORM is told of every entity: it can read no other', () => {
  const told = new Set([...agentsEntities, ...attributionEntities].map(({ name }) => name));
  expect(DEFINED.length).toBeGreaterThanOrEqual(5);
  expect(
    DEFINED.filter(([entity]) => !told.has(entity!)).map(
      ([entity, file]) => `${file}: add ${entity} to the entities in subgraph.ts of its owner`,
    ),
  ).toEqual([]);
});
