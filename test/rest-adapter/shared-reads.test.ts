import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import type { RequestContext } from '../../schema/principal.ts';
import { ProblemError } from '../../schema/problems.ts';
import { KEY, openDoor, type TestDoor } from './door.ts';
import { attribution, dataSource, NOW, trust } from './shop.ts';

interface Sent {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

interface Got {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: unknown;
}

/** Requests in one write to one connection, so that the service meets them in one turn of its event loop. */
async function together(door: TestDoor, requests: readonly Sent[]): Promise<Got[]> {
  const { port } = new URL(door.url);
  const socket = connect({ port: Number(port), host: '127.0.0.1' });
  socket.write(
    requests
      .map(({ path, method = 'GET', headers = {}, body }, place) => {
        const content = body === undefined ? '' : JSON.stringify(body);
        const all = {
          host: 'api.example',
          authorization: KEY,
          'x-nonce': `nonce-${place}`,
          ...headers,
          ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': content.length }),
          ...(place === requests.length - 1 ? { connection: 'close' } : {}),
        };
        return `${method} ${path} HTTP/1.1\r\n${Object.entries(all)
          .map(([name, value]) => `${name}: ${value}\r\n`)
          .join('')}\r\n${content}`;
      })
      .join(''),
  );
  const answers: Got[] = [];
  for (let rest = await text(socket); rest !== '';) {
    const [head = ''] = rest.split('\r\n\r\n', 1);
    const [statusLine = '', ...lines] = head.split('\r\n');
    const headers = new Map(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
    );
    const start = head.length + 4;
    const stop = start + Number(headers.get('content-length') ?? 0);
    answers.push({
      status: Number(statusLine.split(' ')[1]),
      headers,
      body: stop === start ? null : JSON.parse(rest.slice(start, stop)),
    });
    rest = rest.slice(stop);
  }
  return answers;
}

/** A door whose sources are named after the reading that found them, and the callers that they were read for. */
async function readingDoor() {
  const readers: string[] = [];
  const door = await openDoor({
    resolvers: {
      dataSource: (_arguments: unknown, { principal }: RequestContext) => {
        readers.push(principal!.credentialId);
        return { ...dataSource, name: `reading ${readers.length}` };
      },
    },
  });
  return { door, readers };
}

const STATUS = '/v1/data-sources/ds_1/status';
const namesOf = (answers: readonly Got[]) => answers.map(({ body }) => (body as { name: string }).name);

describe('reads that come together', () => {
  test('are answered by one reading, each with an id and a line in the log of its own', async () => {
    const { door, readers } = await readingDoor();
    await using _ = door;
    const answers = await together(door, [{ path: STATUS }, { path: STATUS }, { path: STATUS }]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(namesOf(answers)).toEqual(['reading 1', 'reading 1', 'reading 1']);
    expect(readers).toHaveLength(1);
    const ids = answers.map(({ headers }) => headers.get('x-request-id'));
    expect(new Set(ids).size).toBe(3);
    expect(door.logs.filter(({ msg }) => msg === 'request').map(({ requestId }) => requestId)).toEqual(ids);
    expect(door.admission.log).toEqual(['admit', 'admit', 'admit']);
  });

  test('and one that comes after the answer is read anew', async () => {
    const { door } = await readingDoor();
    await using _ = door;
    await together(door, [{ path: STATUS }]);
    expect(namesOf(await together(door, [{ path: STATUS }, { path: STATUS }]))).toEqual(['reading 2', 'reading 2']);
  });

  test.each([
    [
      'callers',
      'Bearer test',
      { path: STATUS, headers: { authorization: 'Bearer test', 'svc-api-version': '2026-02-01' } },
    ],
    ['resources', KEY, { path: '/v1/data-sources/ds_2/status' }],
    ['versions', KEY, { path: STATUS, headers: { 'svc-api-version': '2025-11-01' } }],
  ])('but of different %s, apart', async (_what, reader, other) => {
    const { door, readers } = await readingDoor();
    await using _ = door;
    const answers = await together(door, [{ path: STATUS }, other, { path: STATUS }]);
    expect(namesOf(answers)).toEqual(['reading 1', 'reading 2', 'reading 1']);
    expect(readers).toEqual([KEY, reader]);
  });

  test('whoever has the answer already is told so, and the others get it', async () => {
    await using door = await openDoor({
      resolvers: { attribution: ({ id }: { id: string }) => attribution(id, 'COMPLETED', { trust: trust() }) },
    });
    const path = '/v1/attribution/attr_1';
    const [first] = await together(door, [{ path }]);
    const answers = await together(door, [
      { path },
      { path, headers: { 'if-none-match': first!.headers.get('etag')! } },
      { path },
    ]);
    expect(answers.map(({ status }) => status)).toEqual([200, 304, 200]);
    expect(answers[2]!.body).toEqual(answers[0]!.body);
  });

  test('hear of the same failure, each under its own id', async () => {
    let readings = 0;
    await using door = await openDoor({
      resolvers: {
        me: () => {
          readings += 1;
          throw new ProblemError('service_unavailable', 'The database does not answer.', { retryAfterS: 2 });
        },
      },
    });
    const answers = await together(door, [{ path: '/v1/agents/me' }, { path: '/v1/agents/me' }]);
    expect(readings).toBe(1);
    for (const { status, headers, body } of answers) {
      expect(status).toBe(503);
      expect(body).toMatchObject({
        error: { type: 'service_unavailable', retry_after: 2, request_id: headers.get('x-request-id') },
      });
    }
  });
});

test('what changes something happens for each who asks', async () => {
  let syncs = 0;
  const payload = () => ({
    sync: { syncId: `sync_${(syncs += 1)}`, dataSourceId: 'ds_1', status: 'QUEUED', requestedAt: NOW },
    trust: trust(),
  });
  await using door = await openDoor({ resolvers: { syncDataSource: payload } });
  const sync = { path: '/v1/data-sources/ds_1/sync', method: 'POST' };
  const answers = await together(door, [sync, sync]);
  expect(answers.map(({ body }) => (body as { sync_id: string }).sync_id)).toEqual(['sync_1', 'sync_2']);
});
