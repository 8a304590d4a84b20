import { setTimeout as sleep } from 'node:timers/promises';
import { createCaller, type Caller } from '../../../platform/outgoing/caller.ts';
import { newUuid, publicId } from '../../../platform/identifiers.ts';
import type { Delivery } from '../../../services/webhooks/delivery.ts';
import { claimDueDeliveries } from '../../../services/webhooks/delivery-store.ts';
import { changeEndpoint } from '../../../services/webhooks/endpoint-store.ts';
import { settleDelivery } from '../../../services/webhooks/settle-delivery.ts';
import { wholeAccount } from '../../../platform/postgres/database.ts';
import {
  answer,
  dribble,
  failFirst,
  flood,
  hang,
  lie,
  openReceiver,
  reset,
  type Behaviour,
  type Receiver,
} from '../../webhook-receiver.ts';
import { openPostOffice, type PostOffice } from './post-office.ts';

/** No receiver that answers takes as long, even on a machine that does much else; and no attempt as long as a lease. */
const TIMEOUT_MS = 1_500;
const LEASE_MS = 10_000;

let receiver: Receiver;
let caller: Caller;
beforeAll(async () => {
  receiver = await openReceiver();
  const unroutable: Parameters<typeof createCaller>[0]['lookup'] = (hostname, _options, callback) =>
    hostname === 'localhost'
      ? callback(null, [{ address: '127.0.0.1', family: 4 }])
      : callback(Object.assign(new Error('unknown'), { code: 'ENOTFOUND' }), []);
  caller = createCaller({ allowPrivate: true, timeoutMs: TIMEOUT_MS, maxResponseBytes: 1_024, lookup: unroutable });
});
afterAll(async () => {
  await caller.close();
  await receiver.close();
});

const at =
  (path: string) =>
  ({ path: each }: { path: string }) =>
    each === path;
const outcome = ({ attempt, status, error, responseStatus }: Delivery) => [attempt, status, error, responseStatus];

