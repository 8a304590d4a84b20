import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { createAccount } from '../../../services/identity/accounts/account-store.ts';
import { PostgresAdmission } from '../../../services/identity/admission/postgres-admission.ts';
import { SCOPES, type Principal } from '../../../schema/principal.ts';
import { standardRateLimits } from '../../../services/identity/limits/rate-limits.ts';
import { newUuid } from '../../../platform/identifiers.ts';
import { openDatabase, type Database } from '../../../platform/postgres/database.ts';
import { createPubSub, type PubSub } from '../../../platform/postgres/pub-sub.ts';
import { createLogger } from '../../../platform/telemetry/logs.ts';
import { MIGRATION_OWNERS } from '../../../processes/backing-services.ts';
import { createTestDatabase, PATIENCE_MS, type TestDatabase } from '../../platform.ts';
import { startCli, type CliResult } from './run-cli.ts';

const PEPPER = randomBytes(24).toString('hex');

let folder: string;
let testDatabase: TestDatabase;
let database: Database;
let pubSub: PubSub;
let admission: PostgresAdmission;
let env: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'cli-admin-'));
  // PostgreSQL, which does not run as root, has to get into it.
  await chmod(folder, 0o755);
  testDatabase = await createTestDatabase(MIGRATION_OWNERS);
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
  pubSub = await createPubSub({ url: testDatabase.applicationUrl, database, logger });
  admission = new PostgresAdmission({
    database,
    pubSub,
    keyPepper: Buffer.from(PEPPER),
    rateLimits: standardRateLimits('three'),
    logger,
  });
  env = {
    DATABASE_URL: testDatabase.applicationUrl,
    DATABASE_OWNER_URL: testDatabase.ownerUrl,
    KEY_PEPPER: PEPPER,
    LIFTGRAPH_DATA_DIR: join(folder, 'data'),
  };
});
afterAll(async () => {
  await pubSub?.close();
  await database?.close();
  await testDatabase?.drop();
  await rm(folder, { recursive: true });
});

const admin = (args: readonly string[], more: Record<string, string> = {}): Promise<CliResult> =>
  startCli(['admin', ...args], { cwd: folder, temporary: folder, env: { ...env, ...more } }).result;

/** Who the service says that the key is. */
async function principalOf(key: string): Promise<Principal> {
  return (
    await admission.admit({
      requestId: 'req_test',
      origin: { clientAddress: '192.0.2.1', userAgent: null },
      authorization: `Bearer ${key}`,
      onSandboxHost: false,
    })
  ).principal;
}

test('an account comes with a pair of keys that may do everything', async () => {
  const { code, stdout } = await admin([
    'account',
    'create',
    '--email',
    'Ops@Shop.example',
    '--plan',
    'enterprise',
    '--name',
    'Shop',
    '--requests-per-minute',
    '900',
  ]);
  expect(code).toBe(0);
  const [live, sandbox] = [
    /live key {2}(svc_live_sk_\w{24})\n/.exec(stdout)?.[1],
    /test key {2}(svc_test_sk_\w{24})\n/.exec(stdout)?.[1],
  ];
  expect(stdout).toContain('they are shown this once');
  expect(stdout).toContain(`  curl -sS http://127.0.0.1:4000/v1/keys -H 'Authorization: Bearer ${live}'`);
  expect(await principalOf(live!)).toMatchObject({ environment: 'live', agentId: null, scopes: SCOPES });
  expect(await principalOf(sandbox!)).toMatchObject({ environment: 'sandbox', agentId: null, scopes: SCOPES });

  const again = await admin(['account', 'create', '--email', 'ops@shop.example']);
  expect([again.code, again.stderr]).toEqual([
    1,
    'error: There is an account of ops@shop.example already. Another pair of keys for it: npx liftgraph admin key ' +
      'create --account ops@shop.example\n',
  ]);

  const spare = await admin([
    'key',
    'create',
    '--account',
    'OPS@shop.example',
    '--scopes',
    'health:read, audit:read',
    '--json',
  ]);
  const made = JSON.parse(spare.stdout) as { account_id: string; live: { key: string } };
  expect(await principalOf(made.live.key)).toMatchObject({
    accountId: made.account_id,
    scopes: ['health:read', 'audit:read'],
  });

  const planned = await admin(['account', 'set-plan', made.account_id, 'pro']);
  expect(planned.stdout).toMatch(
    new RegExp(`^${made.account_id} {2}pro +people +4 keys, since \\d{4}-\\d\\d-\\d\\d {2}ops@shop.example, Shop\n$`),
  );
  const listed = JSON.parse((await admin(['account', 'list', '--json'])).stdout) as unknown[];
  expect(listed).toMatchObject([
    {
      account_id: made.account_id,
      operator_email: 'ops@shop.example',
      plan: 'pro',
      requests_per_minute: null,
      working_keys: 4,
      agent_id: null,
    },
  ]);
  expect(JSON.stringify(listed)).not.toMatch(/svc_/);
}, 60_000);

