import { ProblemError } from '../../../../schema/problems.ts';
import { SCOPES } from '../../../../schema/principal.ts';
import type { TokenRequest, TokenResponse } from '../../../../services/identity/oauth/token-endpoint.ts';
import { CALLBACK, CONTEXT, openAuthority, type Authority, type RegisteredClient } from './authority.ts';

let authority: Authority;
let client: RegisteredClient;
let owner: { readonly key: string; readonly accountId: string };

beforeAll(async () => {
  authority = await openAuthority();
});
afterAll(() => authority?.close());
beforeEach(async () => {
  client = await authority.registerClient();
  owner = await authority.issueKey('svc_live_sk');
});

const exchange = (request: TokenRequest): Promise<TokenResponse> => authority.oauth.tokens.exchange(request, CONTEXT);
const withSecret = (changes: Partial<TokenRequest> = {}): Promise<TokenResponse> =>
  exchange({
    grantType: 'client_credentials',
    clientId: client.clientId,
    clientSecret: client.clientSecret,
    ...changes,
  });
const refresh = (refreshToken: string, changes: Partial<TokenRequest> = {}): Promise<TokenResponse> =>
  exchange({ grantType: 'refresh_token', clientId: client.clientId, refreshToken, ...changes });
const redeem = (
  code: { code: string; codeVerifier: string },
  changes: Partial<TokenRequest> = {},
): Promise<TokenResponse> =>
  exchange({
    grantType: 'authorization_code',
    clientId: client.clientId,
    clientSecret: client.clientSecret,
    redirectUri: CALLBACK,
    ...code,
    ...changes,
  });
const refused = async (answer: Promise<unknown>): Promise<string> => {
  const error: unknown = await answer.catch((reason: unknown) => reason);
  return error instanceof ProblemError ? `${error.problem.status} ${error.type}` : `no refusal: ${String(error)}`;
};

describe('client_credentials', () => {
  test('gives all scopes of the key for an hour, and says so in the audit log', async () => {
    const tokens = await withSecret();
    expect(tokens).toMatchObject({ expiresInS: 3600, scopes: SCOPES });
    expect(tokens.accessToken).toMatch(/^svc_at_[A-Za-z0-9_-]{43}$/);
    expect(tokens.refreshToken).toMatch(/^svc_rt_[A-Za-z0-9_-]{43}$/);
    const { rows } = await authority.owner.query(
      `select use, proof, environment, extract(epoch from expires_at - created_at)::int as lifetime_s from ` +
        `auth.tokens where account_id = $1 order by use`,
      [client.accountId],
    );
    expect(rows).toEqual([
      { use: 'access', proof: 'secret', environment: 'live', lifetime_s: 3600 },
      { use: 'refresh', proof: 'secret', environment: 'live', lifetime_s: 30 * 86_400 },
    ]);
    expect(await authority.auditOf(client.accountId)).toEqual(['auth.token_issued info']);
  });

  test('gives what is asked for, and nothing that the key lacks', async () => {
    expect((await withSecret({ scope: ' health:read  attribution:read health:read' })).scopes).toEqual([
      'attribution:read',
      'health:read',
    ]);
    expect(await refused(withSecret({ scope: 'attribution:read admin' }))).toBe('400 invalid_scope');
    client = await authority.registerClient({ scopes: ['attribution:read'] });
    expect((await withSecret({ scope: '' })).scopes).toEqual(['attribution:read']);
    expect(await refused(withSecret({ scope: 'attribution:read audit:read' }))).toBe('400 invalid_scope');
  });

  test('nothing that was stored shows a token', async () => {
    const { accessToken, refreshToken } = await withSecret();
    const { rows } = await authority.owner.query<{ row: string }>('select t::text as row from auth.tokens t');
    for (const { row } of rows) {
      for (const form of [accessToken, refreshToken]) {
        expect(row).not.toContain(form.slice(7, 27));
        expect(row).not.toContain(Buffer.from(form).toString('hex'));
      }
    }
  });

  test.each<[string, () => Partial<TokenRequest>]>([
    ['an unknown client', () => ({ clientId: 'agent_0351EFSwMCuWsp5CADuBq8' })],
    ['an id that no agent can have', () => ({ clientId: 'agent_zzzzzzzzzzzzzzzzzzzzzzzzzz' })],
    ['a key that nobody was given', () => ({ clientSecret: 'svc_agent_sk_ABCDEFGHIJKLMNOPQRSTUVWX' })],
    ['a secret that is no key', () => ({ clientSecret: 'svc_agent_sk_' })],
    ['a key of the account instead of the agent', () => ({ clientSecret: owner.key })],
  ])('%s is 401 invalid_client', async (_name, changes) => {
    expect(await refused(withSecret(changes()))).toBe('401 invalid_client');
  });

  test('another agent’s key is refused, and the agent that was named hears of it', async () => {
    const other = await authority.registerClient();
    expect(await refused(withSecret({ clientSecret: other.clientSecret }))).toBe('401 invalid_client');
    expect(await authority.auditOf(client.accountId)).toEqual(['auth.failed warning invalid_client']);
    expect(await authority.auditOf(other.accountId)).toEqual([]);
  });

  test('a request without a secret is 400', async () => {
    expect(await refused(exchange({ grantType: 'client_credentials', clientId: client.clientId }))).toBe(
      '400 invalid_request',
    );
  });

  test.each(['revoked_at = now()', `expires_at = now() - interval '1 second'`])(
    'a key with %s is refused',
    async (change) => {
      await authority.owner.query(`update auth.api_keys set ${change} where account_id = $1`, [client.accountId]);
      expect(await refused(withSecret())).toBe('401 invalid_client');
    },
  );

  test.each(['expires_at', 'grace_ends_at'])('tokens end with their key’s %s at the latest', async (column) => {
    await authority.owner.query(
      `update auth.api_keys set ${column} = now() + interval '10 minutes' where account_id = $1`,
      [client.accountId],
    );
    const { expiresInS } = await withSecret();
    expect(expiresInS).toBeGreaterThan(590);
    expect(expiresInS).toBeLessThanOrEqual(600);
  });
});

