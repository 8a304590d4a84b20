import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Registry } from 'prom-client';
import { MetricsDoor, type MetricsDoorOptions } from '../../../platform/telemetry/metrics-door.ts';
import { ProblemError } from '../../../schema/problems.ts';

const TOKEN = 'a-token-for-whoever-scrapes';
const HERE = { publicBaseUrl: 'http://127.0.0.1:4000/v1' };

let server: Server;
let port: number;
let door: MetricsDoor;
beforeAll(async () => {
  server = createServer((request, response) => {
    door.read(request).then(
      ({ mediaType }) => response.end(mediaType),
      (error: unknown) =>
        response.end(error instanceof ProblemError ? `${error.type}: ${error.message}` : String(error)),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => server.close());

async function asked(
  options: Omit<MetricsDoorOptions, 'registry' | 'token'> & { readonly token?: string },
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  door = new MetricsDoor({ registry: new Registry(), token: undefined, ...options });
  const socket = connect(port, '127.0.0.1');
  const lines = Object.entries({ Host: `127.0.0.1:${port}`, Connection: 'close', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  socket.write(`GET /metrics HTTP/1.1\r\n${lines.join('')}\r\n`);
  return (await text(socket)).split('\r\n\r\n')[1]!;
}

const SHOWN = /text\/plain; version=0\.0\.4/;

test('without a token a program on the same machine reads them', async () => {
  expect(await asked(HERE)).toMatch(SHOWN);
  expect(await asked(HERE, { Host: 'localhost' })).toMatch(SHOWN);
  expect(await asked({ publicBaseUrl: 'http://[::1]:4000/v1' }, { Host: '[::1]:4000' })).toMatch(SHOWN);
});

test.each(['Forwarded', 'X-Forwarded-For', 'X-Forwarded-Host', 'X-Real-IP', 'Via'])(
  'nobody does through a proxy that says %s',
  async (header) => {
    expect(await asked(HERE, { [header]: '127.0.0.1' })).toMatch(/^insufficient_permissions: .*Set METRICS_TOKEN/);
  },
);

test('nor a page of a site whose name leads here, nor anybody where others reach the service', async () => {
  expect(await asked(HERE, { Host: 'rebound.example' })).toMatch(/^insufficient_permissions/);
  expect(await asked(HERE, { Host: '127.0.0.1.example' })).toMatch(/^insufficient_permissions/);
  expect(await asked({ publicBaseUrl: 'https://api.example/v1' })).toMatch(
    /^insufficient_permissions: PUBLIC_BASE_URL/,
  );
});

test('nor from another address', async () => {
  door = new MetricsDoor({ registry: new Registry(), token: undefined, ...HERE });
  const from = (remoteAddress: string | undefined) =>
    door.read({
      method: 'GET',
      url: '/metrics',
      headers: { host: 'localhost' },
      socket: { remoteAddress },
    } as unknown as IncomingMessage);
  for (const stranger of ['192.0.2.7', '::ffff:192.0.2.7', '2001:db8::1', '10.0.0.1', '127.0.0.1.example', undefined])
    await expect(from(stranger)).rejects.toMatchObject({ type: 'insufficient_permissions' });
  for (const here of ['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1'])
    await expect(from(here)).resolves.toMatchObject({ mediaType: expect.stringMatching(SHOWN) });
});

test('a token opens them wherever it comes from, and nothing else does', async () => {
  for (const publicBaseUrl of [HERE.publicBaseUrl, 'https://api.example/v1']) {
    expect(
      await asked(
        { publicBaseUrl, token: TOKEN },
        { Authorization: `Bearer ${TOKEN}`, Host: 'metrics.example', Via: 'a proxy' },
      ),
    ).toMatch(SHOWN);
    for (const authorization of [`Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(1)}`, `Basic ${TOKEN}`, TOKEN, 'Bearer '])
      expect(await asked({ publicBaseUrl, token: TOKEN }, { Authorization: authorization })).toMatch(
        /^invalid_api_key: .*METRICS_TOKEN/,
      );
    expect(await asked({ publicBaseUrl, token: TOKEN })).toMatch(/^invalid_api_key/);
  }
});
