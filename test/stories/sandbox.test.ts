import { readFileSync } from 'node:fs';
import { createClient } from 'graphql-ws';
import WebSocket from 'ws';
import { SANDBOX_SOURCES } from '../../schema/sandbox-sources.ts';
import { Caller, openHouse, type Answer, type House, type Json } from '../house.ts';
import { sized } from '../run-length.ts';
import { withTestKey } from '../test-key.ts';

const SHOP = 'ds_sandbox_shopify';
const USABLE = SANDBOX_SOURCES.filter(({ isBroken }) => !isBroken).map(({ publicId }) => publicId);
const SUMMER = ['2026-06-01', '2026-07-31'];
/** Each makes its history when it is first asked: the long run asks all of them. */
const ASKED = USABLE.slice(0, sized({ short: 2, long: USABLE.length }));
/** Sources are made while the tests wait, beside whatever else the machine does. */
const PATIENCE_MS = 120_000;
const MINUTES_MS = 60_000;
const QUESTIONS = sized<readonly object[]>({
  short: [{}],
  long: [{}, { model: 'markov', granularity: 'weekly', channels: ['email', 'meta_ads'] }],
});
const SECTIONS = ['time_series', 'model_breakdown', 'comparison', 'diagnostics', 'campaigns'];
/** What tells one run from another, or when it was asked for. */
const OF_THE_RUN = new Set([
  'id',
  'created_at',
  'completed_at',
  'signature',
  'evaluated_at',
  'elapsed_ms',
  'agent_id',
  'request_id',
]);

function figuresOf({ status, body }: Answer): unknown {
  expect({ status, state: body['status'], failure: body['failure'] ?? body['error'] ?? null }).toEqual({
    status: 200,
    state: 'completed',
    failure: null,
  });
  return JSON.parse(JSON.stringify(body, (name, value: unknown) => (OF_THE_RUN.has(name) ? undefined : value)));
}

const analyse = (caller: Caller, source: string, range: readonly string[] = SUMMER, more: object = {}) =>
  caller.post(
    '/attribution',
    { data_source_id: source, date_range: range, include: SECTIONS, ...more },
    { prefer: 'wait=60' },
  );