describe('authorization_code', () => {
  test('opens the resource owner’s account to the agent, as far as both sides go', async () => {
    owner = await authority.issueKey('svc_live_sk', ['attribution:read', 'billing:read']);
    const tokens = await redeem(await authority.authorise(client, owner.key, 'attribution:read health:read'));
    expect(tokens.scopes).toEqual(['attribution:read']);
    const { rows } = await authority.owner.query(
      'select distinct account_id, agent_id, proof, environment, scopes from auth.tokens where agent_id = $1',
      [client.agentId],
    );
    expect(rows).toEqual([
      {
        account_id: owner.accountId,
        agent_id: client.agentId,
        proof: 'delegated',
        environment: 'live',
        scopes: ['attribution:read'],
      },
    ]);
    expect(await authority.auditOf(owner.accountId)).toEqual(['auth.token_issued info']);
  });

  test('a test key gives tokens of the sandbox', async () => {
    owner = await authority.issueKey('svc_test_sk');
    await redeem(await authority.authorise(client, owner.key));
    const { rows } = await authority.owner.query('select distinct environment from auth.tokens where account_id = $1', [
      owner.accountId,
    ]);
    expect(rows).toEqual([{ environment: 'sandbox' }]);
  });

  test.each<[string, Partial<TokenRequest>, string]>([
    ['a code that nobody was given', { code: `svc_ac_${'c'.repeat(43)}` }, '400 invalid_grant'],
    ['something that is no code', { code: 'c' }, '400 invalid_grant'],
    ['a wrong secret', { clientSecret: 'svc_agent_sk_ABCDEFGHIJKLMNOPQRSTUVWX' }, '401 invalid_client'],
    ['an unknown client', { clientId: 'agent_0351EFSwMCuWsp5CADuBq8' }, '401 invalid_client'],
  ])('%s is refused, and the code is still good', async (_name, changes, expected) => {
    const code = await authority.authorise(client, owner.key);
    expect(await refused(redeem(code, changes))).toBe(expected);
    await redeem(code);
  });

  test('another client cannot use the code', async () => {
    const code = await authority.authorise(client, owner.key);
    const other = await authority.registerClient();
    expect(await refused(redeem(code, { clientId: other.clientId, clientSecret: other.clientSecret }))).toBe(
      '400 invalid_grant',
    );
  });

  test('only a public client needs no secret', async () => {
    const request = async (): Promise<TokenRequest> => ({
      grantType: 'authorization_code',
      clientId: client.clientId,
      redirectUri: CALLBACK,
      ...(await authority.authorise(client, owner.key)),
    });
    expect(await refused(exchange(await request()))).toBe('400 invalid_request');
    client = await authority.registerClient({ isPublic: true });
    await exchange(await request());
    expect(
      await refused(exchange({ ...(await request()), clientSecret: 'svc_agent_sk_ABCDEFGHIJKLMNOPQRSTUVWX' })),
    ).toBe('401 invalid_client');
  });

  test('a key that is revoked between consent and exchange gives nothing', async () => {
    const code = await authority.authorise(client, owner.key);
    await authority.owner.query('update auth.api_keys set revoked_at = now() where account_id = $1', [owner.accountId]);
    expect(await refused(redeem(code))).toBe('400 invalid_grant');
  });

  test('a code that comes twice revokes what it gave, later descendants included', async () => {
    const code = await authority.authorise(client, owner.key);
    const first = await redeem(code);
    const second = await refresh(first.refreshToken);
    // Even without the verifier: whoever has it again has stolen it.
    expect(await refused(redeem(code, { codeVerifier: 'v'.repeat(43) }))).toBe('400 invalid_grant');
    expect(await authority.auditOf(owner.accountId)).toEqual([
      'auth.token_issued info',
      'auth.token_refreshed info',
      'auth.failed warning authorization_code_reused',
    ]);
    for (const token of [first.accessToken, second.accessToken, second.refreshToken])
      expect(await authority.isLive(token)).toBe(false);
  });

  test('of fifty that use one code at once, one gets tokens, and those are revoked by the others', async () => {
    const code = await authority.authorise(client, owner.key);
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => redeem(code)));
    const won = outcomes.filter((outcome) => outcome.status === 'fulfilled');
    expect(won).toHaveLength(1);
    expect(await authority.isLive(won[0]!.value.accessToken)).toBe(false);
  });
});

