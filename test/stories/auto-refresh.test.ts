import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { platformFeeCents } from '../../schema/platform-fee.ts';
import { ProgressStream } from '../progress-stream.ts';
import { Caller, LAYOUTS, openHouse, type House, type Json } from '../house.ts';
import { clock } from '../service-clock.ts';

const EVENTS = readFileSync(new URL('../compute/fixtures/events.csv', import.meta.url), 'utf8')
  .split('\n')
  .slice(0, 2500)
  .join('\n');
const HEADER = 'user_id,timestamp,channel,campaign,cost,conversion,revenue';
const DATE_RANGE = ['2025-01-06', '2025-04-05'];
const POLL_MS = 50;

describe.each(LAYOUTS)('auto_refresh, %s', (layout) => {
  let house: House;
  let owner: Client;
  let caller: Caller;
  let source: string;
  let first: Json;
  let plain: Json;
  let orders = 0;

  const analyse = async (more: object = {}): Promise<Json> =>
    (await caller.post('/attribution', { data_source_id: source, date_range: DATE_RANGE, ...more })).body;
  const read = async ({ id }: Json): Promise<Json> => (await caller.get(`/attribution/${String(id)}`)).body;
  const verdict = async (result: Json): Promise<Json> =>
    (await new Caller(house.root, null).post('/verify', { result })).body;
  const events = async ({
    id,
  }: Json): Promise<readonly { readonly type: string; readonly sequence: number; readonly data: Json }[]> =>
    (await owner.query('select type, sequence, data from events.outbox where subject = $1 order by sequence', [id]))
      .rows;

  const upload = async (rows: string): Promise<void> => {
    const { status, body } = await caller.send('POST', `/data-sources/${source}/records`, `${HEADER}\n${rows}\n`, {
      'content-type': 'text/csv',
    });
    expect({ status, error: body['error'] }).toEqual({ status: 202 });
  };
  const order = (revenue: number, day = '2025-03-01'): string =>
    `late${(orders += 1)},${day}T10:00:00Z,,,0,1,${revenue.toFixed(2)}`;

  const done = async (...queues: readonly string[]): Promise<void> => {
    while (
      (
        await owner.query(`select 1 from jobs.job where name = any($1) and state in ('created', 'retry', 'active')`, [
          queues,
        ])
      ).rows.length > 0
    )
      await sleep(POLL_MS);
  };
  const looked = () => done('data-source.late-rows');
  /** Resolves when nobody has anything left to do for late rows. */
  const settled = () => done('data-source.late-rows', 'attribution.refresh');

  beforeAll(async () => {
    house = await openHouse(layout, { clock });
    owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
    caller = await Caller.register(house.root);
    source = String(
      (await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: { content: EVENTS } })).body[
        'data_source_id'
      ],
    );
    [first, plain] = [await analyse({ auto_refresh: true, channels: ['email', 'direct'] }), await analyse()];
  });

  afterAll(async () => {
    await owner?.end();
    await house?.stop();
  });

  test('is part of the analysis that asked for it, and of no other', () => {
    expect(first).toMatchObject({ status: 'completed', revision: 1, auto_refresh: true });
    expect(plain).toMatchObject({ status: 'completed', revision: 1 });
    expect(plain).not.toHaveProperty('auto_refresh');
  });

  test('rows that change less than a thousandth of the revenue, or none of the range, change nothing', async () => {
    const revenue = Number(first['revenue']);
    await upload(order(revenue * 0.0006));
    await settled();
    await upload(order(revenue, '2025-04-06'));
    await upload('someone,2025-03-01T09:00:00Z,email,,0.1,0,');
    await settled();
    expect(await read(first)).toMatchObject({
      status: 'completed',
      revision: 1,
      revenue: first['revenue'],
      signature: first['signature'],
    });
    expect(await events(first)).toHaveLength(1);
  });

  test('what adds up to a thousandth makes a new revision, signed anew, and no new fee', async () => {
    const late = order(Number(first['revenue']) * 0.0006);
    await upload(late);
    await settled();
    const second = await read(first);
    expect(second).toMatchObject({
      id: first['id'],
      status: 'completed',
      revision: 2,
      auto_refresh: true,
      created_at: first['created_at'],
      failure: null,
    });
    expect(Number(second['revenue'])).toBeCloseTo(Number(first['revenue']) * 1.0012, 1);
    expect(second['delta_r_cents']).not.toBe(first['delta_r_cents']);
    expect(second['platform_fee_cents']).toBe(first['platform_fee_cents']);
    expect(first['platform_fee_cents']).toBe(Number(platformFeeCents(BigInt(Number(first['delta_r_cents'])))));
    expect(await verdict(second)).toMatchObject({ valid: true, subject: { revision: 2 } });
    expect(await verdict(first)).toMatchObject({
      valid: false,
      signature_valid: true,
      digest_match: true,
      reason: 'superseded_revision',
    });

    const [completed, updated, ...others] = await events(first);
    expect(others).toEqual([]);
    expect(completed).toMatchObject({ type: 'attribution.completed', sequence: 1 });
    expect(updated).toMatchObject({
      type: 'attribution.updated',
      sequence: 2,
      data: {
        id: first['id'],
        status: 'completed',
        revision: 2,
        previous_delta_r_cents: first['delta_r_cents'],
        delta_r_cents: second['delta_r_cents'],
        platform_fee_cents: first['platform_fee_cents'],
        reason: 'late_data',
      },
    });
    expect((updated!.data['top_channels'] as unknown as Json[]).map(({ channel }) => channel)).toEqual(
      (second['channel_impact'] as unknown as Json[]).map(({ channel }) => channel),
    );

    // The same file again, and a sync, bring nothing new.
    await upload(late);
    await caller.post(`/data-sources/${source}/sync`, {});
    await settled();
    expect(await read(first)).toMatchObject({ revision: 2, signature: second['signature'] });
    expect(await read(plain)).toMatchObject({ revision: 1, revenue: plain['revenue'], signature: plain['signature'] });
    // What a fresh analysis of the rows finds is what the revision says.
    const fresh = await analyse({ channels: ['email', 'direct'] });
    expect(fresh['diagnostics']!['run_digest']).toBe(second['diagnostics']!['run_digest']);
  });

  test(
    'the last revision can be read and cannot be cancelled while the next is made; its events go on behind those ' +
      'that were told',
    async () => {
      const before = await read(first);
      const { sequence } = (
        await owner.query(
          'select max(sequence) as sequence from attribution.attribution_progress where run_id = (select id ' +
            'from attribution.attributions where auto_refresh)',
        )
      ).rows[0] as { sequence: number };
      // The run is kept from ending.
      await owner.query('begin; lock table events.outbox in exclusive mode');
      await upload(order(Number(before['revenue']) * 0.01));
      let now = await read(first);
      for (; now['status'] !== ('processing' as unknown as Json); now = await read(first)) await sleep(POLL_MS);
      expect(now).toMatchObject({
        status: 'processing',
        revision: before['revision'],
        revenue: before['revenue'],
        channel_impact: before['channel_impact'],
        failure: null,
        signature: null,
      });
      expect(await verdict(before)).toMatchObject({ valid: true });
      expect((await caller.open('GET', `/attribution/${String(first['id'])}/export`)).status).toBe(200);
      const refused = await caller.post(`/attribution/${String(first['id'])}/cancel`, {});
      expect({ status: refused.status, error: refused.body['error'] }).toMatchObject({
        status: 409,
        error: { code: 'already_finished', message: expect.stringContaining('late rows') },
      });
      const stream = new ProgressStream(
        await caller.open('GET', `/attribution/${String(first['id'])}/stream?last_event_id=${sequence}`),
      );
      await stream.next('progress', ({ data }) => String(data['stage']) === 'signing');
      // Rows that come when the others were read are looked at while nothing can be done about them, and not forgotten.
      await upload(order(Number(before['revenue']) * 0.01));
      await looked();
      await owner.query('commit');
      await stream.ended;
      expect(stream.events[0]!.id).toBe(sequence + 1);
      expect(stream.events.map(({ id }) => id)).toEqual(stream.events.map((_, place) => sequence + 1 + place));
      expect(stream.events.at(-1)).toMatchObject({ event: 'result', data: { id: first['id'] } });

      await settled();
      const after = await read(first);
      expect(Number(after['revenue'])).toBeCloseTo(Number(before['revenue']) * 1.02, 0);
      expect(Number(after['revision'])).toBe(Number(before['revision']) + 2);
      const revisions = (await events(first)).slice(1).map(({ type, data }) => [type, Number(data['revision'])]);
      expect(revisions).toEqual(revisions.map((_, place) => ['attribution.updated', place + 2]));
      expect(Number(after['revision'])).toBe(revisions.length + 1);
      const deltas = (await events(first)).map(({ data }) => data);
      for (const [place, data] of deltas.slice(1).entries())
        expect(data['previous_delta_r_cents']).toBe(deltas[place]!['delta_r_cents']);
      expect(await verdict(after)).toMatchObject({ valid: true, subject: { revision: after['revision'] } });
    },
  );

  test('a refresh that comes to nothing leaves the last revision', async () => {
    const before = await read(first);
    await upload(order(Number(before['revenue']) * 0.01));
    // Nothing signs: every attempt fails.
    await owner.query(`alter table trust.signing_keys rename to mislaid_keys`);
    await settled();
    await done('attribution.refresh.exhausted');
    while (String((await read(first))['status']) !== 'completed') await sleep(POLL_MS);
    await owner.query(`alter table trust.mislaid_keys rename to signing_keys`);
    const kept = await read(first);
    expect(kept).toMatchObject({
      status: 'completed',
      revision: before['revision'],
      revenue: before['revenue'],
      signature: before['signature'],
      failure: null,
    });
    expect(await verdict(kept)).toMatchObject({ valid: true });
    // The next rows bring both changes.
    await upload(order(1));
    await settled();
    expect(await read(first)).toMatchObject({ status: 'completed', revision: Number(before['revision']) + 1 });
  });
});
