import { jest } from '@jest/globals';
import { statfs } from 'node:fs/promises';
import { Caller } from '../house.ts';
import { analyse, connectSource, stored, upload } from './analyses.ts';
import { DataFolder } from './data-folder.ts';
import { Service } from './service.ts';
import { shopRows } from './shop-rows.ts';

jest.setTimeout(120_000);

const NEARLY_FULL = new RegExp(
  String.raw`is nearly full: [\d,]+ MiB are free and [\d,]+ MiB are kept in reserve\. ` +
    '.*LIFTGRAPH_DATA_DIR.*DISK_RESERVE_BYTES',
);

describe('a start on a disk that is nearly full', () => {
  const folder = new DataFolder();
  let service: Service | undefined;

  afterAll(async () => {
    if (service?.isOver === false) await service.stop();
    folder.remove();
  });

  test('says so, reads what is there, refuses more, and the next start with room takes it', async () => {
    const rows = shopRows({ users: 20, channels: 3, touches: 3, seed: 7 });
    const env = { LIFTGRAPH_DATA_DIR: folder.path };
    service = await Service.start({ env: { ...env, DISK_RESERVE_BYTES: '1' } });
    const before = await Caller.register(service.root);
    const source = await connectSource(before);
    await upload(before, source, rows);
    const { id } = await analyse(before, source);
    const records = await stored(before, source);
    await service.stop();

    // More than is free: to the service this disk is as full as one can be.
    const { bavail, bsize } = await statfs(folder.path);
    service = await Service.start({ env: { ...env, DISK_RESERVE_BYTES: String(2 * bavail * bsize) } });
    const line = service.log().find(({ msg }) => msg.startsWith('the disk of'))!;
    expect(line.msg).toMatch(NEARLY_FULL);
    expect(line['folder']).toBe(folder.path);
    await service.printed(/The disk is nearly full: nothing more is stored/);
    const caller = new Caller(service.root, before.key);
    expect((await fetch(`${service.root}/readyz`)).status).toBe(503);
    expect((await fetch(`${service.root}/healthz`)).status).toBe(200);
    const refused = await caller.send('POST', `/data-sources/${source}/records`, rows.csv, {
      'content-type': 'text/csv',
    });
    expect([refused.status, refused.body['error']!['code']]).toEqual([503, 'disk_nearly_full']);
    expect((await caller.get(`/attribution/${String(id)}`)).status).toBe(200);
    expect(await stored(caller, source)).toEqual(records);
    expect(await (await fetch(`${service.root}/metrics`)).text()).toMatch(/^liftgraph_disk_free_bytes [1-9]/m);
    await service.stop();

    service = await Service.start({ env: { ...env, DISK_RESERVE_BYTES: '1' } });
    await upload(new Caller(service.root, before.key), source, rows);
    expect((await fetch(`${service.root}/readyz`)).status).toBe(200);
  });
});
