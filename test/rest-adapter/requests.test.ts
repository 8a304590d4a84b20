import { SOURCE_TYPES } from '../../schema/value-lists.ts';
import { openDoor, type TestDoor } from './door.ts';
import { attribution, dataSource, trust } from './shop.ts';

interface ErrorBody {
  readonly error: {
    readonly type: string;
    readonly param?: string;
    readonly code?: string;
    readonly message: string;
    readonly errors?: { readonly param: string; readonly code: string }[];
  };
}

describe('validation and what is asked of the graph', () => {
  let door: TestDoor;
  beforeAll(async () => {
    door = await openDoor();
  });
  beforeEach(() => {
    door.client.calls.length = 0;
  });
  afterAll(() => door[Symbol.asyncDispose]());

  const refused = async (method: string, path: string, body?: unknown) => {
    const response = await door.call(method, path, body === undefined ? {} : { body });
    expect(response.status).toBe(422);
    expect(door.client.calls).toEqual([]);
    return ((await response.json()) as ErrorBody).error;
  };

  test.each([
    [['2026-01-01', '2026-01-31']],
    [{ start: '2026-01-01', end: '2026-01-31' }],
    ['2026-01-01,2026-01-31'],
    ['2026-01-01/2026-01-31'],
  ])('date_range %j means the same', async (dateRange) => {
    const response = await door.call('POST', '/v1/attribution', {
      body: { data_source_id: 'ds_1', date_range: dateRange },
      headers: { prefer: 'respond-async' },
    });
    expect(response.status).toBe(200);
    await response.text();
    expect(Object.keys((door.client.calls[0]!.variables as { input: object }).input)).toEqual([
      'dataSourceId',
      'dateRange',
    ]);
    expect(door.client.calls).toMatchObject([
      {
        name: 'RunAttribution',
        variables: {
          input: { dataSourceId: 'ds_1', dateRange: ['2026-01-01', '2026-01-31'] },
          modelBreakdown: true,
          comparison: true,
          diagnostics: true,
        },
      },
    ]);
  });

  test.each([
    [['2026-02-30', '2026-03-01'], 'invalid_range'],
    ['2026-02-30,2026-03-01', 'invalid_range'],
    [['2026-01-31', '2026-01-01'], 'invalid_range'],
    [['2024-01-01', '2026-01-01'], 'range_too_long'],
    [['2026-01-01'], 'invalid_value'],
    [null, 'invalid_value'],
    [undefined, 'required'],
  ])('date_range %j is %s', async (dateRange, code) => {
    expect(await refused('POST', '/v1/attribution', { data_source_id: 'ds_1', date_range: dateRange })).toMatchObject({
      type: 'validation_error',
      param: '/date_range',
      code,
    });
  });

  test('731 days are the longest range', async () => {
    const response = await door.call('POST', '/v1/attribution', {
      body: { data_source_id: 'ds_1', date_range: ['2024-01-01', '2025-12-31'] },
      headers: { prefer: 'wait=0' },
    });
    expect(response.status).toBe(200);
    await response.text();
  });

  test('everything that does not fit is listed at once, the first in front', async () => {
    const error = await refused('POST', '/v1/attribution?stream=maybe', {
      date_range: ['2026-01-01', '2026-01-02'],
      model: 'CAUSAL',
      channels: [],
      confidence_level: 1,
      model_options: { markov_order: 5 },
    });
    expect(error.errors?.map(({ param, code }) => [param, code])).toEqual([
      ['query:stream', 'invalid_value'],
      ['/data_source_id', 'required'],
      ['/model', 'invalid_value'],
      ['/channels', 'too_small'],
      ['/confidence_level', 'too_big'],
      ['/model_options/markov_order', 'too_big'],
    ]);
    expect(error).toMatchObject({ param: 'query:stream', message: expect.stringMatching(/^stream: /) });
  });

  test('members of an analysis reach the graph under its names, and unknown ones nowhere', async () => {
    const body = {
      data_source_id: 'ds_1',
      date_range: ['2026-01-01', '2026-01-02'],
      model: 'rwa',
      granularity: 'weekly',
      channels: ['email'],
      baseline_channels: ['direct'],
      lookback_window_days: 7,
      conversion_event: 'lead',
      confidence_level: 0.9,
      model_options: { markov_order: 2 },
      include: ['comparison'],
      surprise: { a: 1 },
    };
    await (await door.call('POST', '/v1/attribution/analyze', { body, headers: { prefer: 'wait=0' } })).text();
    expect(door.client.calls[0]?.variables).toMatchObject({
      input: {
        dataSourceId: 'ds_1',
        dateRange: ['2026-01-01', '2026-01-02'],
        model: 'RWA',
        granularity: 'WEEKLY',
        channels: ['email'],
        baselineChannels: ['direct'],
        lookbackWindowDays: 7,
        conversionEvent: 'lead',
        confidenceLevel: 0.9,
        modelOptions: { markovOrder: 2 },
      },
      modelBreakdown: false,
      comparison: true,
      diagnostics: true,
    });
  });

  test('filters, pages and sections of the list', async () => {
    const response = await door.call(
      'GET',
      '/v1/attribution?page=2&per_page=20&status=completed&model=prav&data_source_id=ds_1&created_after=2026-01-01T00:00:00%2B01:00&include=comparison,diagnostics&include=time_series',
    );
    expect(door.client.calls).toMatchObject([
      {
        name: 'Attributions',
        variables: {
          first: 20,
          offset: 20,
          filter: {
            status: 'COMPLETED',
            model: 'PRAV',
            dataSourceId: 'ds_1',
            createdAfter: '2026-01-01T00:00:00+01:00',
          },
          modelBreakdown: false,
          comparison: true,
          diagnostics: true,
        },
      },
    ]);
    const { data, meta } = (await response.json()) as { data: { id: string }[]; meta: object };
    expect(data).toHaveLength(20);
    expect(data[0]).toMatchObject({ id: 'attr_20', comparison: expect.anything() });
    expect(data[0]).not.toHaveProperty('model_breakdown');
    expect(meta).toEqual({ page: 2, per_page: 20, total: 45, total_pages: 3 });
    const link = response.headers.get('link')!;
    expect(
      [...link.matchAll(/page=(\d+)&per_page=20&status=completed[^>]*>; rel="(\w+)"/g)].map(([, page, relation]) => [
        relation,
        page,
      ]),
    ).toEqual([
      ['first', '1'],
      ['prev', '1'],
      ['next', '3'],
      ['last', '3'],
    ]);
    expect(link).toMatch(/^<https:\/\/api\.example\/v1\/attribution\?page=1&/);
  });

  test('a page past the end is empty', async () => {
    const response = await door.call('GET', '/v1/attribution?page=9');
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ data: [], meta: { page: 9, total_pages: 3 } });
    expect(response.headers.get('link')).toContain('page=3>; rel="prev"');
    expect(response.headers.get('link')).not.toContain('rel="next"');
  });

  test.each([
    ['page=0', 'query:page'],
    ['page=1.5', 'query:page'],
    ['page=', 'query:page'],
    ['page=1e2', 'query:page'],
    ['page=1&page=2', 'query:page'],
    ['per_page=101', 'query:per_page'],
    ['page=2000&per_page=100', 'query:page'],
    ['status=done', 'query:status'],
    ['include=everything', 'query:include'],
    ['created_after=yesterday', 'query:created_after'],
    ['created_after=0000-01-01T00:00:00Z', 'query:created_after'],
    ['created_before=9999-12-31T23:59:59-14:00', 'query:created_before'],
    ['data_source_id=%00', 'query:data_source_id'],
    ['include=comparison&include=%00', 'query:include'],
  ])('GET /attribution?%s is refused', async (query, param) => {
    expect((await refused('GET', `/v1/attribution?${query}`)).param).toBe(param);
  });

  test('credentials are strict where everything else is lenient', async () => {
    const error = await refused('POST', '/v1/data-sources/connect', {
      type: 'csv_upload',
      credentials: { contents: 'typo', 'a/b': 1 },
      extra: 1,
    });
    expect(error.errors).toMatchObject([
      { param: '/credentials/contents', code: 'unknown_member' },
      { param: '/credentials/a~1b', code: 'unknown_member' },
    ]);
  });

  test.each(SOURCE_TYPES.filter((type) => type !== 'csv_upload'))(
    'a source of type %s reaches the graph, which knows whether it is served here',
    async (type) => {
      const credentials = { access_token: 'x', nested: { camelCase: 1 } };
      await door.call('POST', '/v1/data-sources/connect', { body: { type, credentials, name: 'Shop' } });
      expect(door.client.calls.at(-1)?.variables).toEqual({
        input: { type: type.toUpperCase(), credentials, name: 'Shop' },
      });
    },
  );

  test('an unknown type of source is refused with the known ones', async () => {
    expect(await refused('POST', '/v1/data-sources/connect', { type: 'tiktok', credentials: {} })).toMatchObject({
      param: '/type',
      message: expect.stringContaining('ga4, shopify, meta_ads, google_ads, csv_upload'),
    });
  });

  test('a connection reaches the graph', async () => {
    const credentials = {
      filename: 'a.csv',
      content: 'x',
      encoding: 'utf-8',
      delimiter: ';',
      mapping: { user_id: 'Kunde' },
    };
    const response = await door.call('POST', '/v1/data-sources/connect', {
      body: {
        type: 'csv_upload',
        credentials,
        sync_schedule: 'weekly',
        name: ' Shop ',
        agent_id: 'agent_1',
        timezone: 'Europe/Berlin',
        baseline_channels: ['direct'],
      },
    });
    expect(door.client.calls[0]?.variables).toEqual({
      input: {
        type: 'CSV_UPLOAD',
        credentials,
        syncSchedule: 'WEEKLY',
        name: 'Shop',
        agentId: 'agent_1',
        timezone: 'Europe/Berlin',
        baselineChannels: ['direct'],
      },
    });
    expect(response.headers.get('location')).toBe('https://api.example/v1/data-sources/ds_1/status');
    expect(await response.json()).toMatchObject({
      data_source_id: 'ds_1',
      type: 'csv_upload',
      ingest: { accepted: 1 },
    });
  });

  test('an agent is registered by id or by address, not by neither', async () => {
    expect(await refused('POST', '/v1/agents/register', { name: 'shop' })).toMatchObject({
      param: '/operator_id',
      code: 'required',
    });
    expect(
      await refused('POST', '/v1/agents/register', {
        name: 'a b',
        operator_id: 'x',
        callback_url: 'ftp://x.example',
        referral_code: 'REF_x',
        capabilities: [],
      }),
    ).toMatchObject({
      errors: [{ param: '/name' }, { param: '/capabilities' }, { param: '/referral_code' }, { param: '/callback_url' }],
    });
    expect(await refused('POST', '/v1/agents/register', {})).toMatchObject({
      errors: [{ param: '/name' }, { param: '/operator_id', message: 'give operator_id or operator_email' }],
    });
    expect(await refused('POST', '/v1/agents/register', { name: 'shop', operator_id: 5 })).toMatchObject({
      errors: [{ param: '/operator_id', message: 'must be a string, not a number' }],
    });
    const response = await door.call('POST', '/v1/agents/register', {
      body: { name: 'shop', operator_email: 'a@shop.example', capabilities: ['channel_analysis'] },
      headers: { authorization: null },
    });
    expect(response.status).toBe(201);
    await response.text();
    expect(door.client.calls[0]?.variables).toEqual({
      input: { name: 'shop', operatorEmail: 'a@shop.example', capabilities: ['CHANNEL_ANALYSIS'] },
    });
  });

  test('the nonce of an unknown caller is bound to the address', async () => {
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const response = await door.call('POST', '/v1/agents/register', {
        body: { name: 'shop', operator_id: 'x' },
        headers: { authorization: null, 'x-nonce': 'same-nonce' },
      });
      statuses.push(response.status);
      await response.text();
    }
    expect(statuses).toEqual([201, 409]);
  });
});

