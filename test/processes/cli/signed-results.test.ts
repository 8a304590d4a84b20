import { createPrivateKey } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { openDatabase, type Database } from '../../../platform/postgres/database.ts';
import { createLogger } from '../../../platform/telemetry/logs.ts';
import { KeyVault } from '../../../services/trust/key-vault.ts';
import { trustOwner } from '../../../services/trust/migrations.ts';
import { resultDigest, signClaims } from '../../../services/trust/signed-result.ts';
import { PublicKeyStore, SigningKeyStore } from '../../../services/trust/signing-key-store.ts';
import { keySetOf, newSigningKey } from '../../../services/trust/signing-key.ts';
import { exampleAttribution } from '../../../rest-adapter/representations/attribution-result.ts';
import { createTestDatabase, PATIENCE_MS, type TestDatabase } from '../../platform.ts';
import { startCli, type CliResult } from './run-cli.ts';

const SECRET = 'a-secret-for-tests-that-nobody-else-uses';
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cli-signed-'));
});
afterAll(() => rm(folder, { recursive: true }));

const liftgraph = (
  args: readonly string[],
  more: { env?: Record<string, string>; input?: string } = {},
): Promise<CliResult> => startCli(args, { cwd: folder, temporary: folder, ...more }).result;

describe('liftgraph verify', () => {
  let server: Server;
  let address: string;
  let text: string;

  beforeAll(async () => {
    const { kid, x, privateKey } = await newSigningKey('live');
    const key = { kid, privateKey: createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' }) };
    // The public id of a result has 22 characters behind its prefix.
    const result = { ...exampleAttribution, id: 'attr_0351EFUQxpVTZ7WdNYMSuY' };
    const claims = {
      iss: 'https://api.example',
      sub: result.id,
      iat: 1_769_938_200,
      jti: 'j',
      revision: 1,
      delta_r_cents: 1_872_970,
      digest: resultDigest(result),
    };
    text = JSON.stringify({ ...result, signature: await signClaims(claims, key) });
    const keySet = (status: 'current' | 'revoked') =>
      JSON.stringify({
        keys: [
          { kty: 'EC', crv: 'P-256', kid: 'of-another-kind' },
          ...keySetOf([{ kid, x, environment: 'live', status }]).keys,
        ],
      });
    await Promise.all([
      writeFile(join(folder, 'result.json'), text),
      writeFile(join(folder, 'changed.json'), text.replace('"revenue":151004.25', '"revenue":151004.26')),
      writeFile(join(folder, 'twice.json'), text.replace('"revenue":', '"revenue":1,"revenue":')),
      writeFile(join(folder, 'unsigned.json'), JSON.stringify({ ...result, signature: null })),
      writeFile(join(folder, 'signature.txt'), `${String((JSON.parse(text) as { signature: string }).signature)}\n`),
      writeFile(join(folder, 'jwks.json'), keySet('current')),
      writeFile(join(folder, 'revoked.json'), keySet('revoked')),
      writeFile(join(folder, 'empty.json'), '{"keys":[]}'),
    ]);
    server = createServer(
      (request, response) =>
        void (request.url === '/.well-known/jwks.json'
          ? response.end(keySet('current'))
          : response.writeHead(404).end()),
    );
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  test('believes what was signed, from a file of keys, from their address, and from standard input', async () => {
    const [file, url, input, alone] = await Promise.all([
      liftgraph(['verify', 'result.json', '--jwks', 'jwks.json', '--issuer', 'https://api.example/']),
      liftgraph(['verify', 'result.json', '--jwks', `${address}/.well-known/jwks.json`, '--json']),
      liftgraph(['verify', '-', '--jwks', 'jwks.json'], { input: text }),
      liftgraph(['verify', 'signature.txt', '--jwks', 'jwks.json']),
    ]);
    expect([file.code, url.code, input.code, alone.code]).toEqual([0, 0, 0, 0]);
    expect(file.stdout.split('\n').slice(0, 3)).toEqual([
      'valid',
      '  result      attr_0351EFUQxpVTZ7WdNYMSuY, revision 1',
      '  signed      2026-02-01T09:30:00.000Z by https://api.example, live data',
    ]);
    expect(file.stdout).toContain('the result is exactly what was signed');
    expect(input.stdout).toBe(file.stdout);
    expect(alone.stdout).toContain('nothing: the signature came without its result');
    expect(JSON.parse(url.stdout)).toMatchObject({
      valid: true,
      signature_valid: true,
      digest_match: true,
      reason: null,
      subject: { id: 'attr_0351EFUQxpVTZ7WdNYMSuY' },
      payload: { delta_r_cents: 1_872_970 },
    });
  }, 60_000);

  test('says what is wrong with a result that is not genuine, with code 1', async () => {
    const [changed, revoked, unknown, issuer] = await Promise.all([
      liftgraph(['verify', 'changed.json', '--jwks', 'jwks.json']),
      liftgraph(['verify', 'result.json', '--jwks', 'revoked.json']),
      liftgraph(['verify', 'result.json', '--jwks', 'empty.json', '--json']),
      liftgraph(['verify', 'result.json', '--jwks', 'jwks.json', '--issuer', 'https://other.example']),
    ]);
    expect([changed.code, revoked.code, unknown.code, issuer.code]).toEqual([1, 1, 1, 1]);
    expect(changed.stdout).toContain(
      'NOT VALID: digest_mismatch: the result is not the one that was signed; something in it was changed.',
    );
    expect(revoked.stdout).toContain('NOT VALID: revoked_key');
    expect(JSON.parse(unknown.stdout)).toMatchObject({ valid: false, reason: 'unknown_key', payload: null });
    expect(issuer.stdout).toContain('NOT VALID: wrong_issuer');
  }, 60_000);

  test('says why nothing could be found out, with code 2', async () => {
    const cases = await Promise.all(
      [
        ['nothing.json', 'jwks.json'],
        ['result.json', 'nothing.json'],
        ['result.json', `${address}/elsewhere`],
        ['result.json', 'result.json'],
        ['unsigned.json', 'jwks.json'],
        ['twice.json', 'jwks.json'],
      ].map(([file, jwks]) => liftgraph(['verify', file!, '--jwks', jwks!])),
    );
    expect(cases.map(({ code, stdout }) => ({ code, stdout }))).toEqual(cases.map(() => ({ code: 2, stdout: '' })));
    expect(cases.map(({ stderr }) => stderr.trimEnd())).toEqual([
      'error: nothing.json: there is no such file. Check the path.',
      'error: nothing.json: there is no such file. Check the path.',
      `error: ${address}/elsewhere: the keys cannot be fetched: it was answered with 404.`,
      `error: result.json: this is not a key set (RFC 7517). Give the service's /.well-known/jwks.json, or a copy ` +
        'of it.',
      'error: unsigned.json: the result carries no signature. Give a completed result, as GET /v1/attribution/{id} ' +
        'shows it.',
      'error: twice.json: It cannot be read: the member "revenue" stands twice in one object.',
    ]);
  }, 60_000);
});

describe('liftgraph keys', () => {
  let testDatabase: TestDatabase;
  let database: Database;
  let env: Record<string, string>;

  beforeAll(async () => {
    testDatabase = await createTestDatabase([trustOwner]);
    const logger = createLogger({
      level: 'silent',
      format: 'json',
      destination: new Writable({ write: (_chunk, _encoding, done) => done() }),
    });
    database = await openDatabase({
      url: testDatabase.applicationUrl,
      entities: [],
      applicationName: 'test',
      poolMax: 2,
      logger,
      timeoutMs: PATIENCE_MS,
    });
    await new SigningKeyStore(database, new KeyVault(SECRET)).ensure('https://api.example');
    env = {
      DATABASE_URL: testDatabase.applicationUrl,
      DATABASE_OWNER_URL: testDatabase.ownerUrl,
      KEY_ENCRYPTION_KEY: SECRET,
      LIFTGRAPH_DATA_DIR: folder,
    };
  });
  afterAll(async () => {
    await database?.close();
    await testDatabase?.drop();
  });

  const keys = (args: readonly string[], more: Record<string, string> = {}) =>
    liftgraph(['keys', ...args], { env: { ...env, ...more } });
  const inState = async (status: string) =>
    (await new PublicKeyStore(database).list()).filter((key) => key.status === status).map(({ kid }) => kid);

  test('lists, rotates and revokes', async () => {
    const current = await inState('current');
    const [live, sandbox] = [
      current.find((kid) => !kid.startsWith('sandbox-'))!,
      current.find((kid) => kid.startsWith('sandbox-'))!,
    ];
    const listed = await keys(['list']);
    expect(listed.code).toBe(0);
    expect(listed.stdout).toMatch(new RegExp(`^${live} +live +current +made \\d{4}-\\d\\d-\\d\\d, signs since`, 'm'));

    const rotated = await keys(['rotate', '--environment', 'live']);
    expect(rotated.code).toBe(0);
    expect(rotated.stdout).toMatch(/^live: \S{43} signs from now on/);
    expect(await inState('retired')).toEqual([live]);
    expect(await inState('current')).toContain(sandbox);

    expect((await keys(['revoke', live])).stdout).toBe(
      `${live} is revoked: nothing that it signed is valid any more\n`,
    );
    expect(await inState('revoked')).toEqual([live]);
    const asJson = await keys(['list', '--json', '--environment', 'live']);
    expect((JSON.parse(asJson.stdout) as { status: string }[]).map(({ status }) => status).toSorted()).toEqual([
      'current',
      'next',
      'revoked',
    ]);
    expect(asJson.stdout).not.toContain('sealed');
  }, 60_000);

  test('refuse what would stop the workers, and say what is missing', async () => {
    const before = await inState('current');
    const [wrong, missing, nobody, hyphen, nowhere] = await Promise.all([
      keys(['rotate'], { KEY_ENCRYPTION_KEY: 'another-secret-that-is-long-enough' }),
      keys(['rotate'], { KEY_ENCRYPTION_KEY: '' }),
      keys(['revoke', 'nobody']),
      keys(['revoke', '-TjQr18dRTei-EZfGEjapwqI7IuTZfuOfZ1tf4gk7rw']),
      keys(['list'], { DATABASE_URL: '', DATABASE_OWNER_URL: '' }),
    ]);
    expect([wrong.code, missing.code, nobody.code, hyphen.code, nowhere.code]).toEqual([1, 1, 1, 1, 1]);
    expect(wrong.stderr).toContain('does not open: KEY_ENCRYPTION_KEY is not the secret');
    expect(missing.stderr).toContain('error: KEY_ENCRYPTION_KEY is not set');
    expect(nobody.stderr).toBe('error: There is no signing key nobody.\n');
    expect(hyphen.stderr).toBe('error: There is no signing key -TjQr18dRTei-EZfGEjapwqI7IuTZfuOfZ1tf4gk7rw.\n');
    expect(nowhere.stderr).toContain(`error: Nothing runs on the data directory ${folder}.`);
    expect(await inState('current')).toEqual(before);
    expect(
      (await keys(['rotate', '--lost-secret'], { KEY_ENCRYPTION_KEY: 'another-secret-that-is-long-enough' })).code,
    ).toBe(0);
    await new SigningKeyStore(database, new KeyVault('another-secret-that-is-long-enough')).assertUsable();
  }, 60_000);
});
