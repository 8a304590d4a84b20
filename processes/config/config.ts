import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import { z } from 'zod';
import { EARLIEST_DAY, MAX_AHEAD_HOURS } from '../../schema/day-range.ts';
import type { Plan } from '../../schema/principal.ts';
import { REGIONS, type Region } from '../../schema/value-lists.ts';
import { standardRateLimits, type RateLimits } from '../../services/identity/limits/rate-limits.ts';
import { COMMISSION_DECAYS, type CommissionDecay } from '../../subgraphs/billing/commissions/commission-rules.ts';
import { TIER_TABLES, type TierTable } from '../../services/identity/limits/tiers.ts';
import { SECRET_VARIABLES, withoutPassword } from './config-secrets.ts';
import {
  baseUrl,
  dayFrom,
  flag,
  fraction,
  httpUrl,
  listOf,
  oneOf,
  origin,
  postgresUrl,
  rateLimits,
  trustWeights,
  wholeNumber,
} from './config-values.ts';
import { mostConnections, openFilesLimit, usualConnections } from './open-files.ts';
import { type TrustWeights } from '../../schema/trust-envelope.ts';
import { DEFAULT_TRUST_WEIGHTS } from '../../services/trust/weights.ts';

export const ROLES = [
  'all',
  'gateway',
  'subgraph:attribution',
  'subgraph:agents',
  'subgraph:billing',
  'worker',
] as const;
export type Role = (typeof ROLES)[number];

/** Where a deployment lies that does not say so. */
export const DEFAULT_REGION: Region = 'eu';
export const DEFAULT_SOURCES_PER_ACCOUNT = 500;
export const DEFAULT_TIER_TABLE: TierTable = 'three';

export const BILLING = ['on', 'off'] as const;
/** Whether whoever opens an account pays. */
export type Billing = (typeof BILLING)[number];

/** What an account is put on that says nothing of a plan. */
export function planOfNewcomers(billing: Billing): Plan {
  return billing === 'on' ? 'pay_per_analysis' : 'self_hosted';
}

/** Where a service is reached whose configuration says nothing of it. */
export const DEFAULT_PUBLIC_BASE_URL = 'http://127.0.0.1:4000/v1';

