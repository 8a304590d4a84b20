import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { randomUUID } from 'node:crypto';
import { createAccount } from '../../services/identity/accounts/account-store.ts';
import type { ApiKeyKind } from '../../services/identity/keys/api-key.ts';
import { UNBOUND } from '../../services/identity/keys/key-bond.ts';
import { newUuid } from '../../platform/identifiers.ts';
import { Caller, openHouse, type House } from '../house.ts';

const REDIRECT_URI = 'http://127.0.0.1/callback';
/** A native application listens where it finds a free port. */
const LISTENING_AT = 'http://127.0.0.1:51004/callback';

let house: House;
let agent: Caller;
let clientId: string;

beforeAll(async () => {
  house = await openHouse('one process', { withWorker: false, isPublic: true });
  agent = await Caller.register(house.root);
  const changed = await agent.send('PATCH', '/agents/me', JSON.stringify({ redirect_uris: [REDIRECT_URI] }), {
    'content-type': 'application/json',
  });
  clientId = String(changed.body['agent_id']);
});
afterAll(() => house?.stop());

/** A key of an operator that has no agent. */
async function issueKey(kind: ApiKeyKind): Promise<string> {
  const accountId = newUuid();
  return house.backing.database.asTenant(accountId, async (em) => {
    await createAccount(em, { accountId, operatorId: randomUUID(), operatorEmail: null });
    return house.keys.issue(em, { accountId, agentId: null, kind, bond: UNBOUND });
  });
}

/** What a resource owner does in a browser: looks at the page, pastes a key, allows; answers where that leads. */
async function consent(authorizationUrl: URL, kind: ApiKeyKind = 'svc_live_sk'): Promise<URL> {
  const page = await fetch(authorizationUrl);
  expect(page.status).toBe(200);
  expect(await page.text()).toContain('asks for access');
  const answer = await fetch(authorizationUrl, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ key: await issueKey(kind), decision: 'allow' }),
    headers: { 'sec-fetch-site': 'same-origin' },
  });
  expect(answer.status).toBe(302);
  return new URL(answer.headers.get('location')!);
}

