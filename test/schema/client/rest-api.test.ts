import { readFileSync } from 'node:fs';
import { printRestApi } from '../../../schema/client/print-rest-api.ts';

test('the types of the client are those of the OpenAPI document', async () => {
  // When this differs on purpose, run: npm run schema
  expect(readFileSync(new URL('../../../schema/client/rest-api.ts', import.meta.url), 'utf8')).toBe(
    await printRestApi(),
  );
});