describe('the sandbox', () => {
  let house: House;
  let live: Caller;
  let caller: Caller;

  beforeAll(async () => {
    house = await openHouse('one process');
    live = await Caller.register(house.root);
    caller = await withTestKey(house, live);
  });
  afterAll(() => house?.stop());

  test(
    'the first request of a test key is an analysis, and says what it is',
    async () => {
      const startedMs = performance.now();
      const { status, headers, body } = await caller.post(
        '/attribution',
        { data_source_id: SHOP, date_range: SUMMER },
        { prefer: 'wait=60' },
      );
      const elapsedMs = performance.now() - startedMs;
      expect({ status, environment: body['environment'], state: body['status'], billed: body['billed'] }).toEqual({
        status: 200,
        environment: 'sandbox',
        state: 'completed',
        billed: false,
      });
      expect(headers.get('svc-environment')).toBe('sandbox');
      const { data } = await caller.graphql(`{ attribution(id: "${String(body['id'])}") { billed } }`);
      expect(data).toEqual({ attribution: { billed: false } });
      expect(Number(body['platform_fee_cents'])).toBeGreaterThanOrEqual(10);
      // Two seconds are the aim on a free machine; this catches a history that takes minutes to make.
      expect(elapsedMs).toBeLessThan(MINUTES_MS);
      const { body: checked } = await new Caller(house.root, null).post('/verify', { result: body });
      expect(checked).toMatchObject({
        valid: true,
        digest_match: true,
        environment: 'sandbox',
        key_id: expect.stringMatching(/^sandbox-/),
      });
    },
    PATIENCE_MS,
  );

  test(
    'every source of a type says something sensible',
    async () => {
      for (const source of ASKED) {
        const { body } = await analyse(caller, source);
        const channels = new Map(
          (body['channel_impact'] as unknown as Json[]).map((impact) => [String(impact['channel']), impact]),
        );
        expect(channels.get('direct')).toMatchObject({ is_baseline: true, attributed_revenue: 0 });
        const email = channels.get('email')!;
        const { lower, upper } = email['confidence_interval'] as unknown as Record<'lower' | 'upper', number>;
        expect(lower).toBeLessThan(Number(email['attributed_revenue']));
        expect(upper).toBeGreaterThan(Number(email['attributed_revenue']));
        expect(Number(email['roas'])).toBeGreaterThan(5);
        const bought = [...channels.values()].find(({ channel }) =>
          ['google_ads', 'meta_ads', 'paid_search'].includes(String(channel)),
        )!;
        expect({
          channel: bought['channel'],
          isSane: Number(bought['roas']) > 0.8 && Number(bought['roas']) < 8,
        }).toMatchObject({ isSane: true });
        expect(body['trust']!['verification']).toMatchObject({ model_run_traceable: true });
        expect(Number(body['baseline_revenue'])).toBeGreaterThan(0.2 * Number(body['revenue']));
      }
    },
    PATIENCE_MS,
  );

  test(
    'the figures in the guide are those of this installation',
    async () => {
      const guide = readFileSync(new URL('../../docs/operating/sandbox.md', import.meta.url), 'utf8');
      const { body } = await caller.post('/attribution', JSON.parse(/-d '(\{.*\})'/.exec(guide)![1]!));
      const shown = (amount: unknown) =>
        amount === null
          ? '–'
          : Number(amount).toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
      const columns = ['spend', 'lastclick_revenue', 'attributed_revenue', 'roas'];
      const rows = (body['channel_impact'] as unknown as Json[]).map(
        (impact) => `| \`${String(impact['channel'])}\` | ${columns.map((name) => shown(impact[name])).join(' | ')} |`,
      );
      const [, table] = guide.split('| Channel | Spend | Last click | Causal | ROAS |\n|---|---|---|---|---|\n');
      expect(table!.split('\n\n')[0]!.trim().split('\n')).toEqual(rows);
    },
    PATIENCE_MS,
  );

  test(
    'another run, another key and another installation at another time give the same numbers',
    async () => {
      const earlier = await openHouse('one process', { clock: () => new Date('2026-10-03T12:00:00Z') });
      try {
        const other = await withTestKey(house, await Caller.register(house.root));
        const stranger = await withTestKey(earlier, await Caller.register(earlier.root));
        for (const more of QUESTIONS) {
          const first = await analyse(caller, SHOP, SUMMER, more);
          const figures = figuresOf(first);
          for (const who of [caller, other]) expect(figuresOf(await analyse(who, SHOP, SUMMER, more))).toEqual(figures);
          const elsewhere = await analyse(stranger, SHOP, SUMMER, more);
          expect(figuresOf(elsewhere)).toEqual(figures);
          expect(elsewhere.body['diagnostics']!['run_digest']).toEqual(first.body['diagnostics']!['run_digest']);
        }
        // A range that ended yesterday there is long past here, and has the same rows behind it.
        const late = ['2026-09-01', '2026-10-03'];
        expect(figuresOf(await analyse(stranger, SHOP, late))).toEqual(figuresOf(await analyse(caller, SHOP, late)));
        expect(figuresOf(await analyse(caller, SHOP, late))).not.toEqual(
          figuresOf(await analyse(caller, SHOP, SUMMER)),
        );
      } finally {
        await earlier.stop();
      }
    },
    PATIENCE_MS,
  );

  test('its sources are listed, described and never changed', async () => {
    const { body } = await caller.get('/data-sources');
    expect(
      (body['sources'] as unknown as Json[]).map((source) => [source['data_source_id'], source['status']]).toSorted(),
    ).toEqual(SANDBOX_SOURCES.map(({ publicId, isBroken }) => [publicId, isBroken ? 'error' : 'connected']).toSorted());
    const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
    const status = await caller.get(`/data-sources/${SHOP}/status`);
    expect(status.body).toMatchObject({
      type: 'shopify',
      coverage: { earliest: '2024-01-01', latest: yesterday, missing_days: [] },
      health_score: expect.any(Number),
    });

    const sync = await caller.post(`/data-sources/${SHOP}/sync`, {});
    expect(sync).toMatchObject({ status: 202, body: { data_source_id: SHOP, status: 'completed' } });
    expect((await caller.get(`/data-sources/${SHOP}/status`)).body['recent_syncs']).toMatchObject([
      { sync_id: sync.body['sync_id'], status: 'completed' },
    ]);
    const other = await withTestKey(house, await Caller.register(house.root));
    expect((await other.get(`/data-sources/${SHOP}/status`)).body['recent_syncs']).toEqual([]);

    const refused = { status: 409, body: { error: { type: 'conflict', code: 'sandbox_source' } } };
    expect(await caller.delete(`/data-sources/${SHOP}`)).toMatchObject(refused);
    expect(
      await caller.send(
        'POST',
        `/data-sources/${SHOP}/records`,
        'user_id,timestamp,channel\nu1,2026-01-01T00:00:00Z,email\n',
        { 'content-type': 'text/csv' },
      ),
    ).toMatchObject(refused);
    expect(
      (
        await caller.graphql(
          `mutation { addRecords(input: { dataSourceId: "${SHOP}", records: [{ user_id: "x" }] }) { trust { ` +
            `hreiScore } } }`,
        )
      ).errors?.[0]?.extensions,
    ).toMatchObject({ code: 'CONFLICT' });
    expect((await caller.get(`/data-sources/${SHOP}/rejects`)).body['rejects']).toEqual([]);
  });

  test(
    'its data begins in 2024, whatever the archive keeps, and ends today',
    async () => {
      expect(figuresOf(await analyse(caller, SHOP, ['2024-01-01', '2024-02-29']))).toMatchObject({
        date_range: ['2024-01-01', '2024-02-29'],
      });
      const today = new Date().toISOString().slice(0, 10);
      expect((await analyse(caller, SHOP, [today, today])).body).toMatchObject({ status: 'completed' });
      expect((await analyse(caller, SHOP, ['2023-01-01', '2023-02-01'])).body).toMatchObject({
        status: 'failed',
        failure: { code: 'insufficient_data' },
      });
      expect(await analyse(caller, SHOP, ['2026-01-01', '2099-01-01'])).toMatchObject({ status: 422 });
      expect(await analyse(caller, SHOP, ['2024-01-01', '2026-06-01'])).toMatchObject({
        status: 422,
        body: { error: { code: 'range_too_long' } },
      });
      expect(await analyse(caller, SHOP, SUMMER, { channels: ['nonsense'] })).toMatchObject({
        status: 422,
        body: { error: { code: 'unknown_channel' } },
      });
    },
    PATIENCE_MS,
  );

  test(
    'rows, experiments, exports and the graph are there as for a source of one’s own',
    async () => {
      const experiment = {
        data_source_id: SHOP,
        channel: 'meta_ads',
        method: 'geo',
        period: SUMMER,
        incremental_revenue: 2_000,
        standard_error: 150,
      };
      const plain = await analyse(caller, SHOP);
      const other = await withTestKey(house, await Caller.register(house.root));
      for (const who of [caller, other])
        expect(await who.post('/experiments', experiment)).toMatchObject({
          status: 201,
          body: { environment: 'sandbox' },
        });
      expect(await caller.post('/experiments', experiment)).toMatchObject({ status: 409 });
      const calibrated = await analyse(caller, SHOP);
      expect(
        (calibrated.body['diagnostics']!['experiments'] as unknown as Json[]).map(({ channel }) => channel),
      ).toEqual(['meta_ads']);
      expect(calibrated.body['diagnostics']!['run_digest']).not.toEqual(plain.body['diagnostics']!['run_digest']);

      const file = await caller.open('GET', `/attribution/${String(plain.body['id'])}/export?level=paths&format=csv`);
      expect((await file.text()).split('\n').length).toBeGreaterThan(100);
      const asked = await caller.graphql(
        `{ dataSource(id: "${SHOP}") { id type detail { records { touchpoints } } } attribution(id: ` +
          `"${String(plain.body['id'])}") { environment dataSource { id name } } }`,
      );
      expect(asked).toMatchObject({
        data: {
          dataSource: { id: SHOP, type: 'SHOPIFY' },
          attribution: { environment: 'SANDBOX', dataSource: { id: SHOP } },
        },
      });
    },
    PATIENCE_MS,
  );

  test('a source in error can be seen and not analysed', async () => {
    expect((await caller.get('/data-sources/ds_sandbox_error/status')).body).toMatchObject({
      status: 'error',
      last_error: { code: 'credentials_rejected' },
    });
    expect(await analyse(caller, 'ds_sandbox_error')).toMatchObject({
      status: 409,
      body: { error: { type: 'data_source_unavailable' } },
    });
    expect((await caller.get('/data-sources/ds_sandbox_error/quality')).status).toBe(409);
  });

  describe('wishes', () => {
    test.each([
      ['rate_limit_exceeded', 429],
      ['service_unavailable', 503],
      ['internal_error', 500],
    ])('%s is answered when it is asked for', async (type, status) => {
      const force = { 'svc-sandbox-force': type };
      for (const answer of [await caller.get('/data-sources', force), await caller.post('/attribution', {}, force)]) {
        expect(answer).toMatchObject({
          status,
          body: {
            error: {
              type,
              message: expect.any(String),
              request_id: expect.stringMatching(/^req_/),
              doc_url: expect.stringContaining(type),
            },
          },
        });
        expect(answer.headers.get('retry-after')).toBe(status === 500 ? null : '1');
      }
      const response = await fetch(`${house.root}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${caller.key}`, ...force },
        body: '{"query":"{ __typename }"}',
      });
      expect({ status: response.status, body: await response.json() }).toMatchObject({
        status,
        body: { errors: [{ extensions: { code: type.toUpperCase() } }] },
      });
    });

    test('they mean nothing with a live key, and nonsense is refused', async () => {
      const wishes = { 'svc-sandbox-force': 'internal_error', 'svc-sandbox-delay': '30000' };
      expect((await live.get('/data-sources', wishes)).status).toBe(200);
      expect((await caller.get('/data-sources', { 'svc-sandbox-force': 'validation_error' })).status).toBe(422);
      for (const delay of ['30001', '-1', '1.5', 'soon'])
        expect(
          await caller.post(
            '/attribution',
            { data_source_id: SHOP, date_range: SUMMER },
            { 'svc-sandbox-delay': delay },
          ),
        ).toMatchObject({ status: 422, body: { error: { param: 'header:SVC-Sandbox-Delay' } } });
    });

    test('a job takes its time, and tells that it goes on', async () => {
      const startedMs = performance.now();
      const response = await caller.open(
        'POST',
        '/attribution?stream=true',
        JSON.stringify({ data_source_id: SHOP, date_range: SUMMER, model: 'markov' }),
        { 'content-type': 'application/json', 'svc-sandbox-delay': '1500' },
      );
      const text = await response.text();
      expect(performance.now() - startedMs).toBeGreaterThan(1500);
      expect(text.match(/SVC-Sandbox-Delay/g)?.length).toBe(3);
      expect(text).toContain('event: result');
    });

    test('over a WebSocket they travel with the operation', async () => {
      const client = createClient({
        url: `${house.root.replace('http', 'ws')}/graphql`,
        webSocketImpl: WebSocket,
        connectionParams: { authorization: `Bearer ${caller.key}` },
      });
      const watched = async (): Promise<void> => {
        for await (const result of client.iterate({
          query: 'subscription { attributionProgress(id: "x") { kind } }',
          extensions: { sandboxForce: 'service_unavailable' },
        }))
          expect(result).toBeUndefined();
      };
      await expect(watched()).rejects.toMatchObject([{ extensions: { code: 'SERVICE_UNAVAILABLE' } }]);
      await client.dispose();
    });
  });
});