describe('a sender', () => {
  let office: PostOffice;
  beforeAll(async () => {
    office = await openPostOffice({ caller, leaseMs: LEASE_MS });
  });
  afterAll(() => office?.close());

  /** What an event becomes that is sent to a path which behaves like this. */
  async function sent(path: string, behaviour: Behaviour, attempts: number): Promise<readonly Delivery[]> {
    receiver.behave(path, behaviour);
    const { id } = await office.open(`${receiver.url}${path}`, ['forecast.ready']);
    const event = await office.happen('forecast.ready');
    const deliveries = (await office.settled(id, attempts)).filter(({ eventId }) => eventId === event.eventId);
    await office.drop(id);
    return deliveries;
  }

  test.each<[string, Behaviour, [error: string, status: number | null]]>([
    ['fails', answer(500, 'no'), ['http_error', 500]],
    ['redirects', answer(302, '', { location: 'http://127.0.0.1:1/' }), ['http_error', 302]],
    ['never-answers', hang, ['timeout', null]],
    ['resets', reset, ['connection', null]],
    ['lies', lie, ['connection', null]],
    ['dribbles', dribble, ['timeout', null]],
  ])(
    'tries again what a receiver that %s did not take, with the same id and numbered',
    async (name, behaviour, [error, status]) => {
      const deliveries = await sent(`/${name}`, failFirst(2, behaviour), 3);
      expect(deliveries.map(outcome)).toEqual([
        [1, 'failed', error, status],
        [2, 'failed', error, status],
        [3, 'success', null, 200],
      ]);
      const received = receiver.received.filter(at(`/${name}`));
      expect(new Set(received.map(({ message }) => message.id)).size).toBe(1);
      expect(received.map(({ headers }) => [headers['x-svc-attempt'], headers['x-svc-delivery']])).toEqual(
        deliveries.map(({ id, attempt }) => [String(attempt), publicId('dlv', id)]),
      );
      for (const [index, { completedAt, nextAttemptAt }] of deliveries.entries()) {
        expect(nextAttemptAt).toEqual(deliveries[index + 1]?.scheduledAt ?? null);
        if (nextAttemptAt !== null) expect(nextAttemptAt.getTime()).toBeGreaterThan(completedAt!.getTime());
      }
    },
  );

  test('gives up after six attempts', async () => {
    const deliveries = await sent('/hopeless', answer(503), 6);
    expect(deliveries.map(outcome)).toEqual(
      [1, 2, 3, 4, 5, 6].map((attempt) => [attempt, 'failed', 'http_error', 503]),
    );
    expect(deliveries.at(-1)!.nextAttemptAt).toBeNull();
  });

  test('reads the first kilobyte of an endless answer, and shows text that can be kept', async () => {
    const [flooded] = await sent('/flood', flood, 1);
    expect([flooded!.status, flooded!.responseBody]).toEqual(['success', 'x'.repeat(1_024)]);
    const [odd] = await sent(
      '/odd',
      (_request, response) => void response.end(Buffer.from([0x6f, 0x00, 0xff, 0x6b])),
      1,
    );
    expect([odd!.status, odd!.responseBody]).toEqual(['success', 'o\uFFFD\uFFFDk']);
  });

  test('names an address that has no host, and one where nobody listens', async () => {
    for (const [url, error] of [
      ['http://nowhere.example/', 'dns'],
      ['http://localhost:9/', 'connection'],
      [receiver.url.replace('http', 'https'), 'tls'],
    ] as const) {
      const { id } = await office.open(url, ['campaign.anomaly']);
      await office.happen('campaign.anomaly');
      expect((await office.settled(id, 6)).map(outcome)[0]).toEqual([1, 'failed', error, null]);
      await office.drop(id);
    }
  });

  test('obeys Retry-After where it is longer, and gives up where it asks for more than a day', async () => {
    const [first, second] = await sent('/later', failFirst(1, answer(429, '', { 'retry-after': '1' })), 2);
    expect(second!.sentAt!.getTime() - first!.completedAt!.getTime()).toBeGreaterThanOrEqual(950);
    expect((await sent('/much-later', answer(503, '', { 'retry-after': '90000' }), 1)).map(outcome)).toEqual([
      [1, 'failed', 'http_error', 503],
    ]);
  });

  test('leaves whoever is gone alone', async () => {
    const { id } = await office.open(`${receiver.url}/gone`);
    receiver.behave('/gone', answer(410));
    await office.happen();
    expect((await office.settled(id, 1)).map(outcome)).toEqual([[1, 'failed', 'http_error', 410]]);
    expect(await office.endpoint(id)).toMatchObject({ isActive: false, disabledReason: 'gone', failed: 1 });
    await office.happen();
    await sleep(100);
    expect(await office.deliveries(id)).toHaveLength(1);
  });

  test('stops after twenty events in a row that failed, and starts the count anew when switched on', async () => {
    const { id } = await office.open(`${receiver.url}/dead`, ['journey.milestone']);
    receiver.behave('/dead', failFirst(19 * 6, answer(500)));
    const scope = wholeAccount({ accountId: office.accountId, environment: 'live' });
    for (let event = 0; event < 19; event += 1) await office.happen('journey.milestone');
    await office.settled(id, 19 * 6);
    expect(await office.endpoint(id)).toMatchObject({ isActive: true, failed: 19 });
    await office.happen('journey.milestone');
    await office.settled(id, 19 * 6 + 1);
    receiver.behave('/dead', answer(500));
    for (let event = 0; event < 20; event += 1) await office.happen('journey.milestone');
    await expectSoon(async () => (await office.endpoint(id)).disabledReason, 'consecutive_failures');
    expect(await office.endpoint(id)).toMatchObject({ isActive: false, delivered: 1, failed: 39 });
    receiver.behave('/dead', answer(200));
    await office.database.asTenant(scope, (em) => changeEndpoint(em, id, { isActive: true }));
    await office.happen('journey.milestone');
    await expectSoon(async () => (await office.endpoint(id)).delivered, 2);
    expect(await office.endpoint(id)).toMatchObject({ isActive: true, disabledReason: null });
  });
});

async function expectSoon(read: () => Promise<unknown>, wanted: unknown): Promise<void> {
  for (const deadlineMs = performance.now() + 15_000; (await read()) !== wanted; await sleep(10))
    if (performance.now() > deadlineMs) expect(await read()).toBe(wanted);
}

