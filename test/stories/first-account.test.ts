import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { FirstAccount } from '../../services/identity/opening/first-account.ts';
import { standardRateLimits } from '../../services/identity/limits/rate-limits.ts';
import { FrozenClock } from '../frozen-clock.ts';
import { openAccount } from '../../services/identity/opening/open-account.ts';
import { Caller, openHouse, type House } from '../house.ts';

const TOKEN = 'a-token-that-only-the-operator-knows';

let house: House;
beforeEach(async () => {
  house = await openHouse('one process', { withWorker: false, bootstrapToken: TOKEN });
});
afterEach(() => house.stop());

const page = () => `${house.root}/bootstrap`;
const enter = async (fields: Record<string, string>, headers: Record<string, string> = {}) => {
  const response = await fetch(page(), {
    method: 'POST',
    body: new URLSearchParams({ token: TOKEN, email: 'ops@shop.example', name: 'Shop', ...fields }),
    headers,
  });
  return { status: response.status, headers: response.headers, html: await response.text() };
};
const keysIn = (html: string) => ({
  live: /id="live">(svc_live_sk_[A-Za-z0-9]{24})</.exec(html)?.[1] ?? '',
  test: /id="test">(svc_test_sk_[A-Za-z0-9]{24})</.exec(html)?.[1] ?? '',
});

test('the token makes the first account and nothing after it', async () => {
  // Agents that registered before change nothing.
  await Caller.register(house.root);
  const made = await enter({});
  expect(made.status).toBe(201);
  expect(made.headers.get('cache-control')).toBe('no-store');
  const { live, test: sandbox } = keysIn(made.html);
  const listed = await new Caller(house.root, live).get('/keys');
  expect(listed.body).toMatchObject({ meta: { total: 2 } });
  expect((await new Caller(house.root, sandbox).get('/data-sources')).headers.get('svc-environment')).toBe('sandbox');
  expect((await new Caller(house.root, live).get('/agents/me')).status).toBe(404);

  const again = await enter({ email: 'second@shop.example' });
  expect([again.status, again.html.includes('npx liftgraph admin account create')]).toEqual([409, true]);
  expect(house.log()).not.toContain(TOKEN);
  expect(house.log()).not.toMatch(/svc_(?:live|test)_sk_[A-Za-z0-9]/);
});

test('of two at the same time one makes it', async () => {
  const accounts = new FirstAccount(house.backing.database, house.keys, 'pro', TOKEN);
  const open = (email: string) => accounts.open({ token: TOKEN, email, name: '' }, { requestId: 'req_test' });
  const context = { requestId: 'req_test' };
  let second: Promise<unknown> = Promise.resolve();
  // The first has looked and found nobody; before it has made its account, the second comes.
  await openAccount(
    {
      database: house.backing.database,
      keys: house.keys,
      context,
      async precondition(em) {
        const [row] = await em.execute<[{ open: boolean }]>('select auth.claim_first_account() as open');
        expect(row.open).toBe(true);
        second = open('second@shop.example').catch((error: unknown) => error);
        await Promise.race([second, setTimeout(500)]);
      },
    },
    { email: 'first@shop.example', plan: 'pro' },
  );
  expect(await second).toMatchObject({ problem: { code: 'account_exists' } });
});

test('wrong entries are told, without the token and without markup of theirs', async () => {
  const wrong = await enter({ token: `${TOKEN}x`, name: '"><script>alert(1)</script>' });
  expect([
    wrong.status,
    wrong.html.includes('This is not the token'),
    wrong.html.includes('<script'),
    wrong.html.includes(TOKEN),
  ]).toEqual([403, true, false, false]);
  const address = await enter({ email: 'nobody' });
  expect([
    address.status,
    address.html.includes('Enter an e-mail address'),
    address.html.includes('value="nobody"'),
  ]).toEqual([422, true, true]);
  expect((await enter({}, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
  expect((await enter({}, { origin: 'https://elsewhere.example' })).status).toBe(403);
  expect(
    (
      await fetch(page(), {
        method: 'POST',
        body: JSON.stringify({ token: TOKEN }),
        headers: { 'content-type': 'application/json' },
      })
    ).status,
  ).toBe(415);
  expect((await enter({})).status).toBe(201);
});

test('five entries from one address in a minute are enough', async () => {
  const limited = await openHouse('one process', {
    withWorker: false,
    bootstrapToken: TOKEN,
    rateLimits: standardRateLimits('three'),
  });
  const clock = new FrozenClock(limited.ownerUrl);
  const attempt = async (token: string) => {
    const response = await fetch(`${limited.root}/bootstrap`, {
      method: 'POST',
      body: new URLSearchParams({ token, email: 'ops@shop.example' }),
    });
    await response.text();
    return { status: response.status, retryAfterS: Number(response.headers.get('retry-after')) };
  };
  try {
    await clock.stop();
    for (let entry = 1; entry <= 5; entry += 1) expect((await attempt('guess')).status).toBe(403);
    const sixth = await attempt(TOKEN);
    expect(sixth.status).toBe(429);
    expect(sixth.retryAfterS).toBeGreaterThan(0);
    await clock.stop('61 s');
    expect((await attempt(TOKEN)).status).toBe(201);
  } finally {
    await limited.stop();
  }
});

test('the page carries no script, and may be shown in no frame', async () => {
  const response = await fetch(page());
  expect(response.status).toBe(200);
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  expect(await response.text()).not.toContain('<script');
  expect((await fetch(page(), { method: 'DELETE' })).status).toBe(405);
  const large = await enter({ name: randomBytes(4096).toString('hex') });
  expect(large.status).toBe(413);
});

test('without a token there is no such page', async () => {
  const other = await openHouse('one process', { withWorker: false });
  try {
    expect((await fetch(`${other.root}/bootstrap`)).status).toBe(404);
    expect(
      (await fetch(`${other.root}/bootstrap`, { method: 'POST', body: new URLSearchParams({ token: '' }) })).status,
    ).toBe(404);
  } finally {
    await other.stop();
  }
});
