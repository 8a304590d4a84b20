import { auditServer } from 'graphql-http';
import { openHouse, type House } from '../house.ts';

/**
 * Plain GET from anywhere is refused on purpose: a page of another site could send it (CSRF prevention). These audits
 * say MAY.
 */
const DECLINED = [
  'MAY accept application/x-www-form-urlencoded formatted GET requests',
  'MAY allow URL-encoded JSON string {variables} parameter in GETs when accepting application/graphql-response+json',
  'MAY allow URL-encoded JSON string {variables} parameter in GETs when accepting application/json',
];

let house: House;
beforeAll(async () => {
  house = await openHouse('one process', { withWorker: false });
});
afterAll(() => house?.stop());

test('the audit of GraphQL over HTTP runs whole and finds no error and nothing to warn of', async () => {
  const results = await auditServer({ url: `${house.root}/graphql` });
  expect(results).toHaveLength(61);
  expect(results.filter(({ status }) => status === 'error' || status === 'warn')).toEqual([]);
  expect(
    results
      .filter(({ status }) => status === 'notice')
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(DECLINED);
});
