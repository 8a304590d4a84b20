import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { Caller, openHouse, type Answer, type House, type Json } from '../house.ts';
import { sized } from '../run-length.ts';
import { clock } from '../service-clock.ts';
import { withTestKey } from '../test-key.ts';

const RANGE = ['2026-01-01', '2026-01-31'];
const RULES = [
  { match: { source: 'FACEBOOK', medium: 'cpc' }, channel: 'meta' },
  { match: { channel: 'GOOGLE Ads', campaign_regex: '^brand' }, channel: 'google_brand' },
  { match: { channel: 'google ads' }, channel: 'google' },
  { match: { channel: 'fb' }, channel: 'meta' },
];
const RAW = ['fb', 'Google Ads', 'google ads', 'email', 'direct'];
const SOURCES = ['facebook', 'Facebook', 'bing'];
const CAMPAIGNS = ['brand_de', 'generic', ''];

/** The rows of a shop; `named`: as the rules would call its channels. */
function rowsOf(named: boolean): readonly string[] {
  const nameOf = (channel: string, source: string, campaign: string): string => {
    if (!named) return channel;
    if (source.toLowerCase() === 'facebook' || channel === 'fb') return 'meta';
    if (channel.toLowerCase() !== 'google ads') return channel;
    return campaign.startsWith('brand') ? 'google_brand' : 'google';
  };
  const at = (hours: number): string => new Date(Date.UTC(2026, 0, 1) + hours * 3_600_000).toISOString();
  const touches = Array.from({ length: 400 }, (_, place) => {
    const [channel, source, campaign] = [
      RAW[(place * 3 + (place >> 2)) % 5]!,
      SOURCES[(place >> 1) % 3]!,
      CAMPAIGNS[place % 3]!,
    ];
    return `u${(place * 11) % 70},${at(place * 1.7)},${nameOf(channel, source, campaign)},${campaign},${source},cpc`;
  });
  const orders = Array.from(
    { length: 50 },
    (_, place) => `o${place},u${(place * 11) % 70},${at(place * 13 + 60)},${20 + place}`,
  );
  const spend = Array.from({ length: 60 }, (_, place) => {
    const [channel, campaign] = [RAW[place % 5]!, `${CAMPAIGNS[place % 3]!}_${place}`];
    const day = `2026-01-${String(1 + (place % 30)).padStart(2, '0')}`;
    return `${day},${nameOf(channel, '', campaign)},${campaign},${place / 2}`;
  });
  return [
    ['user_id,timestamp,channel,campaign,source,medium', ...touches],
    ['order_id,user_id,timestamp,revenue', ...orders],
    ['date,channel,campaign,spend', ...spend],
  ].map((lines) => lines.join('\n'));
}

