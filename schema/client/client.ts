import createFetchClient, { type Client } from 'openapi-fetch';
import type { paths } from './rest-api.ts';
import { retrying, type RetryOptions } from './retries.ts';

/** Every operation of the REST contract, typed: `client.GET('/attribution/{id}', { params: { path: { id } } })`. */
export type LiftgraphClient = Client<paths, `${string}/${string}`>;

export interface ClientOptions extends RetryOptions {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  /** An API key, or what gives an access token: it is asked for with every attempt, so that it may renew one. */
  readonly credential?: string | (() => string | Promise<string>);
  /** Dated version that answers follow; the service's current one when absent (contract §9.7). */
  readonly apiVersion?: string;
}

/**
 * A client of the REST API. Each call resolves to `{ data, error, response }`, `error` being the Error body of the
 * contract. Refusals that pass are tried again: see {@link retrying}.
 */
export function createClient(options: ClientOptions): LiftgraphClient {
  const { baseUrl, credential, apiVersion } = options;
  const client = createFetchClient<paths>({ baseUrl, fetch: retrying(options, authorise) });
  return client;

  async function authorise(headers: Headers): Promise<void> {
    if (apiVersion !== undefined && !headers.has('SVC-API-Version')) headers.set('SVC-API-Version', apiVersion);
    if (credential === undefined || headers.has('Authorization')) return;
    headers.set('Authorization', `Bearer ${typeof credential === 'string' ? credential : await credential()}`);
  }
}
