import { GraphQLInputObjectType, GraphQLNonNull, isInputObjectType, type GraphQLField, type GraphQLSchema } from 'graphql';
import { Supergraph } from '@apollo/federation-internals';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { readFileSync } from 'node:fs';
import { CONTRACT, pathsOf } from '../../rest-adapter/contract.ts';
import { findUnprotectedTables } from '../../platform/postgres/tenant-tables.ts';
import { Caller, openHouse, type House } from '../house.ts';

const UNKNOWN: Readonly<Record<string, string>> = { ds: 'ds_0351EFTBArmmpvm2tVZ2Qh', attr: 'attr_0351EFUQxpVTZ7WdNYMSuY', agent: 'agent_0351EFSwMCuWsp5CADuBq8', exp: 'exp_0351EFUQxpVTZ7WdNYMSuZ', key: 'key_0351EFUQxpVTZ7WdNYMSuA' };
const ROWS = 'user_id,timestamp,channel,conversion,revenue\nu1,2026-01-01T00:00:00Z,email,0,0\nu1,2026-01-02T00:00:00Z,,1,10\nu2,2026-01-01T00:00:00Z,direct,0,0\n';

/** Which kind of id a path or field takes. */
function kindOf(text: string): keyof typeof UNKNOWN {
  if (/data-?source/i.test(text)) return 'ds';
  if (/attribution/i.test(text)) return 'attr';
  if (/agent/i.test(text)) return 'agent';
  if (/experiment/i.test(text)) return 'exp';
  if (/key/i.test(text)) return 'key';
  throw new Error(`the isolation test does not know whose id ${text} takes: teach it`);
}

const api: GraphQLSchema = Supergraph.build(readFileSync(new URL('../../schema/supergraph.graphql', import.meta.url), 'utf8'))
  .apiSchema()
  .toGraphQLJSSchema();

/** Root fields that take an id, and where in their arguments it stands. */
interface FieldWithId {
  readonly operation: 'query' | 'mutation' | 'subscription';
  readonly field: GraphQLField<unknown, unknown>;
  readonly member: string | null;
}

function fieldsWithIds(): FieldWithId[] {
  const roots = [
    ['query', api.getQueryType()],
    ['mutation', api.getMutationType()],
    ['subscription', api.getSubscriptionType()],
  ] as const;
  return roots.flatMap(([operation, type]) =>
    Object.values(type?.getFields() ?? {}).flatMap((field): FieldWithId[] => {
      if (field.args.some((argument) => argument.name === 'id')) return [{ operation, field, member: null }];
      const input = field.args.find((argument) => argument.name === 'input')?.type;
      const inputType = input instanceof GraphQLNonNull ? input.ofType : input;
      if (!isInputObjectType(inputType)) return [];
      const member = Object.keys((inputType as GraphQLInputObjectType).getFields()).find((name) => name === 'id' || name === 'dataSourceId' || name === 'agentId');
      return member === undefined || field.name === 'connectDataSource' ? [] : [{ operation, field, member }];
    }),
  );
}

function documentOf({ operation, field, member }: FieldWithId, id: string): string {
  const filler: Record<string, string> = { runAttribution: ', dateRange: ["2026-01-01", "2026-01-31"]', addRecords: ', records: [{ user_id: "x" }]', createExperiment: ', channel: "email", method: HOLDOUT, period: ["2026-01-01", "2026-01-31"], incrementalRevenue: 1, standardError: 1' };
  const argument = member === null ? `id: "${id}"` : `input: { ${member}: "${id}"${filler[field.name] ?? ''} }`;
  return `${operation} { ${field.name}(${argument}) { __typename } }`;
}

