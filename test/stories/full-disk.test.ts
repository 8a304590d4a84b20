import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { DiskWatch } from '../../processes/disk-watch.ts';
import { Caller, LAYOUTS, openHouse, type Answer, type House } from '../house.ts';
import { clock } from '../service-clock.ts';
import { SMALLEST_SHOP } from '../smallest-shop.ts';

const CSV = { 'content-type': 'text/csv' };
const REFUSED = {
  type: 'service_unavailable',
  code: 'disk_nearly_full',
  message: expect.stringMatching(/^The disk is nearly full, .*reads go on/),
};

describe.each(LAYOUTS)('a service whose disk is nearly full, %s', (layout) => {
  let house: House;
  let caller: Caller;
  let source: string;
  let analysis: string;
  let spareKey: string;
  let freeBytes = 2;
  const disk = new DiskWatch({
    folders: ['/data'],
    reserveBytes: 1,
    logger: pino({ level: 'silent' }),
    freeBytesOf: async () => freeBytes,
  });
  const set = async (free: number): Promise<void> => {
    freeBytes = free;
    await disk.look();
  };
  const readiness = async () => {
    const response = await fetch(`${house.root}/readyz`);
    return {
      status: response.status,
      body: (await response.json()) as { ready: boolean; checks: Record<string, unknown> },
    };
  };
  const refused = ({ status, headers, body }: Answer) => {
    expect({ status, retryAfter: headers.get('retry-after'), error: body['error'] }).toMatchObject({
      status: 503,
      retryAfter: '30',
      error: REFUSED,
    });
  };

  beforeAll(async () => {
    house = await openHouse(layout, { clock, disk });
    caller = await Caller.register(house.root);
    source = String(
      (await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: { content: SMALLEST_SHOP } }))
        .body['data_source_id'],
    );
    const run = await caller.post('/attribution', {
      data_source_id: source,
      date_range: ['2026-01-01', '2026-01-31'],
      model: 'shapley',
    });
    analysis = String(run.body['id']);
    spareKey = String((await caller.post('/keys', { name: 'spare' })).body['live']!['id']);
    await set(0);
  });
  afterAll(() => house?.stop());

  test('refuses uploads of every kind, analyses, connections and registrations with the reason', async () => {
    refused(await caller.send('POST', `/data-sources/${source}/records`, SMALLEST_SHOP, CSV));
    refused(
      await caller.post(`/data-sources/${source}/records`, {
        records: [{ user_id: 'u9', timestamp: '2026-01-01T00:00:00Z', channel: 'email' }],
      }),
    );
    const form = new FormData();
    form.set('file', new Blob([SMALLEST_SHOP], { type: 'text/csv' }), 'rows.csv');
    refused(await caller.send('POST', `/data-sources/${source}/records`, form));
    refused(
      await caller.send('POST', `/data-sources/${source}/records`, SMALLEST_SHOP, {
        ...CSV,
        'svc-idempotency-key': 'full-1',
      }),
    );
    refused(await caller.post('/attribution', { data_source_id: source, date_range: ['2026-01-01', '2026-01-31'] }));
    refused(await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: {} }));
    refused(await new Caller(house.root, null).post('/agents/register', { name: 'late-comer', operator_id: 'me' }));
  });

  test('refuses exports, which wait on the disk for their readers', async () => {
    for (const level of ['channels', 'paths'])
      refused(await caller.get(`/attribution/${analysis}/export?format=json&level=${level}`));
  });

  test('reads go on', async () => {
    for (const path of [
      '/attribution',
      `/attribution/${analysis}`,
      '/data-sources',
      `/data-sources/${source}/status`,
      '/agents/me',
      '/keys',
      '/audit/events',
    ]) {
      const response = await caller.open('GET', path);
      await response.arrayBuffer();
      expect([path, response.status]).toEqual([path, 200]);
    }
    const { data, errors } = await caller.graphql('{ me { id } dataSources { edges { node { id } } } }');
    expect(errors).toBeUndefined();
    expect(data).toBeTruthy();
  });

  test('keys are revoked and things deleted', async () => {
    expect((await caller.delete(`/keys/${spareKey}`)).status).toBeLessThan(300);
    await set(2);
    const other = String(
      (await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: {} })).body['data_source_id'],
    );
    await set(0);
    expect((await caller.delete(`/data-sources/${other}`)).status).toBeLessThan(300);
  });

  test('is not ready, lives, and tells why', async () => {
    expect(await readiness()).toMatchObject({
      status: 503,
      body: {
        ready: false,
        checks: {
          disk: {
            status: 'degraded',
            reason: expect.stringMatching(/nearly full.*refused.*reads go on/),
            refusesWork: true,
          },
        },
      },
    });
    expect((await fetch(`${house.root}/healthz`)).status).toBe(200);
    const health = await caller.get('/health');
    expect([health.status, health.body['status'], health.body['checks']!['disk']]).toEqual([
      200,
      'degraded',
      { status: 'degraded', reason: expect.stringMatching(/nearly full/) },
    ]);
  });

  test('an upload under way ends where the room does, and none of it counts', async () => {
    await set(2);
    const before = (await caller.get(`/data-sources/${source}/status`)).body['records'];
    const line = (row: number) => `v${row},2026-01-0${1 + (row % 9)}T00:00:00Z,email,0,0\n`;
    async function* file(): AsyncGenerator<Uint8Array> {
      const lines = Array.from({ length: 20_000 }, (_, row) => line(row)).join('');
      yield Buffer.from(`user_id,timestamp,channel,conversion,revenue\n${lines}`);
      // Long enough for the service to have begun; if it has not, it refuses the whole.
      await sleep(1_000);
      await set(0);
      for (let part = 1; part < 10; part += 1)
        yield Buffer.from(Array.from({ length: 20_000 }, (_, row) => line(20_000 * part + row)).join(''));
    }
    const body = Readable.from(file()) as unknown as BodyInit;
    const response = await fetch(`${house.root}/v1/data-sources/${source}/records`, {
      method: 'POST',
      headers: { ...CSV, authorization: `Bearer ${caller.key}`, 'x-nonce': crypto.randomUUID() },
      body,
      duplex: 'half',
    } as RequestInit);
    expect([response.status, ((await response.json()) as { error: unknown }).error]).toEqual([
      503,
      expect.objectContaining(REFUSED),
    ]);
    expect((await caller.get(`/data-sources/${source}/status`)).body['records']).toEqual(before);
  });

  test('takes everything again as soon as there is room, without a restart', async () => {
    await set(2);
    expect(await readiness()).toMatchObject({ status: 200, body: { ready: true, checks: { disk: { status: 'ok' } } } });
    expect(
      (
        await caller.send('POST', `/data-sources/${source}/records`, SMALLEST_SHOP, {
          ...CSV,
          'svc-idempotency-key': 'full-1',
        })
      ).status,
    ).toBe(202);
    expect(
      (
        await caller.post('/attribution', {
          data_source_id: source,
          date_range: ['2026-01-01', '2026-01-30'],
          model: 'shapley',
        })
      ).status,
    ).toBe(200);
  });

  test('what it refused is not an error of every request in the log', () => {
    expect(
      house
        .log()
        .split('\n')
        .filter((line) => line.includes('request failed') && line.includes('nearly full')),
    ).toEqual([]);
  });
});
