import { readFileSync } from 'node:fs';
import { Supergraph } from '@apollo/federation-internals';
import { getNamedType, isNonNullType, isObjectType } from 'graphql';
import { fillAccount, type FilledAccount } from '../filled-account.ts';
import { Client } from 'pg';
import { commissionOf, identityOf } from '../contract/cast.ts';
import { Caller, openHouse, type House, type Json } from '../house.ts';
import { sayings } from '../contract/example-requests.ts';

const schema = Supergraph.build(readFileSync(new URL('../../schema/supergraph.graphql', import.meta.url), 'utf8'))
  .apiSchema()
  .toGraphQLJSSchema();

/** Every field of the graph that gives a connection, with the collection whose id it may want. */
const FIELDS = Object.values(schema.getTypeMap())
  .filter(isObjectType)
  .flatMap((parent) =>
    Object.values(parent.getFields())
      .filter(({ type }) => getNamedType(type).name.endsWith('Connection'))
      .map((field) => ({ parent: parent.name, field })),
  );

/** Those of the query; what an entity leads on to is the same list, asked of the same resolver. */
const CONNECTIONS = FIELDS.filter(({ parent }) => parent === 'Query');
const LED_ON_TO = ['Agent.commissions'];

/** What rows of the contract say to the fields that they ask. */
const SAYINGS = new Map(sayings().map((saying) => [saying.field, saying]));

/** Fields whose pages may be larger than others’, by the contract. */
const LARGEST: Readonly<Record<string, number>> = { auditEvents: 500, commissions: 200, valueProofs: 200 };

/** Nobody can make three of them here; their stories read them page by page. */
const WITHOUT_ENTRIES: ReadonlySet<string> = new Set(['invoices', 'valueProofs']);

interface Page {
  readonly edges: readonly { readonly cursor: string }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
  readonly totalCount: number;
}

let house: House;
let account: FilledAccount;
beforeAll(async () => {
  house = await openHouse('one process', { withWorker: false });
  account = await fillAccount(house.root);
  const owner = new Client({ connectionString: house.ownerUrl });
  await owner.connect();
  const agent = await identityOf(owner, account.caller);
  await owner.end();
  for (let made = 0; made < 3; made += 1) await commissionOf(house, agent);
});
afterAll(() => house?.stop());

test('all connections are fields of the query, where this test finds them', () => {
  expect(CONNECTIONS.length).toBeGreaterThanOrEqual(4);
  const others = FIELDS.filter(({ parent }) => parent !== 'Query');
  expect(others.map(({ parent, field }) => `${parent}.${field.name}`)).toEqual(LED_ON_TO);
});

