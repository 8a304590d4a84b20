import { readFileSync } from 'node:fs';
import { Client } from 'pg';
import { Caller, openHouse, type Answer, type House, type Json } from '../house.ts';

const FIXTURES = new URL('../compute/fixtures/', import.meta.url);
const EVENTS = readFileSync(new URL('events.csv', FIXTURES), 'utf8');
const DATE_RANGE = ['2025-01-06', '2025-04-05'];
const BASELINE = ['direct', 'organic*'];

/** Inside the retention of the fixture's dates; each step of the tests is later than the one before. */
let nowMs = Date.parse('2025-04-06T12:00:00Z');
const clock = () => new Date((nowMs += 10));

let house: House;
let caller: Caller;
let owner: Client;
beforeAll(async () => {
  house = await openHouse('one process', { clock });
  caller = await Caller.register(house.root);
  owner = new Client({ connectionString: house.ownerUrl });
  await owner.connect();
});
afterAll(async () => {
  await owner?.end();
  await house?.stop();
});

async function connect(content: string): Promise<string> {
  const answer = await caller.post('/data-sources/connect', {
    type: 'csv_upload',
    credentials: { filename: 'rows.csv', content },
    baseline_channels: BASELINE,
  });
  expect(answer.status).toBe(201);
  return String(answer.body['data_source_id']);
}

async function run(source: string, changes: object = {}): Promise<Answer> {
  const answer = await caller.post('/attribution', { data_source_id: source, date_range: DATE_RANGE, ...changes });
  expect(answer.body).toMatchObject({ status: 'completed' });
  return answer;
}

const trustOf = (answer: Answer) =>
  answer.body['trust'] as unknown as {
    hrei_score: number;
    risk_level: string;
    components: Record<string, Record<string, number> & { classifications?: string[] }>;
    verification: {
      ground_truth_source: string;
      claims_verified: number;
      claims_total: number;
      confidence_intervals_included: boolean;
      model_run_traceable: boolean;
    };
    metadata: { hrei_version: string; weights: Record<string, number> };
  };
const again = (answer: Answer) => caller.get(`/attribution/${String(answer.body['id'])}`);
const newest = `(select id from attribution.attributions order by created_at desc limit 1)`;

test('every model of a run carries measured risks, all claims hold, and the headers repeat the body', async () => {
  const source = await connect(EVENTS);
  for (const model of ['causal', 'markov', 'shapley', 'dominance', 'rwa', 'prav']) {
    const answer = await run(source, { model });
    const { hrei_score, risk_level, components, verification, metadata } = trustOf(answer);
    expect(verification.claims_verified).toBe(verification.claims_total);
    expect(verification.claims_total).toBeGreaterThan(30);
    expect(verification).toMatchObject({
      confidence_intervals_included: expect.any(Boolean),
      model_run_traceable: true,
    });
    expect(verification.ground_truth_source).toBe(
      model === 'causal' || model === 'prav' ? 'stored_touchpoints+placebo_visits' : 'stored_touchpoints',
    );
    expect(answer.headers.get('svc-hrei-score')).toBe(hrei_score.toFixed(2));
    expect(answer.headers.get('svc-hrei-risk')).toBe(risk_level);
    const score = Object.entries(metadata.weights).reduce(
      (sum, [component, weight]) => sum + weight * components[component]!['score']!,
      0,
    );
    expect(Math.abs(hrei_score - score)).toBeLessThanOrEqual(0.0051);
    for (const [metric, least] of [
      ['calibration_error', 0.001],
      ['perplexity_anomaly', 0.001],
    ] as const)
      expect(components['detection']![metric]).toBeGreaterThan(least);
    expect(components['provenance']).toMatchObject({ source_retrievability: 0, temporal_displacement: 0 });
    expect(components['consistency']).toMatchObject({ internal_consistency: 0, logical_coherence: 0 });
  }
  const list = await caller.get('/attribution');
  expect(list.body['trust']).toMatchObject({
    hrei_score: 0,
    verification: { ground_truth_source: 'system_of_record', claims_total: 6 },
  });
  for (const item of list.body['data'] as unknown as Json[])
    expect(item['trust']).toMatchObject({
      verification: { ground_truth_source: expect.stringContaining('stored_touchpoints') },
    });
  const { data } = await caller.graphql(
    `{ attributions(first: 1) { edges { node { trust { hreiScore riskLevel components { detection { semanticEntropy ` +
      `} taxonomy { classifications } } } } } } }`,
  );
  expect(data!['attributions']).toMatchObject({
    edges: [{ node: { trust: { hreiScore: expect.any(Number), riskLevel: expect.stringMatching(/^[A-Z]+$/) } } }],
  });
  const older = await caller.get(`/attribution/${String((list.body['data'] as unknown as Json[])[0]!['id'])}`, {
    'svc-api-version': '2025-11-01',
  });
  expect(trustOf(older).metadata.hrei_version).toBe('1.0.0');
});

