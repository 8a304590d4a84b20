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
