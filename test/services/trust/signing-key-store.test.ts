import { Writable } from 'node:stream';
import pg from 'pg';
import { openDatabase, type Database } from '../../../platform/postgres/database.ts';
import { createLogger } from '../../../platform/telemetry/logs.ts';
import { KeyVault } from '../../../services/trust/key-vault.ts';
import { trustOwner } from '../../../services/trust/migrations.ts';
import { PublicKeyStore, SigningKeyError, SigningKeyStore } from '../../../services/trust/signing-key-store.ts';
import { createTestDatabase, PATIENCE_MS, type TestDatabase } from '../../platform.ts';

const SECRET = 'a-secret-for-tests-that-nobody-else-uses';
const ISSUER = 'https://api.example';
const logger = createLogger({
  level: 'silent',
  format: 'json',
  destination: new Writable({ write: (_chunk, _encoding, done) => done() }),
});

describe('signing keys', () => {
  let testDatabase: TestDatabase;
  let database: Database;
  let owner: pg.Client;
  let keys: SigningKeyStore;
  let published: PublicKeyStore;

  beforeAll(async () => {
    testDatabase = await createTestDatabase([trustOwner]);
    database = await openDatabase({
      url: testDatabase.applicationUrl,
      entities: [],
      applicationName: 'test',
      poolMax: 12,
      logger,
      timeoutMs: PATIENCE_MS,
    });
    owner = new pg.Client({ connectionString: testDatabase.ownerUrl });
    await owner.connect();
    keys = new SigningKeyStore(database, new KeyVault(SECRET));
    published = new PublicKeyStore(database);
  });
  afterAll(async () => {
    await owner?.end();
    await database?.close();
    await testDatabase?.drop();
  });
  beforeEach(async () => {
    await owner.query('truncate trust.signing_keys, trust.issuers');
  });

  const current = (environment: 'live' | 'sandbox' = 'live') =>
    database.asNobody((em) => keys.current(em, environment));
  const inUse = async () =>
    (await published.list())
      .filter(({ status }) => status === 'current' || status === 'next')
      .map(({ environment, status }) => `${environment} ${status}`)
      .toSorted();
  const ALL_IN_USE = ['live current', 'live next', 'sandbox current', 'sandbox next'];

  test('processes that start together make one set of keys', async () => {
    const starting = Array.from({ length: 8 }, () =>
      new SigningKeyStore(database, new KeyVault(SECRET)).ensure(ISSUER),
    );
    await Promise.all(starting);
    expect(await inUse()).toEqual(ALL_IN_USE);
    expect(await published.list()).toHaveLength(4);
    expect(await published.isIssuer(ISSUER)).toBe(true);
    expect(await published.isIssuer('https://other.example')).toBe(false);
  });

  test('no private key lies in the database in the clear, and none is left of a key that has ended', async () => {
    await keys.ensure(ISSUER);
    const { privateKey } = await current();
    const seed = Buffer.from((privateKey.export({ format: 'jwk' }) as { d: string }).d, 'base64url');
    const sealed = async () =>
      (
        await owner.query<{ sealed: Buffer }>(
          'select sealed_private_key as sealed from trust.signing_keys where sealed_private_key is not null',
        )
      ).rows;
    for (const row of await sealed()) expect(row.sealed.includes(seed)).toBe(false);
    await keys.rotate('live');
    const { rows } = await owner.query(
      `select count(*)::int as n from trust.signing_keys where status = 'retired' and sealed_private_key is not null`,
    );
    expect(rows).toEqual([{ n: 0 }]);
  });

  test('the key that was published as next signs after a rotation', async () => {
    await keys.ensure(ISSUER);
    const next = (await published.published()).find(
      ({ environment, status }) => environment === 'live' && status === 'next',
    )!;
    const [before, sandbox] = [(await current()).kid, (await current('sandbox')).kid];
    expect(await keys.rotate('live')).toBe(next.kid);
    expect((await current()).kid).toBe(next.kid);
    expect((await current('sandbox')).kid).toBe(sandbox);
    expect(await published.find(before)).toMatchObject({ status: 'retired' });
    expect(await inUse()).toEqual(ALL_IN_USE);
  });

  test('rotations at once leave one current key, whoever comes first', async () => {
    await keys.ensure(ISSUER);
    await Promise.all(Array.from({ length: 5 }, () => keys.rotate('live')));
    expect(await inUse()).toEqual(ALL_IN_USE);
    expect((await published.list()).filter(({ status }) => status === 'retired')).toHaveLength(5);
  });

  test('retired keys stay published for two years, revoked ones for ever', async () => {
    await keys.ensure(ISSUER);
    const [retired, revoked] = [(await current()).kid, (await current('sandbox')).kid];
    await keys.rotate('live');
    await keys.revoke(revoked);
    const age = (interval: string) =>
      owner.query(`update trust.signing_keys set ended_at = now() - $1::interval where ended_at is not null`, [
        interval,
      ]);
    const shown = async () => new Map((await published.published()).map(({ kid, status }) => [kid, status]));
    await age('729 days');
    expect([(await shown()).get(retired), (await shown()).get(revoked)]).toEqual(['retired', 'revoked']);
    await age('732 days');
    expect((await shown()).has(retired)).toBe(false);
    expect(await published.find(retired)).toBeNull();
    expect((await shown()).get(revoked)).toBe('revoked');
  });

  test('revoking the key in use puts the next one in its place; a key that there is not is refused', async () => {
    await keys.ensure(ISSUER);
    const [{ kid }, next] = [
      await current(),
      (await published.published()).find(({ environment, status }) => environment === 'live' && status === 'next')!,
    ];
    await keys.revoke(kid);
    expect((await current()).kid).toBe(next.kid);
    await keys.revoke(
      (await published.list()).find(({ environment, status }) => environment === 'live' && status === 'next')!.kid,
    );
    expect(await inUse()).toEqual(ALL_IN_USE);
    await expect(keys.revoke('nobody')).rejects.toMatchObject({ type: 'resource_not_found' });
  });

  test('a revocation waits for the transaction that signs, and the one behind it signs by another key', async () => {
    await keys.ensure(ISSUER);
    const order: string[] = [];
    let revocation: Promise<void> = Promise.resolve();
    await database.asNobody(async (em) => {
      const { kid } = await keys.current(em, 'live');
      revocation = keys.revoke(kid).then(() => void order.push('revoked'));
      await new Promise((resolve) => setTimeout(resolve, 200));
      order.push('signed');
    });
    await revocation;
    expect(order).toEqual(['signed', 'revoked']);
  });

  test('a key that signed for long enough is replaced, a younger one is not', async () => {
    await keys.ensure(ISSUER);
    expect(await keys.rotateOlderThan(90)).toEqual([]);
    await owner.query(
      `update trust.signing_keys set current_since = now() - interval '91 days' where status = 'current' and ` +
        `environment = 'sandbox'`,
    );
    const [live, sandbox] = [(await current()).kid, (await current('sandbox')).kid];
    expect(await keys.rotateOlderThan(90)).toEqual(['sandbox']);
    expect((await current()).kid).toBe(live);
    expect((await current('sandbox')).kid).not.toBe(sandbox);
  });

  test('under another secret a start is refused, and a rotation makes keys that work', async () => {
    await keys.ensure(ISSUER);
    const other = new SigningKeyStore(database, new KeyVault('another-secret-that-is-long-enough'));
    await expect(other.ensure(ISSUER)).rejects.toThrow(SigningKeyError);
    await expect(other.ensure(ISSUER)).rejects.toThrow('KEY_ENCRYPTION_KEY');
    await other.rotate('live');
    await other.rotate('sandbox');
    await other.ensure(ISSUER);
    expect(await inUse()).toEqual(ALL_IN_USE);
  });

  test('a key that was moved to another row does not open there', async () => {
    await keys.ensure(ISSUER);
    await owner.query(
      `update trust.signing_keys to_row set sealed_private_key = from_row.sealed_private_key ` +
        `from trust.signing_keys from_row ` +
        `where to_row.status = 'current' and to_row.environment = 'live' ` +
        `and from_row.status = 'current' and from_row.environment = 'sandbox'`,
    );
    await expect(current()).rejects.toThrow(SigningKeyError);
  });
});
