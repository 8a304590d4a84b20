import { randomBytes, randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import pg from 'pg';
import { createAccount } from '../../../platform/auth/account-store.ts';
import { generateApiKey } from '../../../platform/auth/api-key.ts';
import { KeyStore } from '../../../platform/auth/key-store.ts';
import { authOwner } from '../../../platform/auth/migrations.ts';
import { PostgresAdmission } from '../../../platform/auth/postgres-admission.ts';
import { SCOPES, type Principal } from '../../../platform/auth/principal.ts';
import { newUuid, type Uuid } from '../../../platform/identifiers.ts';
import { openDatabase, type Database } from '../../../platform/postgres/database.ts';
import { createLogger } from '../../../platform/telemetry/logs.ts';
import { createTestDatabase, type TestDatabase } from '../../platform.ts';

const pepper = randomBytes(32);
const logger = createLogger({ level: 'silent', format: 'json', destination: new Writable({ write: (_chunk, _encoding, done) => done() }) });
const bearer = (key: string) => `Bearer ${key}`;

describe('admission', () => {
  let testDatabase: TestDatabase;
  let database: Database;
  let keys: KeyStore;
  let admission: PostgresAdmission;
  let owner: pg.Client;

  beforeAll(async () => {
    testDatabase = await createTestDatabase([authOwner]);
    database = await openDatabase({ url: testDatabase.applicationUrl, entities: [], applicationName: 'test', poolMax: 20, logger });
    keys = new KeyStore(database, pepper);
    admission = new PostgresAdmission(database, keys);
    owner = new pg.Client({ connectionString: testDatabase.ownerUrl });
    await owner.connect();
  });

  afterAll(async () => {
    await owner?.end();
    await database?.close();
    await testDatabase?.drop();
  });

  async function issueKey(scopes?: Principal['scopes']): Promise<{ key: string; accountId: Uuid }> {
    const accountId = newUuid();
    const key = await database.asTenant(accountId, async (em) => {
      await createAccount(em, { accountId, operatorId: randomUUID(), operatorEmail: null });
      return keys.issue(em, { accountId, agentId: null, kind: 'svc_live_sk', ...(scopes === undefined ? {} : { scopes }) });
    });
    return { key, accountId };
  }

  test('a key leads to its account and scopes', async () => {
    const { key, accountId } = await issueKey(['attribution:read']);
    await expect(admission.authenticate(bearer(key))).resolves.toMatchObject({ kind: 'account', accountId, agentId: null, scopes: ['attribution:read'], environment: 'live' });
  });

  test('a key without named scopes has all ten', async () => {
    const { key } = await issueKey();
    expect((await admission.authenticate(`bearer   ${key}`)).scopes).toEqual(SCOPES);
  });

  test('a well-formed key that nobody was given is unknown', async () => {
    await expect(admission.authenticate(bearer(generateApiKey('svc_live_sk')))).rejects.toMatchObject({ type: 'invalid_api_key' });
  });

  test.each([undefined, '', 'Basic abc', 'Bearer', 'Bearer short', 'Bearer svc_live_sk_', `Bearer svc_live_sk_${'é'.repeat(24)}`])('%p is no credential', async (header) => {
    await expect(admission.authenticate(header)).rejects.toMatchObject({ type: 'invalid_api_key' });
  });

  test('another server’s pepper finds nothing', async () => {
    const { key } = await issueKey();
    const elsewhere = new PostgresAdmission(database, new KeyStore(database, randomBytes(32)));
    await expect(elsewhere.authenticate(bearer(key))).rejects.toMatchObject({ type: 'invalid_api_key' });
  });

  test.each(['revoked_at = now()', `expires_at = now() - interval '1 second'`])('a key with %s is over', async (change) => {
    const { key, accountId } = await issueKey();
    await owner.query(`update auth.api_keys set ${change} where account_id = $1`, [accountId]);
    await expect(admission.authenticate(bearer(key))).rejects.toMatchObject({ type: 'expired_api_key' });
  });

  test('a lookup that two keys share still tells them apart', async () => {
    const [first, second] = [await issueKey(), await issueKey()];
    await owner.query('update auth.api_keys set lookup = (select lookup from auth.api_keys where account_id = $1) where account_id = $2', [first.accountId, second.accountId]);
    expect((await admission.authenticate(bearer(first.key))).accountId).toBe(first.accountId);
  });

  test('of two hundred parallel uses of one nonce exactly one passes', async () => {
    const { key } = await issueKey();
    const principal = await admission.authenticate(bearer(key));
    const nonce = randomUUID();
    const outcomes = await Promise.allSettled(Array.from({ length: 200 }, () => admission.consumeNonce(principal, '127.0.0.1', nonce)));
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes) if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ type: 'duplicate_nonce' });
  });

  test('a nonce belongs to its credential, or to the address of a stranger', async () => {
    const [one, other] = await Promise.all([issueKey(), issueKey()].map(async (issued) => admission.authenticate(bearer((await issued).key))));
    const nonce = randomUUID();
    await admission.consumeNonce(one!, '127.0.0.1', nonce);
    await admission.consumeNonce(other!, '127.0.0.1', nonce);
    await admission.consumeNonce(null, '127.0.0.1', nonce);
    await admission.consumeNonce(null, '127.0.0.2', nonce);
    await expect(admission.consumeNonce(null, '127.0.0.2', nonce)).rejects.toMatchObject({ type: 'duplicate_nonce' });
  });

  test('a nonce is free again after a day, not before', async () => {
    const nonce = randomUUID();
    await admission.consumeNonce(null, 'a', nonce);
    await owner.query(`update auth.nonces set used_at = now() - interval '23 hours 59 minutes' where nonce = $1`, [nonce]);
    await expect(admission.consumeNonce(null, 'a', nonce)).rejects.toMatchObject({ type: 'duplicate_nonce' });
    await owner.query(`update auth.nonces set used_at = now() - interval '24 hours 1 second' where nonce = $1`, [nonce]);
    await admission.consumeNonce(null, 'a', nonce);
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

  test('the application cannot read nonces or other accounts’ keys by itself', async () => {
    await issueKey();
    await expect(database.asNobody((em) => em.execute('select * from auth.nonces'))).rejects.toThrow(/permission denied/);
    await expect(database.asNobody((em) => em.execute('select * from auth.api_keys'))).resolves.toEqual([]);
  });

  test('an operator registers once', async () => {
    const operatorEmail = `${randomUUID()}@Example.com`;
    const register = (email: string) => {
      const accountId = newUuid();
      return database.asTenant(accountId, (em) => createAccount(em, { accountId, operatorId: null, operatorEmail: email }));
    };
    await register(operatorEmail);
    await expect(register(operatorEmail.toUpperCase())).rejects.toMatchObject({ type: 'conflict', problem: { code: 'operator_already_registered' } });
  });
});