/** Everything the environment decides, parsed once at start. Undefined means: use the embedded default. */
export interface Config {
  readonly role: Role;
  readonly host: string;
  readonly port: number;
  /** Ends in `/v1`; what clients see. */
  readonly publicBaseUrl: string;
  /** Ends in `/v1`; requests to its host see the sandbox only. Without it test keys are told by their prefix alone. */
  readonly sandboxBaseUrl: string | undefined;
  /** Absolute. Holds the embedded servers' data, keys and the lock of the instance. */
  readonly dataDir: string;
  readonly databaseUrl: string | undefined;
  /** The role that owns the schemas and migrates; defaults to `databaseUrl`. */
  readonly databaseOwnerUrl: string | undefined;
  readonly databasePoolMax: number;
  readonly clickhouseUrl: string | undefined;
  readonly subgraphUrls: {
    readonly attribution: string | undefined;
    readonly agents: string | undefined;
    readonly billing: string | undefined;
  };
  /** Signs the principals that the gateway passes to the subgraphs. Role `all` needs none. */
  readonly internalSecret: string | undefined;
  /**
   * Keys the lookup values of API keys; the same in every process, and never changed. Role `all` makes its own when
   * unset.
   */
  readonly keyPepper: string | undefined;
  /**
   * Seals what must be kept secret at rest, such as signing keys and answers to idempotency keys; the same in every
   * worker, gateway and agents subgraph. Role `all` makes its own when unset.
   */
  readonly keyEncryptionKey: string | undefined;
  /** Age at which a signing key is replaced by the next; 0 leaves that to people. */
  readonly signingKeyDays: number;
  /**
   * Where the signed heads of the audit log go: a file that only grows, shared by those who sign and those who verify.
   * Role `all` keeps it in its data directory when unset.
   */
  readonly auditHeadsFile: string | undefined;
  /** Holds entries of the audit log that left the database; `audit-archive` in the data directory when unset. */
  readonly auditArchiveDir: string | undefined;
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  readonly logFormat: 'json' | 'pretty';
  readonly graphqlIntrospection: boolean;
  readonly computeThreads: number;
  readonly jobConcurrency: number;
  /** How long a job whose worker fell silent may wait before another takes it over. */
  readonly jobLeaseS: number;
  readonly uploadMaxBytes: number;
  /** The dates that rows of uploads may have: from a UTC day, `YYYY-MM-DD`, to so many hours ahead of the upload. */
  readonly rowsEarliestDay: string;
  readonly rowsMaxAheadHours: number;
  /** Data sources that an account may have in an environment; each costs the columnar engine some 50 KB of memory. */
  readonly sourcesPerAccount: number;
  /**
   * Bytes of the stores' disk that are kept free: with fewer, whatever stores anything is refused; 0 watches no disk.
   */
  readonly diskReserveBytes: number;
  /** Proxies in front of us whose `X-Forwarded-For` entries are believed, counted from the right. */
  readonly trustedProxyHops: number;
  /** How many connections of clients there may be at once. */
  readonly connectionsMax: number;
  /** From one address, or one /64 of IPv6. */
  readonly connectionsMaxPerAddress: number;
  /** `off` puts whoever registers on the plan `self_hosted`; the default of a service without a public address. */
  readonly billing: Billing;
  /** Which of the contract's tables of tiers holds. */
  readonly tierTable: TierTable;
  /** Whether commissions of a referral grow smaller after six months. */
  readonly commissionDecay: CommissionDecay;
  /** How often each class of callers may call. */
  readonly rateLimits: RateLimits;
  /**
   * Web pages of other origins that may speak to the service: none, `*` for any, or `https://app.example` and so on.
   */
  readonly corsOrigins: readonly string[];
  /** Dated API versions that are answered no more once their sunset has passed. */
  readonly retiredApiVersions: readonly string[];
  /** PEM files; the service speaks HTTPS when both are given. */
  readonly tlsCertFile: string | undefined;
  readonly tlsKeyFile: string | undefined;
  /** Weight of each component in the score of the trust envelope; the same in every process. */
  readonly trustWeights: TrustWeights;
  /** Added to an agent's trust score for each scope that it does without; the rule's own 0.01 when undefined. */
  readonly trustNarrowScopeBonus: number | undefined;
  /** For development only: webhooks may go to private addresses, and over plain http. */
  readonly webhookAllowPrivate: boolean;
  /** Opens the page that makes the first account; there is no such page when undefined. */
  readonly bootstrapToken: string | undefined;
  /** Opens `/metrics` to whoever shows it; programs on the same machine alone read them when undefined. */
  readonly metricsToken: string | undefined;
  /** Where a worker, which answers nobody else, serves `/metrics`; nowhere when undefined. */
  readonly metricsPort: number | undefined;
  /** The one region that this deployment serves; workspaces in others are refused. */
  readonly region: Region;
}

/** The environment does not describe a runnable service. The message has one line per wrong value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly code = 'config_invalid';
}

const EIGHT_GIB = 8 * 1024 ** 3;
const HALF_A_GIB = 512 * 1024 ** 2;
const TERABYTE = 10 ** 12;
/** Of all connections. Whole offices share an address; what is idle gives way, so that only requests at work count. */
const USUAL_SHARE_OF_ADDRESS = 1 / 4;

