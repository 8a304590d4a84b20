import { createHash, randomUUID } from 'node:crypto';
import { createAccount } from '../../services/identity/accounts/account-store.ts';
import type { ApiKeyKind } from '../../services/identity/keys/api-key.ts';
import { UNBOUND } from '../../services/identity/keys/key-bond.ts';
import type { Scope } from '../../schema/principal.ts';
import { newUuid } from '../../platform/identifiers.ts';
import { Caller, openHouse, type House } from '../house.ts';

const REDIRECT_URI = 'https://app.example/callback?kept=%20yes';
const VERIFIER = 'a-verifier-of-forty-three-characters-or-more';
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

let house: House;
let agent: Caller;
let clientId: string;

beforeAll(async () => {
  house = await openHouse('one process', { withWorker: false, webhooks: { allowPrivate: false } });
  agent = await Caller.register(house.root);
  clientId = String((await patch({ redirect_uris: [REDIRECT_URI, 'http://127.0.0.1/callback'] })).body['agent_id']);
});
afterAll(() => house?.stop());

const patch = (body: unknown) =>
  agent.send('PATCH', '/agents/me', JSON.stringify(body), { 'content-type': 'application/json' });

async function issueKey(
  kind: ApiKeyKind,
  scopes?: readonly Scope[],
): Promise<{ readonly key: string; readonly accountId: string }> {
  const accountId = newUuid();
  const key = await house.backing.database.asTenant(accountId, async (em) => {
    await createAccount(em, { accountId, operatorId: randomUUID(), operatorEmail: null });
    return house.keys.issue(em, {
      accountId,
      agentId: null,
      kind,
      bond: UNBOUND,
      ...(scopes === undefined ? {} : { scopes }),
    });
  });
  return { key, accountId };
}

/** The address of an authorization request; null leaves a parameter out. */
function address(changes: Record<string, string | null> = {}): string {
  const all: Record<string, string | null> = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: REDIRECT_URI,
    state: 'a state',
    scope: 'attribution:read billing:read',
    code_challenge: CHALLENGE,
    code_challenge_method: 'S256',
    ...changes,
  };
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null);
  return `${house.root}/v1/oauth/authorize?${new URLSearchParams(given)}`;
}

const look = (url = address()) => fetch(url, { redirect: 'manual' });
const post = (members: Record<string, string>, headers: Record<string, string> = {}, url = address()) =>
  fetch(url, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams(members),
    headers: { 'sec-fetch-site': 'same-origin', ...headers },
  });
const locationOf = (response: Response) => new URL(response.headers.get('location') ?? 'about:blank');
const textOf = async (response: Response) =>
  (await response.text())
    .replaceAll(/<style>[\s\S]*<\/style>/g, '')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ');

