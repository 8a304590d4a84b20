import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import {
  connect,
  createServer as createTcpServer,
  type AddressInfo,
  type Server as TcpServer,
  type Socket,
} from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { Webhook } from 'standardwebhooks';
import { createHmac } from 'node:crypto';
import { EVENT_CATALOGUE, type EventType } from '../../../../schema/event-catalogue.ts';
import { recordEvent } from '../../../../services/events/outbox.ts';
import type { Uuid } from '../../../../platform/identifiers.ts';
import { wholeAccount } from '../../../../platform/postgres/database.ts';
import { Caller, openHouse, type House } from '../../../house.ts';
import { startCli, type RunningCli } from '../run-cli.ts';

interface Received {
  readonly headers: Record<string, string>;
  readonly body: string;
}

let house: House;
let owner: Client;
let caller: Caller;
let account: { accountId: Uuid; keyId: Uuid };
let proxy: Proxy;
let folder: string;
const started: RunningCli[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'liftgraph-listen-'));
  house = await openHouse('one process', { withWorker: false });
  owner = new Client({ connectionString: house.ownerUrl });
  await owner.connect();
  proxy = await Proxy.start(Number(new URL(house.root).port));
});

beforeEach(async () => {
  caller = await Caller.register(house.root);
  const { rows } = await owner.query<{ id: Uuid; account_id: Uuid }>(
    'select id, account_id from auth.api_keys where last4 = right($1, 4) and display_prefix = left($1, 16) order by ' +
      'created_at desc',
    [caller.key],
  );
  account = { accountId: rows[0]!.account_id, keyId: rows[0]!.id };
});

afterEach(async () => {
  for (const { child, result } of started.splice(0)) {
    child.kill('SIGKILL');
    await result;
  }
});

