import { Caller, openHouse, type House } from '../house.ts';
import { withTestKey } from '../test-key.ts';
import { SANDBOX_SOURCES } from '../../platform/sandbox-sources.ts';

const RANGE = ['2026-07-01', '2026-09-30'];

describe('try', () => {
  let house: House;
  let caller: Caller;
  beforeAll(async () => {
    house = await openHouse('one process');
    caller = await withTestKey(house, await Caller.register(house.root));
  });
  afterAll(() => house?.stop());
  test.each(SANDBOX_SOURCES.filter((s) => !s.isBroken).map((s) => s.publicId))('%s', async (id) => {
    const t0 = performance.now();
    const a = await caller.post('/attribution', { data_source_id: id, date_range: RANGE });
    const ms = Math.round(performance.now() - t0);
    const t1 = performance.now();
    const b = await caller.post('/attribution', { data_source_id: id, date_range: ['2026-10-21', '2026-11-20'] });
    const ms2 = Math.round(performance.now() - t1);
    const show = (r: typeof a) => `${r.status} ${String(r.body['status'])} hrei ${r.body['trust']?.['hrei_score']} conf ${r.body['confidence']} conv ${r.body['conversions']} rev ${r.body['revenue']} base ${r.body['baseline_revenue']} dr ${r.body['delta_r_cents']} ${JSON.stringify(r.body['error'] ?? r.body['failure'])}\n` + (r.body['channel_impact'] as unknown as any[] ?? []).map((c) => `${c.channel} spend ${c.spend} attr ${c.attributed_revenue} last ${c.lastclick_revenue} roas ${c.roas} conf ${c.confidence} ci ${c.confidence_interval?.lower}…${c.confidence_interval?.upper}`).join('\n');
    process.stdout.write(`\n${id} ${ms} ms, ${ms2} ms\n${show(a)}\n${show(b)}\n${JSON.stringify(a.body['trust']?.['verification'])} ${JSON.stringify(a.body['trust']?.['components'])}\n`);
  });
  test('st', async () => {
    
    
    process.stdout.write(house.log().split('\n').filter((l) => l.includes('"err"')).slice(0, 3).join('\n'));
  });
});