describe('oauth4webapi', () => {
  const insecure = { [oauth.allowInsecureRequests]: true };
  let server: oauth.AuthorizationServer;
  let client: oauth.Client;

  beforeAll(async () => {
    const issuer = new URL(house.root);
    server = await oauth.processDiscoveryResponse(
      issuer,
      await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
    );
    client = { client_id: clientId };
  });

  const withSecret = [
    ['client_secret_basic', oauth.ClientSecretBasic],
    ['client_secret_post', oauth.ClientSecretPost],
  ] as const;

  test.each(withSecret)('client_credentials with %s', async (_method, authentication) => {
    const response = await oauth.clientCredentialsGrantRequest(
      server,
      client,
      authentication(agent.key!),
      new URLSearchParams({ scope: 'attribution:read' }),
      insecure,
    );
    const tokens = await oauth.processClientCredentialsResponse(server, client, response);
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 3600, scope: 'attribution:read' });
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.get('pragma')).toBe('no-cache');
  });

  test('a wrong secret is invalid_client; with Basic authentication, the answer carries a challenge', async () => {
    const wrong = 'svc_agent_sk_ABCDEFGHIJKLMNOPQRSTUVWX';
    const posted = await oauth.clientCredentialsGrantRequest(
      server,
      client,
      oauth.ClientSecretPost(wrong),
      {},
      insecure,
    );
    await expect(oauth.processClientCredentialsResponse(server, client, posted)).rejects.toMatchObject({
      error: 'invalid_client',
      status: 401,
    });
    const basic = await oauth.clientCredentialsGrantRequest(
      server,
      client,
      oauth.ClientSecretBasic(wrong),
      {},
      insecure,
    );
    await expect(oauth.processClientCredentialsResponse(server, client, basic)).rejects.toMatchObject({
      status: 401,
      cause: [{ scheme: 'basic', parameters: { realm: 'svc' } }],
    });
  });

  test('authorization_code with PKCE, refresh, reuse, revocation', async () => {
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const url = new URL(server.authorization_endpoint!);
    for (const [name, value] of Object.entries({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: LISTENING_AT,
      scope: 'attribution:read health:read',
      state,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      resource: `${house.root}/mcp`,
    }))
      url.searchParams.set(name, value);
    const callback = await consent(url);
    expect(callback.href.startsWith(`${LISTENING_AT}?`)).toBe(true);

    const authentication = oauth.ClientSecretBasic(agent.key!);
    // Checks state and iss (RFC 9207).
    const parameters = oauth.validateAuthResponse(server, client, callback, state);
    const redeem = async () =>
      oauth.processAuthorizationCodeResponse(
        server,
        client,
        await oauth.authorizationCodeGrantRequest(
          server,
          client,
          authentication,
          parameters,
          LISTENING_AT,
          verifier,
          insecure,
        ),
      );
    const first = await redeem();
    expect(first).toMatchObject({ expires_in: 3600, scope: 'attribution:read health:read' });

    const refresh = async (token: string) =>
      oauth.processRefreshTokenResponse(
        server,
        client,
        await oauth.refreshTokenGrantRequest(server, client, authentication, token, insecure),
      );
    const second = await refresh(first.refresh_token!);
    expect(second.refresh_token).not.toBe(first.refresh_token);
    await expect(refresh(first.refresh_token!)).rejects.toMatchObject({ error: 'invalid_grant', status: 401 });
    await expect(refresh(second.refresh_token!)).rejects.toMatchObject({ error: 'invalid_grant' });
    await expect(redeem()).rejects.toMatchObject({ error: 'invalid_grant', status: 400 });
    await oauth.processRevocationResponse(
      await oauth.revocationRequest(server, client, authentication, second.access_token, insecure),
    );
  });

  test('a refused consent tells the client so', async () => {
    const url = new URL(server.authorization_endpoint!);
    for (const [name, value] of Object.entries({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: LISTENING_AT,
      state: 's',
      code_challenge: await oauth.calculatePKCECodeChallenge('v'.repeat(43)),
      code_challenge_method: 'S256',
    }))
      url.searchParams.set(name, value);
    const answer = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ decision: 'deny' }),
    });
    expect(() => oauth.validateAuthResponse(server, client, new URL(answer.headers.get('location')!), 's')).toThrow(
      expect.objectContaining({ error: 'access_denied' }),
    );
  });

  test('what protects a resource can be found out from the resource', async () => {
    for (const path of ['', '/mcp']) {
      const resource = new URL(`${house.root}${path}`);
      const metadata = await oauth.processResourceDiscoveryResponse(
        resource,
        await oauth.resourceDiscoveryRequest(resource, insecure),
      );
      expect(metadata.authorization_servers).toEqual([house.root]);
    }
  });
});

describe('a token at the doors', () => {
  const issue = async (scope: string): Promise<Caller> => {
    const { body } = await agent.post('/oauth/token', {
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: agent.key,
      scope,
    });
    return new Caller(house.root, String(body['access_token']));
  };

  test('is the agent, as far as its scopes go, over REST and in the graph', async () => {
    const caller = await issue('attribution:read');
    expect((await caller.get('/agents/me')).body['agent_id']).toBe(clientId);
    expect(await caller.graphql('{ me { id } }')).toEqual({ data: { me: { id: clientId } } });
    const refused = await caller.send('PATCH', '/agents/me', '{}', { 'content-type': 'application/json' });
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      403,
      'Bearer realm="svc", error="insufficient_scope", scope="referrals:write"',
    ]);
    expect(
      (await caller.graphql('mutation { updateAgent(input: { name: "renamed" }) { agent { id } } }')).errors?.[0]
        ?.extensions['code'],
    ).toBe('INSUFFICIENT_PERMISSIONS');
  });

  test('learns the scope that it lacks from a header, over GraphQL beside what other fields answer', async () => {
    const caller = await issue('attribution:read');
    const response = await fetch(`${house.root}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${caller.key}` },
      body: JSON.stringify({ query: '{ me { id } auditEvents { totalCount } }' }),
    });
    expect([response.status, response.headers.get('www-authenticate'), await response.json()]).toEqual([
      200,
      'Bearer realm="svc", error="insufficient_scope", scope="audit:read"',
      expect.objectContaining({ data: { me: { id: clientId }, auditEvents: null } }),
    ]);
  });

  test('ends when it is revoked, for both', async () => {
    const caller = await issue('attribution:read');
    expect((await caller.post('/oauth/revoke', { token: caller.key }, { authorization: '' })).status).toBe(200);
    expect(await caller.get('/agents/me')).toMatchObject({ status: 401, body: { error: { type: 'expired_api_key' } } });
    expect((await caller.graphql('{ me { id } }')).errors?.[0]?.extensions['code']).toBe('EXPIRED_API_KEY');
  });

  test('a refresh token opens nothing', async () => {
    const { body } = await agent.post('/oauth/token', {
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: agent.key,
    });
    expect(await new Caller(house.root, String(body['refresh_token'])).get('/agents/me')).toMatchObject({
      status: 401,
      body: { error: { type: 'invalid_api_key' } },
    });
  });
});