test(
  'an attempt whose sender fell silent is made by another under the same ids, and the first one changes nothing ' +
    'any more',
  async () => {
    const office = await openPostOffice({ caller, leaseMs: 60_000 });
    const scope = wholeAccount({ accountId: office.accountId, environment: 'live' });
    try {
      const { id } = await office.open(`${receiver.url}/abandoned`, ['health.alert']);
      // Nobody may claim it before the one who is about to fall silent.
      receiver.behave('/abandoned', hang);
      await office.happen();
      const [hanging] = await receiver.until(1, at('/abandoned'));
      receiver.behave('/abandoned', answer(200));
      await office.settled(id, 2);

      await office.database.asTenant(scope, (em) => changeEndpoint(em, id, { isActive: false }));
      await office.database.asTenant(scope, (em) =>
        em.execute(
          `insert into events.webhook_deliveries (id, account_id, environment, endpoint_id, event_id, event_type,
            is_test, attempt, url, begun_at, scheduled_at)
      select ?, account_id, environment, endpoint_id, event_id, event_type, false, 1, url, now(), now()
        from events.webhook_deliveries where endpoint_id = ? limit 1`,
          [newUuid(), id],
        ),
      );
      const silent = newUuid();
      const [claimed] = await office.database.asNobody(async (em) => {
        await em.execute(
          `select set_config('liftgraph.account_id', ?, true), set_config('liftgraph.environment', 'live', true), ` +
            `set_config('liftgraph.workspace_id', '*', true)`,
          [office.accountId],
        );
        await changeEndpoint(em, id, { isActive: true });
        return claimDueDeliveries(em, {
          sender: silent,
          leaseMs: 200,
          most: 1,
          perAccount: 8,
          perEndpoint: 8,
          perSlowEndpoint: 8,
        });
      });
      const [, , repeated] = await receiver.until(3, at('/abandoned'));
      expect([repeated!.headers['x-svc-delivery'], repeated!.message.id, repeated!.headers['x-svc-attempt']]).toEqual([
        publicId('dlv', claimed!.id),
        hanging!.message.id,
        '1',
      ]);
      const before = await office.settled(id, 3);
      await settleDelivery(office, silent, claimed!, {
        status: 'failed',
        responseStatus: 500,
        responseTimeMs: 1,
        responseBody: 'late',
        error: 'http_error',
        retryAfterMs: 0,
        requestHeaders: {},
      });
      expect(await office.deliveries(id)).toEqual(before);
      expect(before.at(-1)).toMatchObject({ status: 'success', attempt: 1 });
    } finally {
      await office.close();
    }
  },
);

test('a name that leads elsewhere by the time of the sending is not called', async () => {
  let address = '93.184.215.14';
  const rebinding = createCaller({
    allowPrivate: false,
    timeoutMs: TIMEOUT_MS,
    maxResponseBytes: 1_024,
    lookup: (_hostname, _options, callback) => callback(null, [{ address, family: 4 }]),
  });
  const office = await openPostOffice({ caller: rebinding });
  try {
    await rebinding.assertCallable('https://hooks.example/');
    const { id } = await office.open('https://hooks.example/');
    address = '127.0.0.1';
    await office.happen();
    expect((await office.settled(id, 6)).map(outcome)).toEqual(
      [1, 2, 3, 4, 5, 6].map((attempt) => [attempt, 'failed', 'blocked_address', null]),
    );
  } finally {
    await office.close();
    await rebinding.close();
  }
});

test('of attempts that wait, accounts have one after the other, however many endpoints each has', async () => {
  const office = await openPostOffice({});
  try {
    const [many, few] = [newUuid(), newUuid()];
    await office.database.asNobody(async (em) => {
      const endpoint = async (accountId: string): Promise<string> => {
        await em.execute(
          `select set_config('liftgraph.account_id', ?, true), set_config('liftgraph.environment', 'live', true), ` +
            `set_config('liftgraph.workspace_id', '*', true)`,
          [accountId],
        );
        const id = newUuid();
        await em.execute(
          `insert into events.webhook_endpoints (id, account_id, environment, kind, url, events, scopes, metadata, ` +
            `secret, secret_prefix, api_version) values (?, ?, 'live', 'webhook', 'http://localhost/', '{*}', '{}', ` +
            `'{}', '', ` +
            `'', '2026-02-01')`,
          [id, accountId],
        );
        return id;
      };
      const waiting = async (accountId: string, endpointId: string, second: number): Promise<void> => {
        await em.execute(
          `insert into events.webhook_deliveries (id, account_id, environment, endpoint_id, event_id, event_type, ` +
            `is_test, attempt, begun_at, url, scheduled_at) values (?, ?, 'live', ?, ?, 'health.alert', true, 1, ` +
            `now(), '', ` +
            `now() - make_interval(secs => ?))`,
          [newUuid(), accountId, endpointId, newUuid(), second],
        );
      };
      for (let place = 0; place < 5; place += 1) {
        const endpointId = await endpoint(many);
        for (let second = 100; second < 105; second += 1) await waiting(many, endpointId, second);
      }
      const own = await endpoint(few);
      for (let second = 1; second <= 3; second += 1) await waiting(few, own, second);
    });
    const claim = (most: number, perAccount: number) =>
      office.database.asNobody((em) =>
        claimDueDeliveries(em, {
          sender: newUuid(),
          leaseMs: 60_000,
          most,
          perAccount,
          perEndpoint: 8,
          perSlowEndpoint: 8,
        }),
      );
    const of = (claimed: readonly { readonly accountId: string }[]) =>
      [many, few].map((account) => claimed.filter(({ accountId }) => accountId === account).length);
    expect(of(await claim(4, 10))).toEqual([2, 2]);
    // Two of each are under way: the third of the one with few comes before the fourth of the other.
    expect(of(await claim(2, 10))).toEqual([1, 1]);
    expect(of(await claim(50, 10))).toEqual([7, 0]);
    expect(of(await claim(50, 10))).toEqual([0, 0]);
  } finally {
    await office.close();
  }
});
