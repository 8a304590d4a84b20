import { setTimeout as sleep } from 'node:timers/promises';
import { Caller, openHouse, type House } from '../house.ts';
import { parseMetrics, sampleId, type ScrapedMetric } from '../metrics-text.ts';
import { clock } from '../service-clock.ts';

const ROWS = [
  'user_id,timestamp,channel,conversion,revenue',
  ...Array.from({ length: 60 }, (_, user) => {
    const day = String(1 + (user % 28)).padStart(2, '0');
    const channel = ['email', 'search', 'social'][user % 3]!;
    return `u${user},2026-01-${day}T10:00:00Z,${channel},${user % 4 === 0 ? '1,40' : '0,'}`;
  }),
].join('\n');

type Metrics = ReadonlyMap<string, ScrapedMetric>;

let house: House;
let caller: Caller;
let range: Record<string, unknown>;
beforeAll(async () => {
  house = await openHouse('one process', { clock });
  caller = await Caller.register(house.root);
});
afterAll(() => house?.stop());

async function scrape(): Promise<Metrics> {
  const response = await fetch(`${house.root}/metrics`);
  expect(response.status).toBe(200);
  return parseMetrics(await response.text());
}

/** Of one sample, or of a metric's samples with these labels together. */
function total(metrics: Metrics, name: string, labels: Readonly<Record<string, string>> = {}): number {
  const wanted = Object.entries(labels).map(([label, value]) => sampleId('', { [label]: value }).slice(1, -1));
  return [...metrics.get(name)!.samples]
    .filter(([id]) => wanted.every((each) => id.includes(each)))
    .reduce((sum, [, value]) => sum + value, 0);
}

/** How far samples have moved since; polls, since events are relayed behind their request. */
async function movedBy(
  before: Metrics,
  expected: readonly (readonly [name: string, labels: Readonly<Record<string, string>>, by: number])[],
): Promise<void> {
  const movements = (after: Metrics) =>
    expected.map(([name, labels]) => [name, labels, total(after, name, labels) - total(before, name, labels)]);
  let after = await scrape();
  for (
    const deadlineMs = performance.now() + 10_000;
    JSON.stringify(movements(after)) !== JSON.stringify(expected) && performance.now() < deadlineMs;
    after = await scrape()
  )
    await sleep(50);
  expect(movements(after)).toEqual(expected);
}

test('requests, refusals, graph operations, jobs, tasks, statements and events are counted exactly', async () => {
  const before = await scrape();
  const connected = await caller.post('/data-sources/connect', {
    type: 'csv_upload',
    credentials: { filename: 'rows.csv', content: ROWS },
  });
  range = { data_source_id: connected.body['data_source_id'], date_range: ['2026-01-01', '2026-01-31'] };
  expect((await caller.post('/attribution', { ...range, model: 'shapley' })).body).toMatchObject({
    status: 'completed',
  });
  for (let time = 0; time < 3; time += 1) await caller.get('/data-sources');
  await caller.send('HEAD', '/data-sources');
  await new Caller(house.root, `svc_live_sk_${'A'.repeat(24)}`).get('/data-sources');
  await caller.post('/attribution', { ...range, model: 'astrology' });
  await caller.get('/attribution/attr_0351EHkIP5aQClJArGIRJe');
  await caller.send('GET', '/no/such/address');
  await caller.graphql('query Mine { me { id } }');
  await caller.graphql('{ me { ');
  await caller.graphql('{ attribution(id: "attr_0351EHkIP5aQClJArGIRJe") { id } }');

  const list = { operation: 'listDataSources', route: '/v1/data-sources' };
  await movedBy(before, [
    ['liftgraph_http_requests_total', { ...list, method: 'GET', status: '200' }, 3],
    ['liftgraph_http_requests_total', { ...list, method: 'HEAD', status: '200' }, 1],
    ['liftgraph_http_requests_total', { ...list, status: '401' }, 1],
    ['liftgraph_http_request_duration_seconds', { le: '+Inf', operation: 'listDataSources' }, 5],
    ['liftgraph_http_requests_total', { route: '/v1/attribution', status: '200' }, 1],
    ['liftgraph_http_requests_total', { route: '/v1/attribution', status: '422' }, 1],
    ['liftgraph_http_requests_total', { route: '/v1/attribution/{id}', status: '404' }, 1],
    ['liftgraph_http_requests_total', { operation: 'other', status: '404' }, 1],
    ['liftgraph_http_requests_total', { route: '/graphql' }, 3],
    ['liftgraph_admission_refusals_total', {}, 1],
    ['liftgraph_admission_refusals_total', { reason: 'invalid_api_key' }, 1],
    ['liftgraph_graphql_operations_total', { door: 'graphql', kind: 'query', outcome: 'ok' }, 1],
    ['liftgraph_graphql_operations_total', { door: 'graphql', kind: 'unknown', outcome: 'errors' }, 1],
    ['liftgraph_graphql_operations_total', { door: 'rest', document: 'DataSources', outcome: 'ok' }, 4],
    ['liftgraph_graphql_errors_total', { door: 'graphql', type: 'invalid_request' }, 1],
    ['liftgraph_graphql_errors_total', { door: 'rest', type: 'resource_not_found' }, 1],
    ['liftgraph_job_runs_total', { queue: 'attribution.run', outcome: 'completed' }, 1],
    ['liftgraph_job_runs_total', { outcome: 'failed' }, 0],
    ['liftgraph_compute_tasks_total', { task: 'shapley', outcome: 'ok' }, 1],
    ['liftgraph_clickhouse_statements_total', { outcome: 'failed' }, 0],
    ['liftgraph_events_relayed_total', { type: 'attribution.completed' }, 1],
  ]);
});

