/**
 * ClickHouse's HTTP interface, read: https://clickhouse.com/docs/interfaces/http. The statement comes in `query=` or as
 * the body, `param_x` binds `{x:Type}`, every other parameter that is not of the protocol is a setting.
 */
export interface StatementRequest {
  /** Undefined when the statement is the body. */
  readonly query: string | undefined;
  readonly queryId: string | undefined;
  readonly defaultFormat: string;
  readonly params: ReadonlyMap<string, string>;
  readonly settings: ReadonlyMap<string, string>;
  /** `wait_end_of_query`: nothing of the result goes out before all of it is there. */
  readonly waitsForEnd: boolean;
  /** `max_result_bytes` of a result that is waited for: of its file. */
  readonly maxFileBytes: number;
}

/** An error in ClickHouse's own terms. */
export class EngineError extends Error {
  readonly code: number;

  constructor(code: number, name: string, message: string) {
    super(`Code: ${code}. DB::Exception: ${message}. (${name})`);
    this.name = 'EngineError';
    this.code = code;
  }
}

const PROTOCOL: ReadonlySet<string> = new Set([
  'query',
  'query_id',
  'database',
  'default_format',
  'session_id',
  'session_timeout',
  'session_check',
  'user',
  'password',
  'role',
  'quota_key',
  'compress',
  'decompress',
  'enable_http_compression',
  'wait_end_of_query',
  'buffer_size',
  'stacktrace',
  'send_progress_in_http_headers',
  'http_headers_progress_interval_ms',
]);
const IDENTIFIER = /^[A-Za-z_]\w*$/;
const INSERT_WITH_DATA = /^(\s*insert\s[^]*?)\s+format\s+(\w+)\s*;?\s*$/i;
const INPUT_FUNCTION = /\binput\s*\(\s*(?=')/i;
const PLACEHOLDER = /\{\s*([A-Za-z_]\w*)\s*:/g;

/** Reads the parameters of a request. @throws EngineError for names that cannot be identifiers */
export function readStatementRequest(url: URL): StatementRequest {
  const params = new Map<string, string>();
  const settings = new Map<string, string>();
  for (const [name, value] of url.searchParams) {
    const [target, key] = name.startsWith('param_') ? [params, name.slice(6)] : [settings, name];
    if (target === settings && PROTOCOL.has(name)) continue;
    if (!IDENTIFIER.test(key)) throw new EngineError(36, 'BAD_ARGUMENTS', 'a parameter has an impossible name');
    target.set(key, value);
  }
  const waitsForEnd = url.searchParams.get('wait_end_of_query') === '1';
  const maxFileBytes = Number(waitsForEnd ? settings.get('max_result_bytes') : 0) || Infinity;
  // The engine would count what the rows take in its memory.
  if (waitsForEnd) settings.delete('max_result_bytes');
  const database = url.searchParams.get('database');
  if (database !== null && database !== '' && !IDENTIFIER.test(database))
    throw new EngineError(81, 'UNKNOWN_DATABASE', 'no such database');
  return {
    query: url.searchParams.get('query') ?? undefined,
    queryId: url.searchParams.get('query_id') ?? undefined,
    defaultFormat: url.searchParams.get('default_format') ?? 'TabSeparated',
    params,
    settings,
    waitsForEnd,
    maxFileBytes,
  };
}

/** A string literal of ClickHouse's SQL. */
export const literal = (value: string): string => `'${value.replaceAll(/[\\']/g, String.raw`\$&`)}'`;

/**
 * Refuses a statement whose placeholders are not all bound by its own request: sessions are reused, and a parameter
 * left over from another tenant's request must never fill the gap.
 */
export function assertBound(statement: string, params: ReadonlyMap<string, string>): void {
  for (const [, name] of statement.matchAll(PLACEHOLDER)) {
    if (!params.has(name!))
      throw new EngineError(456, 'UNKNOWN_QUERY_PARAMETER', `Substitution \`${name}\` is not set`);
  }
}

/** The format of the data that an INSERT expects in the body; undefined for any other statement. */
export const formatOfInsertData = (statement: string): string | undefined => INSERT_WITH_DATA.exec(statement)?.[2];

/**
 * Points an INSERT at a file that holds its data. The engine takes inline data as well, but ends it at the first blank
 * line and executes the rest as SQL: data must never stand in the statement.
 */
export function readingFrom(file: string, statement: string): string {
  const match = INSERT_WITH_DATA.exec(statement);
  if (match === null) throw new EngineError(62, 'SYNTAX_ERROR', 'a body of data needs an INSERT … FORMAT statement');
  const [, insert, format] = match as unknown as [string, string, string];
  return INPUT_FUNCTION.test(insert)
    ? insert.replace(INPUT_FUNCTION, () => `file(${literal(file)}, ${literal(format)}, `)
    : `${insert} FROM INFILE ${literal(file)} FORMAT ${format}`;
}

const WITH_FORMAT = /^([^]*?)\s+format\s+(\w+)\s*;?\s*$/i;

/** Points a SELECT … FORMAT at a file that takes its result. */
export function writingTo(file: string, statement: string): string {
  const match = WITH_FORMAT.exec(statement);
  if (match === null)
    throw new EngineError(62, 'SYNTAX_ERROR', 'a result that is waited for needs a SELECT … FORMAT statement');
  const [, select, format] = match as unknown as [string, string, string];
  return `INSERT INTO FUNCTION file(${literal(file)}, ${literal(format)}) ${select}`;
}

/** HTTP status of an error code, as a ClickHouse server maps them. */
export function statusOf(code: number | undefined): number {
  switch (code) {
    case 60:
    case 81:
      return 404;
    case 36:
    case 43:
    case 47:
    case 62:
    case 456:
      return 400;
    case 159:
      return 408;
    case 202:
      return 503;
    case 516:
      return 401;
    default:
      return 500;
  }
}
