import { RATE_CLASSES, standardRateLimits, type RateLimits } from '../../services/identity/limits/rate-limits.ts';
import { Caller, openHouse, type House } from '../house.ts';
import { FrozenClock } from '../frozen-clock.ts';

const { oauth } = standardRateLimits('three');
const LIMITS = Object.fromEntries(
  RATE_CLASSES.map((name) => [name, name === 'oauth' ? oauth : { perMinute: 1_000_000, perDay: null }]),
) as unknown as RateLimits;

let house: House;
beforeAll(async () => {
  house = await openHouse('one process', { withWorker: false, rateLimits: LIMITS });
  // No minute ends under the test.
  await new FrozenClock(house.ownerUrl).stop();
});
afterAll(() => house?.stop());

const form = (path: string, members: Record<string, string>) =>
  fetch(`${house.root}/v1/oauth${path}`, { method: 'POST', body: new URLSearchParams(members) });

test('thirty requests a minute for each client and address, whichever way they come', async () => {
  const agent = await Caller.register(house.root);
  const clientId = String((await agent.get('/agents/me')).body['agent_id']);
  const statuses: number[] = [];
  for (let n = 0; n < 10; n += 1) {
    const posted = await form('/token', {
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: agent.key!,
    });
    expect(posted.headers.get('ratelimit')).toMatch(new RegExp(`^"minute";r=${29 - 3 * n};t=\\d+$`));
    statuses.push(posted.status);
    statuses.push(
      (
        await agent.post('/oauth/token', {
          grant_type: 'client_credentials',
          client_id: clientId,
          client_secret: 'svc_agent_sk_wrong',
        })
      ).status,
    );
    statuses.push((await fetch(`${house.root}/v1/oauth/authorize?client_id=${clientId}`)).status);
  }
  expect(new Set(statuses)).toEqual(new Set([200, 401, 400]));

  const inForm = await form('/token/refresh', { grant_type: 'refresh_token', client_id: clientId, refresh_token: 'x' });
  expect([
    inForm.status,
    inForm.headers.get('ratelimit-policy'),
    Number(inForm.headers.get('retry-after')) >= 1,
  ]).toEqual([429, '"minute";q=30;w=60', true]);
  expect(await inForm.json()).toMatchObject({ error: 'temporarily_unavailable' });
  const inJson = await agent.post('/oauth/token', { grant_type: 'client_credentials', client_id: clientId });
  expect([inJson.status, String(inJson.body['error']?.['type'])]).toEqual([429, 'rate_limit_exceeded']);
  const onPage = await fetch(`${house.root}/v1/oauth/authorize?client_id=${clientId}`);
  expect([
    onPage.status,
    Number(onPage.headers.get('retry-after')) >= 1,
    (await onPage.text()).includes('More than 30 requests'),
  ]).toEqual([429, true, true]);

  // Others are not in its way.
  const other = await Caller.register(house.root);
  const otherId = String((await other.get('/agents/me')).body['agent_id']);
  expect(
    (await form('/token', { grant_type: 'client_credentials', client_id: otherId, client_secret: other.key! })).status,
  ).toBe(200);
});

test('whatever names no client counts as one', async () => {
  for (let n = 0; n < 30; n += 1)
    expect(
      (await form('/revoke', n % 2 === 0 ? { token: 'x' } : { token: 'x', client_id: `client-${n}` })).status,
    ).toBe(200);
  expect((await form('/revoke', { token: 'x', client_id: 'another' })).status).toBe(429);
});
