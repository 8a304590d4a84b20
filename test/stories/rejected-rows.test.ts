import { Caller, openHouse, type House, type Json } from '../house.ts';
import { clock } from '../service-clock.ts';

let house: House;
beforeAll(async () => {
  house = await openHouse('one process', { withWorker: false, clock });
});
afterAll(() => house?.stop());

test('an upload of which every row is rejected has failed, and says why', async () => {
  const caller = await Caller.register(house.root);
  const connected = await caller.post('/data-sources/connect', {
    type: 'csv_upload',
    credentials: { content: 'user_id,timestamp,channel\na,2026-01-01T10:00:00Z,email\n' },
  });
  const id = String(connected.body['data_source_id']);
  const before = (await caller.get(`/data-sources/${id}/status`)).body;
  const { status, body } = await caller.send(
    'POST',
    `/data-sources/${id}/records`,
    'user_id,timestamp,channel\nb,not a time,email\nc,soon,email\n',
    { 'content-type': 'text/csv' },
  );
  const failure = {
    code: 'all_rows_rejected',
    message: expect.stringMatching(/^None of the 2 rows could be taken.*line 2, timestamp: "not a time" is not a date/),
  };
  expect([status, body]).toMatchObject([202, { status: 'failed', failure, accepted: 0, rejected: 2 }]);
  const after = (await caller.get(`/data-sources/${id}/status`)).body;
  expect(after).toMatchObject({
    status: 'connected',
    last_sync: before['last_sync'],
    records: { touchpoints: 1, rejected: 2 },
    recent_syncs: [
      { status: 'failed', error: failure },
      { status: 'completed', error: null },
    ],
  });
  expect((await caller.get(`/data-sources/${id}/rejects`)).body['meta']).toMatchObject({ total: 2 });
  const { data } = await caller.graphql(
    `mutation { addRecords(input: { dataSourceId: "${id}", records: [{ user_id: "d", timestamp: "never", ` +
      'channel: "email" }] }) { ingest { status failure { code } accepted } } }',
  );
  expect(data).toEqual({
    addRecords: { ingest: { status: 'FAILED', failure: { code: 'ALL_ROWS_REJECTED' }, accepted: 0 } },
  });
});

test('rejected rows of the newest upload come first, in the order of its lines; a cursor keeps its row', async () => {
  const caller = await Caller.register(house.root);
  const connected = await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: {} });
  const id = String(connected.body['data_source_id']);
  const upload = async (...times: readonly string[]) => {
    const lines = ['user_id,timestamp,channel', ...times.map((time) => `u,${time},email`)].join('\n');
    const { body } = await caller.send('POST', `/data-sources/${id}/records`, lines, { 'content-type': 'text/csv' });
    return String(body['upload_id']);
  };
  const listed = async (query = '') => {
    const { body } = await caller.get(`/data-sources/${id}/rejects${query}`);
    return (body['rejects'] as unknown as readonly Json[]).map((row) => `${row['upload_id']} ${row['line']}`);
  };
  const page = async (range: string) => {
    const { data } = await caller.graphql(
      `{ dataSourceRejects(id: "${id}", ${range}) { edges { cursor node { uploadId line } } ` +
        'pageInfo { hasNextPage } } }',
    );
    const { edges, pageInfo } = data!['dataSourceRejects'] as unknown as {
      edges: readonly { cursor: string; node: { uploadId: string; line: number } }[];
      pageInfo: { hasNextPage: boolean };
    };
    const rows = edges.map(({ node }) => `${node.uploadId} ${node.line}`);
    return { rows, cursors: edges.map(({ cursor }) => cursor), hasNext: pageInfo.hasNextPage };
  };
  const first = await upload('soon', 'later');
  const second = await upload('never', '2026-01-01', 'ever');
  const rows = [`${second} 2`, `${second} 4`, `${first} 2`, `${first} 3`];
  expect(await listed()).toEqual(rows);
  expect(await listed('?page=2&per_page=3')).toEqual(rows.slice(3));
  const begin = await page('first: 2');
  expect(begin).toMatchObject({ rows: rows.slice(0, 2), hasNext: true });
  await upload('always');
  expect(await page(`first: 2, after: "${begin.cursors[1]}"`)).toMatchObject({ rows: rows.slice(2), hasNext: false });
  expect(await page(`last: 1, before: "${begin.cursors[1]}"`)).toMatchObject({ rows: rows.slice(0, 1) });
});

/** REST takes rows alone, or as a member. */
const ROW = { date: '2026-10-01', channel: 'c', spend: 1 };
test.each<readonly [string, unknown, string, string]>([
  ['a number among rows', [ROW, 2], '/1', 'invalid_type'],
  ['null among rows', [ROW, null], '/1', 'invalid_type'],
  ['a number', [1], '/0', 'invalid_type'],
  ['a text', ['a'], '/0', 'invalid_type'],
  ['a list', [[]], '/0', 'invalid_type'],
  ['a row without columns', [{}], '', 'unreadable_header'],
  ['no row', [], '', 'too_small'],
  ['a row too many', Array.from({ length: 1_001 }, () => ROW), '', 'too_big'],
])('%s is refused alike at both doors, and nothing is stored', async (_what, records, place, code) => {
  const caller = await Caller.register(house.root);
  const connected = await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: {} });
  const id = String(connected.body['data_source_id']);
  const refusal = (param: string) => ({ status: 422, type: 'validation_error', code, param });
  const send = async (body: unknown) => {
    const { status, body: answer } = await caller.post(`/data-sources/${id}/records`, body);
    const { type, code: told, param } = (answer['error'] ?? {}) as Json;
    return { status, type, code: told, param };
  };
  expect(await send(records)).toEqual(refusal(place));
  expect(await send({ records })).toEqual(refusal(`/records${place}`));
  const { errors } = await caller.graphql(
    'mutation ($input: AddRecordsInput!) { addRecords(input: $input) { ingest { accepted } } }',
    { input: { dataSourceId: id, records } },
  );
  const { http_status: status, type, reason, param } = errors?.[0]?.extensions ?? {};
  expect({ status, type, code: reason, param }).toEqual(refusal(`/records${place}`));
  expect((await caller.get(`/data-sources/${id}/status`)).body).toMatchObject({ records_synced: 0 });
});