describe('openid-client', () => {
  let configuration: openid.Configuration;

  const discover = (authentication: openid.ClientAuth) =>
    openid.discovery(new URL(house.root), clientId, undefined, authentication, {
      algorithm: 'oauth2',
      execute: [openid.allowInsecureRequests],
    });
  beforeAll(async () => {
    configuration = await discover(openid.ClientSecretPost(agent.key!));
  });

  test('client_credentials', async () => {
    const tokens = await openid.clientCredentialsGrant(configuration, { scope: 'billing:read' });
    expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'billing:read' });
    expect(tokens.expiresIn()).toBeGreaterThan(3590);
    await expect(openid.clientCredentialsGrant(configuration, { scope: 'everything' })).rejects.toMatchObject({
      error: 'invalid_scope',
      status: 400,
    });
  });

  async function authorise(of: openid.Configuration): Promise<openid.TokenEndpointResponse> {
    const verifier = openid.randomPKCECodeVerifier();
    const state = openid.randomState();
    const url = openid.buildAuthorizationUrl(of, {
      redirect_uri: LISTENING_AT,
      scope: 'attribution:read',
      state,
      code_challenge: await openid.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    return openid.authorizationCodeGrant(of, await consent(url, 'svc_test_sk'), {
      pkceCodeVerifier: verifier,
      expectedState: state,
    });
  }

  test('authorization_code with PKCE, refresh, reuse, revocation', async () => {
    const first = await authorise(configuration);
    const second = await openid.refreshTokenGrant(configuration, first.refresh_token!);
    const read = () =>
      openid.fetchProtectedResource(configuration, second.access_token, new URL(`${house.root}/v1/attribution`), 'GET');
    const opened = await read();
    expect([opened.status, opened.headers.get('svc-environment')]).toEqual([200, 'sandbox']);
    // Somebody else's token manages no keys; the agent's own, below its own key, does.
    expect(await new Caller(house.root, second.access_token).get('/keys')).toMatchObject({
      status: 403,
      body: { error: { type: 'insufficient_permissions', code: 'secret_required' } },
    });
    expect(
      (await new Caller(house.root, (await openid.clientCredentialsGrant(configuration)).access_token).get('/keys'))
        .status,
    ).toBe(200);
    await openid.tokenRevocation(configuration, second.access_token);
    await expect(read()).rejects.toMatchObject({ status: 401, cause: [{ parameters: { error: 'invalid_token' } }] });
    await expect(openid.refreshTokenGrant(configuration, first.refresh_token!)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
    await expect(openid.refreshTokenGrant(configuration, second.refresh_token!)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });

  test('a public client does without a secret, once its agent says so', async () => {
    const bare = await discover(openid.None());
    await expect(authorise(bare)).rejects.toMatchObject({ error: 'invalid_request' });
    await agent.send('PATCH', '/agents/me', '{"public":true}', { 'content-type': 'application/json' });
    const first = await authorise(bare);
    await openid.refreshTokenGrant(bare, first.refresh_token!);
    await agent.send('PATCH', '/agents/me', '{"public":false}', { 'content-type': 'application/json' });
  });
});
