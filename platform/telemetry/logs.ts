import { pino, type DestinationStream, type Logger, type LoggerOptions } from 'pino';
import { prettyLogStream } from './pretty-logs.ts';

export type { Logger };

export interface LogOptions {
  readonly level: string;
  readonly format: 'json' | 'pretty';
  /** Bound to every line, e.g. `{ role: 'worker' }`. */
  readonly bindings?: Readonly<Record<string, string>>;
  /** Where the lines go; standard output when absent. */
  readonly destination?: DestinationStream;
}

/** Members that may carry a secret, under any of the names the service uses for one. */
const SECRET_MEMBERS = [
  'authorization',
  'cookie',
  'password',
  'secret',
  'token',
  'credentials',
  'apiKey',
  'api_key',
  'clientSecret',
  'client_secret',
  'secretKey',
  'secret_key',
  'accessToken',
  'access_token',
  'refreshToken',
  'refresh_token',
  'code_verifier',
  'privateKey',
  'internalSecret',
  'bootstrapToken',
  'metricsToken',
  'databaseUrl',
  'databaseOwnerUrl',
  'clickhouseUrl',
  'connectionString',
  'ownerUrl',
  'applicationUrl',
];
const HEADERS = ['authorization', 'cookie', '["set-cookie"]', '["idempotency-key"]', '["svc-idempotency-key"]'];

/** Keys and tokens of ours, and the password of a URL, wherever they stand in a message. */
const SECRET_TEXT =
  /\bsvc_(?:live|test|agent|at|rt|ac)_[A-Za-z0-9_-]+|\bwhsec_[A-Za-z0-9+/=_-]+|(?<=:\/\/[^\s:@/]*:)[^\s@/]+(?=@)/g;

/** The process's log: one JSON object per line, secrets removed, errors with cause and stack. */
export function createLogger(options: LogOptions): Logger {
  const settings: LoggerOptions = {
    level: options.level,
    base: options.bindings ?? {},
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: [
        ...SECRET_MEMBERS.flatMap((member) => [member, `*.${member}`, `*.*.${member}`]),
        ...HEADERS.flatMap((header) =>
          header.startsWith('[')
            ? [`headers${header}`, `*.headers${header}`]
            : [`headers.${header}`, `*.headers.${header}`],
        ),
      ],
      censor: '[redacted]',
    },
    hooks: { streamWrite: (line) => line.replace(SECRET_TEXT, '[redacted]') },
  };
  const destination =
    options.format === 'pretty' ? prettyLogStream(options.destination ?? process.stdout) : options.destination;
  return destination === undefined ? pino(settings) : pino(settings, destination);
}
