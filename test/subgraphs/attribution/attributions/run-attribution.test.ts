import { Caller, openHouse, type House } from '../../../house.ts';

describe('asking for an analysis', () => {
  let house: House;

  beforeAll(async () => {
    house = await openHouse('one process', { withWorker: false });
  }, 60_000);

  afterAll(() => house.stop());

  test('may be restricted to as many channels as the contract says', async () => {
    const channels = Array.from({ length: 500 }, (_, index) => `channel_${index}`);
    const content = ['user_id,timestamp,channel', ...channels.map((channel) => `u1,2026-01-05T10:00:00Z,${channel}`)].join('\n');
    const caller = await Caller.register(house.root);
    const source = await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: { content } });
    const answer = await caller.post('/attribution', { data_source_id: source.body['data_source_id'], date_range: ['2026-01-01', '2026-01-31'], channels }, { prefer: 'respond-async' });
    expect(answer).toMatchObject({ status: 200, body: { status: 'pending', channels } });
  });
});