describe('what is answered', () => {
  test('the body of an analysis: names, order, rounding, keys of maps', async () => {
    await using door = await openDoor();
    const response = await door.call('GET', '/v1/attribution/attr_done');
    const body = (await response.json()) as Record<string, unknown>;
    expect(Object.keys(body).slice(0, 12)).toEqual([
      'id',
      'status',
      'model',
      'data_source_id',
      'date_range',
      'channel_impact',
      'methodology',
      'confidence',
      'created_at',
      'trust',
      'completed_at',
      'granularity',
    ]);
    expect(body['channel_impact']).toEqual([
      {
        channel: 'Meta Ads',
        causal_lift: 0.3717,
        roi: 2.41,
        spend: 12_000.01,
        attributed_revenue: 40_920.11,
        confidence: 0.9,
        confidence_interval: { lower: 36_100.01, upper: 45_890.2, level: 0.95 },
        lastclick_revenue: 28_800,
        delta_r: -1.01,
        incremental_revenue: 1,
        conversions: 512.4124,
        share: 0.271,
        roas: null,
        rank: 1,
        is_baseline: false,
      },
    ]);
    expect(body).toMatchObject({
      status: 'completed',
      model: 'causal',
      created_at: '2026-02-01T09:30:00.000Z',
      model_breakdown: { markov: { 'Meta Ads': 0.27 } },
      comparison: { last_click: { 'Meta Ads': 28_800.01 } },
      diagnostics: { converting_journeys: 1, models: { markov: { removalEffect: 0.123_456_789 } } },
    });
  });

  test('a source: spec names, error renamed in the status, detail flattened', async () => {
    await using door = await openDoor();
    const list = (await (await door.call('GET', '/v1/data-sources')).json()) as { sources: object[] };
    expect(list.sources[0]).toMatchObject({
      data_source_id: 'ds_1',
      type: 'csv_upload',
      health_score: 0.9123,
      error: { code: 'rate_limited', retryable: true },
    });
    const status = await (await door.call('GET', '/v1/data-sources/ds_1/status')).json();
    expect(status).toMatchObject({
      coverage: { missing_days: ['2026-01-03'] },
      records: { spend_rows: 0, rejected: 1 },
      last_error: { at: '2026-02-01T09:30:00.000Z' },
      current_sync: null,
    });
    expect(status).not.toHaveProperty('error');
    expect(status).not.toHaveProperty('detail');
  });

  test('a source without rows has nulls and zeros', async () => {
    const records = { touchpoints: 0, conversions: 0, spendRows: 0, paths: 0, rejected: 0 };
    const coverage = { earliest: null, latest: null, missingDays: [] };
    const detail = { coverage, freshnessSeconds: null, records, quality: null, currentSync: null, recentSyncs: [] };
    await using door = await openDoor({
      resolvers: { dataSource: () => ({ ...dataSource, detail, error: null, healthScore: null }) },
    });
    const response = await door.call('GET', '/v1/data-sources/ds_1/status');
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      coverage: { missing_days: [] },
      freshness_seconds: null,
      records: { spend_rows: 0 },
      quality: null,
      current_sync: null,
      recent_syncs: [],
      last_error: null,
      health_score: null,
    });
  });

  test('an agent has the variant names too', async () => {
    await using door = await openDoor();
    expect(await (await door.call('GET', '/v1/agents/me')).json()).toMatchObject({
      agent_id: 'agent_1',
      total_delta_r_cents: 345,
      total_delta_r: 345,
      capabilities: ['attribution', 'channel_analysis'],
      rate_limits: { daily_limit: null },
      operator_id: 'shop',
      operator_email: null,
    });
  });

  test('an agent that the graph does not know is 404', async () => {
    await using door = await openDoor({ resolvers: { me: () => null } });
    expect((await door.call('GET', '/v1/agents/me')).status).toBe(404);
  });

  test('a sync says where to look', async () => {
    await using door = await openDoor();
    const response = await door.call('POST', '/v1/data-sources/ds_1/sync');
    expect(response.status).toBe(202);
    expect(response.headers.get('location')).toBe('https://api.example/v1/data-sources/ds_1/status');
    expect(await response.json()).toMatchObject({
      sync_id: 'sync_1',
      status: 'queued',
      status_url: 'https://api.example/v1/data-sources/ds_1/status',
    });
  });

  test('plans are paged here', async () => {
    await using door = await openDoor();
    const response = await door.call('GET', '/v1/billing/plans?per_page=1&page=2');
    expect(await response.json()).toMatchObject({
      plans: [{ plan_id: 'enterprise', interval: null }],
      meta: { total: 2, total_pages: 2 },
    });
  });

  test('health is public and speaks snake_case', async () => {
    await using door = await openDoor();
    const response = await door.call('GET', '/v1/health', { headers: { authorization: null, 'x-nonce': null } });
    expect(await response.json()).toMatchObject({
      status: 'ok',
      uptime_seconds: 12,
      time: '2026-02-01T09:30:00.000Z',
      checks: { database: { latency_ms: 2 }, compute_pool: { queue_depth: 0 } },
      trust: { verification: { claims_total: 2 } },
    });
  });

  test('a resource that has not changed is 304; the moment of evaluation is no change', async () => {
    let evaluated = 0;
    await using door = await openDoor({
      resolvers: {
        attribution: ({ id }: { id: string }) => {
          evaluated += 1;
          const envelope = trust() as { metadata: object };
          return attribution(id, 'COMPLETED', {
            trust: { ...envelope, metadata: { ...envelope.metadata, evaluatedAt: new Date(evaluated * 1000) } },
          });
        },
      },
    });
    const first = await door.call('GET', '/v1/attribution/attr_1');
    const tag = first.headers.get('etag')!;
    expect(tag).toMatch(/^W\/"[\w-]{27}"$/);
    await first.text();
    const again = await door.call('GET', '/v1/attribution/attr_1', { headers: { 'if-none-match': `"other", ${tag}` } });
    expect(again.status).toBe(304);
    expect(await again.text()).toBe('');
    expect(again.headers.get('etag')).toBe(tag);
    const other = await door.call('GET', '/v1/attribution/attr_2', { headers: { 'if-none-match': tag } });
    expect(other.status).toBe(200);
    await other.text();
  });

  test('HEAD has the headers of GET and no body', async () => {
    await using door = await openDoor();
    const response = await door.call('HEAD', '/v1/attribution/attr_done');
    expect(response.status).toBe(200);
    expect(response.headers.get('etag')).not.toBeNull();
    expect(await response.text()).toBe('');
  });

  test('a test key is answered as sandbox', async () => {
    await using door = await openDoor();
    const response = await door.call('GET', '/v1/agents/me', { headers: { authorization: 'Bearer test' } });
    expect(response.headers.get('svc-environment')).toBe('sandbox');
    await response.text();
  });

  test('a completed estimate whose risks were not measured claims no score', async () => {
    await using door = await openDoor({
      resolvers: { attribution: ({ id }: { id: string }) => attribution(id, 'COMPLETED', { trust: null }) },
    });
    const response = await door.call('GET', '/v1/attribution/attr_1');
    expect(response.headers.get('svc-hrei-score')).toBeNull();
    expect(response.headers.get('svc-hrei-risk')).toBeNull();
    expect(await response.json()).toMatchObject({ status: 'completed', trust: null });
  });

  test('the trust headers repeat the envelope of the body', async () => {
    await using door = await openDoor({
      resolvers: {
        attribution: ({ id }: { id: string }) =>
          attribution(id, 'COMPLETED', { trust: { ...trust(), hreiScore: 0.205, riskLevel: 'LOW' } }),
      },
    });
    const response = await door.call('GET', '/v1/attribution/attr_1');
    expect(response.headers.get('svc-hrei-score')).toBe('0.21');
    expect(response.headers.get('svc-hrei-risk')).toBe('low');
    expect(await response.json()).toMatchObject({ trust: { hrei_score: 0.21, risk_level: 'low' } });
  });
});
