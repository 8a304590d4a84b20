import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createClient, type Client as SocketClient } from 'graphql-ws';
import { Client } from 'pg';
import { pino } from 'pino';
import WebSocket from 'ws';
import { UNBOUND } from '../../services/identity/keys/key-bond.ts';
import { SCOPES, type Scope } from '../../schema/principal.ts';
import type { Uuid } from '../../platform/identifiers.ts';
import { DiskWatch } from '../../processes/disk-watch.ts';
import { Caller, LAYOUTS, openHouse, type House, type Json } from '../house.ts';
import { clock } from '../service-clock.ts';
import { inputsFor, isPublic, needsNoRoom, sampleOf, WITHOUT_EFFECT } from './furnish.ts';

const ROOT = new URL('../..', import.meta.url);

const supergraph = readFileSync(new URL('schema/supergraph.graphql', ROOT), 'utf8');
const mutationType = /^type Mutation\b[^{]*\{([\s\S]*?)^\}/m.exec(supergraph)![1]!;
const MUTATIONS = [...mutationType.matchAll(/^ {2}(\w+)\(/gm)]
  .map(([, name]) => name!)
  .filter((name) => !WITHOUT_EFFECT.has(name));

/** Methods of resolvers that are mutations and do not join. */
function unjoined(text: string): string[] {
  const members = text.split(/\n {2}(?=@(?:\w+\.)?(?:Mutation|Query|FieldResolver|Subscription)\()/);
  return members
    .filter((member) => /^@(?:\w+\.)?Mutation\(/.test(member) && !member.includes('exactlyOnce('))
    .map((member) => /\n {2}async (\w+)/.exec(member)?.[1] ?? member);
}

test('every mutation has a sample', () => {
  expect(MUTATIONS.length).toBeGreaterThan(5);
  for (const name of MUTATIONS) expect(() => sampleOf(name)).not.toThrow();
});

test('every mutation joins', () => {
  const namesIn = (room: string) =>
    readdirSync(new URL(room, ROOT), { recursive: true, encoding: 'utf8' }).map((name) => `${room}/${name}`);
  const resolvers = ['subgraphs', 'services'].flatMap(namesIn).filter((name) => name.endsWith('-resolver.ts'));
  expect(
    resolvers
      .flatMap((name) => unjoined(readFileSync(new URL(name, ROOT), 'utf8')))
      .filter((name) => !WITHOUT_EFFECT.has(name)),
  ).toEqual([]);
  expect(
    unjoined(
      'class X {\n  @Mutation(() => A)\n  async forgets() {\n    return act();\n  }\n\n' +
        '  @ofX.Mutation("x")\n  async forgetsToo() {\n    return act();\n  }\n\n' +
        '  @Query(() => A)\n  async reads() {\n    return exactlyOnce();\n  }\n}',
    ),
  ).toEqual(['forgets', 'forgetsToo']);
});

/** For whoever adds a mutation. */
const NEEDS_NO_ROOM = 'a DELETE goes on while the disk is nearly full: give its exactlyOnce `needsRoom: false`';
const GOES_ON = 'say why it needs no room as `needsNoRoom` in test/contract/objects.ts, or let it need some';

interface Answered {
  readonly status: number;
  readonly text: string;
  readonly replayed: string | null;
  readonly body: {
    readonly data?: Json | null;
    readonly errors?: readonly { readonly extensions: Readonly<Record<string, unknown>> }[];
  };
}

describe.each(LAYOUTS)('mutations with an idempotency key, %s', (layout) => {
  let house: House;
  let owner: Client;
  let freeBytes = 2;
  const disk = new DiskWatch({
    folders: ['/data'],
    reserveBytes: 1,
    logger: pino({ level: 'silent' }),
    freeBytesOf: async () => freeBytes,
  });
  const withoutRoom = async <T>(work: () => Promise<T>): Promise<T> => {
    freeBytes = 0;
    await disk.look();
    try {
      return await work();
    } finally {
      freeBytes = 2;
      await disk.look();
    }
  };

  beforeAll(async () => {
    house = await openHouse(layout, { withWorker: false, clock, disk });
    owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
  });
  afterAll(async () => {
    await owner.end();
    await house.stop();
  });

  const say = async (
    caller: Caller,
    key: string,
    query: string,
    variables: object,
    headers: Record<string, string> = {},
  ): Promise<Answered> => {
    const response = await fetch(`${house.root}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/graphql-response+json',
        ...(caller.key === null ? {} : { authorization: `Bearer ${caller.key}` }),
        'x-nonce': randomUUID(),
        'svc-idempotency-key': key,
        ...headers,
      },
      body: JSON.stringify({ query, variables }),
    });
    const text = await response.text();
    return {
      status: response.status,
      text,
      replayed: response.headers.get('svc-idempotent-replayed'),
      body: JSON.parse(text) as Answered['body'],
    };
  };
  const codeOf = ({ body }: Answered) => body.errors?.[0]!.extensions['code'];
  /** What a crash between the commit and the answer leaves behind. */
  const forgetAnswers = () =>
    owner.query(`update idempotency.claims set answer = null, lease_until = now() - interval '1 second'`);

  const WITHOUT_WORKER = { withWorker: false };
  /** Somebody with a source. */
  const prepareTenant = async () => {
    const { caller, input } = await prepare('syncDataSource');
    return { caller, source: (input as { readonly id: string }).id };
  };
  /** Somebody who can say a mutation, with the objects that it needs. */
  const prepare = async (name: string) => {
    const sample = sampleOf(name);
    const tenant = await Caller.register(house.root);
    const [input, otherInput] = await inputsFor(name, tenant, WITHOUT_WORKER);
    return {
      caller: isPublic(name) ? new Caller(house.root, null) : tenant,
      query:
        `mutation Once($input: ${name[0]!.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { ` +
        `${sample.selection} } }`,
      input,
      otherInput,
    };
  };

  test.each(MUTATIONS)('%s', async (name) => {
    const { caller, query, input, otherInput } = await prepare(name);
    const key = randomUUID();

    const first = await say(caller, key, query, { input });
    expect(first.body.errors).toBeUndefined();
    expect(await say(caller, key, query, { input })).toEqual({ ...first, replayed: 'true' });

    const other = await say(caller, key, query, { input: otherInput });
    expect([other.status, codeOf(other)]).toEqual([409, 'IDEMPOTENCY_CONFLICT']);

    await forgetAnswers();
    const recalled = await say(caller, key, query, { input });
    expect([recalled.replayed, recalled.body]).toEqual([null, first.body]);
    expect((await say(caller, key, query, { input })).replayed).toBe('true');
  });

  // Refused below both doors, wherever the subgraphs are: once is enough.
  if (layout === 'one process') {
    test.each(MUTATIONS)('%s on a nearly full disk', async (name) => {
      const { caller, query, input } = await prepare(name);
      const [key, earlier] = [randomUUID(), randomUUID()];

      const refused = await withoutRoom(() => say(caller, key, query, { input }));
      const { errors } = refused.body;
      if (needsNoRoom(name))
        return expect({ hint: NEEDS_NO_ROOM, errors }).toEqual({ hint: NEEDS_NO_ROOM, errors: undefined });
      expect(errors?.[0]!.extensions ?? `${name} was not refused: ${GOES_ON}`).toMatchObject({
        code: 'SERVICE_UNAVAILABLE',
        reason: 'disk_nearly_full',
        retry_after: 30,
      });
      // Nothing was done, nothing is kept: the same request succeeds when there is room.
      expect((await say(caller, key, query, { input })).body.errors).toBeUndefined();
      if (isPublic(name)) return undefined;

      // What an earlier attempt has stored is told all the same.
      const again = await prepare(name);
      const first = await say(again.caller, earlier, query, { input: again.input });
      await forgetAnswers();
      const recalled = await withoutRoom(() => say(again.caller, earlier, query, { input: again.input }));
      return expect(recalled.body).toEqual(first.body);
    });
  }

  test('refusals: kept where they are of business, with their request id', async () => {
    const caller = await Caller.register(house.root);
    const query = 'mutation { syncDataSource(input: { id: "ds_0351EFTBArmmpvm2tVZ2Qh" }) { sync { syncId } } }';
    const key = randomUUID();
    const first = await say(caller, key, query, {});
    expect(codeOf(first)).toBe('RESOURCE_NOT_FOUND');
    expect(await say(caller, key, query, {})).toEqual({ ...first, replayed: 'true' });

    const malformed = randomUUID();
    const refused = await say(
      caller,
      malformed,
      'mutation { connectDataSource(input: { type: GA4, credentials: {} }) { dataSource { id } } }',
      {},
    );
    expect(codeOf(refused)).toBe('VALIDATION_ERROR');
    expect(
      (
        await say(
          caller,
          malformed,
          'mutation { connectDataSource(input: { type: CSV_UPLOAD, credentials: {} }) { dataSource { id } } }',
          {},
        )
      ).body.errors,
    ).toBeUndefined();
  });

  test('another credential gets the answer if it may do as much, else a conflict', async () => {
    const { caller, source } = await prepareTenant();
    const query = 'mutation Sync($id: ID!) { syncDataSource(input: { id: $id }) { sync { syncId } } }';
    const key = randomUUID();
    const first = await say(caller, key, query, { id: source });
    const { rows } = await owner.query<{ account_id: Uuid; agent_id: Uuid }>(
      'select account_id, agent_id from auth.api_keys where last4 = $1 order by created_at desc limit 1',
      [caller.key!.slice(-4)],
    );
    const { account_id: accountId, agent_id: agentId } = rows[0]!;
    const issue = (scopes: readonly Scope[]) =>
      house.backing.database.asTenant(accountId, (em) =>
        house.keys.issue(em, { accountId, agentId, kind: 'svc_agent_sk', bond: UNBOUND, scopes }),
      );
    expect(await say(new Caller(house.root, await issue(SCOPES)), key, query, { id: source })).toEqual({
      ...first,
      replayed: 'true',
    });
    expect(
      codeOf(await say(new Caller(house.root, await issue(['attribution:read'])), key, query, { id: source })),
    ).toBe('IDEMPOTENCY_CONFLICT');
  });

  test('one key covers one mutation; a query takes no notice of it', async () => {
    const { caller, source } = await prepareTenant();
    const two = await say(
      caller,
      randomUUID(),
      `mutation Two($id: ID!) { ...A b: syncDataSource(input: { id: $id }) { sync { syncId } } } fragment A on ` +
        `Mutation { a: syncDataSource(input: { id: $id }) { sync { syncId } } }`,
      { id: source },
    );
    expect([two.status, codeOf(two), two.body.errors![0]!.extensions['reason']]).toEqual([
      400,
      'INVALID_REQUEST',
      'one_mutation_per_key',
    ]);
    const key = randomUUID();
    expect((await say(caller, key, '{ me { id } }', {})).replayed).toBeNull();
    expect((await say(caller, key, '{ me { id } }', {})).replayed).toBeNull();
    const bad = await say(caller, 'x'.repeat(256), '{ me { id } }', {});
    expect([bad.status, bad.body.errors![0]!.extensions['reason']]).toEqual([400, 'invalid_idempotency_key']);
    // Clients that take plain JSON only are told by the body alone.
    expect(
      (
        await say(
          caller,
          randomUUID(),
          'mutation { a: __typename x: syncDataSource(input: { id: "" }) { __typename } y: syncDataSource(input: { ' +
            'id: "" }) { __typename } }',
          {},
          { accept: 'application/json' },
        )
      ).status,
    ).toBe(200);
  });

  test('a WebSocket asks the same store', async () => {
    const { caller, source } = await prepareTenant();
    const socket = createClient({
      url: `${house.root.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { authorization: `Bearer ${caller.key}` },
      retryAttempts: 0,
    });
    const query = 'mutation Once($input: SyncDataSourceInput!) { syncDataSource(input: $input) { sync { syncId } } }';
    const variables = { input: { id: source } };
    const key = randomUUID();
    try {
      const first = await overSocket(socket, query, variables, key);
      expect(first['extensions']).toBeUndefined();
      const again = await overSocket(socket, query, variables, key);
      expect(again).toEqual({ ...first, extensions: { idempotentReplayed: true } });
      const overHttp = await say(caller, key, query, variables, {});
      // The operation's name is part of the request; this client sent none either.
      expect([overHttp.replayed, overHttp.body.data]).toEqual(['true', first['data']]);
      await expect(
        overSocket(socket, query, { input: { id: 'ds_0351EFTBArmmpvm2tVZ2Qh' } }, key),
      ).rejects.toMatchObject([{ extensions: { code: 'IDEMPOTENCY_CONFLICT' } }]);
    } finally {
      await socket.dispose();
    }
  });
});

function overSocket(
  socket: SocketClient,
  query: string,
  variables: Record<string, unknown>,
  idempotencyKey: string,
): Promise<Json> {
  return new Promise((resolve, reject) => {
    socket.subscribe<Json>(
      { query, variables, extensions: { nonce: randomUUID(), idempotencyKey } },
      { next: (result) => resolve(result as unknown as Json), error: reject, complete: () => undefined },
    );
  });
}