describe('one tenant against another', () => {
  let house: House;
  let owner: Caller;
  let stranger: Caller;
  let owned: Record<string, string>;

  beforeAll(async () => {
    house = await openHouse('one process');
    [owner, stranger] = await Promise.all([Caller.register(house.root), Caller.register(house.root)]);
    const source = await owner.post('/data-sources/connect', { type: 'csv_upload', credentials: { content: ROWS } });
    const ds = String(source.body['data_source_id']);
    const run = await owner.post('/attribution', { data_source_id: ds, date_range: ['2026-01-01', '2026-01-31'] });
    const experiment = await owner.post('/experiments', { data_source_id: ds, channel: 'email', method: 'holdout', period: ['2026-01-01', '2026-01-31'], incremental_revenue: 5, standard_error: 1 });
    const me = await owner.get('/agents/me');
    const pair = await owner.post('/keys', {});
    owned = { ds, attr: String(run.body['id']), agent: String(me.body['agent_id']), exp: String(experiment.body['id']), key: String(pair.body['live']?.['id']) };
  });

  afterAll(() => house?.stop());

  const operations = CONTRACT.flatMap((operation) => pathsOf(operation).map((path) => ({ operation, path, name: `${operation.method} ${path}` })));

  test.each(operations.filter(({ path }) => path.includes('{')))('$name answers for a foreign id as for an unknown one', async ({ operation, path }) => {
    const kind = kindOf(path);
    const send = (id: string) =>
      operation.kind === 'upload'
        ? stranger.send(operation.method, path.replace(/\{[^}]+\}/, id), ROWS, { 'content-type': 'text/csv' })
        : stranger.send(operation.method, path.replace(/\{[^}]+\}/, id), operation.method === 'GET' || operation.method === 'DELETE' ? undefined : '{}', { 'content-type': 'application/json' });
    const [foreign, unknown] = [await send(owned[kind]!), await send(UNKNOWN[kind]!)];
    expect(foreign.status).toBe(404);
    expect(unknown.status).toBe(404);
    const anonymous = (answer: typeof foreign, id: string) => JSON.stringify(answer.body).replaceAll(id, 'ID').replaceAll(/req_\w+/g, 'REQUEST');
    expect(anonymous(foreign, owned[kind]!)).toBe(anonymous(unknown, UNKNOWN[kind]!));
    // The owner still gets through: the refusal is about who asks, not about what.
    if (operation.method === 'GET') expect((await owner.open('GET', path.replace(/\{[^}]+\}/, owned[kind]!))).status).toBeLessThan(300);
  });

  test.each(operations.filter(({ operation, path }) => operation.method === 'GET' && !path.includes('{')))('$name shows nothing of another tenant', async ({ path }) => {
    const text = JSON.stringify((await stranger.get(path)).body);
    for (const id of Object.values(owned)) expect(text).not.toContain(id);
  });

  test('an analysis of a foreign source is refused as of an unknown one', async () => {
    const run = (id: string) => stranger.post('/attribution', { data_source_id: id, date_range: ['2026-01-01', '2026-01-31'] });
    expect((await run(owned['ds']!)).status).toBe(404);
    expect((await run(UNKNOWN['ds']!)).status).toBe(404);
  });

  const fields = fieldsWithIds();
  test('the graph has fields that take ids', () => expect(fields.length).toBeGreaterThan(5));

  test.each(fields.filter(({ operation }) => operation !== 'subscription').map((each) => ({ ...each, name: each.field.name })))('the graph refuses $name for a foreign id', async (each) => {
    const id = owned[each.member === 'dataSourceId' ? 'ds' : kindOf(each.field.name)]!;
    const { errors } = await stranger.graphql(documentOf(each, id));
    expect(errors?.[0]?.extensions['code']).toBe('RESOURCE_NOT_FOUND');
  });

  test.each(fields.filter(({ operation }) => operation === 'subscription').map((each) => ({ ...each, name: each.field.name })))('the graph refuses to watch $name for a foreign id', async (each) => {
    const client = createClient({ url: `${house.root.replace('http', 'ws')}/graphql`, webSocketImpl: WebSocket, connectionParams: { authorization: `Bearer ${stranger.key}` } });
    const refused = async () => {
      for await (const result of client.iterate({ query: documentOf(each, owned[kindOf(each.field.name)]!) })) return result.errors?.[0]?.extensions?.['code'];
      return 'ended without a word';
    };
    await expect(refused().catch((error: unknown) => JSON.stringify(error))).resolves.toContain('RESOURCE_NOT_FOUND');
    await client.dispose();
  });

  test('no operation that needs a key answers without one', async () => {
    const anyone = new Caller(house.root, null);
    for (const { operation, path } of operations) {
      if (operation.action === null) continue;
      const { status, body } = await anyone.send(operation.method, path.replace(/\{[^}]+\}/, UNKNOWN['ds']!));
      expect({ path, status, type: body['error']?.['type'] }).toEqual({ path, status: 401, type: 'invalid_api_key' });
    }
  });

  test('every table that holds tenants’ rows is under row level security', async () => {
    expect(await findUnprotectedTables(house.ownerUrl)).toEqual([]);
  });

  test('the stores show a tenant nothing of another, even to code that forgets to ask', async () => {
    const counts = await house.ground.database.asNobody((em) => em.execute<{ n: string }[]>('select count(*) as n from attribution.attributions union all select count(*) from auth.accounts'));
    expect(counts.map(({ n }) => Number(n))).toEqual([0, 0]);
  });
});
