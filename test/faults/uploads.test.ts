import { jest } from '@jest/globals';
import { Caller } from '../house.ts';
import { sized } from '../run-length.ts';
import { analyse, connectSource, digestOf, stored, streamAnalysis, upload } from './analyses.ts';
import { DataFolder } from './data-folder.ts';
import { Service } from './service.ts';
import { shopRows } from './shop-rows.ts';
import { SlowUpload } from './slow-upload.ts';

jest.setTimeout(120_000);

const FIRST = shopRows({ users: 2_000, channels: 6, touches: 5, seed: 21 });
/** More than the 8 MiB after which rows begin to be stored. */
const LARGE = shopRows({ users: sized({ short: 24_000, long: 40_000 }), channels: 6, touches: 8, seed: 22 });
const HALF = LARGE.csv.indexOf('\n', 0.9 * LARGE.csv.length) + 1;
const BOTH = { touchpoints: FIRST.touchpoints + LARGE.touchpoints, conversions: FIRST.conversions + LARGE.conversions };
const LEASE_MS = 60_000;

describe('uploads and analyses while processes are killed with -9', () => {
  const folder = new DataFolder();
  const env = { LIFTGRAPH_DATA_DIR: folder.path, JOB_LEASE_S: '2' };
  let service: Service;
  let caller: Caller;
  let source: string;

  beforeAll(async () => {
    service = await Service.start({ env });
    caller = await Caller.register(service.root);
    source = await connectSource(caller);
    await upload(caller, source, FIRST);
  });

  afterAll(async () => {
    await service?.stop();
    folder.remove();
  });

  const status = async () => (await caller.get(`/data-sources/${source}/status`)).body;

  test('the service: what was acknowledged is there, and the file can be sent again', async () => {
    const half = new SlowUpload(service.root, caller, source);
    await half.send(LARGE.csv.slice(0, HALF));
    await service.stop('SIGKILL');
    await expect(half.finish()).rejects.toThrow();
    service = await Service.start({ env });
    caller = new Caller(service.root, caller.key);

    expect(await stored(caller, source)).toEqual({ touchpoints: FIRST.touchpoints, conversions: FIRST.conversions });
    const [lease] = await folder.sql<{ leftMs: number }>(
      `select extract(epoch from syncing_until - now()) * 1000 as "leftMs" from attribution.data_sources`,
    );
    expect(Number(lease!.leftMs)).toBeLessThanOrEqual(LEASE_MS);
    // As if the time were over.
    await folder.sql(`update attribution.data_sources set syncing_until = now()`);
    const after = await status();
    expect(after).toMatchObject({ status: 'connected', current_sync: null });
    expect((after['recent_syncs'] as unknown as { status: string }[]).map((sync) => sync.status)).toEqual([
      'failed',
      'completed',
    ]);

    expect(await upload(caller, source, LARGE)).toMatchObject({
      accepted: LARGE.touchpoints + LARGE.conversions,
      rejected: 0,
    });
    expect(await stored(caller, source)).toEqual(BOTH);
  });

  test('the engine, during an upload: it is back by itself; the upload succeeds or says when to repeat', async () => {
    const engine = folder.enginePid();
    const half = new SlowUpload(service.root, caller, source);
    await half.send(LARGE.csv.slice(0, HALF));
    process.kill(engine, 'SIGKILL');
    const answer = await half.finish(LARGE.csv.slice(HALF));
    if (answer.status !== 202) {
      expect(answer).toMatchObject({
        status: 503,
        headers: { 'retry-after': expect.any(String) },
        body: { error: { type: 'service_unavailable' } },
      });
      await upload(caller, source, LARGE);
    }
    expect(await stored(caller, source)).toEqual(BOTH);
    expect(folder.enginePid()).not.toBe(engine);
    expect((await fetch(`${service.root}/readyz`)).status).toBe(200);
  });

  test('the columnar engine, during an analysis: the figures are those of an undisturbed run', async () => {
    const undisturbed = digestOf(await analyse(caller, source));
    const engine = folder.enginePid();
    // Frozen first, so that the kill meets it while it is being read from.
    process.kill(engine, 'SIGSTOP');
    const stream = await streamAnalysis(caller, source);
    await stream.next('progress', ({ data }) => String(data['stage']) === 'building_journeys');
    process.kill(engine, 'SIGKILL');
    expect(digestOf((await stream.next('result')).data)).toBe(undisturbed);
    expect(folder.enginePid()).not.toBe(engine);
  });
});
