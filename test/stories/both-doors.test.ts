import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { Caller, LAYOUTS, openHouse, type Answer, type House, type Json } from '../house.ts';
import { standardRateLimits } from '../../services/identity/limits/rate-limits.ts';
import { clock } from '../service-clock.ts';
import { BASELINE, connectEvents, DATE_RANGE } from './reference-events.ts';

/* What REST and GraphQL say of the same thing, and what every answer says of itself. */

const HREI = ['svc-hrei-score', 'svc-hrei-risk'] as const;
const hreiOf = ({ headers }: Pick<Response, 'headers'>) => HREI.map((name) => headers.get(name));

describe.each(LAYOUTS)('both doors, %s', (layout) => {
  let house: House;
  let caller: Caller;
  let source: string;
  let analysis: Answer;

  const graph = (query: string, headers: Record<string, string> = {}) =>
    fetch(`${house.root}/graphql`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${caller.key}`,
        'x-nonce': randomUUID(),
        ...headers,
      },
      body: JSON.stringify({ query }),
    });

  beforeAll(async () => {
    house = await openHouse(layout, { clock });
    caller = await Caller.register(house.root);
    source = await connectEvents(caller);
    const request = { data_source_id: source, date_range: DATE_RANGE, baseline_channels: BASELINE };
    analysis = await caller.post('/attribution', request);
  });
  afterAll(() => house?.stop());

  test('headers tell of the trust of a root payload, whether or not it was asked for', async () => {
    const id = String(analysis.body['id']);
    expect(analysis.body['status']).toBe('completed');
    const measured = hreiOf(await caller.get(`/attribution/${id}`));
    expect(Number(measured[0])).toBeGreaterThan(0);
    expect(hreiOf(await graph(`{ attribution(id: "${id}") { id } }`))).toEqual(measured);
    // The highest of several.
    expect(hreiOf(await graph(`{ me { id } attribution(id: "${id}") { id trust { hreiScore } } }`))).toEqual(measured);
    const noRisk = ['0.00', 'minimal'];
    expect(hreiOf(await graph('{ me { id } }'))).toEqual(noRisk);
    expect(hreiOf(await graph('{ __typename }'))).toEqual(noRisk);
    expect(hreiOf(await graph('{ attribution(id: "attr_none") { id } }'))).toEqual(noRisk);
    expect(hreiOf(await graph('{ nothing }'))).toEqual(noRisk);
  });

  test('values in a document are refused as REST refuses them', async () => {
    const refusals: readonly (readonly [path: string, method: string, body: object, mutation: string])[] = [
      [
        '/webhooks',
        'POST',
        { url: 'x', events: ['*'] },
        'createWebhook(input: { url: "x", events: ["*"] }) { secret }',
      ],
      ['/agents/me', 'PATCH', { callback_url: 'x' }, 'updateAgent(input: { callbackUrl: "x" }) { agent { id } }'],
      [
        `/data-sources/${source}/channel-rules`,
        'PUT',
        { rules: [{ match: { a: 1 }, channel: 'y' }] },
        `setChannelRules(input: { dataSourceId: "${source}", rules: [{ match: { a: 1 }, channel: "y" }] }) ` +
          '{ trust { hreiScore } }',
      ],
    ];
    for (const [path, method, body, mutation] of refusals) {
      const json = { 'content-type': 'application/json' };
      const answer = await caller.send(method, path, JSON.stringify(body), json);
      const { type, code, param, errors } = answer.body['error'] as unknown as Record<string, unknown>;
      const told = (await (await graph(`mutation { ${mutation} }`)).json()) as {
        readonly errors: readonly { readonly extensions: Readonly<Record<string, unknown>> }[];
      };
      const { extensions } = told.errors[0]!;
      const places = (of: unknown) =>
        (of as readonly { readonly param: string }[]).map((each) => each.param).toSorted();
      expect([extensions['type'], extensions['http_status'], extensions['reason'], extensions['param']]).toEqual([
        type,
        answer.status,
        code,
        param,
      ]);
      expect(places(extensions['errors'])).toEqual(places(errors));
    }
    const { body } = await caller.post('/webhooks', { url: 'https://a.example/', events: 'attribution.completed' });
    expect(body['error']!['errors']).toMatchObject([{ param: '/events', code: 'invalid_type' }]);
  });

  test('the graph takes a range of days in every form that REST takes, by variables and in a document', async () => {
    const [start, end] = DATE_RANGE;
    const forms = [DATE_RANGE, { start, end }, `${start},${end}`, `${start}/${end}`];
    const asked = { dataSourceId: source, model: 'MARKOV', baselineChannels: BASELINE };
    for (const dateRange of forms) {
      const byVariable = await caller.graphql(
        'mutation ($input: RunAttributionInput!) { runAttribution(input: $input) { attribution { dateRange } } }',
        { input: { ...asked, dateRange } },
      );
      const literal = JSON.stringify(dateRange).replaceAll(/"(start|end)":/g, '$1:');
      const inDocument = await caller.graphql(
        `mutation ($id: ID!, $baseline: [String!]) { runAttribution(input: { dataSourceId: $id, model: MARKOV,
           baselineChannels: $baseline, dateRange: ${literal} }) { attribution { dateRange } } }`,
        { id: source, baseline: BASELINE },
      );
      for (const answer of [byVariable, inDocument])
        expect({ dateRange, answer }).toEqual({
          dateRange,
          answer: { data: { runAttribution: { attribution: { dateRange: DATE_RANGE } } } },
        });
    }
    for (const dateRange of [
      `${start},`,
      { start },
      { start, end: 'today' },
      `${end},${start}`,
      [`${start},${end}`, end],
    ]) {
      const { errors } = await caller.graphql(
        'mutation ($input: RunAttributionInput!) { runAttribution(input: $input) { attribution { dateRange } } }',
        { input: { ...asked, dateRange } },
      );
      const { body } = await caller.post('/attribution', { data_source_id: source, date_range: dateRange });
      const { code, param } = body['error'] as unknown as Record<string, string>;
      expect({ dateRange, told: errors?.[0]?.extensions }).toMatchObject({ dateRange, told: { reason: code, param } });
    }
    const misspelt = { start, end, ende: end };
    const told = await caller.graphql(
      'mutation ($input: RunAttributionInput!) { runAttribution(input: $input) { attribution { id } } }',
      { input: { ...asked, dateRange: misspelt } },
    );
    const { body } = await caller.post('/attribution', { data_source_id: source, date_range: misspelt });
    expect(body['error']).toMatchObject({ code: 'unknown_member', param: '/date_range/ende' });
    expect(told.errors?.[0]?.extensions['errors']).toEqual(body['error']!['errors']);
    // A day is no range.
    expect(
      (
        await caller.graphql(
          `mutation { connectDataSource(input: { type: CSV_UPLOAD, credentials: {}, startDate: "${start},${end}" }) {
             trust { hreiScore } } }`,
        )
      ).errors?.[0]?.extensions,
    ).toMatchObject({ http_status: 422, param: '/start_date' });
  });

  test('an id that stands in a path is told by its place there, and in the graph by its member', async () => {
    const [workspaceId, agentId] = ['ws_0000000000000000000000', 'agent_0000000000000000000000'];
    const { body } = await caller.post(`/workspaces/${workspaceId}/agents`, { agent_id: agentId, role: 'viewer' });
    expect(body['error']).toMatchObject({ type: 'resource_not_found', param: 'path:id' });
    const { errors } = await caller.graphql(
      'mutation ($input: AddWorkspaceAgentInput!) { addWorkspaceAgent(input: $input) { trust { hreiScore } } }',
      { input: { workspaceId, agentId, role: 'VIEWER' } },
    );
    expect(errors?.[0]?.extensions).toMatchObject({ type: 'resource_not_found', param: '/workspace_id' });
  });

  test('whoever calls may be named me, in bodies too', async () => {
    const profile = await caller.get('/agents/me');
    const run = await caller.post('/attribution', {
      data_source_id: source,
      date_range: DATE_RANGE,
      model: 'markov',
      agent_id: 'me',
    });
    expect([run.status, run.body['agent_id']]).toEqual([200, profile.body['agent_id']]);
  });

  test('the share of a channel is that of the credit, whatever the model divides by', async () => {
    for (const model of ['dominance', 'rwa', 'markov']) {
      const { body } = await caller.post('/attribution', { data_source_id: source, date_range: DATE_RANGE, model });
      const impact = body['channel_impact'] as unknown as readonly { attributed_revenue: number; share: number }[];
      const credited = impact.reduce((sum, channel) => sum + channel.attributed_revenue, 0);
      for (const channel of impact) expect(channel.share).toBeCloseTo(channel.attributed_revenue / credited, 3);
    }
  });

  test('a mutation that is answered again has the headers of its first answer', async () => {
    const id = String(analysis.body['id']);
    const gone = `mutation { cancelAttribution(input: { id: "${id}" }) { attribution { id } } }`;
    const key = { 'svc-idempotency-key': randomUUID() };
    const answers = [await graph(gone, key), await graph(gone, key)];
    expect(answers.map(({ headers }) => headers.get('svc-idempotent-replayed'))).toEqual([null, 'true']);
    expect(hreiOf(answers[1]!)).toEqual(hreiOf(answers[0]!));
    const run =
      `mutation { runAttribution(input: { dataSourceId: "${source}", dateRange: ${JSON.stringify(DATE_RANGE)} }) ` +
      '{ attribution { id } } }';
    const other = { 'svc-idempotency-key': randomUUID() };
    expect(hreiOf(await graph(run, other))).toEqual(['0.00', 'minimal']);
    expect(hreiOf(await graph(run, other))).toEqual(['0.00', 'minimal']);
  });

  test('the shares of the models and the revenue of the rules are the same, typed in the graph', async () => {
    const { body } = await caller.get(`/attribution/${String(analysis.body['id'])}`);
    const { data } = await caller.graphql(
      `{ attribution(id: "${String(body['id'])}") {
        modelBreakdown { model shares { channel share } } comparison { rule channels { channel revenue } } } }`,
    );
    const { modelBreakdown, comparison } = data!['attribution'] as unknown as {
      modelBreakdown: { model: string; shares: { channel: string; share: number }[] }[];
      comparison: { rule: string; channels: { channel: string; revenue: number }[] }[];
    };
    const map = <Entry>(entries: readonly Entry[], pair: (entry: Entry) => readonly [string, unknown]) =>
      Object.fromEntries(entries.map(pair));
    expect(
      map(modelBreakdown, ({ model, shares }) => [
        model.toLowerCase(),
        map(shares, ({ channel, share }) => [channel, share]),
      ]),
    ).toEqual(body['model_breakdown']);
    expect(
      map(comparison, ({ rule, channels }) => [
        rule.toLowerCase(),
        map(channels, ({ channel, revenue }) => [channel, revenue]),
      ]),
    ).toEqual(body['comparison']);
  });

  test('a webhook goes by the version that its maker goes by, through either door', async () => {
    const version = { 'svc-api-version': '2025-11-01' };
    const address = 'http://127.0.0.1:9/';
    const rest = await caller.post('/webhooks', { url: address, events: ['*'] }, version);
    const overGraph = await graph(
      `mutation { createWebhook(input: { url: "${address}", events: ["*"] }) { webhook { apiVersion } } }`,
      version,
    );
    expect([rest.body['api_version'], await overGraph.json()]).toEqual([
      '2025-11-01',
      { data: { createWebhook: { webhook: { apiVersion: '2025-11-01' } } } },
    ]);
  });

  test('what is handed over unfinished is not told as an earlier state later on', async () => {
    const { body } = await caller.post(
      '/attribution',
      { data_source_id: source, date_range: DATE_RANGE, lookback_window_days: 28 },
      { prefer: 'respond-async' },
    );
    expect(['processing', 'completed']).toContain(body['status']);
    expect((await caller.get(`/attribution/${String(body['id'])}`)).body['status']).not.toBe('pending');
    const mine = await caller.get('/attribution?agent_id=me');
    expect(mine.body['meta']).toMatchObject({ total: (await caller.get('/attribution')).body['meta']!['total'] });
  });

  test('progress says how long it will take, and what iterates how it did', async () => {
    const stream = await caller.open(
      'POST',
      '/attribution?stream=true',
      JSON.stringify({
        data_source_id: source,
        date_range: DATE_RANGE,
        baseline_channels: BASELINE,
        lookback_window_days: 29,
      }),
      { 'content-type': 'application/json' },
    );
    const events = (await stream.text())
      .split('\n\n')
      .filter((event) => event.includes('event: progress'))
      .map((event) => JSON.parse(/^data: (.*)$/m.exec(event)![1]!) as Json);
    const byStage = new Map(events.map((event) => [String(event['stage']), event]));
    expect(byStage.get('queued')).toMatchObject({ eta_seconds: null, iteration: null, converged: null });
    expect(byStage.get('model:markov')).toMatchObject({ iteration: expect.any(Number), converged: true });
    expect(byStage.get('model:shapley')).toMatchObject({ iteration: null, converged: null });
    for (const { stage, progress, eta_seconds: eta } of events.filter((each) => Number(each['progress']) >= 0.1)) {
      expect([stage, progress, Number.isInteger(eta) && Number(eta) >= 0]).toEqual([stage, progress, true]);
    }
  });
});

describe('what is refused before anybody is known', () => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse('one process', { withWorker: false, rateLimits: standardRateLimits('three') });
  });
  afterAll(() => house?.stop());

  test.each([
    ['no key', 401, 'GET', '/agents/me', {}],
    ['an unknown key', 401, 'GET', '/agents/me', { authorization: `Bearer svc_live_sk_${'a'.repeat(24)}` }],
    ['an unknown path', 404, 'GET', '/nothing', {}],
    ['another method', 405, 'PUT', '/agents/me', {}],
    ['an unknown version', 400, 'GET', '/agents/me', { 'svc-api-version': '1999-01-01' }],
    ['a signature that is none', 422, 'POST', '/verify', { 'content-type': 'application/json' }],
  ] as const)('%s: %i, and where the window of the address stands', async (_what, status, method, path, headers) => {
    const left: number[] = [];
    for (let times = 0; times < 2; times += 1) {
      const stranger = new Caller(house.root, null);
      const answer = await stranger.send(method, path, method === 'POST' ? '{"jws":"none"}' : undefined, headers);
      expect(answer.status).toBe(status);
      expect(answer.headers.get('ratelimit-policy')).toBe('"minute";q=60;w=60');
      expect(answer.headers.get('ratelimit')).toMatch(/^"minute";r=\d+;t=\d+$/);
      left.push(Number(answer.headers.get('x-ratelimit-remaining')));
    }
    // Unless a minute began between the two.
    expect([left[0]! - 1, 59]).toContain(left[1]);
  });

  test.each([
    ['no such key', 401, 'POST', { authorization: 'Bearer nobody' }],
    ['another method', 405, 'PUT', {}],
    ['an unknown version', 400, 'POST', { 'svc-api-version': '1999-01-01' }],
  ] as const)('over GraphQL, too: %s', async (_what, status, method, headers) => {
    // Clients of plain JSON read of it in the answer (GraphQL over HTTP §6.4.1), unless they asked by another method.
    for (const [accept, told] of [
      ['application/graphql-response+json', status],
      ['application/json', status === 405 ? 405 : 200],
    ] as const) {
      const answer = await fetch(`${house.root}/graphql`, {
        method,
        headers: { 'content-type': 'application/json', accept, ...headers },
        body: '{"query":"{ __typename }"}',
      });
      expect([answer.status, answer.headers.get('ratelimit-policy')]).toEqual([told, '"minute";q=60;w=60']);
      expect(answer.headers.has('www-authenticate')).toBe(status === 401);
      expect(await answer.json()).toMatchObject({ errors: [{ extensions: { http_status: status } }] });
    }
  });

  test.each([
    ['an unknown test key', 'unused.example', `Bearer svc_test_sk_${'a'.repeat(24)}`, 'sandbox'],
    ['an unknown key at the sandbox', 'sandbox.example', 'Bearer nobody', 'sandbox'],
    ['an unknown key', 'unused.example', 'Bearer nobody', undefined],
  ])('%s: in which environment, by either door', async (_what, host, authorization, environment) => {
    const asked = (path: string, method: string) =>
      new Promise<unknown>((resolve, reject) => {
        const request = httpRequest(`${house.root}${path}`, { method, headers: { host, authorization } });
        request.once('error', reject).once('response', (answer) => {
          answer.resume();
          resolve(answer.headers['svc-environment']);
        });
        request.end();
      });
    expect([await asked('/v1/agents/me', 'GET'), await asked('/graphql', 'POST')]).toEqual([environment, environment]);
  });

  test('stays what it is when the window is used up', async () => {
    const stranger = new Caller(house.root, null);
    let last = await stranger.get('/nothing');
    for (let times = 0; times < 130; times += 1) last = await stranger.get('/nothing');
    expect(last.status).toBe(404);
    expect(last.headers.get('x-ratelimit-remaining')).toBe('0');
  });
});

test('health is that of the environment that is addressed', async () => {
  const house = await openHouse('one process', { withWorker: false });
  try {
    const asked = async (headers: Record<string, string>) => {
      const { body, headers: answered } = await new Caller(house.root, null).get('/health', headers);
      return [body['environment'], answered.get('svc-environment')];
    };
    expect(await asked({})).toEqual(['live', null]);
    expect(await asked({ authorization: `Bearer svc_live_sk_${'a'.repeat(24)}` })).toEqual(['live', null]);
    expect(await asked({ authorization: `Bearer svc_test_sk_${'a'.repeat(24)}` })).toEqual(['sandbox', 'sandbox']);
    const { body } = await new Caller(house.root, null).get('/health');
    expect(Object.keys(body['checks'] as Json)).toEqual(
      expect.arrayContaining(['database', 'columnar_store', 'queue', 'gateway']),
    );
  } finally {
    await house.stop();
  }
});