describe('the page', () => {
  test('says who asks for what, in plain words, and where the answer goes', async () => {
    const response = await look();
    expect(response.status).toBe(200);
    const text = await textOf(response);
    for (const words of [
      'test-agent asks for access',
      'See your analyses, data sources and experiments attribution:read',
      'See your bills, usage and plan billing:read',
      'The answer goes to app.example',
      'has not checked who is behind it',
    ])
      expect(text).toContain(words);
    expect(text).not.toContain('audit:read');
    expect(await textOf(await look(address({ scope: null })))).toContain('audit:read');
  });

  test('cannot be framed, cached, scripted or sent elsewhere', async () => {
    const { headers } = await look();
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'self' " +
        "https://app.example; frame-ancestors 'none'",
    );
    expect([
      headers.get('x-frame-options'),
      headers.get('cache-control'),
      headers.get('referrer-policy'),
      headers.get('x-content-type-options'),
    ]).toEqual(['DENY', 'no-store', 'no-referrer', 'nosniff']);
    expect([
      headers.get('svc-api-version'),
      headers.get('svc-hrei-score'),
      headers.get('svc-hrei-risk'),
      headers.get('x-request-id'),
    ]).toEqual(['2026-02-01', '0.00', 'minimal', expect.stringMatching(/^req_/)]);
  });

  test('shows names as text', async () => {
    const response = await look(address({ client_id: '<script>alert(1)</script>', state: '"><script>' }));
    expect(await response.text()).not.toContain('<script');
  });

  test('takes no other methods', async () => {
    const response = await fetch(address(), { method: 'DELETE' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST']);
  });
});

describe('a request that names no client, or no address of its own, goes nowhere', () => {
  test.each<[string, Record<string, string | null>]>([
    ['no client', { client_id: null }],
    ['an unknown client', { client_id: 'agent_0351EFSwMCuWsp5CADuBq8' }],
    ['something else', { client_id: 'x' }],
    ['no address', { redirect_uri: null }],
    ['a foreign address', { redirect_uri: 'https://evil.example/callback' }],
    ['nearly its address', { redirect_uri: 'https://app.example/callback?kept=+yes' }],
    ['a port of its host', { redirect_uri: 'https://app.example:444/callback?kept=%20yes' }],
  ])('%s', async (_name, changes) => {
    for (const response of [
      await look(address(changes)),
      await post({ decision: 'allow', key: (await issueKey('svc_live_sk')).key }, {}, address(changes)),
    ]) {
      expect([response.status, response.headers.get('location')]).toEqual([400, null]);
      expect(await textOf(response)).toContain('This link does not work');
    }
  });

  test('twice is not once', async () => {
    expect((await look(`${address()}&client_id=${clientId}`)).status).toBe(400);
    expect((await look(`${address()}&redirect_uri=https://evil.example/`)).status).toBe(400);
  });
});

describe('any other fault is told to the client', () => {
  test.each<[Record<string, string | null>, string]>([
    [{ response_type: null }, 'invalid_request'],
    [{ response_type: 'token' }, 'unsupported_response_type'],
    [{ response_mode: 'fragment' }, 'invalid_request'],
    [{ code_challenge: null }, 'invalid_request'],
    [{ code_challenge: 'short' }, 'invalid_request'],
    [{ code_challenge: `${CHALLENGE.slice(0, 42)}B` }, 'invalid_request'],
    [{ code_challenge_method: null }, 'invalid_request'],
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ scope: 'attribution:read every"thing' }, 'invalid_scope'],
    [{ resource: 'https://elsewhere.example' }, 'invalid_target'],
  ])('%j is %s', async (changes, error) => {
    const response = await look(address(changes));
    expect(response.status).toBe(302);
    const location = locationOf(response);
    expect(location.href.startsWith(`${REDIRECT_URI}&error=${error}&`)).toBe(true);
    expect(location.searchParams.get('error_description')).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
    expect([location.searchParams.get('state'), location.searchParams.get('iss')]).toEqual([
      'a state',
      'http://127.0.0.1:4000',
    ]);
  });

  test('a parameter that comes twice, the state itself included', async () => {
    expect(locationOf(await look(`${address()}&scope=billing:read`)).searchParams.get('error')).toBe('invalid_request');
    const twice = locationOf(await look(`${address()}&state=other`)).searchParams;
    expect([twice.get('error'), twice.get('state')]).toEqual(['invalid_request', null]);
  });
});

describe('the answer', () => {
  test('of a resource owner who allows is a code; the key is in no address', async () => {
    const { key } = await issueKey('svc_live_sk');
    const response = await post({ decision: 'allow', key: ` ${key}\n` });
    expect(response.status).toBe(302);
    const location = locationOf(response);
    expect(location.href.startsWith(`${REDIRECT_URI}&code=svc_ac_`)).toBe(true);
    expect([location.searchParams.get('state'), location.searchParams.get('iss')]).toEqual([
      'a state',
      'http://127.0.0.1:4000',
    ]);
    expect([
      response.headers.get('cache-control'),
      response.headers.get('referrer-policy'),
      await response.text(),
    ]).toEqual(['no-store', 'no-referrer', '']);
    expect(location.href).not.toContain(key);
    expect(house.log()).not.toContain(key);
    expect(house.log()).not.toContain(location.searchParams.get('code'));
  });

  test('on a port of the client’s own choice', async () => {
    const response = await post(
      { decision: 'allow', key: (await issueKey('svc_test_sk')).key },
      {},
      address({ redirect_uri: 'http://127.0.0.1:51004/callback' }),
    );
    expect(locationOf(response).host).toBe('127.0.0.1:51004');
  });

  test('of one who does not is access_denied, and needs no key', async () => {
    const location = locationOf(await post({ decision: 'deny', key: '' }));
    expect([
      location.searchParams.get('error'),
      location.searchParams.get('state'),
      location.searchParams.get('code'),
    ]).toEqual(['access_denied', 'a state', null]);
  });

  test.each<[string, () => Promise<string>, number, string]>([
    ['no key', async () => '', 400, 'Paste your secret key'],
    ['nonsense', async () => '<b>', 401, 'There is no such key'],
    ['a key that nobody was given', async () => 'svc_live_sk_ABCDEFGHIJKLMNOPQRSTUVWX', 401, 'There is no such key'],
    ['an agent’s key', async () => agent.key!, 401, 'This is the key of an agent'],
    [
      'an access token',
      async () =>
        String(
          (
            await agent.post('/oauth/token', {
              grant_type: 'client_credentials',
              client_id: clientId,
              client_secret: agent.key,
            })
          ).body['access_token'],
        ),
      401,
      'There is no such key',
    ],
    [
      'a key without any of the scopes',
      async () => (await issueKey('svc_live_sk', ['audit:read'])).key,
      403,
      'none of the permissions',
    ],
  ])('%s is told on the page, which asks again', async (_name, key, status, words) => {
    const secret = await key();
    const response = await post({ decision: 'allow', key: secret });
    expect([response.status, response.headers.get('location')]).toEqual([status, null]);
    const html = await response.text();
    expect(html).toContain(words);
    expect(html).toContain('asks for access');
    if (secret !== '') expect(html).not.toContain(secret);
  });

  test('of another page is refused', async () => {
    const { key } = await issueKey('svc_live_sk');
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': '', origin: 'https://evil.example' },
      { 'sec-fetch-site': '', origin: 'null' },
    ]) {
      const response = await post({ decision: 'allow', key }, headers);
      expect([response.status, response.headers.get('location')]).toEqual([403, null]);
    }
    expect((await post({ decision: 'allow', key }, { 'sec-fetch-site': '', origin: house.root })).status).toBe(302);
  });

  test('in another form, or too long, is refused', async () => {
    expect(
      (
        await fetch(address(), {
          method: 'POST',
          redirect: 'manual',
          body: '{}',
          headers: { 'content-type': 'application/json' },
        })
      ).status,
    ).toBe(415);
    expect((await post({ decision: 'allow', key: 'x'.repeat(5000) })).status).toBe(413);
  });
});

