import { Caller, openHouse, type House } from '../../../../house.ts';
import { clock } from '../../../../service-clock.ts';

describe('asking for an analysis', () => {
  let house: House;

  beforeAll(async () => {
    house = await openHouse('one process', { clock });
  }, 60_000);

  afterAll(() => house.stop());

  test('may be restricted to as many channels as the contract says', async () => {
    const channels = Array.from({ length: 500 }, (_, index) => `channel_${index}`);
    const content = [
      'user_id,timestamp,channel',
      ...channels.map((channel) => `u1,2026-01-05T10:00:00Z,${channel}`),
    ].join('\n');
    const caller = await Caller.register(house.root);
    const source = await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: { content } });
    const answer = await caller.post(
      '/attribution',
      { data_source_id: source.body['data_source_id'], date_range: ['2026-01-01', '2026-01-31'], channels },
      { prefer: 'respond-async' },
    );
    expect(answer).toMatchObject({ status: 200, body: { status: 'processing', channels } });
  });

  test.each([
    ['before the range, within the lookback', 'u1,2025-12-20T10:00:00Z,email,0,\nu1,2026-01-05T10:00:00Z,,1,30\n'],
    ['attached to the conversion', 'u1,2026-01-05T10:00:00Z,email,1,30\n'],
  ])('counts a journey whose only touch is %s', async (_where, rows) => {
    const caller = await Caller.register(house.root);
    const source = await caller.post('/data-sources/connect', {
      type: 'csv_upload',
      credentials: { content: `user_id,timestamp,channel,conversion,revenue\n${rows}` },
    });
    const { body } = await caller.post('/attribution', {
      data_source_id: source.body['data_source_id'],
      date_range: ['2026-01-01', '2026-01-31'],
      model: 'shapley',
    });
    expect(body).toMatchObject({
      status: 'completed',
      revenue: 30,
      channel_impact: [{ channel: 'email', attributed_revenue: 30 }],
    });
  });

  test('a model that cannot tell so many channels apart says so, and is no failure of ours', async () => {
    const rows = Array.from(
      { length: 501 },
      (_, index) => `u${index},2026-01-05T10:00:00Z,channel_${index},${index % 2},30`,
    );
    const caller = await Caller.register(house.root);
    const source = await caller.post('/data-sources/connect', {
      type: 'csv_upload',
      credentials: { content: ['user_id,timestamp,channel,conversion,revenue', ...rows].join('\n') },
    });
    const { body } = await caller.post('/attribution', {
      data_source_id: source.body['data_source_id'],
      date_range: ['2026-01-01', '2026-01-31'],
      model: 'rwa',
    });
    expect(body).toMatchObject({
      status: 'failed',
      failure: { code: 'insufficient_data', message: expect.stringContaining('up to 500 channels; this data has 501') },
    });
  });
});
