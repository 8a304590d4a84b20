import { Client } from 'pg';
import { Webhook } from 'standardwebhooks';
import { UNBOUND } from '../../services/identity/keys/key-bond.ts';
import { EVENT_CATALOGUE } from '../../schema/event-catalogue.ts';
import { uuidFromPublicId } from '../../platform/identifiers.ts';
import { wholeAccount } from '../../platform/postgres/database.ts';
import { Caller, LAYOUTS, openHouse, type House } from '../house.ts';
import { storeAccessToken } from '../access-token.ts';
import { withTestKey } from '../test-key.ts';
import { answer, failFirst, openReceiver, type Receiver } from '../webhook-receiver.ts';
import {
  at,
  deliveredOnce,
  hmac,
  list,
  messageOf,
  newSubscription,
  refusal,
  Subscriber,
  UNKNOWN,
  WRONG_BODIES,
} from './subscriber.ts';

describe.each(LAYOUTS)('webhooks, %s', (layout) => {
  let house: House;
  let receiver: Receiver;
  let caller: Caller;
  let subscriber: Subscriber;
  let create: Subscriber['create'];
  let patch: Subscriber['patch'];
  let happens: Subscriber['happens'];
  let settled: Subscriber['settled'];

  beforeAll(async () => {
    [house, receiver] = await Promise.all([openHouse(layout), openReceiver()]);
    caller = await Caller.register(house.root);
    subscriber = await Subscriber.of(house, receiver, caller);
    ({ create, patch, happens, settled } = subscriber);
  });
  afterAll(async () => {
    await house?.stop();
    await receiver?.close();
  });

  test('the life of a subscription', async () => {
    const made = await create({
      url: `${receiver.url}/life`,
      events: ['health.alert', 'health.alert'],
      metadata: { shop: 'spring' },
    });
    expect(made.status).toBe(201);
    const { secret, trust: _, ...record } = made.body as unknown as { secret: string; id: string; trust: unknown };
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(made.headers.get('location')).toMatch(new RegExp(`/v1/webhooks/${record.id}$`));
    const asked = { url: `${receiver.url}/life`, events: ['health.alert'], metadata: { shop: 'spring' } };
    expect(record).toEqual(newSubscription(asked, secret));
    const read = await caller.get(`/webhooks/${record.id}`);
    expect(read.body).toEqual({ ...record, trust: expect.anything() });

    const off = await patch(record.id, { active: false, metadata: {}, events: ['forecast.ready'] });
    expect([off.status, off.body]).toEqual([
      200,
      expect.objectContaining({ active: false, metadata: {}, events: ['forecast.ready'], disabled_reason: null }),
    ]);
    expect(off.body).not.toHaveProperty('secret');
    expect(list(await caller.get('/webhooks'), 'webhooks').map(({ id }) => id)).not.toContain(record.id);
    expect(list(await caller.get('/webhooks?active=all'), 'webhooks').map(({ id }) => id)).toContain(record.id);

    expect((await caller.delete(`/webhooks/${record.id}`)).status).toBe(204);
    expect((await caller.get(`/webhooks/${record.id}`)).status).toBe(404);
    const another = String((await create({})).body['id']);
    const gone = await caller.send('DELETE', `/webhooks/${another}`, undefined, { prefer: 'return=representation' });
    expect([gone.status, gone.headers.get('preference-applied'), gone.body]).toEqual([
      200,
      'return=representation',
      { id: another, deleted: true, trust: expect.anything() },
    ]);
  });

  test('whoever sends a subscription elsewhere, or signs it, may hear all that it hears', async () => {
    const { body } = await caller.post('/keys', { scopes: ['attribution:read'] });
    const narrow = new Caller(house.root, String(body['live']!['key']));
    const turn = (id: string, changes: object = {}) =>
      narrow.send('PATCH', `/webhooks/${id}`, JSON.stringify({ url: `${receiver.url}/taken`, ...changes }), {
        'content-type': 'application/json',
      });
    for (const events of [['*'], ['attribution.completed', 'health.alert']]) {
      const id = String((await create({ events })).body['id']);
      for (const changes of [{}, { url: undefined, secret: 'known to another' }])
        expect(refusal(await turn(id, changes))).toEqual([403, 'insufficient_permissions', 'missing_scope', '/events']);
      expect((await caller.get(`/webhooks/${id}`)).body['url']).toBe(`${receiver.url}/any`);
      expect((await turn(id, { events: ['attribution.completed'] })).status).toBe(200);
      await caller.delete(`/webhooks/${id}`);
    }
  });

  test('a token’s subscription, and what waits, ends with its grant; a key of the account takes it over', async () => {
    const owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
    try {
      const token = await storeAccessToken(owner, house.keyPepper, subscriber.accountId, { proof: 'delegated' });
      const { body } = await create(
        { url: `${receiver.url}/granted`, events: ['forecast.ready'] },
        new Caller(house.root, token),
      );
      expect(body).toMatchObject({ active: true, disabled_reason: null });
      const shown = async () => (await caller.get(`/webhooks/${String(body['id'])}`)).body;
      await happens('forecast.ready');
      await receiver.until(1, at('/granted'));

      receiver.behave('/granted', answer(503, 'not now', { 'retry-after': '2' }));
      await happens('forecast.ready');
      await receiver.until(2, at('/granted'));
      await new Caller(house.root, null).post('/oauth/revoke', { token });
      receiver.behave('/granted', answer(200));
      await happens('forecast.ready');
      expect(await shown()).toMatchObject({ active: false, disabled_reason: 'grant_ended' });
      expect(list(await caller.get('/webhooks'), 'webhooks').map(({ id }) => id)).not.toContain(body['id']);
      // What comes to this one after three seconds comes after the second attempt at the other was due.
      const { body: control } = await create({ url: `${receiver.url}/control`, events: ['forecast.ready'] });
      receiver.behave('/control', failFirst(1, answer(503, '', { 'retry-after': '3' })));
      await happens('forecast.ready');
      await receiver.until(2, at('/control'));
      await caller.delete(`/webhooks/${String(control['id'])}`);
      expect(receiver.received.filter(at('/granted'))).toHaveLength(2);

      expect((await patch(String(body['id']), { metadata: { kept: 'yes' } })).body).toMatchObject({
        active: true,
        disabled_reason: null,
      });
      await receiver.until(3, at('/granted'));
      await caller.delete(`/webhooks/${String(body['id'])}`);
    } finally {
      await owner.end();
    }
  }, 60_000);

  test('an event reaches who asked, signed for a client of the specification alone, and a stock library', async () => {
    const own = 'a secret of my own';
    const made = await create({
      url: `${receiver.url}/signed`,
      events: ['attribution.completed'],
      metadata: { region: 'emea' },
    });
    await create({ url: `${receiver.url}/signed-own`, secret: own });
    await create({ url: `${receiver.url}/elsewhere`, events: ['health.alert'] });
    const event = await happens('attribution.completed');
    const [received] = await receiver.until(1, at('/signed'));
    const { headers, body, message } = received!;
    const metadata = { region: 'emea' };
    expect(message).toEqual(messageOf(event, { webhook_id: made.body['id'], metadata }));
    expect(uuidFromPublicId('evt', message.id)).toBe(event.eventId);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'svc-webhooks/1.0',
      'x-svc-event': 'attribution.completed',
      'x-svc-delivery': expect.stringMatching(/^dlv_\w{22}$/),
      'x-svc-attempt': '1',
      'webhook-id': message.id,
    });
    expect(headers['x-svc-signature']).toBe(hmac(String(made.body['secret']), body));
    expect(new Webhook(String(made.body['secret'])).verify(body, headers)).toEqual(message);
    expect(() => new Webhook(String(made.body['secret'])).verify(body.replace('emea', 'apac'), headers)).toThrow();

    const [ownSigned] = await receiver.until(1, at('/signed-own'));
    expect(ownSigned!.headers['x-svc-signature']).toBe(hmac(own, ownSigned!.body));
    expect(new Webhook(own, { format: 'raw' }).verify(ownSigned!.body, ownSigned!.headers)).toEqual(ownSigned!.message);
    expect(receiver.received.filter(at('/elsewhere'))).toEqual([]);

    const deliveries = await settled(String(made.body['id']));
    expect(deliveries).toEqual([deliveredOnce(received!, `${receiver.url}/signed`)]);
    expect((await caller.get(`/webhooks/${String(made.body['id'])}`)).body['stats']).toMatchObject({
      delivered: 1,
      failed: 0,
      last_success_at: expect.any(String),
    });
  });

  test('a replaced secret signs beside its successor for a day, and no longer', async () => {
    const made = await create({ url: `${receiver.url}/rotated`, events: ['journey.milestone'] });
    const [id, old] = [String(made.body['id']), String(made.body['secret'])];
    const changed = await patch(id, { secret: 'the next secret' });
    expect(changed.body).toMatchObject({ secret: 'the next secret', secret_prefix: 'the…' });
    await happens('journey.milestone');
    const [both] = await receiver.until(1, at('/rotated'));
    expect(new Webhook(old).verify(both!.body, both!.headers)).toEqual(both!.message);
    expect(new Webhook('the next secret', { format: 'raw' }).verify(both!.body, both!.headers)).toEqual(both!.message);
    expect(both!.headers['x-svc-signature']).toBe(hmac('the next secret', both!.body));
    await house.backing.database.asTenant(
      wholeAccount({ accountId: subscriber.accountId, environment: 'live' }),
      (em) => em.execute(`update events.webhook_endpoints set replaced_secret_until = now() where id = ?`, [id]),
    );
    await happens('journey.milestone');
    const [, later] = await receiver.until(2, at('/rotated'));
    expect(() => new Webhook(old).verify(later!.body, later!.headers)).toThrow();
    expect(new Webhook('the next secret', { format: 'raw' }).verify(later!.body, later!.headers)).toEqual(
      later!.message,
    );
  });

  test('a test is sent at once, marked, and never again', async () => {
    receiver.behave('/tested', answer(503, 'not today'));
    const made = await create({ url: `${receiver.url}/tested`, events: ['health.recovered', 'health.alert'] });
    const id = String(made.body['id']);
    const tested = await caller.post(`/webhooks/${id}/test`, {});
    expect([tested.status, tested.body]).toEqual([
      200,
      {
        delivered: false,
        event_type: 'health.recovered',
        delivery: expect.objectContaining({
          status: 'failed',
          error: 'http_error',
          response_status: 503,
          response_body: 'not today',
          next_attempt_at: null,
          test: true,
          attempt: 1,
        }),
        trust: expect.anything(),
      },
    ]);
    receiver.behave('/tested', answer(204));
    const again = await caller.post(`/webhooks/${id}/test`, { event_type: 'commission.paid' });
    expect(again.body).toMatchObject({
      delivered: true,
      event_type: 'commission.paid',
      delivery: { status: 'success', response_body: '' },
    });
    const [first, second] = receiver.received.filter(at('/tested'));
    expect([first!.message['test'], first!.message['data']]).toEqual([
      true,
      EVENT_CATALOGUE['health.recovered'].example,
    ]);
    expect(new Webhook(String(made.body['secret'])).verify(second!.body, second!.headers)).toEqual(second!.message);
    expect((await caller.get(`/webhooks/${id}`)).body['stats']).toMatchObject({
      delivered: 0,
      failed: 0,
      last_failure_at: null,
    });
    expect(refusal(await caller.post(`/webhooks/${id}/test`, { event_type: 'shop.burnt' }))).toEqual([
      422,
      'validation_error',
      'invalid_value',
      '/event_type',
    ]);
    expect((await caller.post(`/webhooks/${UNKNOWN}/test`, {})).status).toBe(404);
  });

  test('deliveries are filtered and counted, and sent again when asked', async () => {
    const made = await create({ url: `${receiver.url}/again`, events: ['forecast.ready', 'campaign.anomaly'] });
    const id = String(made.body['id']);
    await happens('forecast.ready');
    await happens('campaign.anomaly');
    await receiver.until(2, at('/again'));
    const [newest, oldest] = await settled(id);
    expect([newest!['event_type'], oldest!['event_type']]).toEqual(['campaign.anomaly', 'forecast.ready']);
    expect(
      list(await caller.get(`/webhooks/${id}/deliveries?event_type=forecast.ready&status=success`), 'deliveries'),
    ).toEqual([oldest]);
    expect(list(await caller.get(`/webhooks/${id}/deliveries?status=failed`), 'deliveries')).toEqual([]);
    expect((await caller.get(`/webhooks/${id}/deliveries?limit=1`)).body['meta']).toEqual({
      page: 1,
      per_page: 1,
      total: 2,
      total_pages: 2,
    });
    for (const query of ['limit=101', 'limit=0', 'status=lost', 'event_type=nonsense'])
      expect((await caller.get(`/webhooks/${id}/deliveries?${query}`)).status).toBe(422);

    const redeliver = (delivery: string) => caller.post(`/webhooks/${id}/deliveries/${delivery}/redeliver`, undefined);
    const redelivery = await redeliver(String(oldest!['id']));
    expect([redelivery.status, redelivery.body['delivery']]).toEqual([
      202,
      expect.objectContaining({ event_id: oldest!['event_id'], attempt: 1, status: 'pending' }),
    ]);
    const repeats = await receiver.until(3, at('/again'));
    expect(repeats[2]!.message.id).toBe(String(oldest!['event_id']));
    expect(repeats[2]!.headers['x-svc-delivery']).toBe(String(redelivery.body['delivery']!['id']));
    expect((await redeliver('dlv_0351EFUQxpVTZ7WdNYMSuY')).status).toBe(404);
    await settled(id);
    await patch(id, { active: false });
    const refused = refusal(await redeliver(String(oldest!['id'])));
    expect(refused.slice(0, 3)).toEqual([409, 'conflict', 'webhook_inactive']);
  });

  test('what is wrong with a body is answered with 400 at creation, and with 422 at a change', async () => {
    const id = String((await create({})).body['id']);
    for (const [body, param] of WRONG_BODIES) {
      const answers = [await create(body), await patch(id, body)].map(refusal);
      expect([body, answers.map(([status, type, , at]) => [status, type, at])]).toEqual([
        body,
        [
          [400, 'validation_error', param],
          [422, 'validation_error', param],
        ],
      ]);
    }
    expect((await caller.post('/webhooks', { events: ['*'] })).status).toBe(400);
    const json = { 'content-type': 'application/json' };
    for (const unknown of [UNKNOWN, 'nonsense'].map((id) => `/webhooks/${id}`)) {
      expect((await caller.get(unknown)).status).toBe(404);
      expect((await caller.send('PATCH', unknown, '{}', json)).status).toBe(404);
      expect((await caller.delete(unknown)).status).toBe(404);
      expect((await caller.get(`${unknown}/deliveries`)).status).toBe(404);
    }
    const hoarder = await Caller.register(house.root);
    for (let count = 0; count < 16; count += 1) expect((await create({}, hoarder)).status).toBe(201);
    expect(refusal(await create({}, hoarder)).slice(0, 3)).toEqual([400, 'validation_error', 'too_many_webhooks']);
  });

  test('a key hears of what it may read, and in its own environment', async () => {
    const narrow = new Caller(
      house.root,
      await house.backing.database.asTenant(subscriber.accountId, (em) =>
        house.keys.issue(em, {
          accountId: subscriber.accountId,
          agentId: null,
          kind: 'svc_live_sk',
          bond: UNBOUND,
          scopes: ['health:read'],
        }),
      ),
    );
    const beyond = await create({ events: ['health.alert', 'billing.invoice_created'] }, narrow);
    expect(refusal(beyond).slice(0, 3)).toEqual([403, 'insufficient_permissions', 'missing_scope']);
    expect(beyond.headers.get('www-authenticate')).toContain('error="insufficient_scope", scope="billing:read"');
    await create({ url: `${receiver.url}/narrow` }, narrow);
    const tester = await withTestKey(house, caller);
    const sandboxed = await create({ url: `${receiver.url}/sandbox` }, tester);
    expect(sandboxed.body['environment']).toBe('sandbox');
    await happens('commission.earned');
    await happens('agent.tier_changed');
    await happens('health.recovered');
    await happens('attribution.updated', { environment: 'sandbox' });
    await receiver.until(2, at('/narrow'));
    expect(receiver.received.filter(at('/narrow')).map(({ message }) => message.type)).toEqual([
      'agent.tier_changed',
      'health.recovered',
    ]);
    const [one, ...others] = await receiver.until(1, at('/sandbox'));
    expect([one!.message.type, one!.message['environment'], others]).toEqual(['attribution.updated', 'sandbox', []]);
    expect((await caller.get(`/webhooks/${String(sandboxed.body['id'])}`)).status).toBe(404);
  });

  test('a webhook of a workspace hears of that workspace alone, whoever made it', async () => {
    const workspace = String((await caller.post('/workspaces', { name: 'Spring' })).body['workspace_id']);
    const guest = await Caller.register(house.root);
    await caller.post(`/workspaces/${workspace}/agents`, {
      agent_id: (await guest.get('/agents/me')).body['agent_id'],
      role: 'analyst',
    });
    const inside = await create({ url: `${receiver.url}/workspace` }, guest.in(workspace));
    expect(inside.status).toBe(201);
    const workspaceId = uuidFromPublicId('ws', workspace)!;
    await happens('attribution.completed');
    const event = await happens('attribution.completed', { workspaceId });
    const [heard, ...others] = await receiver.until(1, at('/workspace'));
    expect([uuidFromPublicId('evt', heard!.message.id), others]).toEqual([event.eventId, []]);
    expect((await guest.in(workspace).get('/webhooks')).body['meta']).toMatchObject({ total: 1 });
    expect((await caller.get(`/webhooks/${String(inside.body['id'])}`)).status).toBe(200);
    expect((await guest.get(`/webhooks/${String(inside.body['id'])}`)).status).toBe(404);
  });

  test('commissions go to the callback address of an agent, signed with a secret that is shown once', async () => {
    const registered = await new Caller(house.root, null).post('/agents/register', {
      name: 'earning-agent',
      operator_id: `callback-${layout}`,
      callback_url: `${receiver.url}/callback`,
    });
    expect(registered.status).toBe(201);
    const secret = String(registered.body['callback_secret']);
    const agent = new Caller(house.root, String(registered.body['api_key']));
    const { happens: earns } = await Subscriber.of(house, receiver, agent);
    await earns('health.alert');
    await earns('commission.earned');
    const [told, ...others] = await receiver.until(1, at('/callback'));
    expect([told!.message.type, told!.message.webhook_id, others]).toEqual(['commission.earned', null, []]);
    expect(told!.headers['x-svc-signature']).toBe(hmac(secret, told!.body));
    expect(list(await agent.get('/webhooks?active=all'), 'webhooks')).toEqual([]);

    const change = (body: object) =>
      agent.send('PATCH', '/agents/me', JSON.stringify(body), { 'content-type': 'application/json' });
    const moved = await change({ callback_url: `${receiver.url}/callback-moved` });
    expect(moved.body).not.toHaveProperty('callback_secret');
    await earns('commission.paid');
    const [second] = await receiver.until(1, at('/callback-moved'));
    expect(new Webhook(secret).verify(second!.body, second!.headers)).toEqual(second!.message);
    await change({ callback_url: null });
    const anew = await change({ callback_url: `${receiver.url}/callback-anew` });
    expect(anew.body['callback_secret']).toMatch(/^whsec_/);
    expect(String(anew.body['callback_secret'])).not.toBe(secret);
    expect(JSON.stringify((await agent.get('/agents/me')).body)).not.toContain('whsec_');
  });
});