describe('refresh_token', () => {
  test('gives a new pair of the same kind and uses the old token up', async () => {
    const first = await withSecret({ scope: 'attribution:read health:read' });
    const second = await refresh(first.refreshToken);
    expect(second).toMatchObject({ expiresInS: 3600, scopes: ['attribution:read', 'health:read'] });
    expect(await authority.isLive(first.refreshToken)).toBe(false);
    for (const token of [first.accessToken, second.accessToken, second.refreshToken])
      expect(await authority.isLive(token)).toBe(true);
  });

  test('narrower scopes hold for the access token alone', async () => {
    const first = await withSecret({ scope: 'attribution:read health:read' });
    const narrow = await refresh(first.refreshToken, { scope: 'health:read' });
    expect(narrow.scopes).toEqual(['health:read']);
    expect((await refresh(narrow.refreshToken)).scopes).toEqual(['attribution:read', 'health:read']);
    const wider = await withSecret({ scope: 'health:read' });
    expect(await refused(refresh(wider.refreshToken, { scope: 'audit:read' }))).toBe('400 invalid_scope');
    await refresh(wider.refreshToken);
  });

  test('a token that comes twice revokes its whole family, which its tenant hears of as critical', async () => {
    const [first, bystander] = [await withSecret(), await withSecret()];
    const second = await refresh(first.refreshToken);
    const third = await refresh(second.refreshToken);
    expect(await refused(refresh(first.refreshToken))).toBe('401 invalid_grant');
    expect((await authority.auditOf(client.accountId)).at(-1)).toBe('auth.failed critical refresh_token_reused');
    for (const token of [first.accessToken, second.accessToken, third.accessToken, third.refreshToken])
      expect(await authority.isLive(token)).toBe(false);
    expect(await refused(refresh(third.refreshToken))).toBe('401 invalid_grant');
    expect(await authority.isLive(bystander.accessToken)).toBe(true);
  });

  test('a token that comes twice is known whatever scope is asked for with it', async () => {
    const first = await withSecret();
    const second = await refresh(first.refreshToken);
    expect(await refused(refresh(first.refreshToken, { scope: 'none:such' }))).toBe('401 invalid_grant');
    expect(await authority.isLive(second.accessToken)).toBe(false);
  });

  test('of a hundred refreshes at once, one succeeds', async () => {
    const { refreshToken } = await withSecret();
    const outcomes = await Promise.allSettled(Array.from({ length: 100 }, () => refresh(refreshToken)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const { rows } = await authority.owner.query(
      'select count(*)::int as n from auth.tokens where account_id = $1 and revoked_at is null',
      [client.accountId],
    );
    expect(rows).toEqual([{ n: 0 }]);
  });

  test('a family that is revoked while it refreshes keeps no token', async () => {
    for (let round = 0; round < 20; round += 1) {
      const first = await withSecret();
      const second = await refresh(first.refreshToken);
      const third = refresh(second.refreshToken).catch(() => undefined);
      await Promise.all([third, refresh(first.refreshToken).catch(() => undefined)]);
    }
    const { rows } = await authority.owner.query(
      'select count(*)::int as n from auth.tokens where account_id = $1 and revoked_at is null',
      [client.accountId],
    );
    expect(rows).toEqual([{ n: 0 }]);
  });

  test.each<[string, () => Promise<Partial<TokenRequest>>, string]>([
    [
      'a token of another client',
      async () => ({ clientId: (await authority.registerClient()).clientId }),
      '401 invalid_grant',
    ],
    ['an access token', async () => ({ refreshToken: (await withSecret()).accessToken }), '401 invalid_grant'],
    ['a token that nobody was given', async () => ({ refreshToken: `svc_rt_${'r'.repeat(43)}` }), '401 invalid_grant'],
    ['no token at all', async () => ({ refreshToken: 'r' }), '401 invalid_grant'],
    ['a wrong secret', async () => ({ clientSecret: 'svc_agent_sk_ABCDEFGHIJKLMNOPQRSTUVWX' }), '401 invalid_client'],
  ])('%s is refused, and the token is still good', async (_name, changes, expected) => {
    const { refreshToken } = await withSecret();
    expect(await refused(refresh(refreshToken, await changes()))).toBe(expected);
    await refresh(refreshToken);
  });

  test.each([
    ['30 days have passed', `update auth.tokens set expires_at = now() where account_id = $1`],
    ['its key was revoked', `update auth.api_keys set revoked_at = now() where account_id = $1`],
    ['its key’s grace is over', `update auth.api_keys set grace_ends_at = now() where account_id = $1`],
  ])('a token is over when %s', async (_when, sql) => {
    const { refreshToken } = await withSecret();
    await authority.owner.query(sql, [client.accountId]);
    expect(await refused(refresh(refreshToken))).toBe('401 invalid_grant');
    expect((await authority.auditOf(client.accountId)).filter((event) => event.startsWith('auth.failed'))).toEqual([]);
  });
});

describe('revocation', () => {
  test('an access token goes alone, a refresh token takes its family with it', async () => {
    const first = await withSecret();
    await authority.oauth.tokens.revoke(first.accessToken, CONTEXT);
    expect([await authority.isLive(first.accessToken), await authority.isLive(first.refreshToken)]).toEqual([
      false,
      true,
    ]);
    const second = await refresh(first.refreshToken);
    await authority.oauth.tokens.revoke(second.refreshToken, CONTEXT);
    expect([await authority.isLive(second.accessToken), await authority.isLive(second.refreshToken)]).toEqual([
      false,
      false,
    ]);
    expect(await refused(refresh(second.refreshToken))).toBe('401 invalid_grant');
  });

  test('tokens that are unknown, over, or no tokens at all are no error', async () => {
    const { refreshToken } = await withSecret();
    for (const token of [refreshToken, refreshToken, `svc_at_${'a'.repeat(43)}`, 'nonsense'])
      await authority.oauth.tokens.revoke(token, CONTEXT);
  });
});

describe('by the clock of the database', () => {
  afterEach(() => authority.clock.run());

  test('ten failures in an hour are an attack; a flood of them leaves few entries', async () => {
    await authority.clock.stop();
    for (let attempt = 0; attempt < 25; attempt += 1)
      await refused(withSecret({ clientSecret: 'svc_agent_sk_ABCDEFGHIJKLMNOPQRSTUVWX' }));
    expect(await authority.auditOf(client.accountId)).toEqual([
      'auth.failed warning invalid_client',
      'auth.failed critical invalid_client',
    ]);
  });

  test('a code lives for 60 seconds', async () => {
    await authority.clock.stop();
    const [fresh, stale] = [await authority.authorise(client, owner.key), await authority.authorise(client, owner.key)];
    await authority.clock.stop('50 seconds');
    await redeem(fresh);
    await authority.clock.stop('61 seconds');
    expect(await refused(redeem(stale))).toBe('400 invalid_grant');
  });

  test('an access token lives for an hour, a refresh token for 30 days', async () => {
    await authority.clock.stop();
    const [early, late] = [await withSecret(), await withSecret()];
    await authority.clock.stop('59 minutes');
    expect(await authority.isLive(early.accessToken)).toBe(true);
    await authority.clock.stop('61 minutes');
    expect(await authority.isLive(early.accessToken)).toBe(false);
    await authority.clock.stop('29 days 23 hours');
    await refresh(early.refreshToken);
    await authority.clock.stop('30 days 1 hour');
    expect(await refused(refresh(late.refreshToken))).toBe('401 invalid_grant');
  });

  test('ten minutes ahead or behind open no hole: a token that was used stays used', async () => {
    const { refreshToken } = await withSecret();
    await authority.clock.run('10 minutes');
    const { accessToken } = await refresh(refreshToken);
    await authority.clock.run('-10 minutes');
    expect(await refused(refresh(refreshToken))).toBe('401 invalid_grant');
    expect(await authority.isLive(accessToken)).toBe(false);
  });
});

test('what has ended long ago is forgotten, its descendants are not', async () => {
  const first = await withSecret();
  const second = await refresh(first.refreshToken);
  await authority.owner.query(
    `update auth.tokens set expires_at = now() - interval '25 hours' where account_id = $1 and (use = 'access' or ` +
      `used_at is not null)`,
    [client.accountId],
  );
  await authority.owner.query('select auth.forget_old_grants()');
  expect(
    await authority.owner.query('select use from auth.tokens where account_id = $1', [client.accountId]),
  ).toMatchObject({ rows: [{ use: 'refresh' }] });
  await refresh(second.refreshToken);
});