test('whoever registers under a name of control characters forges no line of the list', async () => {
  const accountId = newUuid();
  await database.asTenant(accountId, (em) =>
    createAccount(em, { accountId, operatorId: '\u001b[2Kshop\n0000  pro', operatorEmail: null, tier: 'discovery' }),
  );
  const lines = (await admin(['account', 'list'])).stdout.trimEnd().split('\n');
  expect(lines.filter((line) => line.includes('shop'))).toEqual(
    lines.filter((line) => line.startsWith(accountId) || line.includes('@shop')),
  );
  expect(lines.find((line) => line.startsWith(accountId))).toContain('·[2Kshop·0000  pro');
}, 60_000);

test('what cannot be done is refused with code 1 and what to do', async () => {
  const cases: readonly [readonly string[], Record<string, string>, string][] = [
    [['account', 'create', '--email', 'nobody'], {}, 'error: nobody is not an e-mail address.\n'],
    [
      ['account', 'create', '--email', 'a@b.example', '--plan', 'free'],
      {},
      'Allowed choices are pay_per_analysis, pro_trial, pro, enterprise, self_hosted',
    ],
    [['key', 'create', '--account', 'a@b.example', '--scopes', 'all'], {}, 'Scopes are attribution:read'],
    [['account', 'set-plan', 'a@b.example', 'pro'], {}, 'error: There is no account a@b.example.'],
    [
      ['account', 'create', '--email', 'a@b.example'],
      { KEY_PEPPER: '' },
      'error: KEY_PEPPER is not set, and the data directory has none.',
    ],
    [['account', 'list'], { PORT: 'x' }, 'error: PORT=x: expected a whole number'],
  ];
  await Promise.all(
    cases.map(async ([args, more, message]) => {
      const { code, stdout, stderr } = await admin(args, more);
      expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' });
      expect(stderr).toContain(message);
    }),
  );
}, 60_000);

test('a data directory does without the service: its database runs as long as the command', async () => {
  const own = { DATABASE_URL: '', DATABASE_OWNER_URL: '', KEY_PEPPER: '' };
  const empty = await admin(['account', 'list'], own);
  expect([empty.code, empty.stdout]).toEqual([0, '']);
  expect(empty.stderr).toContain('There is no account yet.');
  expect((await admin(['account', 'create', '--email', 'ops@shop.example'], own)).code).toBe(0);
  const billing = ['account', 'create', '--email', 'brand@shop.example'];
  expect((await admin(billing, { ...own, PUBLIC_BASE_URL: 'https://api.example/v1' })).code).toBe(0);
  const named = ['account', 'create', '--email', 'own@shop.example', '--plan', 'self_hosted'];
  expect((await admin(named, { ...own, BILLING: 'on' })).code).toBe(0);
  // Newest first. Where nothing is said, it is the plan of whoever registers.
  const plans = (await admin(['account', 'list'], own)).stdout.split('\n').map((line) => line.split(/ {2,}/)[1]);
  expect(plans.slice(0, 3)).toEqual(['self_hosted', 'pay_per_analysis', 'self_hosted']);
}, 120_000);
