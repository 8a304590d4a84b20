import { randomBytes, randomUUID } from 'node:crypto';
import { createAccount } from '../../../../services/identity/accounts/account-store.ts';
import { generateApiKey } from '../../../../services/identity/keys/api-key.ts';
import { SCOPES } from '../../../../schema/principal.ts';
import { newUuid } from '../../../../platform/identifiers.ts';
import { KeyedAccounts, arrival } from './keyed-accounts.ts';

let accounts: KeyedAccounts;

beforeAll(async () => {
  accounts = await KeyedAccounts.open();
});

afterAll(() => accounts?.close());

describe('who is calling', () => {
  test('a key leads to its account and scopes', async () => {
    const { key, accountId } = await accounts.issueKey({ scopes: ['attribution:read'] });
    const { principal, pinnedVersion } = await accounts.admission.admit(arrival(key));
    expect(principal).toMatchObject({
      kind: 'account',
      accountId,
      agentId: null,
      scopes: ['attribution:read'],
      environment: 'live',
      proof: 'secret',
      workspace: null,
    });
    expect(pinnedVersion).toBeNull();
  });

  test('a key without named scopes has all ten', async () => {
    const { key } = await accounts.issueKey();
    expect(
      (await accounts.admission.admit({ ...arrival(undefined), authorization: `bearer   ${key}` })).principal.scopes,
    ).toEqual(SCOPES);
  });

  test('an access token leads to its account, proof and version, and a refresh token nowhere', async () => {
    const issued = await accounts.issueKey();
    const token = await accounts.issueToken(issued, {
      proof: 'delegated',
      environment: 'sandbox',
      apiVersion: '2025-11-01',
    });
    const { principal, pinnedVersion } = await accounts.admission.admit(arrival(token));
    expect(principal).toMatchObject({
      kind: 'agent',
      accountId: issued.accountId,
      scopes: ['attribution:read'],
      environment: 'sandbox',
      proof: 'delegated',
    });
    expect(pinnedVersion).toBe('2025-11-01');
    await expect(
      accounts.admission.admit(arrival(await accounts.issueToken(issued, { use: 'refresh' }))),
    ).rejects.toMatchObject({
      type: 'invalid_api_key',
    });
  });

  test('a version that the key pins holds for its tokens, unless they pin one', async () => {
    const issued = await accounts.issueKey();
    await accounts.setKey(issued, `api_version = '2025-08-01'`);
    expect((await accounts.admission.admit(arrival(issued.key))).pinnedVersion).toBe('2025-08-01');
    expect((await accounts.admission.admit(arrival(await accounts.issueToken(issued)))).pinnedVersion).toBe(
      '2025-08-01',
    );
    expect(
      (await accounts.admission.admit(arrival(await accounts.issueToken(issued, { apiVersion: '2025-11-01' }))))
        .pinnedVersion,
    ).toBe('2025-11-01');
  });

  test('a well-formed key or token that nobody was given is unknown', async () => {
    await expect(accounts.admission.admit(arrival(generateApiKey('svc_live_sk')))).rejects.toMatchObject({
      type: 'invalid_api_key',
    });
    await expect(
      accounts.admission.admit(arrival(`svc_at_${randomBytes(32).toString('base64url')}`)),
    ).rejects.toMatchObject({
      type: 'invalid_api_key',
    });
  });

  test.each([
    undefined,
    '',
    'Basic abc',
    'Bearer',
    'Bearer short',
    'Bearer svc_live_sk_',
    `Bearer svc_live_sk_${'é'.repeat(24)}`,
    'Bearer svc_at_short',
  ])('%p is no credential', async (authorization) => {
    await expect(accounts.admission.admit({ ...arrival(undefined), authorization })).rejects.toMatchObject({
      type: 'invalid_api_key',
    });
  });

  test('another server’s pepper finds nothing', async () => {
    const { key } = await accounts.issueKey();
    await expect(accounts.admissionWith({ keyPepper: randomBytes(32) }).admit(arrival(key))).rejects.toMatchObject({
      type: 'invalid_api_key',
    });
  });

  test.each(['revoked_at = now()', `expires_at = auth.clock() - interval '1 second'`, `grace_ends_at = auth.clock()`])(
    'a key with %s is over, and so are its tokens',
    async (change) => {
      const issued = await accounts.issueKey();
      const token = await accounts.issueToken(issued);
      await accounts.admission.admit(arrival(token));
      await accounts.setKey(issued, change);
      await expect(accounts.admission.admit(arrival(issued.key))).rejects.toMatchObject({ type: 'expired_api_key' });
      await expect(accounts.admission.admit(arrival(token))).rejects.toMatchObject({ type: 'expired_api_key' });
    },
  );

  test('a lookup that two keys share still tells them apart', async () => {
    const [first, second] = [await accounts.issueKey(), await accounts.issueKey()];
    await accounts.owner.query(
      'update auth.api_keys set lookup = (select lookup from auth.api_keys where account_id = $1) ' +
        'where account_id = $2',
      [first.accountId, second.accountId],
    );
    expect((await accounts.admission.admit(arrival(first.key))).principal.accountId).toBe(first.accountId);
  });

  test('a key remembers when it was last used, to the minute', async () => {
    const issued = await accounts.issueKey();
    const lastUsed = async () =>
      (
        await accounts.owner.query<{ last_used_at: Date | null }>(
          'select last_used_at from auth.api_keys where account_id = $1',
          [issued.accountId],
        )
      ).rows[0]!.last_used_at;
    expect(await lastUsed()).toBeNull();
    await accounts.admission.admit(arrival(issued.key));
    const first = await lastUsed();
    await accounts.admission.admit(arrival(issued.key));
    expect(await lastUsed()).toEqual(first);
    await accounts.setKey(issued, `last_used_at = auth.clock() - interval '61 seconds'`);
    await accounts.admission.admit(arrival(issued.key));
    expect((await lastUsed())!.getTime()).toBeGreaterThanOrEqual(first!.getTime());
  });

  test('the sandbox host takes test keys and sandbox tokens only, and counts no other', async () => {
    const live = await accounts.issueKey();
    await expect(accounts.admission.admit(arrival(live.key, { onSandboxHost: true }))).rejects.toMatchObject({
      type: 'invalid_api_key',
      problem: { code: 'live_key_in_sandbox' },
    });
    await expect(
      accounts.admission.admit(arrival(await accounts.issueToken(live), { onSandboxHost: true })),
    ).rejects.toMatchObject({
      type: 'invalid_api_key',
    });
    expect((await accounts.admission.admit(arrival(live.key))).windows[0]).toMatchObject({ remaining: 99 });
    const { key } = await accounts.issueKey({ kind: 'svc_test_sk' });
    expect((await accounts.admission.admit(arrival(key, { onSandboxHost: true }))).principal.environment).toBe(
      'sandbox',
    );
    expect((await accounts.admission.admit(arrival(key))).principal.environment).toBe('sandbox');
  });

  test.each([
    ['{203.0.113.0/24}', '203.0.113.7', true],
    ['{203.0.113.0/24}', '203.0.114.7', false],
    ['{2001:db8::/32,198.51.100.4/32}', '2001:db8:1::9', true],
    ['{2001:db8::/32,198.51.100.4/32}', '198.51.100.4', true],
    ['{2001:db8::/32}', '203.0.113.7', false],
    ['{203.0.113.0/24}', 'unknown', false],
    ['{}', '203.0.113.7', false],
  ])('with the allowlist %s a call from %s passes: %p', async (list, address, passes) => {
    const issued = await accounts.issueKey();
    const token = await accounts.issueToken(issued);
    await accounts.setKey(issued, `allowed_ips = '${list}'`);
    for (const credential of [issued.key, token]) {
      const outcome = accounts.admission.admit(arrival(credential, { address }));
      if (passes) await expect(outcome).resolves.toMatchObject({ principal: { accountId: issued.accountId } });
      else await expect(outcome).rejects.toMatchObject({ type: 'ip_not_allowed', problem: { status: 403 } });
    }
  });
});