const environmentSchema = z.object({
  LIFTGRAPH_ROLE: oneOf(ROLES).default('all'),
  HOST: z.string().default('127.0.0.1'),
  PORT: wholeNumber(0, 65_535).default(4000),
  PUBLIC_BASE_URL: baseUrl.optional(),
  SANDBOX_BASE_URL: baseUrl.optional(),
  LIFTGRAPH_DATA_DIR: z.string().default('.data'),
  DATABASE_URL: postgresUrl.optional(),
  DATABASE_OWNER_URL: postgresUrl.optional(),
  DATABASE_POOL_MAX: wholeNumber(2, 1000, ' connections').default(16),
  CLICKHOUSE_URL: httpUrl('http://default:password@host:8123').optional(),
  SUBGRAPH_ATTRIBUTION_URL: httpUrl('http://attribution:4001/graphql').optional(),
  SUBGRAPH_AGENTS_URL: httpUrl('http://agents:4002/graphql').optional(),
  SUBGRAPH_BILLING_URL: httpUrl('http://billing:4003/graphql').optional(),
  INTERNAL_SECRET: z.string().min(32, 'at least 32 characters').optional(),
  KEY_PEPPER: z.string().min(32, 'at least 32 characters').optional(),
  KEY_ENCRYPTION_KEY: z.string().min(32, 'at least 32 characters').optional(),
  SIGNING_KEY_DAYS: wholeNumber(0, 3650, ' days').default(90),
  AUDIT_HEADS_FILE: z.string().optional(),
  AUDIT_ARCHIVE_DIR: z.string().optional(),
  LOG_LEVEL: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
  LOG_FORMAT: oneOf(['json', 'pretty']).default('json'),
  GRAPHQL_INTROSPECTION: flag.default(true),
  COMPUTE_THREADS: wholeNumber(1, 512, ' threads').optional(),
  JOB_CONCURRENCY: wholeNumber(1, 512, ' jobs').optional(),
  JOB_LEASE_S: wholeNumber(2, 3600, ' seconds').default(60),
  UPLOAD_MAX_BYTES: wholeNumber(1, TERABYTE, ' bytes').default(EIGHT_GIB),
  ROWS_EARLIEST_DAY: dayFrom(EARLIEST_DAY).default(EARLIEST_DAY),
  ROWS_MAX_AHEAD_HOURS: wholeNumber(0, MAX_AHEAD_HOURS, ' hours').default(MAX_AHEAD_HOURS),
  SOURCES_PER_ACCOUNT: wholeNumber(1, 1_000_000, ' sources').default(DEFAULT_SOURCES_PER_ACCOUNT),
  DISK_RESERVE_BYTES: wholeNumber(0, 1000 * TERABYTE, ' bytes').default(HALF_A_GIB),
  TRUSTED_PROXY_HOPS: wholeNumber(0, 16).default(0),
  CONNECTIONS_MAX: wholeNumber(16, 1_000_000, ' connections').optional(),
  CONNECTIONS_MAX_PER_ADDRESS: wholeNumber(1, 1_000_000, ' connections').optional(),
  BILLING: oneOf(BILLING).optional(),
  TIER_TABLE: oneOf(TIER_TABLES).default(DEFAULT_TIER_TABLE),
  COMMISSION_DECAY: oneOf(COMMISSION_DECAYS).default('none'),
  RATE_LIMITS: rateLimits.optional(),
  CORS_ORIGINS: listOf(origin, '* or a list of origins such as https://app.example,https://admin.example').optional(),
  API_VERSIONS_RETIRED: listOf(z.iso.date(), 'a list of dates such as 2025-08-01').optional(),
  TLS_CERT_FILE: z.string().optional(),
  TLS_KEY_FILE: z.string().optional(),
  TRUST_WEIGHTS: trustWeights.optional(),
  TRUST_NARROW_SCOPE_BONUS: fraction(0, 0.05).optional(),
  WEBHOOK_ALLOW_PRIVATE: flag.default(false),
  BOOTSTRAP_TOKEN: z.string().min(32, 'at least 32 characters').optional(),
  METRICS_TOKEN: z.string().min(16, 'at least 16 characters').optional(),
  METRICS_PORT: wholeNumber(0, 65_535).optional(),
  REGION: oneOf(REGIONS).default(DEFAULT_REGION),
});
type Environment = z.output<typeof environmentSchema>;
type Variable = keyof Environment;

const URL_VARIABLES: ReadonlySet<string> = new Set<Variable>(['DATABASE_URL', 'DATABASE_OWNER_URL', 'CLICKHOUSE_URL']);

