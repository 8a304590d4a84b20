import { openDoor } from './door.ts';
import { attribution, dataSource, trust } from './shop.ts';

describe('what is answered', () => {
  test('the body of an analysis: names, order, rounding, keys of maps', async () => {
    await using door = await openDoor();
    const response = await door.call('GET', '/v1/attribution/attr_done');
    const body = (await response.json()) as Record<string, unknown>;
    expect(Object.keys(body).slice(0, 13)).toEqual([
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
      'profitability',
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
        profit: 5_186.45,
        profit_interval: { lower: 3_162.21, upper: 7_273.88, level: 0.95 },
        profit_roas: 1.4322,
        identification: { status: 'point', reasons: [] },
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

  test('tests of the credit stand in the diagnostics where any were made, and are absent otherwise', async () => {
    const test = {
      code: 'HELD_OUT_PLACEBO',
      channel: 'direct',
      status: 'FAIL',
      estimate: 0.123_456,
      interval: { lower: 0.08, upper: 0.16, level: 0.975 },
      threshold: 0.098,
      message: 'It would be credited.',
    };
    const diagnosticsWith = async (tests: readonly object[] | null) => {
      const done = attribution('attr_done', 'COMPLETED') as { readonly diagnostics: object };
      await using door = await openDoor({
        resolvers: { attribution: () => ({ ...done, diagnostics: { ...done.diagnostics, tests } }) },
      });
      const body = (await (await door.call('GET', '/v1/attribution/attr_done')).json()) as { diagnostics: object };
      return body.diagnostics;
    };
    expect(await diagnosticsWith([test])).toHaveProperty('tests', [
      { ...test, code: 'held_out_placebo', status: 'fail', estimate: 0.1235 },
    ]);
    expect(await diagnosticsWith(null)).not.toHaveProperty('tests');
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
      total_api_calls: 7,
      total_calls: 7,
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
      trust: { verification: { claims_total: 1, claims_verified: 1 } },
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
