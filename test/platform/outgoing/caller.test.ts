import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { LookupAddress } from 'node:dns';
import { createCaller, type Caller, type CallerOptions } from '../../../platform/outgoing/caller.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

function callerWith(options: Partial<CallerOptions> = {}): Caller {
  const caller = createCaller({ allowPrivate: true, timeoutMs: 2_000, maxResponseBytes: 1_024, ...options });
  open.push(caller);
  return caller;
}

async function serve(handler: RequestListener): Promise<{ url: string; port: number; server: Server }> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({ close: () => (server.closeAllConnections(), server.close()) });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, port, server };
}

/** A resolver whose answers change from call to call, as a rebinding name's do; the last one stays. */
function answering(...answers: readonly (readonly string[])[]): {
  lookup: NonNullable<CallerOptions['lookup']>;
  asked: () => number;
} {
  let asked = 0;
  return {
    asked: () => asked,
    lookup: (_hostname, _options, callback) => {
      const addresses = answers[Math.min(asked, answers.length - 1)]!;
      asked += 1;
      callback(
        null,
        addresses.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
    },
  };
}

describe('a call', () => {
  test('brings status, headers and the head of the body', async () => {
    const { url } = await serve((request, response) =>
      response.writeHead(202, { 'retry-after': '7', 'x-method': request.method! }).end('x'.repeat(100_000)),
    );
    const answer = await callerWith().call({
      url,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(answer).toMatchObject({ status: 202, headers: { 'retry-after': '7', 'x-method': 'POST' } });
    expect(answer.body.length).toBe(1_024);
  });

  test('takes a redirect for an answer', async () => {
    let visits = 0;
    const { url } = await serve(
      (_request, response) => (
        visits++,
        response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end()
      ),
    );
    expect(await callerWith().call({ url, method: 'POST', headers: {}, body: '' })).toMatchObject({ status: 302 });
    expect(visits).toBe(1);
  });

  test('ends in time, whether the other side is silent or never ends', async () => {
    const silent = await serve(() => undefined);
    const endless = await serve((_request, response) => void setInterval(() => response.write('x'), 20).unref());
    const caller = callerWith({ timeoutMs: 300 });
    for (const { url } of [silent, endless])
      await expect(caller.call({ url, method: 'GET', headers: {} })).rejects.toMatchObject({ code: 'timeout' });
  });

  test('tells refused, reset and TLS failures apart from answers', async () => {
    const { url, port } = await serve((request) => void request.socket.destroy());
    const caller = callerWith();
    await expect(caller.call({ url, method: 'GET', headers: {} })).rejects.toMatchObject({ code: 'connection' });
    await expect(caller.call({ url: `https://127.0.0.1:${port}/`, method: 'GET', headers: {} })).rejects.toMatchObject({
      code: 'tls',
    });
    const closed = createTcpServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const gone = (closed.address() as AddressInfo).port;
    await new Promise((resolve) => closed.close(resolve));
    await expect(caller.call({ url: `http://127.0.0.1:${gone}/`, method: 'GET', headers: {} })).rejects.toMatchObject({
      code: 'connection',
    });
    await expect(
      caller.call({ url: 'http://no-such-name.invalid/', method: 'GET', headers: {} }),
    ).rejects.toMatchObject({ code: 'dns' });
  });
});

describe('addresses that are not public', () => {
  test.each([
    [['127.0.0.1']],
    [['93.184.216.34', '10.0.0.1']],
    [['2606:4700:4700::1111', '::ffff:127.0.0.1']],
    [['fd00:ec2::254']],
  ])('are refused when a name leads to %s', async (addresses) => {
    const caller = callerWith({ allowPrivate: false, lookup: answering(addresses).lookup });
    await expect(caller.assertCallable('https://hooks.example/')).rejects.toMatchObject({ code: 'blocked_address' });
    await expect(
      caller.call({ url: 'https://hooks.example/', method: 'POST', headers: {}, body: '' }),
    ).rejects.toMatchObject({ code: 'blocked_address' });
  });

  test('are refused at the call when the name was public at registration', async () => {
    const { port } = await serve((_request, response) => response.end('inside'));
    const { lookup, asked } = answering(['93.184.216.34'], ['127.0.0.1']);
    const caller = callerWith({ allowPrivate: false, lookup });
    const url = `https://rebinding.example:${port}/`;
    await caller.assertCallable(url);
    await expect(caller.call({ url, method: 'POST', headers: {}, body: '' })).rejects.toMatchObject({
      code: 'blocked_address',
    });
    expect(asked()).toBe(2);
  });

  test('are refused as literals, which no lookup sees', async () => {
    const { lookup, asked } = answering(['93.184.216.34']);
    const caller = callerWith({ allowPrivate: false, lookup });
    for (const url of ['https://127.0.0.1/', 'https://[::1]/', 'https://[::127.0.0.1]/', 'https://2130706433/']) {
      await expect(caller.assertCallable(url)).rejects.toMatchObject({ code: 'blocked_address' });
      await expect(caller.call({ url, method: 'GET', headers: {} })).rejects.toMatchObject({ code: 'blocked_address' });
    }
    expect(asked()).toBe(0);
  });

  test('the connection goes to the address that was checked, and none is kept for the next call', async () => {
    let connections = 0;
    const { port, server } = await serve((_request, response) => response.end('ok'));
    server.on('connection', () => (connections += 1));
    // The name would lead elsewhere at the second question of one call.
    const { lookup, asked } = answering(['127.0.0.1']);
    const caller = callerWith({ lookup });
    for (let call = 1; call <= 3; call += 1) {
      await caller.call({ url: `http://any.example:${port}/`, method: 'GET', headers: {} });
      expect([asked(), connections]).toEqual([call, call]);
    }
  });
});
