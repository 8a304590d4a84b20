import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { z } from 'zod';
import { UNBOUND } from '../../services/identity/keys/key-bond.ts';
import { EVENT_CATALOGUE, type EventType } from '../../schema/event-catalogue.ts';
import { messageSchema } from '../../schema/event-message.ts';
import { recordEvent, type RecordedEvent } from '../../services/events/outbox.ts';
import { publicId, uuidFromPublicId, type Uuid } from '../../platform/identifiers.ts';
import { wholeAccount } from '../../platform/postgres/database.ts';
import { EventStreamReader } from '../event-stream-reader.ts';
import { Caller, LAYOUTS, openHouse, type House } from '../house.ts';
import { withTestKey } from '../test-key.ts';

/** What the contract allows between the end of a credential and that of its streams. */
const WITHIN_MS = 2_000;

describe.each(LAYOUTS)('what happens, as a stream, %s', (layout) => {
  let house: House;
  let owner: Client;

  beforeAll(async () => {
    house = await openHouse(layout, { withWorker: false });
    owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
  });

  afterAll(async () => {
    await owner?.end();
    await house?.stop();
  });

  interface Tenant {
    readonly caller: Caller;
    readonly accountId: Uuid;
    readonly keyId: Uuid;
    readonly agentId: Uuid;
  }

  async function tenant(): Promise<Tenant> {
    const caller = await Caller.register(house.root);
    const { rows } = await owner.query<{ account_id: Uuid; id: Uuid; agent_id: Uuid }>(
      'select account_id, id, agent_id from auth.api_keys where last4 = right($1, 4) and display_prefix = left($1, ' +
        '16) order by created_at desc',
      [caller.key],
    );
    return { caller, accountId: rows[0]!.account_id, keyId: rows[0]!.id, agentId: rows[0]!.agent_id };
  }

  function happen(
    { accountId }: Pick<Tenant, 'accountId'>,
    type: EventType,
    environment: 'live' | 'sandbox' = 'live',
    workspaceId: Uuid | null = null,
  ): Promise<RecordedEvent> {
    const { database, pubSub } = house.backing;
    return database.asTenant(wholeAccount({ accountId, environment }), (em) =>
      recordEvent(em, pubSub, {
        accountId,
        environment,
        type,
        subject: 'agent_x',
        data: EVENT_CATALOGUE[type].example as never,
        workspaceId,
      }),
    );
  }

  async function open(caller: Caller, query = '', headers: Record<string, string> = {}): Promise<EventStreamReader> {
    const response = await caller.open('GET', `/events${query}`, undefined, headers);
    expect([response.status, response.headers.get('content-type')?.split(';', 1)[0]]).toEqual([
      200,
      'text/event-stream',
    ]);
    return new EventStreamReader(response);
  }

  test('an event reaches whoever listens, in the shape of its JSON Schema', async () => {
    const listener = await tenant();
    const stream = await open(listener.caller);
    expect(await stream.begun()).toBe('0');
    const recorded = await happen(listener, 'agent.tier_changed');
    const [event] = await stream.take(1);
    expect(event).toMatchObject({ id: '1', event: 'agent.tier_changed' });
    const message: unknown = JSON.parse(event!.data);
    expect(message).toMatchObject({
      id: publicId('evt', recorded.eventId),
      type: 'agent.tier_changed',
      timestamp: recorded.occurredAt.toISOString(),
      api_version: '2026-02-01',
      environment: 'live',
      webhook_id: null,
      metadata: {},
      data: EVENT_CATALOGUE['agent.tier_changed'].example,
    });
    expect(
      z.fromJSONSchema(messageSchema('agent.tier_changed') as Parameters<typeof z.fromJSONSchema>[0]).safeParse(message)
        .error,
    ).toBeUndefined();
    await stream.close();
  });

  test('whoever comes back with the last id gets the rest, each once; without one it begins now', async () => {
    const listener = await tenant();
    await happen(listener, 'forecast.ready');
    const first = await open(listener.caller);
    // Nothing was seen yet, and yet there is an id to come back with.
    const begun = await first.begun();
    expect(begun).toBe('1');
    await first.close();
    await happen(listener, 'health.alert');
    await happen(listener, 'health.recovered');
    const second = await open(listener.caller, '', { 'last-event-id': begun });
    expect((await second.take(1)).map(({ event }) => event)).toEqual(['health.alert']);
    await second.close();
    const third = await open(listener.caller, '?after=2');
    await happen(listener, 'agent.tier_changed');
    expect((await third.take(2)).map(({ id, event }) => `${id} ${event}`)).toEqual([
      '3 health.recovered',
      '4 agent.tier_changed',
    ]);
    await third.close();
    const all = await open(listener.caller, '?after=0');
    expect((await all.take(4)).map(({ id }) => id)).toEqual(['1', '2', '3', '4']);
    await all.close();
  });

  test('nothing of another account, of the other environment, or beyond the scopes', async () => {
    const [listener, other] = await Promise.all([tenant(), tenant()]);
    const narrowKey = await house.backing.database.asTenant(listener.accountId, (em) =>
      house.keys.issue(em, {
        accountId: listener.accountId,
        agentId: listener.agentId,
        kind: 'svc_live_sk',
        bond: UNBOUND,
        scopes: ['health:read'],
      }),
    );
    const streams = await Promise.all([
      open(listener.caller),
      open(new Caller(house.root, narrowKey)),
      open(await withTestKey(house, listener.caller)),
    ]);
    await Promise.all(streams.map((stream) => stream.begun()));
    await happen(other, 'agent.tier_changed');
    await happen(listener, 'billing.invoice_created');
    await happen(listener, 'health.alert');
    await happen(listener, 'commission.earned', 'sandbox');
    const [whole, narrow, sandbox] = await Promise.all([streams[0]!.take(2), streams[1]!.take(1), streams[2]!.take(1)]);
    expect([whole, narrow, sandbox].map((events) => events.map(({ id, event }) => `${id} ${event}`))).toEqual([
      ['1 billing.invoice_created', '2 health.alert'],
      ['2 health.alert'],
      ['1 commission.earned'],
    ]);
    await Promise.all(streams.map((stream) => stream.close()));

    const refused = async (caller: Caller, query: string) => {
      const { status, body } = await caller.get(`/events${query}`);
      return [status, body['error']!['type'], body['error']!['code']];
    };
    expect(await refused(new Caller(house.root, narrowKey), '?types=health.alert,billing.invoice_created')).toEqual([
      403,
      'insufficient_permissions',
      'missing_scope',
    ]);
    expect(await refused(listener.caller, '?types=shop.opened')).toEqual([422, 'validation_error', expect.anything()]);
    expect(await refused(listener.caller, '?after=-1')).toEqual([422, 'validation_error', expect.anything()]);
    expect(await refused(listener.caller, '?after=99999999999')).toEqual([422, 'validation_error', expect.anything()]);
  });

  test('in a workspace, what happened there', async () => {
    const listener = await tenant();
    const [spring, autumn] = await Promise.all(
      ['Spring', 'Autumn'].map(async (name) =>
        String((await listener.caller.post('/workspaces', { name })).body['workspace_id']),
      ),
    );
    const stream = await open(listener.caller.in(spring!));
    await stream.begun();
    await happen(listener, 'attribution.completed');
    await happen(listener, 'attribution.completed', 'live', uuidFromPublicId('ws', autumn!));
    await happen(listener, 'attribution.updated', 'live', uuidFromPublicId('ws', spring!));
    expect((await stream.take(1)).map(({ id, event }) => `${id} ${event}`)).toEqual(['3 attribution.updated']);
    await stream.close();
  });

  test('only the types that are asked for, and the others are no gap', async () => {
    const listener = await tenant();
    for (const type of ['health.alert', 'forecast.ready', 'health.alert'] as const) await happen(listener, type);
    const stream = await open(listener.caller, '?types=forecast.ready,campaign.anomaly&after=0');
    await happen(listener, 'health.alert');
    await happen(listener, 'campaign.anomaly');
    expect((await stream.take(2)).map(({ id, event }) => `${id} ${event}`)).toEqual([
      '2 forecast.ready',
      '5 campaign.anomaly',
    ]);
    await stream.close();
  });

  test('a stream outlasts the loss of the connection that listens', async () => {
    const listener = await tenant();
    const stream = await open(listener.caller);
    await stream.begun();
    const lost = await house.backing.database.asNobody((em) =>
      em.execute<unknown[]>(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and ` +
          `application_name = 'liftgraph-pub-sub'`,
      ),
    );
    expect(lost.length).toBeGreaterThan(0);
    await happen(listener, 'health.alert');
    expect((await stream.take(1)).map(({ event }) => event)).toEqual(['health.alert']);
    await stream.close();
  });

  test('a revoked key ends its stream, and is told why when it comes back', async () => {
    const [listener, other] = await Promise.all([tenant(), tenant()]);
    const [stream, others] = await Promise.all([open(listener.caller), open(other.caller)]);
    await Promise.all([stream.begun(), others.begun()]);
    const revokedAtMs = performance.now();
    await owner.query('update auth.api_keys set revoked_at = now() where id = $1', [listener.keyId]);
    await stream.ended();
    expect(performance.now() - revokedAtMs).toBeLessThan(WITHIN_MS);
    expect((await listener.caller.get('/events')).status).toBe(401);
    await happen(other, 'health.alert');
    expect(await others.take(1)).toHaveLength(1);
    await others.close();
  });

  test('a client that leaves leaves nothing behind', async () => {
    const listener = await tenant();
    const stream = await open(listener.caller);
    await stream.begun();
    await stream.close();
    await sleep(50);
    await happen(listener, 'health.alert');
    expect(house.log()).not.toContain('an event stream broke');
  });
});
