import { Client } from 'pg';
import type { Principal, RequestContext } from '../../../../../schema/principal.ts';
import { newUuid, uuidFromPublicId, type Uuid } from '../../../../../platform/identifiers.ts';
import type { Database } from '../../../../../platform/postgres/database.ts';
import {
  AttributionResolver,
  LARGE_BYTES,
} from '../../../../../subgraphs/attribution/analysis/attributions/attribution-resolver.ts';
import { Caller, openHouse, type House } from '../../../../house.ts';

type Services = ConstructorParameters<typeof AttributionResolver>[0];

let house: House;
let owner: Client;

beforeAll(async () => {
  house = await openHouse('one process', { withWorker: false });
  owner = new Client({ connectionString: house.ownerUrl });
  await owner.connect();
}, 60_000);

afterAll(async () => {
  await owner.end();
  await house.stop();
});

/** Two analyses whose figures take so many bytes each, and who asked for them. */
async function contextWith(figureBytes: number): Promise<RequestContext> {
  const caller = await Caller.register(house.root);
  const source = await caller.post('/data-sources/connect', {
    type: 'csv_upload',
    credentials: { content: 'user_id,timestamp,channel\nu1,2026-01-05T10:00:00Z,email\n' },
  });
  const asked = { data_source_id: source.body['data_source_id'], date_range: ['2026-01-01', '2026-01-31'] };
  const answers = [
    await caller.post('/attribution', asked, { prefer: 'respond-async' }),
    await caller.post('/attribution', asked, { prefer: 'respond-async' }),
  ];
  const ids = answers.map(({ body }) => uuidFromPublicId('attr', String(body['id']))!);
  const { rows } = await owner.query<{ account_id: Uuid }>(
    `update attribution.attributions set result = jsonb_build_object('filler', repeat('x', $1::int)) where id = any ($2)
     returning account_id`,
    [figureBytes, ids],
  );
  const principal: Principal = {
    kind: 'agent',
    accountId: rows[0]!.account_id,
    agentId: null,
    credentialId: newUuid(),
    scopes: ['attribution:read'],
    environment: 'live',
    proof: 'secret',
    workspace: null,
  };
  return { requestId: 'req_1', principal, apiVersion: '2026-02-01' };
}

/** A resolver on the real database, and how many results it was reading at once at the most. */
function resolverWatched(): { resolver: AttributionResolver; most: () => number; transactions: () => number } {
  const readings: { readonly begun: number; readonly over: number }[] = [];
  let transactions = 0;
  const { database } = house.backing;
  const watched: Pick<Database, 'asTenant' | 'askAs' | 'asNobody'> = {
    asTenant: async (tenant, work, options) => {
      const begun = performance.now();
      transactions += 1;
      const result = await database.asTenant(tenant, work, options);
      if (isAnalysis(result)) readings.push({ begun, over: performance.now() });
      return result;
    },
    askAs: (tenant, question) => database.askAs(tenant, question),
    asNobody: (work, options) => database.asNobody(work, options),
  };
  const services = { database: watched, clock: () => new Date() } as unknown as Services;
  return {
    resolver: new AttributionResolver(services),
    most: () =>
      Math.max(...readings.map(({ begun }) => readings.filter((one) => one.begun <= begun && begun < one.over).length)),
    transactions: () => transactions,
  };
}

const isAnalysis = (result: unknown): boolean =>
  typeof result === 'object' && result !== null && 'channelImpact' in result;

/** Of eight pages at once, how many members each has once they are there. */
async function eightPages(resolver: AttributionResolver, context: RequestContext): Promise<number[]> {
  const pages = await Promise.all(Array.from({ length: 8 }, () => resolver.attributions(context, { first: 100 })));
  return Promise.all(
    pages.map(async ({ edges }) => {
      const nodes = await Promise.all(edges.map((edge) => edge.node));
      return new Set(nodes.map(({ id }) => id)).size;
    }),
  );
}

test('members of pages of many figures are read one at a time', async () => {
  const context = await contextWith(LARGE_BYTES - 1024);
  const { resolver, most } = resolverWatched();
  expect(await eightPages(resolver, context)).toEqual(Array(8).fill(2));
  expect(most()).toBe(1);
});

test('members that nobody asks for are not read', async () => {
  const context = await contextWith(LARGE_BYTES - 1024);
  const { resolver, transactions } = resolverWatched();
  const { edges, totalCount } = await resolver.attributions(context, { first: 100 });
  expect([edges.map(({ cursor }) => cursor).length, totalCount, transactions()]).toEqual([2, 2, 1]);
});

test('a member that is deleted before its turn takes down no other', async () => {
  const context = await contextWith(LARGE_BYTES - 1024);
  const { resolver } = resolverWatched();
  const { edges } = await resolver.attributions(context, { first: 100 });
  await owner.query('update attribution.attributions set deleted_at = now() where account_id = $1', [
    context.principal!.accountId,
  ]);
  expect(await edges[0]!.node).toMatchObject({ status: 'failed', failure: { code: 'internal' } });
});

test('pages of few figures wait for nobody, and take one transaction each', async () => {
  const context = await contextWith(100);
  const { resolver, transactions } = resolverWatched();
  expect(await eightPages(resolver, context)).toEqual(Array(8).fill(2));
  expect(transactions()).toBe(8);
});
