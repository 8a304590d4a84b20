import { randomUUID } from 'node:crypto';
import { Caller } from './house.ts';
import { daysAgo } from './days-ago.ts';

/** An account with three of everything that can be listed, for tests over whatever the contract offers. */
export interface FilledAccount {
  readonly caller: Caller;
  /**
   * The public id of an object below `/v1/<collection>/{id}`, or of the type that the graph calls so. @throws Error
   * where the account has none
   */
  idFor(collection: string): string;
}

const ROWS = [
  'user_id,timestamp,channel,cost',
  ...Array.from(
    { length: 5 },
    (_, index) => `u${index},${daysAgo(9 - index)}T10:00:00Z,${index % 2 === 0 ? 'email' : 'search'},1`,
  ),
  ...Array.from({ length: 5 }, (_, index) => `u${index},never ${index},email,1`),
].join('\n');

/** Analyses stay pending where no worker runs. */
export async function fillAccount(root: string): Promise<FilledAccount> {
  const registered = await new Caller(root, null).post('/agents/register', {
    name: 'list-agent',
    operator_id: randomUUID(),
  });
  const caller = new Caller(root, String(registered.body['api_key']));
  const ids = new Map([['agents', String(registered.body['agent_id'])]]);
  for (let index = 0; index < 3; index += 1) {
    await caller.post('/keys', { name: `key-${index}` });
    await new Caller(root, null).post('/agents/register', {
      name: `referred-${index}`,
      operator_id: randomUUID(),
      referral_code: String(registered.body['referral_code']),
    });
    await caller.post('/workspaces', { name: `Team ${index}` });
    const webhook = await caller.post('/webhooks', { url: 'http://localhost:9/', events: ['*'] });
    for (let test = 0; test <= index; test += 1) await caller.post(`/webhooks/${String(webhook.body['id'])}/test`, {});
    ids.set('webhooks', String(webhook.body['id']));
    const source = String(
      (
        await caller.post('/data-sources/connect', {
          type: 'csv_upload',
          name: `Shop ${index}`,
          credentials: { filename: 'rows.csv', content: ROWS },
        })
      ).body['data_source_id'],
    );
    const analysis = await caller.post(
      '/attribution',
      { data_source_id: source, date_range: [daysAgo(30), daysAgo(1)], model: 'shapley' },
      { prefer: 'wait=0' },
    );
    const experiment = await caller.post('/experiments', {
      data_source_id: source,
      channel: 'email',
      method: 'geo',
      period: [daysAgo(30), daysAgo(17)],
      incremental_revenue: 10,
      standard_error: 1,
    });
    ids
      .set('data-sources', source)
      .set('attribution', String(analysis.body['id']))
      .set('experiments', String(experiment.body['id']));
  }
  return {
    caller,
    idFor(collection) {
      const id = ids.get(collection);
      if (id === undefined) throw new Error(`the account has no object of ${collection}: make one in fillAccount`);
      return id;
    },
  };
}