/** What each role cannot do without, beyond the defaults. Role `all` brings its own servers. */
const NEEDED_BY_ROLE: Readonly<Record<Role, readonly Variable[]>> = {
  all: [],
  gateway: [
    'DATABASE_URL',
    'CLICKHOUSE_URL',
    'SUBGRAPH_ATTRIBUTION_URL',
    'SUBGRAPH_AGENTS_URL',
    'SUBGRAPH_BILLING_URL',
    'INTERNAL_SECRET',
    'KEY_PEPPER',
    'KEY_ENCRYPTION_KEY',
  ],
  'subgraph:attribution': ['DATABASE_URL', 'CLICKHOUSE_URL', 'INTERNAL_SECRET', 'KEY_PEPPER', 'KEY_ENCRYPTION_KEY'],
  'subgraph:agents': [
    'DATABASE_URL',
    'CLICKHOUSE_URL',
    'INTERNAL_SECRET',
    'KEY_PEPPER',
    'KEY_ENCRYPTION_KEY',
    'AUDIT_HEADS_FILE',
  ],
  'subgraph:billing': ['DATABASE_URL', 'CLICKHOUSE_URL', 'INTERNAL_SECRET', 'KEY_PEPPER'],
  worker: ['DATABASE_URL', 'CLICKHOUSE_URL', 'KEY_ENCRYPTION_KEY', 'AUDIT_HEADS_FILE'],
};

/**
 * Reads the configuration from environment variables; an empty variable counts as unset.
 * @throws ConfigError naming every wrong variable, its value (secrets redacted) and what is expected
 */
export function loadConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const parsed = environmentSchema.safeParse(given);
  if (!parsed.success) {
    const firstIssues = new Map(
      parsed.error.issues.toReversed().map((issue) => [String(issue.path[0]), issue.message]),
    );
    throw new ConfigError(
      [...firstIssues]
        .toReversed()
        .map(([variable, expected]) => `${variable}=${shown(variable, given[variable])}: expected ${expected}`)
        .join('\n'),
    );
  }
  const environment = parsed.data;
  const missing = NEEDED_BY_ROLE[environment.LIFTGRAPH_ROLE].filter((variable) => environment[variable] === undefined);
  if (missing.length > 0) {
    throw new ConfigError(
      missing.map((variable) => `${variable} is not set: role ${environment.LIFTGRAPH_ROLE} needs it`).join('\n'),
    );
  }
  refuseUndecidedBilling(environment);
  refuseHalfTls(environment);
  refuseTooManyConnections(environment);
  return toConfig(environment);
}

/**
 * Of several processes this one registers, and may not know the address of the doors: nobody is let off by mistake.
 * @throws ConfigError
 */
function refuseUndecidedBilling({
  LIFTGRAPH_ROLE: role,
  BILLING: billing,
  PUBLIC_BASE_URL: address,
}: Environment): void {
  if (role === 'subgraph:agents' && billing === undefined && address === undefined)
    throw new ConfigError('BILLING is not set: role subgraph:agents needs it, on or off, or else PUBLIC_BASE_URL');
}

/** @throws ConfigError */
function refuseHalfTls({ TLS_CERT_FILE: cert, TLS_KEY_FILE: key, PUBLIC_BASE_URL: address }: Environment): void {
  if ((cert === undefined) !== (key === undefined))
    throw new ConfigError(
      `${cert === undefined ? 'TLS_CERT_FILE' : 'TLS_KEY_FILE'} is not set: HTTPS needs the certificate and its key`,
    );
  if (cert !== undefined && address?.startsWith('http:') === true)
    throw new ConfigError(
      `PUBLIC_BASE_URL=${address}: expected an address that begins with https, since TLS_CERT_FILE is set`,
    );
}

/** Where connections take the last file, nothing else can be opened. @throws ConfigError */
function refuseTooManyConnections({ CONNECTIONS_MAX: asked, DATABASE_POOL_MAX: pool }: Environment): void {
  const limit = openFilesLimit();
  const most = mostConnections(limit, pool);
  if (asked === undefined || asked <= most) return;
  const reason = `this process may have ${limit} files open (ulimit -n)`;
  throw new ConfigError(`CONNECTIONS_MAX=${asked}: expected at most ${most}, since ${reason}`);
}

