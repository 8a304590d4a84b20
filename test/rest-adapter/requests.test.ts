import { SOURCE_TYPES } from '../../schema/value-lists.ts';
import { openDoor, type TestDoor } from './door.ts';
import { threadTimeMs } from '../thread-time.ts';

interface ErrorBody {
  readonly error: {
    readonly type: string;
    readonly param?: string;
    readonly code?: string;
    readonly message: string;
    readonly errors?: { readonly param: string; readonly code: string; readonly message: string }[];
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
    expect(door.client.calls.slice(0, 1)).toMatchObject([
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

  test('members of an analysis reach the graph under its names', async () => {
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
      diagnostics: false,
    });
  });

  test.each([[], ['campaigns'], ['diagnostics'], ['comparison', 'time_series']])(
    'include means the same where an analysis is run and where it is read: %p',
    async (...named) => {
      const body = { data_source_id: 'ds_1', date_range: ['2026-01-01', '2026-01-02'] };
      const include = named.length === 0 ? {} : { include: named };
      const query = named.length === 0 ? '' : `?include=${named.join()}`;
      const headers = { prefer: 'wait=0' };
      await (await door.call('POST', '/v1/attribution', { body: { ...body, ...include }, headers })).text();
      await (await door.call('GET', `/v1/attribution/attr_1${query}`)).text();
      const sectionsIn = (name: string) => {
        const given = Object.entries(door.client.calls.find((call) => call.name === name)!.variables!);
        return Object.fromEntries(given.filter(([, value]) => typeof value === 'boolean'));
      };
      expect(Object.keys(sectionsIn('Attribution')).length).toBe(5);
      expect(sectionsIn('RunAttribution')).toEqual(sectionsIn('Attribution'));
    },
  );

  test('filters, pages and sections of the list', async () => {
    const response = await door.call(
      'GET',
      '/v1/attribution?page=2&per_page=20&status=completed&model=prav&data_source_id=ds_1' +
        '&created_after=2026-01-01T00:00:00%2B01:00&include=comparison,diagnostics&include=time_series',
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

  test('a member that is not known is refused, with the one that may be meant', async () => {
    const body = { data_source_id: 'ds_1', date_range: ['2026-01-01', '2026-01-02'] };
    const error = await refused('POST', '/v1/attribution', {
      ...body,
      modell: 'markov',
      model_options: { markov_oder: 2, constructor: 1 },
    });
    expect(error).toMatchObject({
      type: 'validation_error',
      code: 'unknown_member',
      param: '/modell',
      message: 'modell: is not known here; did you mean model?',
    });
    expect(error.errors?.map(({ param, message }) => [param, message])).toEqual([
      ['/modell', 'is not known here; did you mean model?'],
      ['/model_options/markov_oder', 'is not known here; did you mean markov_order?'],
      ['/model_options/constructor', 'is not known here'],
    ]);
    expect(door.client.calls).toEqual([]);
  });

  test('thousands of unknown members cost no more than one', async () => {
    const body = Object.fromEntries(Array.from({ length: 19_000 }, (_, index) => [`modell${index}`, 1]));
    const startedMs = threadTimeMs();
    const error = await refused('POST', '/v1/attribution', body);
    expect(error.errors).toHaveLength(50);
    expect(threadTimeMs() - startedMs).toBeLessThan(2_000);
  });

  test('what is not known is told wherever it stands', async () => {
    const error = await refused('POST', '/v1/data-sources/connect', {
      type: 'csv_upload',
      credentials: { contents: 'typo', 'a/b': 1 },
      extra: 1,
    });
    expect(error.errors).toMatchObject([
      { param: '/credentials/contents', code: 'unknown_member' },
      { param: '/credentials/a~1b', code: 'unknown_member' },
      { param: '/extra', code: 'unknown_member' },
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
