import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';
import type { Registry } from 'prom-client';
import { ProblemError } from '../../schema/problems.ts';

export const METRICS_PATH = '/metrics';

export interface MetricsDoorOptions {
  readonly registry: Registry;
  /** Whoever reads shows it, wherever they come from. */
  readonly token: string | undefined;
  /** Ends in `/v1`. An installation that others reach shows nothing without a token. */
  readonly publicBaseUrl: string;
}

/** Headers that proxies leave behind. */
const PROXY_HEADERS = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];
const HOW_TO = 'Set METRICS_TOKEN and send it: Authorization: Bearer <METRICS_TOKEN>.';

/**
 * Shows the metrics of a process, in the text format of Prometheus, to whom the operator lets read them: whoever shows
 * the token; without one, programs on this machine, as long as nobody else is meant to reach the service at all.
 */
export class MetricsDoor {
  readonly #registry: Registry;
  readonly #tokenDigest: Buffer | undefined;
  readonly #isPublic: boolean;

  constructor({ registry, token, publicBaseUrl }: MetricsDoorOptions) {
    this.#registry = registry;
    this.#tokenDigest = token === undefined ? undefined : digestOf(token);
    this.#isPublic = !isLoopback(new URL(publicBaseUrl).hostname);
  }

  /** Whether a request is for the metrics. */
  takes({ url, method }: IncomingMessage): boolean {
    return (method === 'GET' || method === 'HEAD') && url?.split('?', 1)[0] === METRICS_PATH;
  }

  /**
   * @throws ProblemError `invalid_api_key` for a wrong token, `insufficient_permissions` for a stranger where there is
   * none
   */
  async read(request: IncomingMessage): Promise<{ readonly mediaType: string; readonly text: string }> {
    this.#refuseStrangers(request);
    return { mediaType: this.#registry.contentType, text: await this.#registry.metrics() };
  }

  #refuseStrangers(request: IncomingMessage): void {
    if (this.#tokenDigest !== undefined) {
      const shown = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
      if (shown !== undefined && timingSafeEqual(digestOf(shown), this.#tokenDigest)) return;
      throw new ProblemError(
        'invalid_api_key',
        'Send Authorization: Bearer with the METRICS_TOKEN of this installation. API keys do not open the metrics.',
        { param: 'header:Authorization' },
      );
    }
    if (this.#isPublic)
      throw new ProblemError(
        'insufficient_permissions',
        `PUBLIC_BASE_URL says that others can reach this service, so its metrics need a token. ${HOW_TO}`,
      );
    if (!isFromHere(request))
      throw new ProblemError(
        'insufficient_permissions',
        `Without a token metrics are shown to programs on the same machine only, without a proxy between. ${HOW_TO}`,
      );
  }
}

/** Of one length, so that they can be compared in constant time. */
function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/**
 * A program on this machine, that called it by a name of its own: no proxy's client, and no page of a site whose name
 * leads here.
 */
function isFromHere({ socket, headers }: IncomingMessage): boolean {
  return (
    isLoopback(socket.remoteAddress ?? '') &&
    PROXY_HEADERS.every((name) => headers[name] === undefined) &&
    isLoopback((headers.host ?? '').replace(/:\d+$/, ''))
  );
}

function isLoopback(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, '$1').replace(/^::ffff:(?=\d)/i, '');
  return name === 'localhost' || /^127(?:\.\d{1,3}){3}$/.test(name) || (isIPv6(name) && /^(?:0*:)*0*1$/.test(name));
}
