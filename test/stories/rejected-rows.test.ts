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
