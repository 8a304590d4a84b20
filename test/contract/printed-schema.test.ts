import { readFileSync } from 'node:fs';
import { NOUNS } from '../../schema/contract/contract.ts';
import { EVENT_TYPES } from '../../schema/event-catalogue.ts';
import { printSchema } from '../../processes/print-schema.ts';

describe('the printed graph and events', () => {
  test('is what the code makes', async () => {
    const printed = await printSchema();
    const graph = [
      'subgraphs/agents.graphql',
      'subgraphs/attribution.graphql',
      'subgraphs/billing.graphql',
      'supergraph.graphql',
    ];
    const documents = ['records', ...NOUNS.map(({ many }) => many)].map((name) => `operations/${name}.graphql`);
    const events = EVENT_TYPES.map((type) => `events/${type}.json`);
    expect(new Set(printed.keys())).toEqual(new Set([...graph, ...documents, ...events]));
    for (const [name, text] of printed) {
      // When this differs on purpose, run: npm run schema
      expect({ name, text: readFileSync(new URL(`../../schema/${name}`, import.meta.url), 'utf8') }).toEqual({
        name,
        text,
      });
    }
  });
});
