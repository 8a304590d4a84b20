import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { Agent, request as send } from 'undici';
import { callableUrl, isPublicAddress, RefusedAddressError, type AddressRules } from './address-rules.ts';
import { nameLookup, type Lookup } from './name-lookup.ts';

/** A call to an address that a customer named. */
export interface OutgoingRequest {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What came back, as far as it is read. */
export interface OutgoingResponse {
  readonly status: number;
  /** Lower-case names; of repeated headers the first. */
  readonly headers: Readonly<Record<string, string>>;
  /** The first {@link CallerOptions.maxResponseBytes} bytes; nothing beyond them is read. */
  readonly body: Buffer;
}

/** How a call can fail before there is an answer. */
export type CallFailure = 'timeout' | 'dns' | 'tls' | 'connection' | 'blocked_address';

/** A call without an answer. The message is meant for logs: it may name addresses inside. */
export class CallFailedError extends Error {
  override readonly name = 'CallFailedError';
  readonly code: CallFailure;

  constructor(code: CallFailure, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.code = code;
  }
}

export interface CallerOptions extends AddressRules {
  /** From the lookup to the last byte that is read. */
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  /** The name servers' answer when absent; the system's where private addresses are called, such as this machine's. */
  readonly lookup?: Lookup;
}

/** The only way out of the house: every address that a customer names is called through it. */
export interface Caller {
  /**
   * Checks an address at registration, its name looked up.
   * @throws RefusedAddressError; CallFailedError `dns` when the name does not exist
   */
  assertCallable(url: string): Promise<void>;
  /**
   * One request on a connection of its own. The name is looked up and every address of it checked at each call, and the
   * connection goes to what was checked, so a name that changes its address meanwhile gains nothing. Redirects are
   * answers.
   * @throws CallFailedError
   */
  call(request: OutgoingRequest): Promise<OutgoingResponse>;
  close(): Promise<void>;
}

const TLS_CODES = /^(ERR_TLS_|ERR_SSL_|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO)/;
const DNS_CODES: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'ENODATA', 'ESERVFAIL']);

/** A way out with these rules and limits. */
export function createCaller(options: CallerOptions): Caller {
  const {
    allowPrivate,
    timeoutMs,
    maxResponseBytes,
    lookup = allowPrivate ? (systemLookup as Lookup) : nameLookup(),
  } = options;

  const resolve = (hostname: string, settled: (error: Error | null, addresses: LookupAddress[]) => void): void => {
    lookup(hostname, { all: true }, (error, addresses) => {
      if (error !== null) return settled(error, []);
      // One private address among public ones is enough: which of them is dialled is not ours to choose.
      const refused = addresses.find(({ address }) => !allowPrivate && !isPublicAddress(address));
      if (refused !== undefined)
        return settled(new RefusedAddressError(`${hostname} leads to an address that is not public`), []);
      settled(null, addresses);
    });
  };

  const agent = new Agent({
    connect: {
      timeout: timeoutMs,
      lookup: (hostname, { all }, callback) =>
        resolve(hostname, (error, addresses) => {
          const [first] = addresses;
          if (error !== null || first === undefined)
            return callback(error ?? new Error(`${hostname} has no address`), '', 0);
          if (all === true)
            return (callback as unknown as (error: null, addresses: LookupAddress[]) => void)(null, addresses);
          callback(null, first.address, first.family);
        }),
    },
  });

  return {
    async assertCallable(text) {
      const { hostname } = callableUrl(text, options);
      if (hostname.startsWith('[') || /^[\d.]+$/.test(hostname)) return;
      await new Promise<void>((done, fail) => {
        resolve(hostname, (error) =>
          error === null
            ? done()
            : fail(error instanceof RefusedAddressError ? error : new CallFailedError('dns', error)),
        );
      });
    },
    async call({ url, method, headers, body }) {
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        const response = await send(callableUrl(url, options), {
          dispatcher: agent,
          method,
          headers,
          body: body ?? null,
          signal,
          reset: true,
        });
        return {
          status: response.statusCode,
          headers: firstOfEach(response.headers),
          body: await head(response.body, maxResponseBytes),
        };
      } catch (error) {
        throw new CallFailedError(signal.aborted ? 'timeout' : failureOf(error), error);
      }
    },
    close: () => agent.close(),
  };
}

function failureOf(error: unknown): CallFailure {
  for (
    let cause = error as NodeJS.ErrnoException | undefined;
    cause !== undefined;
    cause = cause.cause as NodeJS.ErrnoException | undefined
  ) {
    if (cause instanceof RefusedAddressError) return 'blocked_address';
    const { code = '', syscall = '' } = cause;
    // What name servers fail with is named after the question: queryA, queryAaaa.
    if (DNS_CODES.has(code) || syscall.startsWith('query')) return 'dns';
    if (TLS_CODES.test(code)) return 'tls';
    if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT') return 'timeout';
  }
  return 'connection';
}

function firstOfEach(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value[0]! : value]],
    ),
  );
}

/** What is beyond the limit is never read: leaving the loop ends the connection. */
async function head(body: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= maxBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}
