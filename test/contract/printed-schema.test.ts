import { readFileSync } from 'node:fs';
import { printSchema } from '../../processes/print-schema.ts';

describe('the printed graph', () => {
  test('is what the code makes', async () => {
    const printed = await printSchema();
    expect([...printed.keys()].toSorted()).toEqual(['subgraphs/agents.graphql', 'subgraphs/attribution.graphql', 'subgraphs/billing.graphql', 'supergraph.graphql']);
    for (const [name, text] of printed) {
      // When this differs on purpose, run: npm run schema
      expect({ name, text: readFileSync(new URL(`../../schema/${name}`, import.meta.url), 'utf8') }).toEqual({ name, text });
    }
  });
});