afterAll(async () => {
  await proxy?.close();
  await owner?.end();
  await house?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** A way to the service that can be cut. */
class Proxy {
  readonly #server: TcpServer;
  readonly #sockets = new Set<Socket>();
  isOpen = true;

  constructor(port: number) {
    this.#server = createTcpServer((client) => {
      if (!this.isOpen) return void client.destroy();
      const upstream = connect(port, '127.0.0.1');
      for (const socket of [client, upstream]) {
        this.#sockets.add(socket);
        socket
          .on('error', () => undefined)
          .once('close', () => (this.#sockets.delete(socket), client.destroy(), upstream.destroy()));
      }
      client.pipe(upstream).pipe(client);
    });
  }

  static async start(port: number): Promise<Proxy> {
    const proxy = new Proxy(port);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get root(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

/** A program that takes webhooks and answers as it is told. */
async function startReceiver(
  statuses: number[] = [],
): Promise<{ readonly url: string; readonly received: Received[]; readonly server: Server }> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      received.push({ headers: request.headers as Record<string, string>, body });
      response.writeHead(statuses.shift() ?? 204).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`, received, server };
}

function happen(type: EventType = 'health.alert'): Promise<unknown> {
  const { database, pubSub } = house.backing;
  const { accountId } = account;
  return database.asTenant(wholeAccount({ accountId, environment: 'live' }), (em) =>
    recordEvent(em, pubSub, {
      accountId,
      environment: 'live',
      type,
      subject: 'ds_x',
      data: EVENT_CATALOGUE[type].example as never,
    }),
  );
}

/** The command as it runs, and what it has said. */
class Listening {
  readonly running: RunningCli;
  stdout = '';
  stderr = '';

  constructor(args: readonly string[], env: Record<string, string> = {}) {
    this.running = startCli(['listen', ...args], {
      cwd: folder,
      temporary: folder,
      env: { LIFTGRAPH_KEY: caller.key!, ...env },
    });
    started.push(this.running);
    this.running.child.stdout!.on('data', (text: string) => (this.stdout += text));
    this.running.child.stderr!.on('data', (text: string) => (this.stderr += text));
  }

  get lines(): string[] {
    return this.stdout.split('\n').filter((line) => line !== '');
  }

  async until(isSo: () => boolean): Promise<void> {
    for (const deadlineMs = performance.now() + 20_000; !isSo(); await sleep(10))
      if (performance.now() > deadlineMs) throw new Error(`it did not happen: ${this.stdout}${this.stderr}`);
  }

  listens(): Promise<void> {
    return this.until(() => this.stderr.includes('Listening to'));
  }

  async interrupt(): Promise<number | null> {
    this.running.child.kill('SIGINT');
    return (await this.running.result).code;
  }
}

test('prints events as they happen, and ends with Ctrl-C, saying how to go on', async () => {
  const listening = new Listening(['--url', house.root, '--events', 'health.alert,agent.tier_changed']);
  await listening.listens();
  await happen('forecast.ready');
  await happen('health.alert');
  await listening.until(() => listening.lines.length === 1);
  expect(listening.lines[0]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z {2}health\.alert {2,}evt_\w{22} {2}ds_\w+$/);
  expect(await listening.interrupt()).toBe(0);
  expect(listening.stderr).toContain('--after 2');

  await happen('agent.tier_changed');
  const later = new Listening(['--url', `${house.root}/v1/`, '--after', '2', '--json']);
  await later.until(() => later.lines.length === 1);
  expect(JSON.parse(later.lines[0]!)).toMatchObject({
    type: 'agent.tier_changed',
    environment: 'live',
    webhook_id: null,
    data: EVENT_CATALOGUE['agent.tier_changed'].example,
  });
});

test('forwards as a webhook is sent, verified by the stock library and by the contract’s signature', async () => {
  const { url, received, server } = await startReceiver([204, 500]);
  const listening = new Listening(['--url', house.root, '--forward-to', url]);
  await listening.listens();
  const [secret] = /whsec_\S+/.exec(listening.stderr)!;
  await happen('health.alert');
  await happen('health.recovered');
  await listening.until(() => listening.lines.length === 2);
  expect(received.map(({ headers }) => headers['x-svc-event'])).toEqual(['health.alert', 'health.recovered']);
  for (const { headers, body } of received) {
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'svc-webhooks/1.0',
      'x-svc-signature': createHmac('sha256', secret).update(body).digest('hex'),
      'x-svc-attempt': '1',
      'x-svc-delivery': expect.stringMatching(/^dlv_\w{22}$/),
      'webhook-id': (JSON.parse(body) as { id: string }).id,
    });
  }
  expect(listening.lines[0]).toMatch(/-> 204 in \d+ ms$/);
  expect(listening.lines[1]).toMatch(/-> 500 in \d+ ms: not received/);
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
  await happen('forecast.ready');
  await listening.until(() => listening.lines.length === 3);
  expect(listening.lines[2]).toMatch(/-> not received: nobody listens there/);
});

test('goes on behind the last event when the connection is lost: nothing is missed, nothing comes twice', async () => {
  const { url, received, server } = await startReceiver();
  const listening = new Listening(['--url', proxy.root, '--forward-to', url]);
  await listening.listens();
  // Lost before the first event: the place where it began is what it comes back with.
  proxy.isOpen = false;
  proxy.cut();
  await happen();
  await listening.until(() => listening.stderr.includes('trying again'));
  proxy.isOpen = true;
  await listening.until(() => received.length === 1);
  const [writing] = [
    (async () => {
      for (let event = 0; event < 60; event += 1) {
        await happen();
        if (event % 20 === 10) proxy.cut();
      }
    })(),
  ];
  await writing;
  await listening.until(() => received.length === 61);
  await sleep(100);
  const ids = received.map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids).size).toBe(61);
  const { rows } = await owner.query<{ n: string }>('select count(*) as n from events.outbox where account_id = $1', [
    account.accountId,
  ]);
  expect(ids).toHaveLength(Number(rows[0]!.n));
  server.close();
  server.closeAllConnections();
});

test('a key that is refused, or that is revoked meanwhile, ends it with a word of why', async () => {
  const refused = await new Listening(['--url', house.root, '--key', 'svc_live_sk_000000000000000000000000']).running
    .result;
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringMatching(/^error: The service refuses the key: .*--key or LIFTGRAPH_KEY/),
  ]);

  const listening = new Listening(['--url', house.root]);
  await listening.listens();
  await owner.query('update auth.api_keys set revoked_at = now() where id = $1', [account.keyId]);
  const { code, stderr } = await listening.running.result;
  expect([code, stderr]).toEqual([1, expect.stringContaining('The service refuses the key')]);
});

test.each([
  [['--events', 'shop.opened'], 'shop.opened'],
  [['--url', 'ftp://x'], 'is not an http or https address'],
  [['--forward-to', 'nowhere'], 'is not an http or https address'],
  [['--after', '-1'], 'whole number'],
])('%j is refused', async (args, message) => {
  const { code, stderr } = await new Listening(args).running.result;
  expect([code, stderr]).toEqual([1, expect.stringContaining(message)]);
});

test('without a key it says how to give one; an address without a service is told from one that is away', async () => {
  const nobody = await new Listening(['--url', house.root], { LIFTGRAPH_KEY: '' }).running.result;
  expect([nobody.code, nobody.stderr]).toEqual([1, expect.stringContaining('LIFTGRAPH_KEY')]);
  const { url, server } = await startReceiver();
  const elsewhere = await new Listening(['--url', new URL(url).origin]).running.result;
  expect([elsewhere.code, elsewhere.stderr]).toEqual([1, expect.stringContaining('there is no event stream')]);
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
  const away = new Listening(['--url', new URL(url).origin]);
  await away.until(() => (away.stderr.match(/cannot be reached: ECONNREFUSED; trying again/g) ?? []).length >= 2);
  expect(await away.interrupt()).toBe(0);
});
