import { Client } from 'pg';
import { openAccount } from '../../../../../services/identity/opening/open-account.ts';
import { uuidFromPublicId } from '../../../../../platform/identifiers.ts';
import { Caller, openHouse, type House } from '../../../../house.ts';
import { clock } from '../../../../service-clock.ts';

describe('connecting a source over REST', () => {
  let house: House;
  let caller: Caller;

  beforeAll(async () => {
    house = await openHouse('one process', { withWorker: false, clock });
    caller = await Caller.register(house.root);
  }, 60_000);

  afterAll(() => house.stop());

  const refusal = async (body: Record<string, unknown>) => {
    const answer = await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: {}, ...body });
    expect(answer.status).toBe(422);
    return answer.body['error'];
  };

  test.each(['agent_x', 'agent_0351EFSwMCuWsp5CADuBq8'])(
    'the agent %s, which does not exist, is refused',
    async (agentId) => {
      expect(await refusal({ agent_id: agentId })).toMatchObject({
        type: 'validation_error',
        code: 'unknown_agent',
        param: '/agent_id',
      });
    },
  );

  test('an account has 500 at most, those included whose rows are not gone yet', async () => {
    const crowded = await Caller.register(house.root);
    const connect = () => crowded.post('/data-sources/connect', { type: 'csv_upload', credentials: {} });
    const { body } = await connect();
    const owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
    try {
      await owner.query(
        `insert into attribution.data_sources (id, account_id, environment, type, name, sync_schedule, timezone,
           baseline_channels, created_at, deleted_at)
         select gen_random_uuid(), account_id, environment, type, name, sync_schedule, timezone, baseline_channels,
           created_at, case when n % 2 = 0 then now() end
         from attribution.data_sources, generate_series(1, 498) n where id = $1`,
        [uuidFromPublicId('ds', String(body['data_source_id']))],
      );
      expect((await connect()).status).toBe(201);
      expect(await connect()).toMatchObject({
        status: 422,
        body: { error: { type: 'validation_error', code: 'too_many_data_sources' } },
      });
      await owner.query(`update attribution.data_sources set deleted_at = now() - interval '31 days'
        where deleted_at is not null`);
      expect((await connect()).status).toBe(201);
    } finally {
      await owner.end();
    }
  });

  test('a shop names the agent of another operator that serves it, for the source or for one analysis', async () => {
    const { pair } = await openAccount(
      { database: house.backing.database, keys: house.keys, context: { requestId: 'req_test' } },
      { email: 'shop@example.com', plan: 'pay_per_analysis' },
    );
    const shop = new Caller(house.root, pair.live.secret);
    const [serving, other] = await Promise.all([Caller.register(house.root), Caller.register(house.root)]);
    const [agent, another] = await Promise.all(
      [serving, other].map(async (each) => (await each.get('/agents/me')).body),
    );
    const connect = (agentId: unknown) =>
      shop.post('/data-sources/connect', {
        type: 'csv_upload',
        credentials: { content: 'user_id,timestamp,channel\nu1,2026-01-05T10:00:00Z,email\n' },
        agent_id: agentId,
        brand_id: 'spring ☃',
      });

    const source = await connect(agent!['agent_uuid']);
    expect([source.status, source.body['agent_id']]).toEqual([201, agent!['agent_id']]);
    expect((await shop.get('/data-sources')).body['sources']).toMatchObject([
      { agent_id: agent!['agent_id'], brand_id: 'spring ☃' },
    ]);
    expect((await shop.get(`/data-sources/${String(source.body['data_source_id'])}/status`)).body).toMatchObject({
      brand_id: 'spring ☃',
    });
    expect((await connect('agent_0351EFSwMCuWsp5CADuBq8')).body['error']).toMatchObject({
      code: 'unknown_agent',
      param: '/agent_id',
    });

    const analyse = (more: object) =>
      shop.post(
        '/attribution',
        { data_source_id: source.body['data_source_id'], date_range: ['2026-01-01', '2026-01-31'], ...more },
        { prefer: 'respond-async' },
      );
    expect((await analyse({})).body['agent_id']).toBe(agent!['agent_id']);
    expect((await analyse({ agent_id: another!['agent_id'] })).body['agent_id']).toBe(another!['agent_id']);
    const refused = await analyse({ agent_id: 'agent_nobody' });
    expect([refused.status, refused.body['error']]).toMatchObject([422, { code: 'unknown_agent', param: '/agent_id' }]);

    // What was recovered for the shop counts for who served, the sandbox never.
    const owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
    await owner.query(`update attribution.attributions set status = 'completed', result = '{"deltaRCents": 12345}'`);
    const {
      rows: [stored],
    } = await owner.query<{ columns: string }>(
      `select string_agg(column_name, ', ') as columns from information_schema.columns where (table_schema, ` +
        `table_name, is_generated) = ('attribution', 'attributions', 'NEVER')`,
    );
    await owner.query(
      `insert into attribution.attributions (${stored!.columns}) select ${stored!.columns} from (select ` +
        `(jsonb_populate_record(a, jsonb_build_object('id', gen_random_uuid(), 'environment', 'sandbox'))).* from ` +
        `attribution.attributions a) copies`,
    );
    await owner.end();
    expect((await serving.get('/agents/me')).body['total_delta_r_cents']).toBe(12_345);
    expect((await other.get('/agents/me')).body['total_delta_r_cents']).toBe(12_345);
    expect((await caller.get('/agents/me')).body['total_delta_r_cents']).toBe(0);

    // An agent works in its own name alone, and naming one gives it nothing to see.
    expect(await refusal({ agent_id: agent!['agent_id'] })).toMatchObject({ code: 'unknown_agent' });
    expect((await serving.get('/data-sources')).body['sources']).toEqual([]);
  });

  test('what is wrong with the content points at the member of the request', async () => {
    expect(await refusal({ credentials: { content: 'a,b\n1,2\n' } })).toMatchObject({
      code: 'unrecognised_columns',
      param: '/credentials/content',
    });
    expect(
      await refusal({ credentials: { content: 'user_id,timestamp,channel\n', mapping: { bogus: 'x' } } }),
    ).toMatchObject({
      code: 'invalid_mapping',
      param: '/credentials/mapping/bogus',
      errors: [{ param: '/credentials/mapping/bogus' }],
    });
    const open = await refusal({
      credentials: { content: 'order_id,user_id,timestamp,revenue\n1,u1,03/04/2026,5\n' },
    });
    expect(open).toMatchObject({ code: 'ambiguous_dates', param: '/credentials/content' });
    expect(open!['message']).toMatch(/No answer can be given here: .* POST \/v1\/data-sources\/{id}\/records/);
    expect((await caller.get('/data-sources')).body['sources']).toEqual([]);
  });
});