describe('the audit log', () => {
  test('a flood of unknown keys leaves one entry a minute and an alarm', async () => {
    const address = '198.51.100.99';
    for (let attempt = 0; attempt < 25; attempt += 1)
      await expect(accounts.admission.admit(arrival(generateApiKey('svc_live_sk'), { address }))).rejects.toMatchObject(
        {
          type: 'invalid_api_key',
        },
      );
    const told = (await accounts.auditOf(null)).filter(
      ({ details }) => details['reason'] === 'unknown_credential' && Number(details['attempts_this_hour']) > 0,
    );
    const severities = told
      .slice(-2)
      .map(({ severity, details }) => [severity, details['attempts'], details['attempts_this_hour']]);
    expect(severities).toEqual([
      ['warning', 1, 1],
      ['critical', 9, 10],
    ]);
    await accounts.owner.query(`update auth.failures set told_at = told_at - interval '1 minute' where subject = $1`, [
      `address:${address}`,
    ]);
    await expect(accounts.admission.admit(arrival(generateApiKey('svc_live_sk'), { address }))).rejects.toMatchObject({
      type: 'invalid_api_key',
    });
    expect((await accounts.auditOf(null)).at(-1)).toMatchObject({
      type: 'auth.failed',
      severity: 'critical',
      actor: { type: 'anonymous', id: null },
      details: { attempts: 16, attempts_this_hour: 26 },
    });
  });

  test('a refused key is told in the log of its tenant', async () => {
    const issued = await accounts.issueKey();
    await accounts.setKey(issued, `allowed_ips = '{192.0.2.0/24}'`);
    await expect(accounts.admission.admit(arrival(issued.key))).rejects.toMatchObject({ type: 'ip_not_allowed' });
    await accounts.setKey(issued, 'revoked_at = now()');
    await accounts.owner.query('update auth.failures set told_at = null');
    await expect(accounts.admission.admit(arrival(issued.key))).rejects.toMatchObject({ type: 'expired_api_key' });
    const told = await accounts.auditOf(issued.accountId);
    expect(told).toMatchObject([
      {
        type: 'auth.failed',
        severity: 'warning',
        actor: { type: 'key', id: expect.stringMatching(/^key_/) },
        details: { reason: 'address_not_allowed' },
      },
      { type: 'auth.failed', severity: 'warning', details: { reason: 'revoked_or_expired' } },
    ]);
    expect(JSON.stringify(told)).not.toContain(issued.key.slice(16));
  });

  test('a log that takes nothing refuses no less', async () => {
    await accounts.owner.query('alter table events.told_audit_events rename to gone');
    await expect(
      accounts.admission.admit(arrival(generateApiKey('svc_live_sk'), { address: '198.51.100.77' })),
    ).rejects.toMatchObject({ type: 'invalid_api_key' });
    await accounts.owner.query('alter table events.gone rename to told_audit_events');
    expect(accounts.log()).toContain('a refusal could not be recorded');
  });
});

test('the application cannot read nonces, windows or other accounts’ keys by itself, nor set the clock', async () => {
  await accounts.issueKey();
  for (const table of ['nonces', 'rate_windows', 'failures'])
    await expect(accounts.database.asNobody((em) => em.execute(`select * from auth.${table}`))).rejects.toThrow(
      /permission denied/,
    );
  for (const table of ['api_keys', 'credentials'])
    await expect(accounts.database.asNobody((em) => em.execute(`select * from auth.${table}`))).resolves.toEqual([]);
  await expect(
    accounts.database.asNobody((em) =>
      em.execute(`create or replace function auth.clock() returns timestamptz language sql stable as 'select now()'`),
    ),
  ).rejects.toThrow(/permission denied|must be owner/);
});

test('an operator registers once', async () => {
  const operatorEmail = `${randomUUID()}@Example.com`;
  const register = (email: string) => {
    const accountId = newUuid();
    return accounts.database.asTenant(accountId, (em) =>
      createAccount(em, { accountId, operatorId: null, operatorEmail: email }),
    );
  };
  await register(operatorEmail);
  await expect(register(operatorEmail.toUpperCase())).rejects.toMatchObject({
    type: 'conflict',
    problem: { code: 'operator_already_registered' },
  });
});
