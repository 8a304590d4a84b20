import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { Caller, openHouse, type Answer, type House } from '../house.ts';

const HEADER = 'user_id,timestamp,channel\n';
const UPLOADS = 50;
let house: House;

beforeAll(async () => {
  house = await openHouse('one process');
});
afterAll(() => house.stop());

async function source(caller: Caller): Promise<string> {
  const { body } = await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: {} });
  return String(body['data_source_id']);
}

const send = (caller: Caller, id: string, rows: string): Promise<Answer> =>
  caller.send('POST', `/data-sources/${id}/records`, HEADER + rows, { 'content-type': 'text/csv' });

test('fifty uploads at once into one source are read one by one; a neighbour does not wait for them', async () => {
  const [busy, neighbour] = [await Caller.register(house.root), await Caller.register(house.root)];
  const [crowded, quiet] = [await source(busy), await source(neighbour)];
  let over = 0;
  const uploads = Array.from({ length: UPLOADS }, async (_, index) => {
    const answer = await send(busy, crowded, `u${index},2026-01-05T10:00:00Z,email\n`);
    over += 1;
    return answer;
  });
  // Once a few of them are through, all have been received.
  await Promise.all(uploads.slice(0, 3));
  const answer = await send(neighbour, quiet, 'u,2026-01-05T10:00:00Z,email\n');
  expect([answer.status, over < UPLOADS]).toEqual([202, true]);
  const answers = await Promise.all(uploads);
  expect(answers.map(({ status }) => status)).toEqual(Array(UPLOADS).fill(202));
  const { body } = await busy.get(`/data-sources/${crowded}/status`);
  expect(body).toMatchObject({ status: 'connected', records: { touchpoints: UPLOADS, rejected: 0 } });
}, 120_000);

test('a sync that is asked for while rows arrive is that of current_sync, and found when it has ended', async () => {
  const caller = await Caller.register(house.root);
  const id = await source(caller);
  const rest = Promise.withResolvers<void>();
  async function* slowly(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`${HEADER}u,2026-01-05T10:00:00Z,email\n`);
    await rest.promise;
  }
  const upload = fetch(`${house.root}/v1/data-sources/${id}/records`, {
    method: 'POST',
    headers: { authorization: `Bearer ${caller.key!}`, 'x-nonce': randomUUID(), 'content-type': 'text/csv' },
    body: Readable.toWeb(Readable.from(slowly())),
    duplex: 'half',
  } as RequestInit);
  const statusOf = async () =>
    (await caller.get(`/data-sources/${id}/status`)).body as unknown as {
      readonly status: string;
      readonly current_sync: { readonly sync_id: string; readonly bytes: number } | null;
      readonly recent_syncs: readonly { readonly sync_id: string; readonly status: string }[];
    };
  let status = await statusOf();
  while (status.current_sync === null) status = await statusOf();
  expect(status).toMatchObject({ status: 'syncing', current_sync: { bytes: expect.any(Number) } });
  const asked = await caller.post(`/data-sources/${id}/sync`, {});
  expect([asked.status, asked.body['sync_id'], asked.body['status']]).toEqual([
    202,
    status.current_sync.sync_id,
    'running',
  ]);
  rest.resolve();
  expect((await upload).status).toBe(202);
  const { current_sync: current, recent_syncs: recent } = await statusOf();
  expect([current, recent.map(({ sync_id: syncId, status: came }) => [syncId, came])]).toEqual([
    null,
    [[status.current_sync.sync_id, 'completed']],
  ]);
});

test('a file past a limit of reading is refused for good, and the source is as it was', async () => {
  const caller = await Caller.register(house.root);
  const id = await source(caller);
  await send(caller, id, 'u,2026-01-05T10:00:00Z,email\n');
  const bomb = gzipSync(
    Buffer.concat([Buffer.from('user_id,timestamp,channel'), Buffer.alloc(40 * 1024 * 1024, '\n')]),
  );
  const headers = { 'content-type': 'text/csv', 'content-encoding': 'gzip' };
  expect(await caller.send('POST', `/data-sources/${id}/records`, bomb, headers)).toMatchObject({
    status: 422,
    body: { error: { code: 'file_limit_exceeded' } },
  });
  const { body } = await caller.get(`/data-sources/${id}/status`);
  expect(body).toMatchObject({ status: 'connected', current_sync: null, records: { touchpoints: 1 } });
});
