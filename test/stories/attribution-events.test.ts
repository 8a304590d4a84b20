import { existsSync, readFileSync } from 'node:fs';
import { Client } from 'pg';
import { EVENT_CATALOGUE } from '../../schema/event-catalogue.ts';
import { platformFeeCents } from '../../schema/platform-fee.ts';
import { Caller, LAYOUTS, openHouse, type House, type Json } from '../house.ts';
import { clock } from '../service-clock.ts';
import { withTestKey } from '../test-key.ts';

const EVENTS = readFileSync(new URL('../compute/fixtures/events.csv', import.meta.url), 'utf8')
  .split('\n')
  .slice(0, 2500)
  .join('\n');
const DATE_RANGE = ['2025-01-06', '2025-04-05'];

interface Recorded {
  readonly type: string;
  readonly environment: string;
  readonly subject: string;
  readonly sequence: number;
  readonly data: Json;
}

test('whatever the catalogue says is sent is recorded by the file that it names', () => {
  const emitted = Object.entries(EVENT_CATALOGUE).filter(([, { emittedBy }]) => emittedBy !== null);
  expect(emitted.map(([type]) => type)).toEqual(
    expect.arrayContaining(['attribution.completed', 'attribution.updated', 'agent.tier_changed']),
  );
  for (const [type, { emittedBy }] of emitted) {
    const file = new URL(`../../${emittedBy}`, import.meta.url);
    expect({ type, isThere: existsSync(file) && readFileSync(file, 'utf8').includes(`'${type}'`) }).toEqual({
      type,
      isThere: true,
    });
  }
});

describe.each(LAYOUTS)('the end of an analysis, %s', (layout) => {
  let house: House;
  let owner: Client;
  let caller: Caller;
  let source: string;

  beforeAll(async () => {
    house = await openHouse(layout, { clock });
    owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
    caller = await Caller.register(house.root);
    const { body } = await caller.post('/data-sources/connect', {
      type: 'csv_upload',
      credentials: { content: EVENTS },
      baseline_channels: ['direct', 'organic*'],
    });
    source = String(body['data_source_id']);
  });

  afterAll(async () => {
    await owner?.end();
    await house?.stop();
  });

  const recorded = async (subject: string): Promise<readonly Recorded[]> =>
    (
      await owner.query<Recorded>(
        'select type, environment, subject, sequence, data from events.outbox where subject = $1 order by sequence',
        [subject],
      )
    ).rows;

  const analyse = async (by: Caller, more: object = {}): Promise<Json> =>
    (await by.post('/attribution', { data_source_id: source, date_range: DATE_RANGE, ...more }, { prefer: 'wait=60' }))
      .body;

  test.each([{}, { model: 'markov' }, { channels: ['email', 'direct'] }])(
    'is an event with the result in short: %j',
    async (more) => {
      const result = await analyse(caller, more);
      expect(result['status']).toBe('completed');
      const [event, ...others] = await recorded(String(result['id']));
      expect(others).toEqual([]);
      expect(event).toMatchObject({ type: 'attribution.completed', environment: 'live', sequence: 1 });
      const impact = result['channel_impact'] as unknown as Json[];
      expect(event!.data).toEqual({
        ...Object.fromEntries(
          [
            'id',
            'status',
            'model',
            'data_source_id',
            'date_range',
            'delta_r_cents',
            'revenue_causal_cents',
            'revenue_lastclick_cents',
            'platform_fee_cents',
            'currency',
            'confidence',
            'agent_id',
          ].map((member) => [member, result[member]]),
        ),
        top_channels: impact
          .slice(0, 5)
          .map(({ channel, causal_lift, roi, spend, attributed_revenue, confidence }) => ({
            channel,
            causal_lift,
            roi,
            spend,
            attributed_revenue,
            confidence,
          })),
        hrei_score: result['trust']!['hrei_score'],
        input_digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
        url: `http://127.0.0.1:4000/v1/attribution/${String(result['id'])}`,
      });
      // What the answer is restricted to is no other question: the first has paid.
      expect(event!.data['platform_fee_cents']).toBe(
        'channels' in more ? 0 : Number(platformFeeCents(BigInt(Number(result['delta_r_cents'])))),
      );
      expect(Buffer.byteLength(JSON.stringify(event!.data))).toBeLessThan(20_000);
    },
  );

  test('without figures says why', async () => {
    const result = await analyse(caller, { date_range: ['2026-06-01', '2026-06-30'] });
    expect(result['status']).toBe('failed');
    const events = await recorded(String(result['id']));
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      type: 'attribution.completed',
      data: {
        status: 'failed',
        failure: { code: 'insufficient_data', message: expect.stringContaining('no conversion in this range') },
        delta_r_cents: null,
        platform_fee_cents: null,
        confidence: null,
        top_channels: [],
        hrei_score: null,
      },
    });
  });

  test('in the sandbox is an event of the sandbox', async () => {
    const result = await analyse(await withTestKey(house, caller), {
      data_source_id: 'ds_sandbox_shopify',
      date_range: ['2026-06-01', '2026-06-30'],
    });
    expect(await recorded(String(result['id']))).toMatchObject([
      {
        type: 'attribution.completed',
        environment: 'sandbox',
        data: { status: 'completed', data_source_id: 'ds_sandbox_shopify' },
      },
    ]);
  });
});
