import { createClient } from 'graphql-ws';
import { Client } from 'pg';
import { WebSocket } from 'ws';
import { UNBOUND } from '../../services/identity/keys/key-bond.ts';
import { standardRateLimits } from '../../services/identity/limits/rate-limits.ts';
import { FrozenClock } from '../frozen-clock.ts';
import { Caller, openHouse, type Answer, type House } from '../house.ts';
import { clock as serviceClock } from '../service-clock.ts';
import { SMALLEST_SHOP } from '../smallest-shop.ts';

const DEEP_ID = 'attr_0000000000000000000000';

/** `limit`, `remaining` and seconds of a window, from the structured headers. */
function windowOf(
  { headers }: Pick<Answer, 'headers'>,
  name: 'minute' | 'day',
): { limit: number; left: number; resetsInS: number } | undefined {
  const policy = new RegExp(`"${name}";q=(\\d+);w=(\\d+)`).exec(headers.get('ratelimit-policy') ?? '');
  const state = new RegExp(`"${name}";r=(\\d+);t=(\\d+)`).exec(headers.get('ratelimit') ?? '');
  if (policy === null || state === null) return undefined;
  expect(Number(policy[2])).toBe(name === 'minute' ? 60 : 86_400);
  return { limit: Number(policy[1]), left: Number(state[1]), resetsInS: Number(state[2]) };
}

let house: House;
let owner: Client;
let clock: FrozenClock;

beforeAll(async () => {
  // The numbers of the contract, with room for the tenants that the tests themselves register.
  house = await openHouse('one process', {
    clock: serviceClock,
    rateLimits: { ...standardRateLimits('three'), register: { perMinute: 40, perDay: 100 } },
  });
  owner = new Client({ connectionString: house.ownerUrl });
  await owner.connect();
  clock = new FrozenClock(house.ownerUrl);
  await clock.stop();
});

afterAll(async () => {
  await owner?.end();
  await house?.stop();
});

const accountOf = async (caller: Caller): Promise<string> =>
  (
    await owner.query<{ account_id: string }>('select account_id from auth.api_keys where last4 = $1', [
      caller.key!.slice(-4),
    ])
  ).rows[0]!.account_id;
const toldOf = async (accountId: string | null, type: string) =>
  (
    await owner.query<{ body: Record<string, unknown> }>(
      `select body from events.told_audit_events where tenant_id is not distinct from $1 and body ->> 'type' = $2`,
      [accountId, type],
    )
  ).rows.map(({ body }) => body);

async function useUp(caller: Caller, left: number): Promise<void> {
  const answers = await Promise.all(Array.from({ length: left }, () => caller.get('/agents/me')));
  expect(answers.every((answer) => answer.status !== 429 && windowOf(answer, 'minute') !== undefined)).toBe(true);
}

test('of a hundred parallel requests sixty pass, and the rest are told when to come back', async () => {
  const caller = await Caller.register(house.root);
  const answers = await Promise.all(Array.from({ length: 100 }, () => caller.get('/agents/me')));
  // What became of those that passed is not asked here: a busy machine may answer them 503.
  const [passed, refused] = [
    answers.filter(({ status }) => status !== 429),
    answers.filter(({ status }) => status === 429),
  ];
  expect([passed.length, refused.length]).toEqual([60, 40]);
  expect(passed.map((answer) => windowOf(answer, 'minute')!.left).toSorted((one, other) => one - other)).toEqual(
    Array.from({ length: 60 }, (_, left) => left),
  );
  for (const answer of refused) {
    const minute = windowOf(answer, 'minute')!;
    expect(minute).toMatchObject({ limit: 60, left: 0 });
    expect(answer.body).toMatchObject({
      error: { type: 'rate_limit_exceeded', code: 'per_minute', retry_after: minute.resetsInS },
    });
    expect(answer.headers.get('retry-after')).toBe(String(minute.resetsInS));
    expect(answer.headers.get('x-ratelimit-remaining')).toBe('0');
  }
  const told = await toldOf(await accountOf(caller), 'rate_limit.exceeded');
  expect(told).toMatchObject([
    { severity: 'warning', actor: { type: 'agent' }, details: { window: 'minute', limit: 60 } },
  ]);

  // A minute later the minute begins anew; the day goes on, unless that minute was its last.
  await clock.stop('61 s');
  const later = await caller.get('/agents/me');
  const isSameDay = windowOf(later, 'day')!.resetsInS < windowOf(passed[0]!, 'day')!.resetsInS;
  expect([windowOf(later, 'minute')!.left, windowOf(later, 'day')!.left]).toEqual([59, 10_000 - (isSameDay ? 61 : 1)]);
});

