import fc from 'fast-check';
import { Client } from 'pg';
import { MAX_STREAMS_PER_KEY } from '../../services/identity/admission/open-streams.ts';
import { EVENT_CATALOGUE } from '../../schema/event-catalogue.ts';
import { recordEvent } from '../../services/events/outbox.ts';
import { uuidFromPublicId, type Uuid } from '../../platform/identifiers.ts';
import { wholeAccount } from '../../platform/postgres/database.ts';
import { daysAgo } from '../days-ago.ts';
import { GraphSocket, type GraphStream } from '../graph-socket.ts';
import { Caller, BOTH_LAYOUTS, openHouse, type House, type Json } from '../house.ts';
import { smallestShop } from '../smallest-shop.ts';

const ROWS = smallestShop(daysAgo(30), daysAgo(29));
const MORE_ROWS = `user_id,timestamp,channel,conversion,revenue\nu3,${daysAgo(28)}T00:00:00Z,search,0,0\n`;
const RANGE = [daysAgo(30), daysAgo(1)];
/** What the contract allows between the end of a credential and that of its streams. */
const WITHIN_MS = 2_000;

/** What all of them have, so that a client asks each in the same words. */
const COMMON = 'sequence kind progress stage channelImpact { channel share } trust { hreiScore riskLevel }';
const STATUS = `subscription ($id: ID!, $after: Int) { dataSourceStatus(id: $id, after: $after) {
  ${COMMON} message failureCode
  result { id status lastSync recordsSynced
    detail { records { touchpoints conversions } currentSync { syncId bytes } } } } }`;
const CHANGES = `subscription ($id: ID!, $after: Int) { attributionChanged(dataSourceId: $id, after: $after) {
  ${COMMON} failureCode message attributionId
  result { id status trust { hreiScore riskLevel } platformFeeCents agent { name } dataSource { name } } } }`;

const NO_RISK = { hreiScore: 0, riskLevel: 'MINIMAL' };

interface StatusItem {
  readonly sequence: number;
  readonly kind: string;
  readonly progress: number | null;
  readonly stage: string;
  readonly failureCode: string | null;
  readonly result: {
    readonly id: string;
    readonly status: string;
    readonly recordsSynced: number;
    readonly detail: { readonly records: { readonly touchpoints: number; readonly conversions: number } };
  };
}
interface Trust {
  readonly hreiScore: number;
  readonly riskLevel: string;
}
interface ChangeItem {
  readonly sequence: number;
  readonly kind: string;
  readonly stage: string;
  readonly failureCode: string | null;
  readonly attributionId: string | null;
  readonly channelImpact: readonly { readonly channel: string }[] | null;
  readonly trust: Trust;
  readonly result: {
    readonly id: string;
    readonly trust: Trust;
    readonly status: string;
    readonly platformFeeCents: number;
    readonly agent: { readonly name: string };
    readonly dataSource: { readonly name: string };
  } | null;
}