test('the example of the documentation is what the service answers', async () => {
  const page = readFileSync(new URL('../../docs/concepts/trust-envelope.md', import.meta.url), 'utf8');
  const example = JSON.parse(`{${/```json\n([^]*?)```/.exec(page)![1]!}}`) as { trust: object };
  // The bootstrap draws by a seed of the source's own, so that entropy differs a little from source to source.
  const about = (value: unknown, digits = 1): unknown =>
    typeof value === 'number'
      ? expect.closeTo(value, digits)
      : typeof value === 'object' && !Array.isArray(value)
        ? Object.fromEntries(
            Object.entries(value as object).map(([name, member]) => [
              name,
              about(member, name === 'semantic_entropy' ? 0 : 1),
            ]),
          )
        : value;
  expect(trustOf(await run(await connect(EVENTS)))).toMatchObject(about(example.trust) as object);
});

test('what is not finished carries the record envelope', async () => {
  const source = await connect(EVENTS);
  const answer = await caller.post(
    '/attribution',
    { data_source_id: source, date_range: DATE_RANGE },
    { prefer: 'respond-async' },
  );
  expect(answer.body).toMatchObject({
    status: 'processing',
    trust: { hrei_score: 0, risk_level: 'minimal', verification: { ground_truth_source: 'system_of_record' } },
  });
  expect([answer.headers.get('svc-hrei-score'), answer.headers.get('svc-hrei-risk')]).toEqual(['0.00', 'minimal']);
});

test('a stored figure that was changed is a fabrication, counted with what depends on it', async () => {
  const answer = await run(await connect(EVENTS));
  const before = trustOf(answer);
  await owner.query(
    `update attribution.attributions set result = jsonb_set(result, '{channels,1,attributedRevenueCents}', ` +
      `'123456789') where id = ${newest}`,
  );
  const after = trustOf(await again(answer));
  // The figure itself, and the digest of the whole.
  expect(after.verification).toMatchObject({
    claims_total: before.verification.claims_total,
    claims_verified: before.verification.claims_total - 2,
  });
  expect(after.components['attribution']!['factual_grounding']).toBeCloseTo(2 / before.verification.claims_total, 3);
  expect(after.components['taxonomy']!.classifications).toContain('fabrication');
  expect(after.hrei_score).toBeGreaterThan(before.hrei_score);

  const other = await run(await connect(EVENTS));
  await owner.query(
    `update attribution.attributions set result = jsonb_set(result, '{methodology}', '"guesswork"') where id = ` +
      `${newest}`,
  );
  expect(trustOf(await again(other)).components['taxonomy']!.classifications).toContain('fabrication');
});

test('evidence that changes later is no longer retrievable, in proportion; a deleted source not at all', async () => {
  const source = await connect(EVENTS);
  const answer = await run(source);
  const [header, ...rows] = EVENTS.trimEnd().split('\n');
  const changed = rows
    .filter((row) => row.includes(',2025-02-10'))
    .map((row) => row.replace(/,([0-9.]+),0,/, ',7.77,0,'));
  expect(changed.length).toBeGreaterThan(5);
  // Sending the same rows again changes nothing …
  await caller.send('POST', `/data-sources/${source}/records`, EVENTS, { 'content-type': 'text/csv' });
  expect(trustOf(await again(answer)).components['provenance']!['source_retrievability']).toBe(0);
  expect(trustOf(await again(answer)).verification.model_run_traceable).toBe(true);
  // … other rows on one day change that day.
  await caller.send(
    'POST',
    `/data-sources/${source}/records`,
    [header, ...changed, 'someone-new,2025-02-10T10:00:00Z,email,,1,0,'].join('\n'),
    { 'content-type': 'text/csv' },
  );
  const moved = trustOf(await again(answer));
  expect(moved.components['provenance']!['source_retrievability']).toBeGreaterThan(0);
  expect(moved.components['provenance']!['source_retrievability']).toBeLessThan(0.1);
  expect(moved.verification.model_run_traceable).toBe(false);
  const { status } = await caller.delete(`/data-sources/${source}`);
  expect([200, 204]).toContain(status);
  const gone = trustOf(await again(answer));
  expect(gone.components['provenance']!['source_retrievability']).toBe(1);
  expect(gone.hrei_score).toBeGreaterThan(moved.hrei_score);
});

