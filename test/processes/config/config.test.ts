import { ConfigError, ROLES, loadConfig } from '../../../processes/config/config.ts';
import { mostConnections, openFilesLimit, usualConnections } from '../../../processes/config/open-files.ts';

const SECRET = 'this-secret-is-long-enough-to-be-one';
const split = {
  DATABASE_URL: 'postgresql://app:hunter2@db:5432/lift',
  CLICKHOUSE_URL: 'http://default:hunter2@ch:8123',
  INTERNAL_SECRET: SECRET,
  KEY_PEPPER: SECRET,
  KEY_ENCRYPTION_KEY: SECRET,
  AUDIT_HEADS_FILE: '/var/lib/liftgraph/audit-heads.ndjson',
};

function refusal(env: Record<string, string>): string {
  try {
    loadConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error('was accepted');
}

describe('loadConfig', () => {
  test('an empty environment runs everything on this machine alone', () => {
    const config = loadConfig({});
    expect(config).toMatchObject({
      role: 'all',
      host: '127.0.0.1',
      port: 4000,
      publicBaseUrl: 'http://127.0.0.1:4000/v1',
      logLevel: 'info',
      logFormat: 'json',
      graphqlIntrospection: true,
      jobLeaseS: 60,
      uploadMaxBytes: 8_589_934_592,
      sourcesPerAccount: 500,
      diskReserveBytes: 536_870_912,
      trustedProxyHops: 0,
      rowsEarliestDay: '2000-01-01',
      rowsMaxAheadHours: 48,
    });
    expect(config.databaseUrl).toBeUndefined();
    expect(config.clickhouseUrl).toBeUndefined();
    expect(config.dataDir).toMatch(/^\/.*\.data$/);
    expect(config.computeThreads).toBeGreaterThanOrEqual(1);
  });

  test('an empty variable counts as unset', () => {
    expect(loadConfig({ PORT: '', DATABASE_URL: '', LIFTGRAPH_ROLE: '' })).toEqual(loadConfig({}));
  });

  test('the owner of the schemas defaults to the one login there is', () => {
    expect(loadConfig({ DATABASE_URL: 'postgres://a:b@c/d' }).databaseOwnerUrl).toBe('postgres://a:b@c/d');
    expect(
      loadConfig({ DATABASE_URL: 'postgres://a:b@c/d', DATABASE_OWNER_URL: 'postgres://o:b@c/d' }).databaseOwnerUrl,
    ).toBe('postgres://o:b@c/d');
  });

  test('the dates of rows can be narrowed', () => {
    const narrow = loadConfig({ ROWS_EARLIEST_DAY: '2024-06-01', ROWS_MAX_AHEAD_HOURS: '0' });
    expect(narrow).toMatchObject({ rowsEarliestDay: '2024-06-01', rowsMaxAheadHours: 0 });
  });

  test('the public address follows the port', () => {
    expect(loadConfig({ PORT: '8080' }).publicBaseUrl).toBe('http://127.0.0.1:8080/v1');
    expect(loadConfig({ PUBLIC_BASE_URL: 'https://api.example/v1/' }).publicBaseUrl).toBe('https://api.example/v1');
  });

  test('nobody pays for a service without a public address, unless it is said', () => {
    const public_ = { PUBLIC_BASE_URL: 'https://api.example/v1' };
    expect(
      [{}, public_, { BILLING: 'on' }, { ...public_, BILLING: 'off' }].map((env) => loadConfig(env).billing),
    ).toEqual(['off', 'on', 'on', 'off']);
    expect(refusal({ BILLING: 'yes' })).toBe('BILLING=yes: expected one of on, off');
  });

  test('who registers others, apart from the doors, is told whether they pay', () => {
    const secret = 'a-secret-that-is-long-enough-for-it';
    const apart = {
      LIFTGRAPH_ROLE: 'subgraph:agents',
      DATABASE_URL: 'postgres://a:b@c/d',
      CLICKHOUSE_URL: 'http://default@ch:8123',
      INTERNAL_SECRET: secret,
      KEY_PEPPER: secret,
      KEY_ENCRYPTION_KEY: secret,
      AUDIT_HEADS_FILE: 'heads.ndjson',
    };
    expect(refusal(apart)).toBe(
      'BILLING is not set: role subgraph:agents needs it, on or off, or else PUBLIC_BASE_URL',
    );
    expect(loadConfig({ ...apart, BILLING: 'off' }).billing).toBe('off');
    expect(loadConfig({ ...apart, PUBLIC_BASE_URL: 'https://api.example/v1' }).billing).toBe('on');
  });

  test('rate limits are the contract’s, by the table of tiers, but for those that are named', () => {
    expect(loadConfig({}).rateLimits).toMatchObject({
      sandbox: { perMinute: 100, perDay: null },
      discovery: { perMinute: 60, perDay: 10_000 },
      partner: { perMinute: 120, perDay: 50_000 },
      ambassador: { perMinute: 300, perDay: null },
      register: { perMinute: 10, perDay: 100 },
      oauth: { perMinute: 30, perDay: null },
    });
    expect([loadConfig({}).tierTable, loadConfig({ TIER_TABLE: 'four' }).tierTable]).toEqual(['three', 'four']);
    expect(loadConfig({ TIER_TABLE: 'four' }).rateLimits).toMatchObject({
      builder: { perMinute: 120, perDay: 50_000 },
      partner: { perMinute: 500, perDay: 200_000 },
      agent_enterprise: { perMinute: 2_000, perDay: 1_000_000 },
    });
    expect(loadConfig({ RATE_LIMITS: 'standard=200, discovery=90/20000' }).rateLimits).toMatchObject({
      standard: { perMinute: 200, perDay: null },
      discovery: { perMinute: 90, perDay: 20_000 },
      pro: { perMinute: 500, perDay: null },
    });
  });

  test('every wrong value gets a line that names it and what is expected', () => {
    expect(refusal({ PORT: '99999', LOG_LEVEL: 'loud', PUBLIC_BASE_URL: 'https://api.example' }).split('\n')).toEqual([
      'PORT=99999: expected a whole number from 0 to 65535',
      'PUBLIC_BASE_URL=https://api.example: expected a URL that ends in /v1, such as https://api.example/v1',
      'LOG_LEVEL=loud: expected one of trace, debug, info, warn, error, fatal, silent',
    ]);
  });

  test('HTTPS needs both files and an address to match', () => {
    const both = { TLS_CERT_FILE: 'a.crt', TLS_KEY_FILE: 'a.key' };
    expect(loadConfig({ ...both, PORT: '443' }).publicBaseUrl).toBe('https://127.0.0.1:443/v1');
    expect(() => loadConfig({ TLS_CERT_FILE: 'a.crt' })).toThrow('TLS_KEY_FILE is not set');
    expect(() => loadConfig({ TLS_KEY_FILE: 'a.key' })).toThrow('TLS_CERT_FILE is not set');
    expect(() => loadConfig({ ...both, PUBLIC_BASE_URL: 'http://api.example/v1' })).toThrow('begins with https');
  });

  test('connections leave files for everything else, and addresses leave connections to each other', () => {
    const most = mostConnections(openFilesLimit(), 16);
    const { connectionsMax, connectionsMaxPerAddress } = loadConfig({});
    expect(connectionsMax).toBe(usualConnections(openFilesLimit(), 16));
    expect(connectionsMaxPerAddress).toBe(Math.floor(connectionsMax / 4));
    const both = { CONNECTIONS_MAX: '400', CONNECTIONS_MAX_PER_ADDRESS: '300' };
    expect(loadConfig(both)).toMatchObject({ connectionsMax: 400, connectionsMaxPerAddress: 300 });
    const reason = `this process may have ${openFilesLimit()} files open (ulimit -n)`;
    const refused = refusal({ CONNECTIONS_MAX: '1000000' });
    expect(refused).toBe(`CONNECTIONS_MAX=1000000: expected at most ${most}, since ${reason}`);
  });

  test('behind a proxy, whose address is everybody’s, an address may have all connections, or what it is told', () => {
    const proxied = { TRUSTED_PROXY_HOPS: '1', CONNECTIONS_MAX: '400' };
    expect(loadConfig(proxied).connectionsMaxPerAddress).toBe(400);
    expect(loadConfig({ ...proxied, CONNECTIONS_MAX_PER_ADDRESS: '40' }).connectionsMaxPerAddress).toBe(40);
  });

  test('origins are a list, or any', () => {
    expect(loadConfig({}).corsOrigins).toEqual([]);
    expect(loadConfig({ CORS_ORIGINS: 'https://app.example, http://localhost:5173' }).corsOrigins).toEqual([
      'https://app.example',
      'http://localhost:5173',
    ]);
    expect(loadConfig({ CORS_ORIGINS: '*' }).corsOrigins).toEqual(['*']);
  });

  test.each([
    ['PORT', '-1'],
    ['PORT', '80.5'],
    ['PORT', '0x50'],
    ['PORT', '1e3'],
    ['PORT', ' 80'],
    ['JOB_LEASE_S', '1'],
    ['COMPUTE_THREADS', '0'],
    ['UPLOAD_MAX_BYTES', '99999999999999999999'],
    ['ROWS_EARLIEST_DAY', '1999-12-31'],
    ['ROWS_EARLIEST_DAY', '2001-02-30'],
    ['ROWS_MAX_AHEAD_HOURS', '49'],
    ['DISK_RESERVE_BYTES', '-1'],
    ['DISK_RESERVE_BYTES', '1GiB'],
    ['GRAPHQL_INTROSPECTION', 'yes'],
    ['LIFTGRAPH_ROLE', 'subgraph'],
    ['DATABASE_URL', 'mysql://db/lift'],
    ['CLICKHOUSE_URL', 'ch:8123'],
    ['INTERNAL_SECRET', 'short'],
    ['TRUST_WEIGHTS', 'detection=1'],
    ['RATE_LIMITS', 'everybody=5'],
    ['RATE_LIMITS', 'standard=0'],
    ['RATE_LIMITS', 'standard'],
    ['TIER_TABLE', 'five'],
    ['SANDBOX_BASE_URL', 'https://sandbox.example'],
    ['BOOTSTRAP_TOKEN', 'short'],
    ['METRICS_TOKEN', 'short'],
    ['METRICS_PORT', '65536'],
    ['TRUST_NARROW_SCOPE_BONUS', '0.06'],
    ['TRUST_NARROW_SCOPE_BONUS', '1e-3'],
    ['CONNECTIONS_MAX', '15'],
    ['CONNECTIONS_MAX', '2000000'],
    ['CONNECTIONS_MAX_PER_ADDRESS', '0'],
    ['CORS_ORIGINS', 'app.example'],
    ['CORS_ORIGINS', 'https://app.example/'],
    ['API_VERSIONS_RETIRED', 'soon'],
  ])('%s=%s is refused in one line', (variable, value) => {
    const message = refusal({ [variable]: value });
    expect(message.startsWith(`${variable}=`)).toBe(true);
    expect(message).toContain(': expected ');
    expect(message.split('\n')).toHaveLength(1);
  });

  test('a role of its own process says what it lacks', () => {
    expect(refusal({ LIFTGRAPH_ROLE: 'subgraph:attribution' }).split('\n')).toEqual([
      'DATABASE_URL is not set: role subgraph:attribution needs it',
      'CLICKHOUSE_URL is not set: role subgraph:attribution needs it',
      'INTERNAL_SECRET is not set: role subgraph:attribution needs it',
      'KEY_PEPPER is not set: role subgraph:attribution needs it',
      'KEY_ENCRYPTION_KEY is not set: role subgraph:attribution needs it',
    ]);
    expect(refusal({ LIFTGRAPH_ROLE: 'worker', DATABASE_URL: split.DATABASE_URL, KEY_ENCRYPTION_KEY: SECRET })).toBe(
      'CLICKHOUSE_URL is not set: role worker needs it\nAUDIT_HEADS_FILE is not set: role worker needs it',
    );
    expect(refusal({ ...split, LIFTGRAPH_ROLE: 'worker', KEY_ENCRYPTION_KEY: '' })).toBe(
      'KEY_ENCRYPTION_KEY is not set: role worker needs it',
    );
    expect(refusal({ ...split, LIFTGRAPH_ROLE: 'gateway' })).toContain(
      'SUBGRAPH_AGENTS_URL is not set: role gateway needs it',
    );
    expect(loadConfig({ ...split, LIFTGRAPH_ROLE: 'subgraph:attribution' }).role).toBe('subgraph:attribution');
  });

  test('every role can be configured', () => {
    const everything = {
      ...split,
      SUBGRAPH_ATTRIBUTION_URL: 'http://a:1/graphql',
      SUBGRAPH_AGENTS_URL: 'http://b:2/graphql',
      SUBGRAPH_BILLING_URL: 'http://c:3/graphql',
      BILLING: 'off',
    };
    for (const role of ROLES) expect(loadConfig({ ...everything, LIFTGRAPH_ROLE: role }).role).toBe(role);
  });

  test('a refusal never repeats a secret', () => {
    const message = refusal({
      INTERNAL_SECRET: 'too-short-secret',
      BOOTSTRAP_TOKEN: 'short-token',
      METRICS_TOKEN: 'little-token',
      DATABASE_URL: 'mysql://app:hunter2@db/lift',
      CLICKHOUSE_URL: 'app:hunter2@ch',
    });
    for (const secret of ['too-short-secret', 'short-token', 'little-token', 'hunter2'])
      expect(message).not.toContain(secret);
  });
});