test('the day has a limit of its own, which refused calls do not use up', async () => {
  const caller = await Caller.register(house.root);
  await owner.query('update auth.accounts set requests_per_day = 5, requests_per_minute = 1000 where account_id = $1', [
    await accountOf(caller),
  ]);
  const answers = await Promise.all(Array.from({ length: 8 }, () => caller.get('/agents/me')));
  expect(answers.filter(({ status }) => status !== 429)).toHaveLength(5);
  const refused = answers.find(({ status }) => status === 429)!;
  expect(refused.body['error']).toMatchObject({ code: 'per_day' });
  expect(Number(refused.headers.get('retry-after'))).toBe(windowOf(refused, 'day')!.resetsInS);
  expect(refused.headers.get('x-ratelimit-limit')).toBe('5');
  expect(windowOf(refused, 'minute')).toMatchObject({ limit: 1000, left: 995 });
});

test('a profile tells what its account is held to: numbers agreed, else of the plan, else of the tier', async () => {
  const caller = await Caller.register(house.root);
  const agree = async (columns: string) =>
    owner.query(`update auth.accounts set ${columns} where account_id = $1`, [await accountOf(caller)]);
  const told = async () => {
    const profile = await caller.get('/agents/me');
    const { requests_per_minute: perMinute, daily_limit: perDay } = profile.body['rate_limits'] as unknown as {
      requests_per_minute: number;
      daily_limit: number | null;
    };
    // What is told is what is counted by.
    expect(windowOf(profile, 'minute')!.limit).toBe(perMinute);
    expect(windowOf(profile, 'day')?.limit ?? null).toBe(perDay);
    return [perMinute, perDay];
  };
  expect(await told()).toEqual([60, 10_000]);
  await agree(`plan = 'pro'`);
  expect(await told()).toEqual([500, null]);
  await agree(`plan = 'self_hosted'`);
  expect(await told()).toEqual([6_000, null]);
  await agree(`plan = 'pro'`);
  await agree('requests_per_day = 70');
  expect(await told()).toEqual([500, 70]);
  await agree('requests_per_minute = 80');
  expect(await told()).toEqual([80, 70]);
});

test('the price list marks the plan of the account, and the sandbox for test keys', async () => {
  const caller = await Caller.register(house.root);
  const pair = (await caller.post('/keys', {})).body;
  const marked = async (by: Caller) => {
    const plans = (await by.get('/billing/plans')).body['plans'] as unknown as readonly Record<string, unknown>[];
    const { data } = await by.graphql('{ plans { plans { planId current } } }');
    const ofGraph = data!['plans']!['plans'] as unknown as readonly Record<string, unknown>[];
    const [rest, graph] = [
      plans.filter(({ current }) => current === true).map((plan) => plan['plan_id']),
      ofGraph.filter(({ current }) => current === true).map((plan) => plan['planId']),
    ];
    expect(graph).toEqual(rest);
    return rest;
  };
  expect(await marked(caller)).toEqual(['pay_per_analysis']);
  for (const plan of ['pro', 'enterprise', 'self_hosted', 'pay_per_analysis']) {
    await owner.query('update auth.accounts set plan = $2 where account_id = $1', [await accountOf(caller), plan]);
    expect(await marked(caller)).toEqual([plan]);
    expect(await marked(new Caller(house.root, String(pair['test']!['key'])))).toEqual(['sandbox']);
  }
});