describe('PATCH /agents/me', () => {
  test('changes what is given and nothing else, over REST and in the graph', async () => {
    const before = (await agent.get('/agents/me')).body;
    const named = await patch({ name: 'renamed', callback_url: 'https://app.example/hook' });
    expect(named.status).toBe(200);
    // Calls count while they are made.
    const { trust: _old, total_calls: _calls, total_api_calls: _alsoCalls, ...unchanged } = before;
    const expected = {
      ...unchanged,
      name: 'renamed',
      callback_url: 'https://app.example/hook',
    };
    expect(named.body).toMatchObject(expected);
    const { data } = await agent.graphql(
      'mutation { updateAgent(input: { callbackUrl: null, public: true }) { agent { name callbackUrl redirectUris ' +
        'public } } }',
    );
    expect(data).toEqual({
      updateAgent: {
        agent: {
          name: 'renamed',
          callbackUrl: null,
          redirectUris: [REDIRECT_URI, 'http://127.0.0.1/callback'],
          public: true,
        },
      },
    });
    expect((await patch({ public: false, name: 'test-agent' })).body).toMatchObject({
      callback_url: null,
      public: false,
    });
  });

  test.each<[unknown, string]>([
    [{ name: 'no' }, '/name'],
    [{ callback_url: 'http://app.example/' }, '/callback_url'],
    [{ callback_url: 'https://169.254.169.254/latest' }, '/callback_url'],
    [{ callback_url: 'https://[::ffff:127.0.0.1]/' }, '/callback_url'],
    [{ redirect_uris: ['https://app.example/', 'http://app.example/'] }, '/redirect_uris/1'],
    [{ redirect_uris: 'https://app.example/' }, '/redirect_uris'],
    [{ redirect_uris: Array.from({ length: 11 }, (_, index) => `https://app.example/${index}`) }, '/redirect_uris'],
    [{ public: 'yes' }, '/public'],
  ])('%j is 422', async (body, param) => {
    const answer = await patch(body);
    expect([answer.status, String(answer.body['error']?.['param'])]).toEqual([422, param]);
  });

  test('the audit log hears where codes go from now on, and of nothing else', async () => {
    const changes = async () =>
      (await agent.get('/audit/events?event_type=agent.scope_changed')).body['events'] as unknown as readonly Record<
        string,
        unknown
      >[];
    const before = (await changes()).length;
    await patch({ name: 'renamed' });
    await patch({ redirect_uris: [REDIRECT_URI, 'http://127.0.0.1/callback'], public: false });
    expect(await changes()).toHaveLength(before);
    await patch({
      redirect_uris: ['https://other.example/callback?secret=s', 'https://other.example/b'],
      public: true,
    });
    const [told, ...older] = await changes();
    expect(older).toHaveLength(before);
    expect(told).toMatchObject({
      severity: 'warning',
      target: { type: 'agent', id: clientId },
      details: { change: 'oauth_client_changed', redirects_to: ['https://other.example'], public: true },
    });
    await patch({ name: 'test-agent', redirect_uris: [REDIRECT_URI, 'http://127.0.0.1/callback'], public: false });
  });

  test('the graph judges for itself', async () => {
    const { errors } = await agent.graphql(
      'mutation { updateAgent(input: { redirectUris: ["https://app.example/#"] }) { agent { id } } }',
    );
    expect(errors?.[0]?.extensions['code']).toBe('VALIDATION_ERROR');
  });

  test('needs referrals:write, and an agent', async () => {
    const withKey = async (key: string) =>
      new Caller(house.root, key).send('PATCH', '/agents/me', '{}', { 'content-type': 'application/json' });
    expect((await withKey((await issueKey('svc_live_sk', ['referrals:read'])).key)).status).toBe(403);
    expect((await withKey((await issueKey('svc_live_sk')).key)).status).toBe(404);
  });
});