describe('channel rules', () => {
  let house: House;
  let caller: Caller;
  let [raw, named] = ['', ''];

  const connect = async (files: readonly string[]): Promise<string> => {
    const id = String(
      (await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: {} })).body['data_source_id'],
    );
    for (const file of files)
      expect(
        (await caller.send('POST', `/data-sources/${id}/records`, file, { 'content-type': 'text/csv' })).status,
      ).toBe(202);
    return id;
  };
  const put = (id: string, rules: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
    caller.send('PUT', `/data-sources/${id}/channel-rules`, JSON.stringify({ rules }), {
      'content-type': 'application/json',
      ...headers,
    });
  const analyse = async (id: string, changes: object = {}): Promise<Json> =>
    (await caller.post('/attribution', { data_source_id: id, date_range: RANGE, ...changes })).body;
  /** What does not draw from the id of the source. */
  const figuresOf = (run: Json) => ({
    status: run['status'],
    revenue: run['revenue'],
    series: run['time_series'],
    channels: (run['channel_impact'] as unknown as Json[]).map((each) =>
      Object.entries(each).filter(([name]) => !name.startsWith('confidence')),
    ),
  });
  const exported = async (run: Json, level: string): Promise<string> =>
    (await caller.open('GET', `/attribution/${String(run['id'])}/export?format=csv&level=${level}`)).text();

  beforeAll(async () => {
    house = await openHouse('one process', { clock });
    caller = await Caller.register(house.root);
    [raw, named] = [await connect(rowsOf(false)), await connect(rowsOf(true))];
  });

  afterAll(() => house?.stop());

  test('a source has none at first, and then those that were set, through both doors', async () => {
    const empty = await caller.get(`/data-sources/${raw}/channel-rules`);
    expect(empty).toMatchObject({ status: 200, body: { rules: [], trust: {} } });
    const set = await put(raw, RULES);
    expect({ status: set.status, rules: set.body['rules'] }).toEqual({ status: 200, rules: RULES });
    expect((await caller.get(`/data-sources/${raw}/channel-rules`)).body['rules']).toEqual(RULES);
    const { data } = await caller.graphql(
      'query ($id: ID!) { channelRules(dataSourceId: $id) { ' +
        'rules { channel match { channel clickId campaignRegex } } } }',
      { id: raw },
    );
    expect(data!['channelRules']!['rules']![1]).toEqual({
      channel: 'google_brand',
      match: { channel: 'GOOGLE Ads', clickId: null, campaignRegex: '^brand' },
    });
    const said = await caller.graphql(
      'mutation ($input: SetChannelRulesInput!) { setChannelRules(input: $input) { ' +
        'channelRules { rules { channel } } } }',
      {
        input: {
          dataSourceId: raw,
          rules: RULES.map(({ match: { campaign_regex: campaignRegex = null, ...match }, channel }) => ({
            match: { ...match, campaignRegex },
            channel,
          })),
        },
      },
    );
    expect(said).toEqual({
      data: { setChannelRules: { channelRules: { rules: RULES.map(({ channel }) => ({ channel })) } } },
    });
    expect((await caller.get(`/data-sources/${raw}/channel-rules`)).body['rules']).toEqual(RULES);
  });

  test.each(sized({ short: ['markov', 'causal'], long: ['markov', 'shapley', 'dominance', 'causal'] }))(
    'an analysis by %s tells what it would if the files had been renamed by hand',
    async (model) => {
      const [byRules, byHand] = [
        await analyse(raw, { model, granularity: 'weekly' }),
        await analyse(named, { model, granularity: 'weekly' }),
      ];
      expect(figuresOf(byHand)).toMatchObject({ status: 'completed' });
      expect(figuresOf(byRules)).toEqual(figuresOf(byHand));
      for (const level of ['paths', 'periods'])
        expect(await exported(byRules, level)).toBe(await exported(byHand, level));
    },
  );

  test('channels are known by the names that rules give, and by no others', async () => {
    expect(await analyse(raw, { channels: ['meta'] })).toMatchObject({ status: 'completed' });
    expect(await analyse(raw, { channels: ['fb'] })).toMatchObject({ error: { code: 'unknown_channel' } });
    const experiment = { data_source_id: raw, method: 'geo', period: RANGE, incremental_revenue: 1, standard_error: 1 };
    expect((await caller.post('/experiments', { ...experiment, channel: 'Google Ads' })).body).toMatchObject({
      error: { code: 'unknown_channel' },
    });
  });

  test('the same key has its effect once; rules taken back give the first figures', async () => {
    const retry = { 'svc-idempotency-key': 'rules-once' };
    const [first, again] = [await put(raw, [], retry), await put(raw, [], retry)];
    expect([first.status, again.status, again.text, again.headers.get('svc-idempotent-replayed')]).toEqual([
      200,
      200,
      first.text,
      'true',
    ]);
    const before = await analyse(raw, { model: 'markov' });
    const isTraceable = (run: Json) => run['trust']!['verification']!['model_run_traceable'];
    expect(isTraceable(before)).toBe(true);
    await put(raw, RULES);
    expect(isTraceable((await caller.get(`/attribution/${String(before['id'])}`)).body)).toBe(false);
    const during = await analyse(raw, { model: 'markov' });
    expect(isTraceable(during)).toBe(true);
    expect(figuresOf(during)).not.toEqual(figuresOf(before));
    await put(raw, []);
    const after = await analyse(raw, { model: 'markov' });
    expect(figuresOf(after)).toEqual(figuresOf(before));
    expect(after['diagnostics']!['run_digest']).toBe(before['diagnostics']!['run_digest']);
  });

  test('an analysis with auto_refresh follows the rules when they change', async () => {
    const owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
    try {
      const { id } = await analyse(raw, { model: 'markov', auto_refresh: true });
      await put(raw, RULES);
      const busy =
        `select 1 from jobs.job where name in ('data-source.late-rows', 'attribution.refresh') and state ` +
        `in ('created', 'retry', 'active')`;
      while ((await owner.query(busy)).rows.length > 0) await sleep(50);
      const refreshed = (await caller.get(`/attribution/${String(id)}`)).body;
      expect(refreshed).toMatchObject({ status: 'completed', revision: 2 });
      expect(figuresOf(refreshed)).toEqual(figuresOf(await analyse(raw, { model: 'markov' })));
      // The same rules again change nothing.
      await put(raw, RULES);
      while ((await owner.query(busy)).rows.length > 0) await sleep(50);
      expect((await caller.get(`/attribution/${String(id)}`)).body).toMatchObject({ revision: 2 });
    } finally {
      await owner.end();
    }
  });

  const fault = (param: string, code: string) => ({
    status: 422,
    body: { error: { type: 'validation_error', param, code } },
  });
  const rule = { match: { channel: 'a' }, channel: 'b' };
  test.each([
    ['a match without a member', [rule, { match: {}, channel: 'x' }], fault('/rules/1/match', 'empty_match')],
    ['an unknown member', [{ match: { chanel: 'x' }, channel: 'x' }], fault('/rules/0/match/chanel', 'unknown_member')],
    [
      'an invalid regular expression',
      [rule, rule, { match: { campaign_regex: '(a' }, channel: 'x' }],
      fault('/rules/2/match/campaign_regex', 'invalid_regex'),
    ],
    [
      'what only other engines know',
      [{ match: { campaign_regex: '(?=a)' }, channel: 'x' }],
      fault('/rules/0/match/campaign_regex', 'invalid_regex'),
    ],
    [
      'a long regular expression',
      [{ match: { campaign_regex: 'a'.repeat(257) }, channel: 'x' }],
      fault('/rules/0/match/campaign_regex', 'too_big'),
    ],
    [
      'regular expressions that take the engine seconds',
      Array.from({ length: 3 }, (_, index) => ({ match: { campaign_regex: `(?i)\\pL{10}${index}` }, channel: 'x' })),
      fault('/rules', 'costly_regex'),
    ],
    [
      'a name that no channel may have',
      [{ match: { channel: 'a' }, channel: 'b'.repeat(513) }],
      fault('/rules/0/channel', 'too_big'),
    ],
    [
      'a control character in a name',
      [{ match: { channel: 'a' }, channel: 'b\u0007' }],
      fault('/rules/0/channel', 'control_character'),
    ],
    ['an empty name', [{ match: { channel: 'a' }, channel: '' }], fault('/rules/0/channel', 'too_small')],
    ['201 rules', Array.from({ length: 201 }, () => rule), fault('/rules', 'too_big')],
    [
      'more text than a statement carries',
      Array.from({ length: 200 }, () => ({ match: { channel: 'a' }, channel: 'b'.repeat(500) })),
      fault('/rules', 'too_big'),
    ],
  ])('%s is refused by name, and nothing changes', async (_, rules, refusal) => {
    await put(raw, [rule]);
    expect(await put(raw, rules)).toMatchObject(refusal);
    expect((await caller.get(`/data-sources/${raw}/channel-rules`)).body['rules']).toEqual([rule]);
  });

  test('as many and as long rules as there may be are kept and followed', async () => {
    const text = (place: number) => `${'é'.repeat(20)}${place}`;
    const rules = Array.from({ length: 200 }, (_, place) => ({
      match: {
        channel: text(place),
        source: text(place),
        medium: text(place),
        referrer: text(place),
        click_id: text(place),
        campaign_regex: `^${text(place)}$`,
      },
      channel: text(place),
    }));
    const set = await put(raw, [...rules.slice(1), { match: { channel: 'email' }, channel: 'letters' }]);
    expect({ status: set.status, error: set.body['error'] }).toEqual({ status: 200 });
    const run = await analyse(raw, { model: 'markov', channels: ['letters'] });
    expect(run).toMatchObject({ status: 'completed', channel_impact: [{ channel: 'letters' }] });
  });

  test('the graph refuses the same in the same words', async () => {
    const { errors } = await caller.graphql(
      'mutation ($input: SetChannelRulesInput!) { setChannelRules(input: $input) { trust { hreiScore } } }',
      { input: { dataSourceId: raw, rules: [{ match: { channel: null }, channel: 'x' }] } },
    );
    expect(errors).toHaveLength(1);
    const [{ message, extensions }] = errors as [{ message: string; extensions: Record<string, unknown> }];
    expect({ message, extensions }).toMatchObject({
      message: expect.stringContaining('must name at least one of'),
      extensions: { type: 'validation_error', param: '/rules/0/match' },
    });
  });

  test('other tenants and sources that are gone have no rules to read or set', async () => {
    const other = await Caller.register(house.root);
    expect((await other.get(`/data-sources/${raw}/channel-rules`)).status).toBe(404);
    expect(
      (
        await other.send('PUT', `/data-sources/${raw}/channel-rules`, '{"rules":[]}', {
          'content-type': 'application/json',
        })
      ).status,
    ).toBe(404);
    const gone = await connect([]);
    await put(gone, RULES);
    await caller.delete(`/data-sources/${gone}`);
    expect((await put(gone, RULES)).status).toBe(404);
  });

  test('the sources of the sandbox are read by no rules, and take none', async () => {
    const tester = await withTestKey(house, caller);
    expect(await tester.get('/data-sources/ds_sandbox_shopify/channel-rules')).toMatchObject({
      status: 200,
      body: { rules: [] },
    });
    const refused = await tester.send(
      'PUT',
      '/data-sources/ds_sandbox_shopify/channel-rules',
      JSON.stringify({ rules: RULES }),
      { 'content-type': 'application/json' },
    );
    expect(refused).toMatchObject({ status: 409, body: { error: { type: 'conflict', code: 'sandbox_source' } } });
  });
});
