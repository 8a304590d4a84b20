import { randomBytes, randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import pg from 'pg';
import { createAccount, type NewAccount } from '../../../../services/identity/accounts/account-store.ts';
import type { Arrival } from '../../../../services/identity/admission/admission.ts';
import { generateApiKey, type ApiKeyKind } from '../../../../services/identity/keys/api-key.ts';
import { UNBOUND } from '../../../../services/identity/keys/key-bond.ts';
import { KeyStore } from '../../../../services/identity/keys/key-store.ts';
import { authOwner } from '../../../../services/identity/migrations.ts';
import { PostgresAdmission } from '../../../../services/identity/admission/postgres-admission.ts';
import { SCOPES, type Principal } from '../../../../schema/principal.ts';
import { standardRateLimits } from '../../../../services/identity/limits/rate-limits.ts';
import { eventsOwner } from '../../../../services/event-migrations.ts';
import { newUuid, type Uuid } from '../../../../platform/identifiers.ts';
import { openDatabase, type Database, type Pressure, type Question } from '../../../../platform/postgres/database.ts';
import { createPubSub, pubSubOwner, type PubSub } from '../../../../platform/postgres/pub-sub.ts';
import { createLogger } from '../../../../platform/telemetry/logs.ts';
import type { ProblemError } from '../../../../schema/problems.ts';
import { storeAccessToken, type TokenColumns } from '../../../access-token.ts';
import { FrozenClock } from '../../../frozen-clock.ts';
import { createTestDatabase, PATIENCE_MS, type TestDatabase } from '../../../platform.ts';

const pepper = randomBytes(32);
const logs: string[] = [];
const logger = createLogger({
  level: 'warn',
  format: 'json',
  destination: new Writable({ write: (chunk, _encoding, done) => (logs.push(String(chunk)), done()) }),
});

function arrival(key: string | undefined, more: Partial<Arrival> & { readonly address?: string } = {}): Arrival {
  const { address = '203.0.113.7', ...rest } = more;
  return {
    requestId: 'req_test',
    origin: { clientAddress: address, userAgent: 'test' },
    authorization: key === undefined ? undefined : `Bearer ${key}`,
    onSandboxHost: false,
    ...rest,
  };
}

let testDatabase: TestDatabase;
let database: Database;
let pubSub: PubSub;
let keys: KeyStore;
let admission: PostgresAdmission;
let owner: pg.Client;
let clock: FrozenClock;

const admissionWith = (keyPepper = pepper) =>
  new PostgresAdmission({ database, pubSub, keyPepper, rateLimits: standardRateLimits('three'), logger });

beforeAll(async () => {
  testDatabase = await createTestDatabase([pubSubOwner, authOwner, eventsOwner]);
  database = await openDatabase({
    url: testDatabase.applicationUrl,
    entities: [],
    applicationName: 'test',
    poolMax: 20,
    logger,
    timeoutMs: PATIENCE_MS,
  });
  pubSub = await createPubSub({ url: testDatabase.applicationUrl, database, logger });
  keys = new KeyStore(database, pepper);
  admission = admissionWith();
  owner = new pg.Client({ connectionString: testDatabase.ownerUrl });
  await owner.connect();
  clock = new FrozenClock(testDatabase.ownerUrl);
  // No hour ends under a test.
  await clock.stop();
});

afterAll(async () => {
  await owner?.end();
  await pubSub?.close();
  await database?.close();
  await testDatabase?.drop();
});

interface Issued {
  readonly key: string;
  readonly accountId: Uuid;
}

async function issueKey({
  scopes,
  kind = 'svc_live_sk',
  ...account
}: {
  scopes?: Principal['scopes'];
  kind?: ApiKeyKind;
  plan?: NewAccount['plan'] & string;
  tier?: NewAccount['tier'] & string;
} = {}): Promise<Issued> {
  const accountId = newUuid();
  const key = await database.asTenant(accountId, async (em) => {
    await createAccount(em, { accountId, operatorId: randomUUID(), operatorEmail: null, ...account });
    return keys.issue(em, {
      accountId,
      agentId: kind === 'svc_agent_sk' ? newUuid() : null,
      kind,
      bond: UNBOUND,
      ...(scopes === undefined ? {} : { scopes }),
    });
  });
  return { key, accountId };
}

const issueToken = ({ accountId }: Issued, columns: TokenColumns = {}): Promise<string> =>
  storeAccessToken(owner, pepper, accountId, columns);
const setKey = ({ accountId }: Issued, change: string) =>
  owner.query(`update auth.api_keys set ${change} where account_id = $1`, [accountId]);
const auditOf = async (accountId: string | null) =>
  (
    await owner.query<{
      body: {
        type: string;
        severity: string;
        actor: { type: string; id: string | null };
        details: Record<string, unknown>;
      };
    }>('select body from events.told_audit_events where tenant_id is not distinct from $1 order by event_id', [
      accountId,
    ])
  ).rows.map(({ body }) => body);

describe('who is calling', () => {
  test('a key leads to its account and scopes', async () => {
    const { key, accountId } = await issueKey({ scopes: ['attribution:read'] });
    const { principal, pinnedVersion } = await admission.admit(arrival(key));
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
    const { key } = await issueKey();
    expect(
      (await admission.admit({ ...arrival(undefined), authorization: `bearer   ${key}` })).principal.scopes,
    ).toEqual(SCOPES);
  });

  test('an access token leads to its account, proof and version, and a refresh token nowhere', async () => {
    const issued = await issueKey();
    const token = await issueToken(issued, { proof: 'delegated', environment: 'sandbox', apiVersion: '2025-11-01' });
    const { principal, pinnedVersion } = await admission.admit(arrival(token));
    expect(principal).toMatchObject({
      kind: 'agent',
      accountId: issued.accountId,
      scopes: ['attribution:read'],
      environment: 'sandbox',
      proof: 'delegated',
    });
    expect(pinnedVersion).toBe('2025-11-01');
    await expect(admission.admit(arrival(await issueToken(issued, { use: 'refresh' })))).rejects.toMatchObject({
      type: 'invalid_api_key',
    });
  });

  test('a version that the key pins holds for its tokens, unless they pin one', async () => {
    const issued = await issueKey();
    await setKey(issued, `api_version = '2025-08-01'`);
    expect((await admission.admit(arrival(issued.key))).pinnedVersion).toBe('2025-08-01');
    expect((await admission.admit(arrival(await issueToken(issued)))).pinnedVersion).toBe('2025-08-01');
    expect((await admission.admit(arrival(await issueToken(issued, { apiVersion: '2025-11-01' })))).pinnedVersion).toBe(
      '2025-11-01',
    );
  });

  test('a well-formed key or token that nobody was given is unknown', async () => {
    await expect(admission.admit(arrival(generateApiKey('svc_live_sk')))).rejects.toMatchObject({
      type: 'invalid_api_key',
    });
    await expect(admission.admit(arrival(`svc_at_${randomBytes(32).toString('base64url')}`))).rejects.toMatchObject({
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
    await expect(admission.admit({ ...arrival(undefined), authorization })).rejects.toMatchObject({
      type: 'invalid_api_key',
    });
  });

  test('another server’s pepper finds nothing', async () => {
    const { key } = await issueKey();
    await expect(admissionWith(randomBytes(32)).admit(arrival(key))).rejects.toMatchObject({ type: 'invalid_api_key' });
  });

  test.each(['revoked_at = now()', `expires_at = auth.clock() - interval '1 second'`, `grace_ends_at = auth.clock()`])(
    'a key with %s is over, and so are its tokens',
    async (change) => {
      const issued = await issueKey();
      const token = await issueToken(issued);
      await admission.admit(arrival(token));
      await setKey(issued, change);
      await expect(admission.admit(arrival(issued.key))).rejects.toMatchObject({ type: 'expired_api_key' });
      await expect(admission.admit(arrival(token))).rejects.toMatchObject({ type: 'expired_api_key' });
    },
  );

  test('a lookup that two keys share still tells them apart', async () => {
    const [first, second] = [await issueKey(), await issueKey()];
    await owner.query(
      'update auth.api_keys set lookup = (select lookup from auth.api_keys where account_id = $1) where account_id = $2',
      [first.accountId, second.accountId],
    );
    expect((await admission.admit(arrival(first.key))).principal.accountId).toBe(first.accountId);
  });

  test('a key remembers when it was last used, to the minute', async () => {
    const issued = await issueKey();
    const lastUsed = async () =>
      (
        await owner.query<{ last_used_at: Date | null }>(
          'select last_used_at from auth.api_keys where account_id = $1',
          [issued.accountId],
        )
      ).rows[0]!.last_used_at;
    expect(await lastUsed()).toBeNull();
    await admission.admit(arrival(issued.key));
    const first = await lastUsed();
    await admission.admit(arrival(issued.key));
    expect(await lastUsed()).toEqual(first);
    await setKey(issued, `last_used_at = auth.clock() - interval '61 seconds'`);
    await admission.admit(arrival(issued.key));
    expect((await lastUsed())!.getTime()).toBeGreaterThanOrEqual(first!.getTime());
  });

  test('the sandbox host takes test keys and sandbox tokens only, and counts no other', async () => {
    const live = await issueKey();
    await expect(admission.admit(arrival(live.key, { onSandboxHost: true }))).rejects.toMatchObject({
      type: 'invalid_api_key',
      problem: { code: 'live_key_in_sandbox' },
    });
    await expect(admission.admit(arrival(await issueToken(live), { onSandboxHost: true }))).rejects.toMatchObject({
      type: 'invalid_api_key',
    });
    expect((await admission.admit(arrival(live.key))).windows[0]).toMatchObject({ remaining: 99 });
    const { key } = await issueKey({ kind: 'svc_test_sk' });
    expect((await admission.admit(arrival(key, { onSandboxHost: true }))).principal.environment).toBe('sandbox');
    expect((await admission.admit(arrival(key))).principal.environment).toBe('sandbox');
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
    const issued = await issueKey();
    const token = await issueToken(issued);
    await setKey(issued, `allowed_ips = '${list}'`);
    for (const credential of [issued.key, token]) {
      const outcome = admission.admit(arrival(credential, { address }));
      if (passes) await expect(outcome).resolves.toMatchObject({ principal: { accountId: issued.accountId } });
      else await expect(outcome).rejects.toMatchObject({ type: 'ip_not_allowed', problem: { status: 403 } });
    }
  });
});

describe('the audit log', () => {
  test('a flood of unknown keys leaves one entry a minute and an alarm', async () => {
    const address = '198.51.100.99';
    for (let attempt = 0; attempt < 25; attempt += 1)
      await expect(admission.admit(arrival(generateApiKey('svc_live_sk'), { address }))).rejects.toMatchObject({
        type: 'invalid_api_key',
      });
    const told = (await auditOf(null)).filter(
      ({ details }) => details['reason'] === 'unknown_credential' && Number(details['attempts_this_hour']) > 0,
    );
    const severities = told
      .slice(-2)
      .map(({ severity, details }) => [severity, details['attempts'], details['attempts_this_hour']]);
    expect(severities).toEqual([
      ['warning', 1, 1],
      ['critical', 9, 10],
    ]);
    await owner.query(`update auth.failures set told_at = told_at - interval '1 minute' where subject = $1`, [
      `address:${address}`,
    ]);
    await expect(admission.admit(arrival(generateApiKey('svc_live_sk'), { address }))).rejects.toMatchObject({
      type: 'invalid_api_key',
    });
    expect((await auditOf(null)).at(-1)).toMatchObject({
      type: 'auth.failed',
      severity: 'critical',
      actor: { type: 'anonymous', id: null },
      details: { attempts: 16, attempts_this_hour: 26 },
    });
  });

  test('a refused key is told in the log of its tenant', async () => {
    const issued = await issueKey();
    await setKey(issued, `allowed_ips = '{192.0.2.0/24}'`);
    await expect(admission.admit(arrival(issued.key))).rejects.toMatchObject({ type: 'ip_not_allowed' });
    await setKey(issued, 'revoked_at = now()');
    await owner.query('update auth.failures set told_at = null');
    await expect(admission.admit(arrival(issued.key))).rejects.toMatchObject({ type: 'expired_api_key' });
    const told = await auditOf(issued.accountId);
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
    await owner.query('alter table events.told_audit_events rename to gone');
    await expect(
      admission.admit(arrival(generateApiKey('svc_live_sk'), { address: '198.51.100.77' })),
    ).rejects.toMatchObject({ type: 'invalid_api_key' });
    await owner.query('alter table events.gone rename to told_audit_events');
    expect(logs.join('')).toContain('a refusal could not be recorded');
  });
});

describe('nonces', () => {
  const principalOf = async ({ key }: Issued) => (await admission.admit(arrival(key))).principal;

  test('of two hundred parallel uses of one nonce exactly one passes', async () => {
    const principal = await principalOf(await issueKey());
    const nonce = randomUUID();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 200 }, () => admission.consumeNonce(principal, '127.0.0.1', nonce)),
    );
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ type: 'duplicate_nonce' });
  });

  test(
    'of two processes that use the same nonces in different orders at the same time, each passes for one, and ' +
      'none is stuck',
    async () => {
      const line = await openDatabase({
        url: testDatabase.applicationUrl,
        entities: [],
        applicationName: 'elsewhere',
        poolMax: 2,
        logger,
      });
      const elsewhere = new PostgresAdmission({
        database: line,
        pubSub,
        keyPepper: pepper,
        rateLimits: standardRateLimits('three'),
        logger,
      });
      const nonces = Array.from({ length: 150 }, () => randomUUID());
      const use = (by: PostgresAdmission, order: readonly string[]) =>
        Promise.all(
          order.map((nonce) =>
            by.consumeNonce(null, '203.0.113.9', nonce).then(
              () => [nonce],
              () => [],
            ),
          ),
        );
      const passed = await Promise.all([
        use(admission, nonces),
        use(elsewhere, nonces.toReversed()),
        use(admission, nonces.toSorted()),
      ]);
      expect(passed.flat(2).toSorted()).toEqual(nonces.toSorted());
      await line.close();
    },
  );

  test('a nonce belongs to its credential, or to the address of a stranger', async () => {
    const [one, other] = await Promise.all([issueKey(), issueKey()].map(async (issued) => principalOf(await issued)));
    const nonce = randomUUID();
    await admission.consumeNonce(one!, '127.0.0.1', nonce);
    await admission.consumeNonce(other!, '127.0.0.1', nonce);
    await admission.consumeNonce(null, '127.0.0.1', nonce);
    await admission.consumeNonce(null, '127.0.0.2', nonce);
    await expect(admission.consumeNonce(null, '127.0.0.2', nonce)).rejects.toMatchObject({ type: 'duplicate_nonce' });
  });

  test('a nonce is free again after a day by the database’s clock, not before', async () => {
    const nonce = randomUUID();
    await admission.consumeNonce(null, 'a', nonce);
    try {
      for (const offset of ['-10 minutes', '10 minutes', '23 hours 59 minutes']) {
        await clock.run(offset);
        await expect(admission.consumeNonce(null, 'a', nonce)).rejects.toMatchObject({ type: 'duplicate_nonce' });
      }
      await clock.run('24 hours 1 minute');
      await admission.consumeNonce(null, 'a', nonce);
    } finally {
      await clock.stop();
    }
  });

  test.each([
    [undefined, 'missing_nonce'],
    ['', 'missing_nonce'],
    ['short', 'invalid_request'],
    ['has spaces in it', 'invalid_request'],
    ['x'.repeat(129), 'invalid_request'],
  ])('the nonce %p is refused', async (nonce, type) => {
    await expect(admission.consumeNonce(null, 'a', nonce)).rejects.toMatchObject({ type });
  });
});