describe.each(BOTH_LAYOUTS)('what is live in the graph, %s', (layout) => {
  let house: House;
  let owner: Client;
  let caller: Caller;
  let socket: GraphSocket;
  let accountId: Uuid;

  beforeAll(async () => {
    house = await openHouse(layout);
    owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
    caller = await Caller.register(house.root);
    socket = new GraphSocket(house.root, caller.key!);
    accountId = (
      await owner.query<{ account_id: Uuid }>('select account_id from auth.api_keys where last4 = right($1, 4)', [
        caller.key,
      ])
    ).rows[0]!.account_id;
  });

  afterAll(async () => {
    await socket?.close();
    await owner?.end();
    await house?.stop();
  });

  const connect = async (): Promise<string> =>
    String(
      (await caller.post('/data-sources/connect', { type: 'csv_upload', name: 'Shop', credentials: { content: ROWS } }))
        .body['data_source_id'],
    );
  const loseTheListeningConnection = async (): Promise<void> => {
    const lost = await house.backing.database.asNobody((em) =>
      em.execute<unknown[]>(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and ` +
          `application_name = 'liftgraph-pub-sub'`,
      ),
    );
    expect(lost.length).toBeGreaterThan(0);
  };

  describe('dataSourceStatus', () => {
    const change = (id: string, columns: string): Promise<unknown> =>
      owner.query(`update attribution.data_sources set ${columns} where id = $1`, [uuidFromPublicId('ds', id)]);

    test('the present state comes first, then rows on their way and what came of them', async () => {
      const id = await connect();
      const stream = socket.watch<StatusItem>(STATUS, { id });
      expect(await stream.next()).toMatchObject({
        kind: 'RESULT',
        progress: 1,
        stage: 'connected',
        channelImpact: null,
        trust: NO_RISK,
        result: { id, status: 'CONNECTED', recordsSynced: 3, detail: { currentSync: null } },
      });
      await caller.send('POST', `/data-sources/${id}/records`, MORE_ROWS, { 'content-type': 'text/csv' });
      const seen = await stream.until(({ result }) => result.recordsSynced === 4);
      expect(seen.at(-1)).toMatchObject({
        kind: 'RESULT',
        stage: 'connected',
        result: { detail: { records: { touchpoints: 3, conversions: 1 } } },
      });
      expect(seen[0]).toMatchObject({ kind: 'PROGRESS', stage: 'syncing', progress: null });
      const sequences = seen.map(({ sequence }) => sequence);
      expect(sequences).toEqual([...new Set(sequences)].toSorted((one, other) => one - other));
      await stream.close();
    });

    test('a sync that fails, an upload that was killed, and the end of the source', async () => {
      const id = await connect();
      const stream = socket.watch<StatusItem>(STATUS, { id });
      await stream.next();
      await change(
        id,
        `error = '{"code":"rate_limited","message":"Later.","at":"2026-01-01T00:00:00.000Z","retryable":true}'`,
      );
      expect(await stream.next()).toMatchObject({
        kind: 'ERROR',
        stage: 'error',
        failureCode: 'rate_limited',
        message: 'Later.',
      });
      await change(id, `error = null, syncing_until = now() + interval '1 hour'`);
      expect((await stream.next())?.stage).toBe('syncing');
      await change(id, `syncing_until = now() + interval '400 milliseconds'`);
      // Nobody writes anything: the lease runs out.
      expect((await stream.until(({ stage }) => stage !== 'syncing')).at(-1)).toMatchObject({
        kind: 'RESULT',
        stage: 'connected',
      });
      await caller.delete(`/data-sources/${id}`);
      expect(await stream.next()).toBeUndefined();
    });

    test('whoever resumes sees no state twice, and the last one in any case', async () => {
      const id = await connect();
      let rows = 100;
      const steps = fc.array(
        fc.record({ leaves: fc.boolean(), changesAway: fc.nat(2), changes: fc.integer({ min: 1, max: 3 }) }),
        { minLength: 1, maxLength: 5 },
      );
      await fc.assert(
        fc.asyncProperty(steps, async (visits) => {
          let stream = socket.watch<StatusItem>(STATUS, { id });
          const sequences = [(await stream.next())!.sequence];
          for (const { leaves, changesAway, changes } of visits) {
            if (leaves) {
              await stream.close();
              for (let time = 0; time < changesAway; time += 1) await change(id, `rows_accepted = ${(rows += 1)}`);
              stream = socket.watch<StatusItem>(STATUS, { id, after: sequences.at(-1) });
            }
            for (let time = 0; time < changes; time += 1) await change(id, `rows_accepted = ${(rows += 1)}`);
            const seen = await stream.until(({ result }) => result.recordsSynced === rows);
            sequences.push(...seen.map(({ sequence }) => sequence));
          }
          await stream.close();
          expect(sequences).toEqual([...new Set(sequences)].toSorted((one, other) => one - other));
        }),
        { numRuns: 10, seed: 5 },
      );
    });

    test('a place that no state has reached yet is that of the present one: the next change is told', async () => {
      const id = await connect();
      const stream = socket.watch<StatusItem>(STATUS, { id, after: 1_000_000 });
      const other = socket.watch<StatusItem>(STATUS, { id });
      await other.next();
      await change(id, `rows_accepted = 78`);
      expect((await other.next())?.result.recordsSynced).toBe(78);
      expect((await stream.next())?.result.recordsSynced).toBe(78);
      await Promise.all([stream.close(), other.close()]);
    });

    test('a state that changed while the connection was lost is read anew', async () => {
      const id = await connect();
      const stream = socket.watch<StatusItem>(STATUS, { id });
      await stream.next();
      await loseTheListeningConnection();
      await change(id, `rows_accepted = 77`);
      expect((await stream.next())?.result.recordsSynced).toBe(77);
      await stream.close();
    });

    test('a foreign source is none', async () => {
      const id = await connect();
      const stranger = new GraphSocket(house.root, (await Caller.register(house.root)).key!);
      await expect(stranger.watch(STATUS, { id }).next()).rejects.toThrow(/RESOURCE_NOT_FOUND/);
      await expect(stranger.watch(CHANGES, { id }).next()).rejects.toThrow(/RESOURCE_NOT_FOUND/);
      await stranger.close();
    });
  });

  describe('attributionChanged', () => {
    const analyse = async (id: string): Promise<string> =>
      String(
        (await caller.post('/attribution', { data_source_id: id, date_range: RANGE, model: 'markov' })).body['id'],
      );
    const announce = (
      source: string,
      analysis: string,
      type: 'attribution.completed' | 'attribution.updated' = 'attribution.completed',
      failure?: { code: string; message: string },
    ): Promise<unknown> => {
      const { database, pubSub } = house.backing;
      const data = {
        ...EVENT_CATALOGUE[type].example,
        id: analysis,
        data_source_id: source,
        ...(failure === undefined ? {} : { status: 'failed' as const, failure }),
      };
      return database.asTenant(wholeAccount({ accountId, environment: 'live' }), (em) =>
        recordEvent(em, pubSub, { accountId, environment: 'live', type, subject: analysis, data: data as never }),
      );
    };
    const begun = async (stream: GraphStream<ChangeItem>): Promise<number> => {
      const first = await stream.next();
      expect(first).toMatchObject({ kind: 'PROGRESS', stage: 'watching', result: null, trust: NO_RISK });
      return first!.sequence;
    };

    test('analyses of the source that end, with what other subgraphs know of them', async () => {
      const [id, other] = [await connect(), await connect()];
      const stream = socket.watch<ChangeItem>(CHANGES, { id });
      await begun(stream);
      await analyse(other);
      const analysis = await analyse(id);
      await announce(id, analysis, 'attribution.completed', { code: 'cancelled', message: 'It was cancelled.' });
      const [completed, cancelled] = [await stream.next(), await stream.next()];
      expect(completed).toMatchObject({
        kind: 'RESULT',
        stage: 'attribution.completed',
        attributionId: analysis,
        result: {
          id: analysis,
          status: 'COMPLETED',
          platformFeeCents: expect.any(Number),
          agent: { name: 'test-agent' },
          dataSource: { name: 'Shop' },
        },
      });
      expect(completed!.trust.hreiScore).toBeGreaterThan(0);
      expect(completed!.trust).toEqual(completed!.result!.trust);
      expect(completed!.channelImpact!.map(({ channel }) => channel).toSorted()).toEqual(['direct', 'email']);
      expect(cancelled).toMatchObject({
        kind: 'ERROR',
        failureCode: 'CANCELLED',
        message: 'It was cancelled.',
        attributionId: analysis,
      });
      await stream.close();
    });

    test('resumes behind the last change, also one that nobody has seen, and across a lost connection', async () => {
      const id = await connect();
      const analysis = await analyse(id);
      const first = socket.watch<ChangeItem>(CHANGES, { id });
      const from = await begun(first);
      await first.close();
      await announce(id, analysis);
      const second = socket.watch<ChangeItem>(CHANGES, { id, after: from });
      await begun(second);
      const { sequence } = (await second.next())!;
      await loseTheListeningConnection();
      await announce(id, analysis, 'attribution.updated');
      expect(await second.next()).toMatchObject({ stage: 'attribution.updated' });
      await second.close();
      const third = socket.watch<ChangeItem>(CHANGES, { id, after: sequence });
      await begun(third);
      expect(await third.next()).toMatchObject({ stage: 'attribution.updated' });
      await third.close();
    });
  });

  test('a key has as many streams as it may, by whichever door; another opens when one has ended', async () => {
    const crowded = await Caller.register(house.root);
    const left = new AbortController();
    const follow = (signal?: AbortSignal) =>
      fetch(`${house.root}/v1/events`, {
        headers: { authorization: `Bearer ${crowded.key}` },
        ...(signal === undefined ? {} : { signal }),
      });
    const connections = [new GraphSocket(house.root, crowded.key!), new GraphSocket(house.root, crowded.key!)] as const;
    const watch = (connection: GraphSocket) => connection.watch(`subscription { events { position } }`);
    const watched = connections.map(watch);
    for (const stream of watched) await stream.next();
    // One by one: a crowd that comes all at once may be sent away for another reason.
    const followed = [await follow(left.signal)];
    while (followed.length < MAX_STREAMS_PER_KEY - watched.length) followed.push(await follow());
    expect(new Set(followed.map(({ status }) => status))).toEqual(new Set([200]));

    const refused = await follow();
    expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toEqual([
      429,
      '1',
      { error: expect.objectContaining({ type: 'rate_limit_exceeded', code: 'concurrency' }) },
    ]);
    const started = await crowded.post('/attribution?stream=true', {
      data_source_id: 'ds_0351ocbJk1JCokmve0cj4x',
      date_range: RANGE,
    });
    expect(started.status).toBe(429);
    await expect(watch(connections[0]).next()).rejects.toThrow(/RATE_LIMIT_EXCEEDED.*concurrency/);
    expect((await crowded.get('/data-sources')).status).toBe(200);
    // The audit log is told once a minute.
    const told = await crowded.get('/audit/events?event_type=rate_limit.exceeded');
    expect([1, 2]).toContain((told.body['events'] as unknown as readonly Json[]).length);
    expect(told.body['events']![0]).toMatchObject({ details: { window: 'concurrency' }, target: { type: 'key' } });
    const other = await caller.open('GET', '/events');
    expect(other.status).toBe(200);
    await other.body!.cancel();

    await watched[0]!.close();
    const again = watch(connections[1]);
    expect(await again.next()).toBeDefined();
    left.abort();
    let back = await follow();
    for (; back.status === 429; back = await follow()) await back.body!.cancel();
    expect(back.status).toBe(200);
    for (const { body } of [...followed.slice(1), back]) await body!.cancel();
    for (const connection of connections) await connection.close();
  });

  test('a revoked key closes every stream of its connection', async () => {
    const revoked = await Caller.register(house.root);
    const id = String(
      (await revoked.post('/data-sources/connect', { type: 'csv_upload', credentials: { content: ROWS } })).body[
        'data_source_id'
      ],
    );
    const connection = new GraphSocket(house.root, revoked.key!);
    const streams = [
      connection.watch<StatusItem>(STATUS, { id }),
      connection.watch<ChangeItem>(CHANGES, { id }),
      connection.watch(`subscription { events { position } }`),
    ];
    for (const stream of streams) await stream.next();
    const revokedAtMs = performance.now();
    await owner.query(
      'update auth.api_keys set revoked_at = now() where last4 = right($1, 4) and display_prefix = left($1, 16)',
      [revoked.key],
    );
    expect(await connection.closed).toBe(4401);
    for (const stream of streams) await expect(stream.next()).rejects.toBeDefined();
    expect(performance.now() - revokedAtMs).toBeLessThan(WITHIN_MS);
  });
});
