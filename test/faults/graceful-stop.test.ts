import { jest } from '@jest/globals';
import { Agent, get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Caller } from '../house.ts';
import { analyse, connectSource, digestOf, stored, streamAnalysis, upload } from './analyses.ts';
import { DataFolder } from './data-folder.ts';
import { KeepAliveClient } from './keep-alive-client.ts';
import { survivorsOf } from './process-tree.ts';
import { Service } from './service.ts';
import { recentDays, shopRows } from './shop-rows.ts';
import { SlowUpload } from './slow-upload.ts';

jest.setTimeout(120_000);

const STOP_MS = 20_000;
const CLIENTS = 8;
const PROBE_MS = 10;
const LONG = shopRows({ users: 4_000, channels: 40, touches: 6, seed: 41 });
const SMALL = shopRows({ users: 300, channels: 4, touches: 4, seed: 42 });

describe('SIGTERM under load', () => {
  const folder = new DataFolder();
  const env = { LIFTGRAPH_DATA_DIR: folder.path, JOB_LEASE_S: '2' };
  let service: Service;
  let caller: Caller;
  let source: string;

  beforeAll(async () => {
    service = await Service.start({ env, program: 'launcher' });
    caller = await Caller.register(service.root);
    source = await connectSource(caller);
    await upload(caller, source, LONG);
  });

  afterAll(async () => {
    if (service?.isOver === false) await service.stop();
    folder.remove();
  });

  test('readiness goes first, what was accepted is answered, streams can resume, nothing stays behind', async () => {
    const undisturbed = digestOf(await analyse(caller, source));
    const emptySource = await connectSource(caller);
    const slow = new SlowUpload(service.root, caller, emptySource);
    await slow.send(SMALL.csv.slice(0, 1_000));
    const stream = await streamAnalysis(caller, source);
    const waiting = caller.post(
      '/attribution',
      { data_source_id: source, date_range: recentDays() },
      { prefer: 'wait=60' },
    );
    await stream.next('channel_result');
    const family = service.tree();
    expect(family.length).toBeGreaterThan(4);

    // As behind a load balancer: requests come until the probe is told to look elsewhere.
    const lookElsewhere = new AbortController();
    const clients = Array.from({ length: CLIENTS }, async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      let answered = 0;
      for (; !lookElsewhere.signal.aborted; answered += 1)
        expect(await statusOf(`${service.root}/v1/data-sources`, agent, caller)).toBe(200);
      agent.destroy();
      return answered;
    });
    const startedMs = performance.now();
    const ended = service.stop('SIGTERM');
    const probe = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let status = 200; status === 200; await sleep(PROBE_MS))
      status = await statusOf(`${service.root}/readyz`, probe);
    lookElsewhere.abort();
    probe.destroy();

    for (const answered of await Promise.all(clients)) expect(answered).toBeGreaterThan(0);
    expect(await slow.finish(SMALL.csv.slice(1_000))).toMatchObject({
      status: 202,
      body: { accepted: SMALL.touchpoints + SMALL.conversions },
    });
    const accepted = await waiting;
    expect(accepted.status).toBe(200);
    await stream.ended;
    expect(stream.text).toMatch(/retry: 1000\n: the server is restarting; reconnect to resume\n\n$|event: result\n/);
    await service.logged('the server has stopped', ({ cutOff }) => cutOff === 0);
    expect((await ended).code).toBe(0);
    expect(performance.now() - startedMs).toBeLessThan(STOP_MS);
    expect(survivorsOf(family)).toEqual([]);

    service = await Service.start({ env, program: 'launcher' });
    const again = new Caller(service.root, caller.key);
    expect(await stored(again, emptySource)).toEqual({
      touchpoints: SMALL.touchpoints,
      conversions: SMALL.conversions,
    });
    for (const id of [String(stream.events[0]!.data['id']), String(accepted.body['id'])]) {
      const resumed = await again.open('GET', `/attribution/${id}/stream`);
      expect(await resumed.text()).toContain('event: result\n');
      expect(digestOf((await again.get(`/attribution/${id}`)).body)).toBe(undisturbed);
    }
  });

  test.each(['SIGINT', 'SIGTERM'] as const)(
    '%s: no client that asks without a pause loses a request',
    async (signal) => {
      if (service.isOver) service = await Service.start({ env, program: 'launcher' });
      const headers = { Authorization: `Bearer ${caller.key}` };
      const newClient = () => new KeepAliveClient(service.root, '/v1/data-sources', headers);
      const clients = Array.from({ length: 2 * CLIENTS }, newClient);
      const refused = Promise.all(clients.map((client) => client.untilRefused()));
      while (clients.some(({ statuses }) => statuses.length < 3)) await sleep(PROBE_MS);
      const startedMs = performance.now();
      expect((await service.stop(signal)).code).toBe(0);
      expect(performance.now() - startedMs).toBeLessThan(STOP_MS);
      await refused;
      expect(clients.flatMap(({ lost }) => lost)).toEqual([]);
      expect(new Set(clients.flatMap(({ statuses }) => statuses))).toEqual(new Set([200]));
    },
  );
});

async function statusOf(url: string, agent: Agent, caller?: Caller): Promise<number> {
  const request = get(url, { agent, headers: caller === undefined ? {} : { authorization: `Bearer ${caller.key}` } });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  for await (const chunk of response) void chunk;
  return response.statusCode!;
}