describe.each(CONNECTIONS.map(({ field }) => [field.name, field] as const))('%s', (name, field) => {
  const beyond = (LARGEST[name] ?? 100) + 1;
  const ask = async (window: Record<string, unknown>) => {
    const said = SAYINGS.get(name)!.variables((kind) => account.idFor(kind));
    const required = Object.fromEntries(
      field.args.filter(({ type }) => isNonNullType(type)).map((argument) => [argument.name, said[argument.name]]),
    );
    const all: Record<string, unknown> = { ...required, ...window };
    const used = field.args.filter((argument) => argument.name in all);
    const list = (write: (argument: (typeof used)[number]) => string) =>
      used.length === 0 ? '' : `(${used.map(write).join(', ')})`;
    const query =
      `query Page${list((argument) => `$${argument.name}: ${String(argument.type)}`)} { page: ` +
      `${name}${list((argument) => `${argument.name}: $${argument.name}`)} { edges { cursor node { __typename } } ` +
      `pageInfo ` +
      `{ hasNextPage hasPreviousPage startCursor endCursor } totalCount trust { hreiScore } } }`;
    return account.caller.graphql(query, all);
  };
  const page = async (window: Record<string, unknown>): Promise<Page> => {
    const { data, errors } = await ask(window);
    if (errors !== undefined) throw new Error(JSON.stringify(errors));
    return (data as Json)['page'] as unknown as Page;
  };
  const cursors = ({ edges }: Page) => edges.map(({ cursor }) => cursor);

  test('has the arguments of the specification', () => {
    expect(field.args.map((argument) => argument.name)).toEqual(
      expect.arrayContaining(['first', 'after', 'last', 'before']),
    );
  });

  test.each([
    [{ first: 0 }, '/first'],
    [{ first: -1 }, '/first'],
    [{ first: beyond }, '/first'],
    [{ last: 0 }, '/last'],
    [{ last: beyond }, '/last'],
    [{ first: 1, last: 1 }, '/last'],
    [{ after: 'nothing' }, '/after'],
    [{ before: '' }, '/before'],
    [{ after: Buffer.from('row:-1').toString('base64url') }, '/after'],
    [{ first: 1, after: Buffer.from(`row:${'9'.repeat(40)}`).toString('base64url') }, '/after'],
  ])('%j is refused and names the argument', async (window, param) => {
    const { errors } = await ask(window);
    expect(errors).toMatchObject([
      { extensions: { type: 'validation_error', http_status: 422, param, errors: [{ param }] } },
    ]);
  });

  if (WITHOUT_ENTRIES.has(name)) return;
  test('walks forwards and backwards through the same entries', async () => {
    const whole = await page({ first: 100 });
    expect(whole.edges.length).toBe(whole.totalCount);
    if (whole.totalCount < 3)
      throw new Error(`${name} has ${whole.totalCount} entries, not 3: "make" in test/contract/objects.ts makes them`);
    const forwards: string[] = [];
    for (let next = await page({ first: 1 }); ; next = await page({ first: 1, after: next.pageInfo.endCursor })) {
      forwards.push(...cursors(next));
      expect(next.pageInfo.hasNextPage).toBe(forwards.length < whole.totalCount);
      if (!next.pageInfo.hasNextPage) break;
    }
    expect(forwards).toEqual(cursors(whole));
    const backwards: string[] = [];
    for (let next = await page({ last: 1 }); ; next = await page({ last: 1, before: next.pageInfo.startCursor })) {
      backwards.unshift(...cursors(next));
      expect(next.pageInfo.hasPreviousPage).toBe(backwards.length < whole.totalCount);
      if (!next.pageInfo.hasPreviousPage) break;
    }
    expect(backwards).toEqual(cursors(whole));
    const between = await page({ first: 100, after: forwards[0], before: forwards.at(-1) });
    expect(cursors(between)).toEqual(forwards.slice(1, -1));
    expect(await page({ first: 1, after: forwards.at(-1) })).toMatchObject({
      edges: [],
      pageInfo: { hasNextPage: false, startCursor: null, endCursor: null },
    });
  });
});

/** Makes one more entry of a list that grows at its head, and answers with what deletes it. */
type Making = (caller: Caller) => Promise<() => Promise<unknown>>;
const GROWING: Readonly<Record<string, Making>> = {
  dataSources: async (caller) => {
    const { body } = await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: {} });
    return () => caller.delete(`/data-sources/${String(body['data_source_id'])}`);
  },
  webhooks: async (caller) => {
    const { body } = await caller.post('/webhooks', { url: 'http://127.0.0.1:9/', events: ['*'] });
    return () => caller.delete(`/webhooks/${String(body['id'])}`);
  },
  keys: async (caller) => {
    await caller.post('/keys', {});
    return async () => undefined;
  },
  workspaces: async (caller) => {
    await caller.post('/workspaces', { name: 'one more' });
    return async () => undefined;
  },
};

describe.each(Object.entries(GROWING))('%s, while it changes', (name, make) => {
  const ids = async (caller: Caller, window: string) => {
    const { data, errors } = await caller.graphql(
      `{ page: ${name}(${window}) { edges { cursor node { id } } pageInfo { hasNextPage endCursor startCursor } } }`,
    );
    expect(errors).toBeUndefined();
    const page = (data as Json)['page'] as unknown as Pick<Page, 'pageInfo'> & {
      edges: { node: { id: string } }[];
    };
    return { seen: page.edges.map(({ node }) => node.id), ...page.pageInfo };
  };

  test('a walk meets every entry that was there, each once, whatever comes or goes', async () => {
    const caller = await Caller.register(house.root);
    const removals = [];
    for (let count = 0; count < 6; count += 1) removals.push(await make(caller));
    const whole = (await ids(caller, 'first: 100')).seen;
    const first = await ids(caller, 'first: 2');
    await make(caller);
    // Of those on the page, the one that its cursor stands for, and one further down.
    await removals.at(-2)!();
    await removals.at(1)!();
    const left = new Set((await ids(caller, 'first: 100')).seen);
    const rest = await ids(caller, `first: 100, after: "${first.endCursor}"`);
    expect(rest.seen).toEqual(whole.slice(2).filter((id) => left.has(id)));
    expect((await ids(caller, `last: 100, before: "${first.endCursor}"`)).seen.slice(-1)).toEqual(whole.slice(0, 1));
  });
});
