import { Caller, openHouse, type House } from '../../../house.ts';

describe('connecting a source over REST', () => {
  let house: House;
  let caller: Caller;

  beforeAll(async () => {
    house = await openHouse('one process', { withWorker: false });
    caller = await Caller.register(house.root);
  }, 60_000);

  afterAll(() => house.stop());

  const refusal = async (body: Record<string, unknown>) => {
    const answer = await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: {}, ...body });
    expect(answer.status).toBe(422);
    return answer.body['error'];
  };

  test.each(['agent_x', 'agent_0351EFSwMCuWsp5CADuBq8'])('the agent %s, which is not of this account, is refused', async (agentId) => {
    expect(await refusal({ agent_id: agentId })).toMatchObject({ type: 'validation_error', code: 'unknown_agent', param: '/agent_id' });
  });

  test('what is wrong with the content points at the member of the request', async () => {
    expect(await refusal({ credentials: { content: 'a,b\n1,2\n' } })).toMatchObject({ code: 'unrecognised_columns', param: '/credentials/content' });
    expect(await refusal({ credentials: { content: 'user_id,timestamp,channel\n', mapping: { bogus: 'x' } } })).toMatchObject({
      code: 'invalid_mapping',
      param: '/credentials/mapping/bogus',
      errors: [{ param: '/credentials/mapping/bogus' }],
    });
    expect((await caller.get('/data-sources')).body['sources']).toEqual([]);
  });
});
