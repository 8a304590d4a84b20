import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { createClient } from '../../schema/client/client.ts';
import { Caller, openHouse, type Answer, type House } from '../house.ts';

let house: House;
let owner: Client;
let agent: Caller;
let clientId: string;
beforeAll(async () => {
  house = await openHouse('one process', { withWorker: false });
  owner = new Client({ connectionString: house.ownerUrl });
  await owner.connect();
  agent = await Caller.register(house.root);
  clientId = String((await agent.get('/agents/me')).body['agent_id']);
});
afterAll(async () => {
  await owner?.end();
  await house?.stop();
});

const stranger = () => new Caller(house.root, null);
const exchange = (key: string, more: Record<string, string> = {}): Promise<Answer> =>
  stranger().post(
    '/oauth/token',
    { grant_type: 'client_credentials', client_id: clientId, client_secret: agent.key!, ...more },
    { 'svc-idempotency-key': key },
  );
const refresh = (token: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  stranger().post(
    '/oauth/token/refresh',
    { grant_type: 'refresh_token', refresh_token: token, client_id: clientId },
    headers,
  );
const isLive = async (answer: Answer): Promise<boolean> =>
  (await new Caller(house.root, String(answer.body['access_token'])).get('/agents/me')).status === 200;
/** What a crash between the commit and the answer leaves behind. */
const forgetAnswers = () =>
  owner.query(`update idempotency.claims set answer = null, lease_until = now() - interval '1 second'`);
const typeOf = ({ body }: Answer): string => String(body['error']?.['type']);

test('a refresh that is sent again, its answer unheard, is answered with the same pair', async () => {
  const { body: first } = await exchange(randomUUID());
  const key = { 'svc-idempotency-key': randomUUID() };
  const [one, two] = await Promise.all([refresh(first['refresh_token'], key), refresh(first['refresh_token'], key)]);
  expect([one.status, two.body]).toEqual([200, one.body]);
  expect([one, two].filter(({ headers }) => headers.get('svc-idempotent-replayed') === 'true')).toHaveLength(1);
  expect(await isLive(one)).toBe(true);

  await forgetAnswers();
  const recalled = await refresh(first['refresh_token'], key);
  expect(recalled.body).toMatchObject({
    access_token: one.body['access_token'],
    refresh_token: one.body['refresh_token'],
    scope: one.body['scope'],
  });
  expect(await isLive(one)).toBe(true);

  // Without the key it is what it always was: reuse.
  expect(typeOf(await refresh(first['refresh_token']))).toBe('invalid_grant');
  expect(await isLive(one)).toBe(false);
});

test('a grant gives tokens once; nothing of them can be read at rest', async () => {
  const key = randomUUID();
  const [first, again] = [await exchange(key), await exchange(key)];
  expect([again.body, again.headers.get('svc-idempotent-replayed')]).toEqual([first.body, 'true']);
  expect(typeOf(await exchange(key, { scope: 'audit:read' }))).toBe('idempotency_conflict');
  const { rows } = await owner.query<{ stored: string }>(
    `select string_agg(encode(coalesce(effect, '') || coalesce(answer, '') || id || fingerprint, 'escape'), '') as ` +
      `stored from idempotency.claims`,
  );
  for (const name of ['access_token', 'refresh_token'])
    expect(rows[0]!.stored).not.toContain(String(first.body[name]).slice(7));
});

test('a refused grant leaves the key free', async () => {
  const key = randomUUID();
  expect(typeOf(await exchange(key, { client_secret: `svc_agent_sk_${'x'.repeat(24)}` }))).toBe('invalid_client');
  expect((await exchange(key)).status).toBe(200);
});

test('the typed client survives a refresh whose answer is lost', async () => {
  const { body: first } = await exchange(randomUUID());
  let sent = 0;
  const client = createClient({
    baseUrl: `${house.root}/v1`,
    sleep: () => Promise.resolve(),
    fetch: async (request) => {
      const response = await fetch(request);
      if ((sent += 1) > 1) return response;
      throw new TypeError('the connection broke');
    },
  });
  const { data } = await client.POST('/oauth/token/refresh', {
    body: { grant_type: 'refresh_token', refresh_token: String(first['refresh_token']), client_id: clientId },
  });
  expect(sent).toBe(2);
  expect((await refresh(data!.refresh_token)).status).toBe(200);
});
