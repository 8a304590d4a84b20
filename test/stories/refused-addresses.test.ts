import { randomUUID } from 'node:crypto';
import { Caller, openHouse, type House } from '../house.ts';

/**
 * What an address may look like that leads inside, or nowhere that a message may go. Names are those of the test house.
 */
const REFUSED = [
  'http://hooks.example/',
  'ftp://hooks.example/',
  'https://user@hooks.example/',
  'https://user:secret@hooks.example/',
  'https://hooks.example/#part',
  'https://127.0.0.1/',
  'https://127.1/',
  'https://2130706433/',
  'https://0x7f.0.0.1/',
  'https://0177.0.0.1/',
  'https://0.0.0.0/',
  'https://10.0.0.7/',
  'https://172.16.0.1/',
  'https://192.168.1.1/',
  'https://100.64.0.1/',
  'https://169.254.169.254/latest/meta-data',
  'https://224.0.0.1/',
  'https://255.255.255.255/',
  'https://192.0.2.1/',
  'https://198.18.0.1/',
  'https://[::1]/',
  'https://[::]/',
  'https://[fe80::1]/',
  'https://[fc00::1]/',
  'https://[fd00:ec2::254]/',
  'https://[ff02::1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::127.0.0.1]/',
  'https://[::ffff:a9fe:a9fe]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[2002:7f00:1::]/',
  'https://[2001:0:7f00:1::]/',
  'https://[2001:db8::1]/',
  'https://localhost/',
  'https://inside.example/',
  'https://mixed.example/',
  'https://nowhere.invalid/',
] as const;

let house: House;
let caller: Caller;
beforeAll(async () => {
  house = await openHouse('one process', { withWorker: false, webhooks: { allowPrivate: false } });
  caller = await Caller.register(house.root);
});
afterAll(() => house?.stop());

const json = { 'content-type': 'application/json' };

test.each(REFUSED)('%s is taken neither for a webhook nor for a callback', async (url) => {
  const { id } = (await caller.post('/webhooks', { url: 'https://hooks.example/', events: ['*'] })).body as unknown as {
    id: string;
  };
  const answers = [
    [400, '/url', await caller.post('/webhooks', { url, events: ['*'] })],
    [422, '/url', await caller.send('PATCH', `/webhooks/${id}`, JSON.stringify({ url }), json)],
    [422, '/callback_url', await caller.send('PATCH', '/agents/me', JSON.stringify({ callback_url: url }), json)],
    [
      422,
      '/callback_url',
      await new Caller(house.root, null).post('/agents/register', {
        name: 'refused',
        operator_id: randomUUID(),
        callback_url: url,
      }),
    ],
  ] as const;
  for (const [status, param, answer] of answers) {
    expect([answer.status, answer.body['error']?.['type'], answer.body['error']?.['param']]).toEqual([
      status,
      'validation_error',
      param,
    ]);
    // What a name leads to is not told.
    if (url.endsWith('.example/')) expect(JSON.stringify(answer.body)).not.toMatch(/10\.0\.0\.7|93\.184|::1/);
  }
  const { errors } = await caller.graphql(
    'mutation ($i: CreateWebhookInput!) { createWebhook(input: $i) { webhook { id } } }',
    { i: { url, events: ['*'] } },
  );
  expect(errors?.[0]!.extensions).toMatchObject({ code: 'VALIDATION_ERROR' });
  expect((await caller.get(`/webhooks/${id}`)).body['url']).toBe('https://hooks.example/');
  await caller.delete(`/webhooks/${id}`);
});

test('a public host is taken', async () => {
  for (const url of [
    'https://hooks.example/',
    'https://93.184.215.14:8443/path?query=1',
    'https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]/',
  ])
    expect((await caller.post('/webhooks', { url, events: ['*'] })).status).toBe(201);
});