test('of too many callers who come at once, the last are sent away before anything is asked for them', async () => {
  let questions = 0;
  const overheard = {
    ask: (question: Question) => ((questions += Number(question.name === 'auth.admit')), database.ask(question)),
    refuseWhenOverloaded: (pressure: Pressure) => database.refuseWhenOverloaded(pressure),
    asNobody: database.asNobody.bind(database),
  } as unknown as Database;
  const listened = new PostgresAdmission({
    database: overheard,
    pubSub,
    keyPepper: pepper,
    rateLimits: standardRateLimits('three'),
    logger,
  });
  const key = generateApiKey('svc_live_sk');
  const crowd = (keyOf: () => string) =>
    Promise.all(
      Array.from({ length: 700 }, () =>
        listened.admit(arrival(keyOf())).catch((error: ProblemError) => error.problem.code ?? error.type),
      ),
    );
  const heard = await crowd(() => generateApiKey('svc_live_sk'));
  expect(questions).toBe(256 + 20);
  expect(heard.filter((code) => code === 'overloaded')).toHaveLength(700 - questions);
  // One question is not too much, however many ask it.
  expect(new Set(await crowd(() => key))).toEqual(new Set(['invalid_api_key']));
});

describe('calls that come together', () => {
  // No minute ends between two of them.
  beforeAll(() => clock.stop());
  afterAll(() => clock.run());
  const agreeOn = ({ accountId }: Issued, perMinute: number, perDay: number) =>
    owner.query('update auth.accounts set requests_per_minute = $1, requests_per_day = $2 where account_id = $3', [
      perMinute,
      perDay,
      accountId,
    ]);
  /** What each of so many hears: how many calls are left to it, or what refuses it. */
  const together = async (key: string, count: number, by = admission) =>
    (await Promise.allSettled(Array.from({ length: count }, () => by.admit(arrival(key))))).map((outcome) =>
      outcome.status === 'fulfilled'
        ? outcome.value.windows.map(({ remaining }) => remaining)
        : (outcome.reason as { problem: { code: string } }).problem.code,
    );

  test('are counted by one question, as if one had come after the other', async () => {
    const questions: string[] = [];
    const overheard = {
      ask: (question: Question) => (questions.push(question.name), database.ask(question)),
      refuseWhenOverloaded: () => database.refuseWhenOverloaded(),
    } as unknown as Database;
    const issued = await issueKey();
    await agreeOn(issued, 10, 100);
    const listened = new PostgresAdmission({
      database: overheard,
      pubSub,
      keyPepper: pepper,
      rateLimits: standardRateLimits('three'),
      logger,
    });
    // The first of a minute opens the windows.
    expect(await together(issued.key, 1, listened)).toEqual([[9, 99]]);
    expect(await together(issued.key, 4, listened)).toEqual([
      [8, 98],
      [7, 97],
      [6, 96],
      [5, 95],
    ]);
    expect(questions).toEqual(['auth.admit', 'auth.admit']);
  });

  test.each([
    ['minute', 5, 100],
    ['day', 100, 5],
  ])('are let in as far as the %s has room, and it is told once', async (window, perMinute, perDay) => {
    const issued = await issueKey();
    await agreeOn(issued, perMinute, perDay);
    const left = (calls: number): number[] => [perMinute - calls, perDay - calls];
    expect(await together(issued.key, 2)).toEqual([left(1), left(2)]);
    expect(await together(issued.key, 5)).toEqual([left(3), left(4), left(5), `per_${window}`, `per_${window}`]);
    expect(await together(issued.key, 2)).toEqual([`per_${window}`, `per_${window}`]);
    expect((await auditOf(issued.accountId)).map(({ type }) => type)).toEqual(['rate_limit.exceeded']);
  });

  test('of several processes are never more than the window holds', async () => {
    const issued = await issueKey();
    await agreeOn(issued, 40, 1_000);
    const groups = [7, 13, 1, 30, 11];
    const heard = (await Promise.all(groups.map((count) => together(issued.key, count, admissionWith())))).flat();
    const remaining = heard.filter((each) => typeof each !== 'string').map(([minute]) => minute!);
    expect(remaining.toSorted((one, other) => other - one)).toEqual(
      Array.from({ length: 40 }, (_, place) => 39 - place),
    );
    expect(heard.filter((each) => each === 'per_minute')).toHaveLength(22);
  });

  test('by a key that has ended are all refused, and so are all by one that nobody has', async () => {
    const issued = await issueKey();
    await setKey(issued, 'revoked_at = now()');
    const outcomes = await Promise.allSettled(
      [issued.key, generateApiKey('svc_live_sk'), issued.key].map((key) => admission.admit(arrival(key))),
    );
    expect(outcomes).toMatchObject([
      { reason: { type: 'expired_api_key' } },
      { reason: { type: 'invalid_api_key' } },
      { reason: { type: 'expired_api_key' } },
    ]);
  });

  test('from different addresses are judged apart', async () => {
    const issued = await issueKey();
    await setKey(issued, `allowed_ips = '{203.0.113.0/24}'`);
    const outcomes = await Promise.allSettled(
      ['203.0.113.7', '198.51.100.4', '203.0.113.8'].map((address) =>
        admission.admit(arrival(issued.key, { address })),
      ),
    );
    expect(outcomes).toMatchObject([
      { status: 'fulfilled' },
      { reason: { type: 'ip_not_allowed' } },
      { status: 'fulfilled' },
    ]);
  });
});

test('the application cannot read nonces, windows or other accounts’ keys by itself, nor set the clock', async () => {
  await issueKey();
  for (const table of ['nonces', 'rate_windows', 'failures'])
    await expect(database.asNobody((em) => em.execute(`select * from auth.${table}`))).rejects.toThrow(
      /permission denied/,
    );
  for (const table of ['api_keys', 'credentials'])
    await expect(database.asNobody((em) => em.execute(`select * from auth.${table}`))).resolves.toEqual([]);
  await expect(
    database.asNobody((em) =>
      em.execute(`create or replace function auth.clock() returns timestamptz language sql stable as 'select now()'`),
    ),
  ).rejects.toThrow(/permission denied|must be owner/);
});

test('an operator registers once', async () => {
  const operatorEmail = `${randomUUID()}@Example.com`;
  const register = (email: string) => {
    const accountId = newUuid();
    return database.asTenant(accountId, (em) =>
      createAccount(em, { accountId, operatorId: null, operatorEmail: email }),
    );
  };
  await register(operatorEmail);
  await expect(register(operatorEmail.toUpperCase())).rejects.toMatchObject({
    type: 'conflict',
    problem: { code: 'operator_already_registered' },
  });
});
