import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import {
  SourceRefusedError,
  type FetchingConnector,
} from '../../../../../subgraphs/attribution/intake/connectors/connector.ts';

const HEADER = 'user_id,timestamp,channel,conversion,revenue';
const PAGE_ROWS = 20;

/** A shop on this machine with an API: who is asking, and the events since a time, by pages of CSV. */
export interface TinyShop {
  /** `http://127.0.0.1:port`. */
  readonly url: string;
  readonly tokens: Set<string>;
  /** What it was asked, `GET /events?…`, in order. */
  readonly asked: string[];
  /** Each with the time that it came at; CSV. */
  readonly rows: { readonly at: Date; readonly line: string }[];
  /** Answers come after so long. */
  slowMs: number;
  /** How many answers to the second page of events end in the middle of a row. */
  brokenPages: number;
  /** Whether its owner revokes all tokens while the second page is asked for. */
  isRevokedMidway: boolean;
  close(): Promise<void>;
}

export async function openTinyShop(): Promise<TinyShop> {
  const server = createServer((request, response) => void answer(request, response).catch(() => response.destroy()));
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    shop.asked.push(`${request.method!} ${request.url!}`);
    await sleep(shop.slowMs);
    if (shop.isRevokedMidway && request.url!.includes('page=2')) shop.tokens.clear();
    if (!shop.tokens.has(String(request.headers.authorization).slice('Bearer '.length))) {
      response.writeHead(401).end();
      return;
    }
    const { pathname, searchParams } = new URL(request.url!, shop.url);
    if (pathname === '/me') {
      response.end('{}');
      return;
    }
    const page = Number(searchParams.get('page'));
    const since = new Date(searchParams.get('since') ?? 0);
    const found = shop.rows.filter(({ at }) => at >= since).map(({ line }) => line);
    const lines = found.slice((page - 1) * PAGE_ROWS, page * PAGE_ROWS);
    const text = [HEADER, ...lines].join('\n');
    response.setHeader('x-more', String(found.length > page * PAGE_ROWS));
    if (page === 2 && shop.brokenPages > 0) {
      shop.brokenPages -= 1;
      response.setHeader('content-length', Buffer.byteLength(text));
      response.write(text.slice(0, text.length / 2), () => response.destroy());
      return;
    }
    response.end(text);
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const shop: TinyShop = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tokens: new Set(),
    asked: [],
    rows: [],
    slowMs: 0,
    brokenPages: 0,
    isRevokedMidway: false,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return shop;
}

const credentialsSchema = z.strictObject({ base_url: z.url(), access_token: z.string().min(1) });
type Credentials = z.output<typeof credentialsSchema>;

/** A connector to such shops, as it would stand in a folder of its own. */
export const tinyShopConnector: FetchingConnector<Credentials> = {
  type: 'shopify',
  title: 'Tiny shop',
  credentials: credentialsSchema,
  async check(credentials, signal) {
    await ask(credentials, '/me', signal);
  },
  async *fetch(credentials, since, signal) {
    const from = since === null ? '' : `&since=${since.toISOString()}`;
    const first = await ask(credentials, `/events?page=1${from}`, signal);
    if (first.lines.length === 1) return;
    async function* pages(): AsyncGenerator<Uint8Array> {
      let { lines, hasMore } = first;
      yield Buffer.from(`${lines.join('\n')}\n`);
      for (let page = 2; hasMore; page += 1) {
        ({ lines, hasMore } = await ask(credentials, `/events?page=${page}${from}`, signal));
        yield Buffer.from(`${lines.slice(1).join('\n')}\n`);
      }
    }
    yield { mediaType: 'text/csv', contentEncoding: 'identity', body: pages() };
  },
};

async function ask(
  { base_url: baseUrl, access_token: token }: Credentials,
  path: string,
  signal: AbortSignal,
): Promise<{ readonly lines: readonly string[]; readonly hasMore: boolean }> {
  try {
    const response = await fetch(new URL(path, baseUrl), { signal, headers: { authorization: `Bearer ${token}` } });
    if (response.status === 401) throw new SourceRefusedError('the shop does not know this token. Make a new one.');
    const text = await response.text();
    return { lines: text.split('\n'), hasMore: response.headers.get('x-more') === 'true' };
  } catch (error) {
    // As careless as a library may be.
    throw error instanceof SourceRefusedError ? error : new Error(`${path} with ${token} failed`, { cause: error });
  }
}
