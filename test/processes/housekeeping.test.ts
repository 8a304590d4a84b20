import { Client } from 'pg';
import { tidy } from '../../processes/housekeeping.ts';
import { Caller, openHouse, type House } from '../house.ts';

const ROWS = 'user_id,timestamp,channel,conversion,revenue\nu1,2026-01-01T00:00:00Z,email,0,0\nu1,2026-01-02T00:00:00Z,,1,10\nu2,2026-01-01T00:00:00Z,direct,0,0\n';

describe('housekeeping', () => {
  let house: House;
  let owner: Client;

  beforeAll(async () => {
    house = await openHouse('one process');
    owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
  });

  afterAll(async () => {
    await owner?.end();
    await house?.stop();
  });

  test('forgets what has served its time and nothing else', async () => {
    const caller = await Caller.register(house.root);
    const source = await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: { content: ROWS } });
    const request = { data_source_id: String(source.body['data_source_id']), date_range: ['2026-01-01', '2026-01-31'] };
    const [old, fresh] = [await caller.post('/attribution', request), await caller.post('/attribution', request)];
    expect(String(old.body['status'])).toBe('completed');
    await owner.query(`update auth.nonces set used_at = now() - interval '25 hours' where nonce = (select nonce from auth.nonces limit 1)`);
    await owner.query(`update attribution.attributions set completed_at = now() - interval '61 minutes' where created_at = (select min(created_at) from attribution.attributions)`);

    const forgotten = await tidy(house.ground.database);
    expect(forgotten.get('auth.forget_old_nonces()')).toBe(1);
    expect(forgotten.get('attribution.forget_old_progress()')).toBeGreaterThan(5);
    expect(new Set((await tidy(house.ground.database)).values())).toEqual(new Set([0]));

    // The history is gone, the result is not: a stream from the start has its end, a resumed one is over.
    const streamOf = (id: unknown, after: string) => caller.open('GET', `/attribution/${String(id)}/stream${after}`);
    expect(await (await streamOf(old.body['id'], '')).text()).toContain('event: result');
    expect((await streamOf(old.body['id'], '?last_event_id=3')).status).toBe(204);
    expect(await (await streamOf(fresh.body['id'], '?last_event_id=3')).text()).toContain('id: 4');
  });
});