test('streams are counted while they are open', async () => {
  const before = await scrape();
  const leaving = new AbortController();
  const { status } = await fetch(`${house.root}/v1/events`, {
    headers: { authorization: `Bearer ${caller.key}` },
    signal: leaving.signal,
  });
  expect(status).toBe(200);
  await movedBy(before, [
    ['liftgraph_streams_open', {}, 1],
    ['liftgraph_http_requests_in_flight', {}, 1],
  ]);
  leaving.abort();
  await movedBy(before, [
    ['liftgraph_streams_open', {}, 0],
    ['liftgraph_http_requests_in_flight', {}, 0],
    ['liftgraph_http_requests_total', { operation: 'streamEvents', status: '200' }, 1],
    // It says nothing of how fast the service is.
    ['liftgraph_http_request_duration_seconds', { operation: 'streamEvents' }, 0],
  ]);
});

test('deliveries of webhooks are counted by what came of them', async () => {
  expect(
    (await caller.post('/webhooks', { url: 'http://localhost:9/', events: ['attribution.completed'] })).status,
  ).toBe(201);
  const before = await scrape();
  expect((await caller.post('/attribution', { ...range, model: 'markov' })).status).toBe(200);
  await movedBy(before, [
    ['liftgraph_webhook_delivery_attempts_total', { outcome: 'connection' }, 1],
    ['liftgraph_webhook_delivery_duration_seconds', { le: '+Inf' }, 1],
    ['liftgraph_webhook_deliveries_in_flight', {}, 0],
  ]);
});

test('names and units follow the conventions, and no label tells of anybody', async () => {
  const metrics = await scrape();
  const answers = await Promise.all(
    ['/agents/me', '/data-sources', '/attribution', '/webhooks'].map((path) => caller.get(path)),
  );
  const ids = [
    ...answers
      .map(({ text }) => text)
      .join('\n')
      .matchAll(/"((?:agent|ds|attr)_[0-9A-Za-z]{22}|[0-9a-f]{8}-[0-9a-f-]{27})"/g),
  ].map(([, id]) => id!);
  expect(new Set(ids.map((id) => id.split(/[_-]/, 1)[0])).size).toBeGreaterThan(3);
  const labels = [...metrics.values()]
    .flatMap((metric) => metric.labels.flatMap((each) => Object.values(each)))
    .join('\n');
  for (const told of [...ids, caller.key!, '127.0.0.1', 'localhost', 'Mine', 'no/such'])
    expect(labels).not.toContain(told);
  for (const [name, { type, help }] of metrics) {
    expect(name).toMatch(/^liftgraph_[a-z][a-z0-9_]*[a-z0-9]$/);
    expect(help).not.toBe('');
    expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
    if (type === 'histogram') expect(name).toMatch(/_seconds$/);
    expect(name).not.toMatch(/_(?:ms|milliseconds|minutes|kb|mb|percent)(?:_|$)/);
  }
});