test('rows that no upload put there are no evidence on record, and rows that came twice disturb nothing', async () => {
  const source = await connect(EVENTS);
  await caller.send('POST', `/data-sources/${source}/records`, EVENTS, { 'content-type': 'text/csv' });
  const twice = trustOf(await run(source));
  expect(twice.verification.claims_verified).toBe(twice.verification.claims_total);
  expect(twice.components['provenance']!['source_retrievability']).toBe(0);
  const { rows } = await owner.query<{ id: string; account_id: string }>(
    `select id, account_id from attribution.data_sources order by created_at desc limit 1`,
  );
  await house.backing.clickhouse.command(
    `INSERT INTO touchpoints (account_id, data_source_id, user_id, ts, event_id, channel, campaign, source, medium,
      cost, event_type, version)
     SELECT {account:String}, {source:String}, 'smuggled', toDateTime64('2025-03-03 12:00:00', 3, 'UTC'), '', 'email',
       '', '', '', 0, '', 1`,
    { params: { account: rows[0]!.account_id, source: rows[0]!.id } },
  );
  const smuggled = trustOf(await run(source));
  expect(smuggled.components['provenance']!['source_retrievability']).toBeGreaterThan(0);
  expect(smuggled.components['provenance']!['source_retrievability']).toBeLessThan(0.1);
  expect(smuggled.verification.model_run_traceable).toBe(false);
});

test('a source that went silent, or failed, makes the answer outdated', async () => {
  const source = await connect(EVENTS);
  const current = await run(source);
  await owner.query(
    `update attribution.data_sources set error = ` +
      `'{"code":"x","message":"y","at":"2025-04-06T12:00:00Z","retryable":true}'
        where id = (select data_source_id from ` +
      `attribution.attributions where id = ${newest})`,
  );
  expect(trustOf(await again(current)).components['taxonomy']!.classifications).toContain('outdated_reference');
  await owner.query(`update attribution.data_sources set error = null`);
  const before = trustOf(await again(current));
  nowMs += 60 * 86_400_000;
  const stale = await run(source, { date_range: ['2025-01-06', '2025-06-01'] });
  const { components } = trustOf(stale);
  // 56 days from the last event to the end of the range, one of them the interval between two syncs.
  expect(components['provenance']!['temporal_displacement']).toBeGreaterThan(0.8);
  expect(components['taxonomy']!.classifications).toContain('outdated_reference');
  // The range of the older answer ended with its evidence, and only the health of its source has aged.
  const after = trustOf(await again(current));
  expect(after.components['provenance']!['temporal_displacement']).toBe(0);
  expect(after.components['provenance']!['citation_reliability']).toBeGreaterThan(
    before.components['provenance']!['citation_reliability']!,
  );
});

test('aggregated paths are measured on what they have', async () => {
  // The longest path forgets its only email when the oldest fifth of it goes: shares move whatever the seed, which is
  // the source's own.
  const source = await connect(
    'path,conversions,revenue,nulls\nemail > paid_search,40,2000,400\ndirect > ' +
      'email,25,1100,300\npaid_search,30,1500,500\ndirect,20,900,700\nemail > direct > paid_search > direct > ' +
      'paid_search,15,800,100\n',
  );
  for (const model of ['causal', 'markov', 'shapley']) {
    const { verification, components } = trustOf(await run(source, { model }));
    expect(verification).toMatchObject({
      claims_verified: verification.claims_total,
      ground_truth_source: model === 'causal' ? 'stored_paths+prior_weights' : 'stored_paths',
    });
    expect(components['attribution']!['prompt_sensitivity']).toBeGreaterThan(0);
    expect(components['provenance']!['source_retrievability']).toBe(0);
  }
});

test('an answer of before the evidence was kept has no envelope', async () => {
  const answer = await run(await connect(EVENTS));
  await owner.query(`update attribution.attributions set trust = null where id = ${newest}`);
  const older = await again(answer);
  expect(older.body['trust']).toBeNull();
  expect(older.headers.get('svc-hrei-score')).toBeNull();
});
