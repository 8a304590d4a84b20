import { assert, constantFrom, property, string } from 'fast-check';
import { loadConfig } from '../../../processes/config/config.ts';
import { describeConfig } from '../../../processes/config/describe-config.ts';

/** Every variable that is not secret, with another value than it has by itself. */
const CHANGED = {
  LIFTGRAPH_ROLE: 'gateway',
  HOST: '0.0.0.0',
  PORT: '4999',
  PUBLIC_BASE_URL: 'https://api.example/v1',
  SANDBOX_BASE_URL: 'https://sandbox.example/v1',
  LIFTGRAPH_DATA_DIR: '/srv/data',
  DATABASE_URL: 'postgresql://app@db:5432/lift',
  DATABASE_OWNER_URL: 'postgresql://owner@db:5432/lift',
  DATABASE_POOL_MAX: '17',
  CLICKHOUSE_URL: 'http://default@ch:8123',
  SUBGRAPH_ATTRIBUTION_URL: 'http://a:1/graphql',
  SUBGRAPH_AGENTS_URL: 'http://b:2/graphql',
  SUBGRAPH_BILLING_URL: 'http://c:3/graphql',
  SIGNING_KEY_DAYS: '7',
  AUDIT_HEADS_FILE: '/srv/heads.ndjson',
  AUDIT_ARCHIVE_DIR: '/srv/archive',
  LOG_LEVEL: 'debug',
  LOG_FORMAT: 'pretty',
  GRAPHQL_INTROSPECTION: 'false',
  COMPUTE_THREADS: '3',
  JOB_CONCURRENCY: '5',
  JOB_LEASE_S: '33',
  UPLOAD_MAX_BYTES: '1000000',
  ROWS_EARLIEST_DAY: '2024-01-01',
  ROWS_MAX_AHEAD_HOURS: '1',
  SOURCES_PER_ACCOUNT: '7',
  DISK_RESERVE_BYTES: '0',
  TRUSTED_PROXY_HOPS: '2',
  CONNECTIONS_MAX: '200',
  CONNECTIONS_MAX_PER_ADDRESS: '30',
  BILLING: 'off',
  TIER_TABLE: 'four',
  COMMISSION_DECAY: 'linear_after_6',
  RATE_LIMITS: 'standard=7,discovery=8/90',
  CORS_ORIGINS: 'https://app.example,https://admin.example',
  API_VERSIONS_RETIRED: '2025-08-01',
  TLS_CERT_FILE: 'a.crt',
  TLS_KEY_FILE: 'a.key',
  TRUST_WEIGHTS: 'detection=0.2,attribution=0.2,provenance=0.2,consistency=0.2,taxonomy=0.2',
  TRUST_NARROW_SCOPE_BONUS: '0.02',
  WEBHOOK_ALLOW_PRIVATE: 'true',
  METRICS_PORT: '9400',
  REGION: 'us',
};
const SECRETS = Object.fromEntries(
  ['INTERNAL_SECRET', 'KEY_PEPPER', 'KEY_ENCRYPTION_KEY', 'BOOTSTRAP_TOKEN', 'METRICS_TOKEN'].map((variable) => [
    variable,
    'this-secret-is-long-enough-to-be-one',
  ]),
);

/** What the lines say, as variables; what is not set and what is hidden is left out. */
function environmentOf(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines
      .map((line) => /^([A-Z_]+) = (.*)$/.exec(line)!.slice(1) as [string, string])
      .filter(([, value]) => !value.startsWith('(')),
  );
}

describe('describeConfig', () => {
  test.each([
    ['what is set', CHANGED],
    ['what holds by itself', {}],
  ])('shows %s as the variables that set it', (_what, given) => {
    const config = loadConfig({ ...SECRETS, ...given });
    expect(loadConfig({ ...SECRETS, ...environmentOf(describeConfig(config)) })).toEqual(config);
  });

  test('lists every variable', () => {
    const lines = describeConfig(loadConfig({ ...SECRETS, ...CHANGED }));
    expect(lines.map((line) => line.split(' = ', 1)[0]).toSorted()).toEqual(
      [...Object.keys(CHANGED), ...Object.keys(SECRETS)].toSorted(),
    );
    for (const variable of Object.keys(SECRETS)) expect(lines).toContain(`${variable} = (set, hidden)`);
    expect(describeConfig(loadConfig({}))).toContain('METRICS_PORT = (not set)');
  });

  test('shows no password, whatever it is', () => {
    const letters = string({
      unit: constantFrom(...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-'),
      minLength: 32,
      maxLength: 48,
    });
    assert(
      property(letters, (secret) => {
        const text = describeConfig(
          loadConfig({
            DATABASE_URL: `postgresql://app:${secret}@db/lift`,
            DATABASE_OWNER_URL: `postgresql://owner@db/lift?sslmode=require&password=${secret}`,
            CLICKHOUSE_URL: `http://default:${secret}@ch:8123`,
            INTERNAL_SECRET: secret,
            KEY_PEPPER: secret,
            KEY_ENCRYPTION_KEY: secret,
            BOOTSTRAP_TOKEN: secret,
            METRICS_TOKEN: secret,
          }),
        ).join('\n');
        return !text.includes(secret);
      }),
    );
  });
});