test('every answer to a known caller carries the windows, whatever it is', async () => {
  const caller = await Caller.register(house.root);
  const source = await caller.post('/data-sources/connect', {
    type: 'csv_upload',
    credentials: {
      content: SMALLEST_SHOP,
    },
  });
  const id = String(source.body['data_source_id']);
  const analysis = await caller.post('/attribution', { data_source_id: id, date_range: ['2026-01-01', '2026-01-31'] });
  const attribution = String(analysis.body['id']);
  const opened = async (path: string, headers: Record<string, string> = {}) => {
    const response = await caller.open('GET', path, undefined, headers);
    await response.text();
    return { status: response.status, headers: response.headers };
  };
  const answers: Record<string, Pick<Answer, 'status' | 'headers'>> = {
    201: source,
    200: analysis,
    202: await caller.post(`/data-sources/${id}/sync`, {}),
    304: await opened(`/attribution/${attribution}`, {
      'if-none-match': (await caller.get(`/attribution/${attribution}`)).headers.get('etag')!,
    }),
    events: await opened(`/attribution/${attribution}/stream`),
    file: await opened(`/attribution/${attribution}/export?format=csv`),
    'missing nonce': await caller.post('/attribution', {}, { 'x-nonce': '' }),
    'invalid body': await caller.post('/attribution', {}),
    'unknown workspace': await caller.get('/agents/me', { 'svc-workspace': DEEP_ID }),
    'unknown workspace in the graph': await fetch(`${house.root}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json', 'svc-workspace': DEEP_ID },
      body: '{"query":"{ me { id } }"}',
    }),
    'unknown id': await caller.get(`/attribution/${DEEP_ID}`),
    204: await caller.delete(`/data-sources/${id}`),
  };
  for (const [what, answer] of Object.entries(answers))
    expect({
      what,
      minute: windowOf(answer, 'minute')?.limit,
      legacy: answer.headers.get('x-ratelimit-limit'),
    }).toEqual({ what, minute: 60, legacy: '60' });
  expect(Object.values(answers).map(({ status }) => status)).toEqual(
    expect.arrayContaining([200, 201, 202, 204, 304, 400, 404, 422]),
  );
});

test('the health report costs nothing, and a 429 leaves its nonce unused', async () => {
  const caller = await Caller.register(house.root);
  await useUp(caller, 60);
  expect((await caller.get('/health')).status).toBe(200);
  const nonce = { 'x-nonce': 'nonce-of-a-refused-call' };
  expect((await caller.post('/attribution', {}, nonce)).status).toBe(429);
  await clock.stop('130 s');
  expect((await caller.post('/attribution', {}, nonce)).status).toBe(422);
  expect((await caller.post('/attribution', {}, nonce)).status).toBe(409);
});

describe('the graph', () => {
  test('counts in the same windows, over HTTP and for each operation of a socket', async () => {
    const caller = await Caller.register(house.root);
    const say = () =>
      fetch(`${house.root}/graphql`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${caller.key!}`,
          'content-type': 'application/json',
          accept: 'application/graphql-response+json',
        },
        body: '{"query":"{ me { id } }"}',
      });
    expect(windowOf(await say(), 'minute')!.left).toBe(59);
    const socket = createClient({
      url: `${house.root.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: { authorization: `Bearer ${caller.key!}` },
      lazy: false,
      retryAttempts: 0,
    });
    expect(await socket.iterate({ query: '{ me { id } }' }).next()).toMatchObject({
      value: { data: { me: { id: expect.stringMatching(/^agent_/) } } },
    });
    // The handshake and the operation.
    expect(windowOf(await say(), 'minute')!.left).toBe(56);
    await useUp(caller, 56);
    const refused = await say();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([
      429,
      String(windowOf(refused, 'minute')!.resetsInS),
    ]);
    expect(await refused.json()).toMatchObject({
      errors: [{ extensions: { code: 'RATE_LIMIT_EXCEEDED', retry_after: windowOf(refused, 'minute')!.resetsInS } }],
    });
    await expect(socket.iterate({ query: '{ me { id } }' }).next()).rejects.toMatchObject([
      { extensions: { code: 'RATE_LIMIT_EXCEEDED', retry_after: expect.any(Number) } },
    ]);
    await socket.dispose();

    const late = new WebSocket(`${house.root.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    const closed = new Promise<number>((resolve) => late.once('close', resolve));
    late.once('open', () =>
      late.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${caller.key!}` } })),
    );
    expect(await closed).toBe(4429);
  });
});

test('keys of one account share its windows, and its sandbox has windows of its own', async () => {
  const caller = await Caller.register(house.root);
  const accountId = await accountOf(caller);
  const issue = (kind: 'svc_live_sk' | 'svc_test_sk') =>
    house.backing.database.asTenant(accountId, (em) =>
      house.keys.issue(em, { accountId: accountId as never, agentId: null, kind, bond: UNBOUND }),
    );
  const [live, test] = [
    new Caller(house.root, await issue('svc_live_sk')),
    new Caller(house.root, await issue('svc_test_sk')),
  ];
  await caller.get('/agents/me');
  expect(windowOf(await live.get('/attribution'), 'minute')).toMatchObject({ limit: 60, left: 58 });
  const sandbox = await test.get('/attribution');
  expect(windowOf(sandbox, 'minute')).toMatchObject({ limit: 100, left: 99 });
  expect(sandbox.headers.get('svc-environment')).toBe('sandbox');
});

test('an address registers so many agents a minute, over REST and the graph together', async () => {
  await clock.stop('10 minutes');
  const register = () => new Caller(house.root, null).post('/agents/register', { name: 'x' });
  const first = await register();
  expect([first.status, windowOf(first, 'minute')!.left]).toEqual([422, 39]);
  const registrations = (count: number) =>
    Array.from({ length: count }, (_, index) => `r${index}: registerAgent(input: {name: "x"}) { apiKey }`);
  const graphql = (count: number) =>
    fetch(`${house.root}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/graphql-response+json',
        'x-nonce': crypto.randomUUID(),
      },
      body: JSON.stringify({
        query: `mutation { ...R } fragment R on Mutation { ${registrations(count).join(' ')} }`,
      }),
    });
  const through = await graphql(10);
  expect([through.status, windowOf(through, 'minute')!.left]).toEqual([200, 29]);
  await Promise.all(Array.from({ length: 29 }, register));
  const refused = await register();
  expect([refused.status, refused.body['error']]).toMatchObject([429, { type: 'rate_limit_exceeded' }]);
  const refusedThere = await graphql(1);
  expect([refusedThere.status, windowOf(refusedThere, 'minute')!.left]).toEqual([429, 0]);
  expect(await toldOf(null, 'rate_limit.exceeded')).toHaveLength(1);
});