function toConfig(environment: Environment): Config {
  const threads = environment.COMPUTE_THREADS ?? availableParallelism();
  const usual = usualConnections(openFilesLimit(), environment.DATABASE_POOL_MAX);
  const connectionsMax = environment.CONNECTIONS_MAX ?? usual;
  // All connections come from the proxy where there is one.
  const shareOfAddress = environment.TRUSTED_PROXY_HOPS > 0 ? 1 : USUAL_SHARE_OF_ADDRESS;
  return {
    role: environment.LIFTGRAPH_ROLE,
    host: environment.HOST,
    port: environment.PORT,
    publicBaseUrl:
      environment.PUBLIC_BASE_URL ??
      `${environment.TLS_CERT_FILE === undefined ? 'http' : 'https'}://127.0.0.1:${environment.PORT}/v1`,
    sandboxBaseUrl: environment.SANDBOX_BASE_URL,
    dataDir: resolve(environment.LIFTGRAPH_DATA_DIR),
    databaseUrl: environment.DATABASE_URL,
    databaseOwnerUrl: environment.DATABASE_OWNER_URL ?? environment.DATABASE_URL,
    databasePoolMax: environment.DATABASE_POOL_MAX,
    clickhouseUrl: environment.CLICKHOUSE_URL,
    subgraphUrls: {
      attribution: environment.SUBGRAPH_ATTRIBUTION_URL,
      agents: environment.SUBGRAPH_AGENTS_URL,
      billing: environment.SUBGRAPH_BILLING_URL,
    },
    internalSecret: environment.INTERNAL_SECRET,
    keyPepper: environment.KEY_PEPPER,
    keyEncryptionKey: environment.KEY_ENCRYPTION_KEY,
    signingKeyDays: environment.SIGNING_KEY_DAYS,
    auditHeadsFile: environment.AUDIT_HEADS_FILE === undefined ? undefined : resolve(environment.AUDIT_HEADS_FILE),
    auditArchiveDir: environment.AUDIT_ARCHIVE_DIR === undefined ? undefined : resolve(environment.AUDIT_ARCHIVE_DIR),
    logLevel: environment.LOG_LEVEL,
    logFormat: environment.LOG_FORMAT,
    graphqlIntrospection: environment.GRAPHQL_INTROSPECTION,
    computeThreads: threads,
    jobConcurrency: environment.JOB_CONCURRENCY ?? Math.max(2, threads),
    jobLeaseS: environment.JOB_LEASE_S,
    uploadMaxBytes: environment.UPLOAD_MAX_BYTES,
    rowsEarliestDay: environment.ROWS_EARLIEST_DAY,
    rowsMaxAheadHours: environment.ROWS_MAX_AHEAD_HOURS,
    sourcesPerAccount: environment.SOURCES_PER_ACCOUNT,
    diskReserveBytes: environment.DISK_RESERVE_BYTES,
    trustedProxyHops: environment.TRUSTED_PROXY_HOPS,
    connectionsMax,
    connectionsMaxPerAddress: environment.CONNECTIONS_MAX_PER_ADDRESS ?? Math.floor(connectionsMax * shareOfAddress),
    billing: environment.BILLING ?? (environment.PUBLIC_BASE_URL === undefined ? 'off' : 'on'),
    tierTable: environment.TIER_TABLE,
    commissionDecay: environment.COMMISSION_DECAY,
    rateLimits: { ...standardRateLimits(environment.TIER_TABLE), ...environment.RATE_LIMITS },
    corsOrigins: environment.CORS_ORIGINS ?? [],
    retiredApiVersions: environment.API_VERSIONS_RETIRED ?? [],
    tlsCertFile: environment.TLS_CERT_FILE,
    tlsKeyFile: environment.TLS_KEY_FILE,
    trustWeights: environment.TRUST_WEIGHTS ?? DEFAULT_TRUST_WEIGHTS,
    trustNarrowScopeBonus: environment.TRUST_NARROW_SCOPE_BONUS,
    webhookAllowPrivate: environment.WEBHOOK_ALLOW_PRIVATE,
    bootstrapToken: environment.BOOTSTRAP_TOKEN,
    metricsToken: environment.METRICS_TOKEN,
    metricsPort: environment.METRICS_PORT,
    region: environment.REGION,
  };
}

function shown(variable: string, value: string | undefined): string {
  if (value === undefined) return '';
  if (SECRET_VARIABLES.has(variable)) return '(hidden)';
  // What is not a proper URL may still carry a password somewhere.
  return URL_VARIABLES.has(variable) && !(URL.canParse(value) && new URL(value).host !== '')
    ? '(hidden, not a URL)'
    : withoutPassword(value);
}
