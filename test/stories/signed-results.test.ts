import { readFileSync } from 'node:fs';
import { Client } from 'pg';
import { UNBOUND } from '../../services/identity/keys/key-bond.ts';
import { KeyVault } from '../../services/trust/key-vault.ts';
import { signClaims, type ResultClaims } from '../../services/trust/signed-result.ts';
import { SigningKeyStore } from '../../services/trust/signing-key-store.ts';
import { requireUuid } from '../../platform/identifiers.ts';
import { Caller, LAYOUTS, openHouse, TEST_SECRET, type Answer, type House, type Json } from '../house.ts';
import { ISSUER, strangersCheck, strangersDigest } from './strangers-check.ts';

const EVENTS = readFileSync(new URL('../compute/fixtures/events.csv', import.meta.url), 'utf8')
  .split('\n')
  .slice(0, 2500)
  .join('\n');
const DATE_RANGE = ['2025-01-06', '2025-04-05'];
const SIGNED_AT = new Date('2026-11-21T12:00:00.123Z');
const DAY_MS = 86_400_000;

async function connectEvents(caller: Caller): Promise<string> {
  const { body } = await caller.post('/data-sources/connect', {
    type: 'csv_upload',
    credentials: { content: EVENTS },
    baseline_channels: ['direct', 'organic*'],
  });
  return String(body['data_source_id']);
}

async function analyse(caller: Caller, source: string, more: object = {}): Promise<Json> {
  const { status, body } = await caller.post('/attribution', {
    data_source_id: source,
    date_range: DATE_RANGE,
    ...more,
  });
  expect({ status, state: body['status'], failure: body['failure'] }).toEqual({
    status: 200,
    state: 'completed',
    failure: null,
  });
  return body;
}

const anyone = (house: House) => new Caller(house.root, null);
const verify = async (house: House, request: object): Promise<Json> => {
  const answer = await anyone(house).post('/verify', request);
  expect(answer.status).toBe(200);
  return answer.body;
};

describe.each(LAYOUTS)('a signed result, %s', (layout) => {
  let house: House;
  let caller: Caller;
  let source: string;
  let result: Json;
  let now = SIGNED_AT;

  beforeAll(async () => {
    house = await openHouse(layout, { clock: () => now });
    caller = await Caller.register(house.root);
    source = await connectEvents(caller);
    result = await analyse(caller, source);
  });
  afterAll(() => house?.stop());

  test('is verified by a stock JOSE client from the address of the keys alone', async () => {
    const payload = await strangersCheck(house.root, result);
    expect(payload).toEqual({
      iss: ISSUER,
      sub: result['id'],
      iat: Math.floor(SIGNED_AT.getTime() / 1000),
      jti: expect.any(String),
      revision: 1,
      delta_r_cents: result['delta_r_cents'],
      digest: strangersDigest(result),
    });
    expect(Number(result['delta_r_cents'])).toBeGreaterThan(0);
  });

  test('keeps its digest on every way to it, also the next day', async () => {
    const signed = String(result['signature']);
    const { digest } = await strangersCheck(house.root, result);
    now = new Date(SIGNED_AT.getTime() + DAY_MS);
    const ways = [
      '',
      '?include=diagnostics',
      '?include=model_breakdown,comparison',
      '?include=time_series',
      '?include=campaigns',
    ].map((query) => caller.get(`/attribution/${String(result['id'])}${query}`));
    const [listed, old] = [
      await caller.get('/attribution'),
      await caller.get(`/attribution/${String(result['id'])}`, { 'svc-api-version': '2025-08-01' }),
    ];
    const answers = [
      ...(await Promise.all(ways)).map(({ body }) => body),
      (listed.body['data'] as unknown as Json[])[0]!,
      old.body,
    ];
    expect(answers).toHaveLength(7);
    for (const answer of answers)
      expect({ digest: strangersDigest(answer), signature: String(answer['signature']) }).toEqual({
        digest,
        signature: signed,
      });
  });

  test('restricted to channels, or of another model, verifies as well', async () => {
    const restricted = await analyse(caller, source, { channels: ['email', 'direct'] });
    expect(restricted['channel_impact']).toHaveLength(2);
    const markov = await analyse(caller, source, {
      model: 'markov',
      model_options: { markov_order: 2 },
      confidence_level: 0.9,
    });
    for (const each of [restricted, markov])
      expect((await strangersCheck(house.root, each))['digest']).toBe(strangersDigest(each));
  });

  test('is what POST /verify says it is, to anyone', async () => {
    const jws = String(result['signature']);
    const valid = {
      valid: true,
      signature_valid: true,
      reason: null,
      algorithm: 'EdDSA',
      issuer: ISSUER,
      subject: { type: 'attribution_result', id: result['id'], revision: 1 },
      environment: 'live',
    };
    expect(await verify(house, { jws })).toMatchObject({
      ...valid,
      digest_match: null,
      trust: { hrei_score: 0, verification: { ground_truth_source: 'system_of_record' } },
    });
    expect(await verify(house, { result })).toMatchObject({ ...valid, digest_match: true });
    const both = await verify(house, { jws, result: { ...result, signature: null, time_series: 'left to include=' } });
    expect(both).toMatchObject({ ...valid, digest_match: true, payload: { digest: strangersDigest(result) } });
    expect(both['signed_at']).toBe('2026-11-21T12:00:00.000Z');
    // Written by hand, since JSON.stringify has no such numbers and some copies lose such a member.
    for (const odd of ['"__proto__":{},', '"note":1e400,']) {
      const { body } = await anyone(house).send(
        'POST',
        '/verify',
        `{"result":${JSON.stringify(result).replace('{', `{${odd}`)}}`,
        { 'content-type': 'application/json' },
      );
      expect(body).toMatchObject({ valid: false, digest_match: false, reason: 'digest_mismatch' });
    }
    expect(await verify(house, { result: { ...result, revenue: 1 } })).toMatchObject({
      valid: false,
      signature_valid: true,
      digest_match: false,
      reason: 'digest_mismatch',
    });
  });

  test('is what the graph says it is, to anyone', async () => {
    const seen = await caller.graphql('query ($id: ID!) { attribution(id: $id) { signature } }', { id: result['id'] });
    expect(seen.data!['attribution']!['signature']).toBe(result['signature']);
    const query =
      'query ($input: VerifyResultInput!) { verifyResult(input: $input) { valid digestMatch reason environment ' +
      'subject { id } } }';
    const answer = (input: object) => anyone(house).graphql(query, { input });
    expect((await answer({ result })).data!['verifyResult']).toEqual({
      valid: true,
      digestMatch: true,
      reason: null,
      environment: 'LIVE',
      subject: { id: result['id'] },
    });
    expect((await answer({ result: { ...result, conversions: 0 } })).data!['verifyResult']).toMatchObject({
      valid: false,
      reason: 'DIGEST_MISMATCH',
    });
    expect((await answer({ jws: 'no' })).errors![0]!.extensions['code']).toBe('VALIDATION_ERROR');
  });

  test('comes at the end of a run that said it was signing', async () => {
    const events = await (await caller.open('GET', `/attribution/${String(result['id'])}/stream`)).text();
    expect(events).toContain('"stage":"signing","progress":0.98');
    expect(events).toContain(String(result['signature']));
  });
});

describe('what verification refuses', () => {
  let house: House;
  let owner: Client;
  let caller: Caller;
  let source: string;
  let keys: SigningKeyStore;

  beforeAll(async () => {
    house = await openHouse('one process', { clock: () => SIGNED_AT });
    owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
    keys = new SigningKeyStore(house.backing.database, new KeyVault(TEST_SECRET));
    caller = await Caller.register(house.root);
    source = await connectEvents(caller);
  });
  afterAll(async () => {
    await owner?.end();
    await house?.stop();
  });

  const currentKey = (environment: 'live' | 'sandbox') =>
    house.backing.database.asNobody((em) => keys.current(em, environment));
  const claims: ResultClaims = {
    iss: ISSUER,
    sub: 'attr_0351EFUQxpVTZ7WdNYMSuY',
    iat: 1,
    jti: 'j',
    revision: 1,
    delta_r_cents: 1,
    digest: `sha256:${'0'.repeat(64)}`,
  };
  const keySet = async (): Promise<{ kid: string; 'svc:status'?: string }[]> => {
    // The door keeps the set for a second.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    return (
      (await (await fetch(`${house.root}/.well-known/jwks.json`)).json()) as {
        keys: { kid: string; 'svc:status'?: string }[];
      }
    ).keys;
  };

  test('a figure that was changed in the database', async () => {
    const result = await analyse(caller, source);
    const id = requireUuid('attr', String(result['id']), 'analysis');
    await owner.query(
      `update attribution.attributions set result = jsonb_set(result, '{channels,0,attributedRevenueCents}', ` +
        `to_jsonb((result #>> '{channels,0,attributedRevenueCents}')::bigint + 1)) where id = $1`,
      [id],
    );
    const tampered = (await caller.get(`/attribution/${String(result['id'])}`)).body;
    expect(await verify(house, { result: tampered })).toMatchObject({
      valid: false,
      signature_valid: true,
      digest_match: false,
      reason: 'digest_mismatch',
    });
    expect(await verify(house, { result })).toMatchObject({ valid: true });
  });

  test('a revision that another has replaced, without a word about it', async () => {
    const result = await analyse(caller, source);
    await owner.query('update attribution.attributions set revision = 2 where id = $1', [
      requireUuid('attr', String(result['id']), 'analysis'),
    ]);
    expect(await verify(house, { result })).toMatchObject({
      valid: false,
      signature_valid: true,
      digest_match: true,
      reason: 'superseded_revision',
      subject: { revision: 1 },
    });
    // Whoever has no signature of ours learns nothing, not even whether there is such a result.
    const forged = await signClaims(
      { ...claims, sub: String(result['id']) },
      { ...(await currentKey('sandbox')), kid: (await currentKey('live')).kid },
    );
    expect(await verify(house, { jws: forged })).toMatchObject({
      reason: 'bad_signature',
      subject: null,
      issuer: null,
      signed_at: null,
      payload: null,
    });
  });

  test('another issuer, a payload that says nothing, a key that there is not', async () => {
    const key = await currentKey('live');
    expect(
      await verify(house, { jws: await signClaims({ ...claims, iss: 'https://other.example' }, key) }),
    ).toMatchObject({ valid: false, signature_valid: true, reason: 'wrong_issuer', issuer: 'https://other.example' });
    expect(
      await verify(house, { jws: await signClaims({ hello: 'world' } as unknown as ResultClaims, key) }),
    ).toMatchObject({
      valid: false,
      signature_valid: true,
      reason: 'malformed_payload',
      subject: null,
      payload: { hello: 'world' },
    });
    expect(await verify(house, { jws: await signClaims(claims, { ...key, kid: 'nobody' }) })).toMatchObject({
      valid: false,
      signature_valid: false,
      reason: 'unknown_key',
      key_id: 'nobody',
      payload: null,
    });
    expect(
      await verify(house, { jws: await signClaims(claims, { ...(await currentKey('sandbox')), kid: key.kid }) }),
    ).toMatchObject({ valid: false, signature_valid: false, reason: 'bad_signature', payload: null });
  });

  test.each<readonly [string, object, string]>([
    ['no JWS at all', { jws: 'not-a-jws' }, '/jws'],
    ['three parts that are no JWS', { jws: 'abc.def.ghi' }, '/jws'],
    ['nothing', {}, '/jws'],
    ['a result without a signature', { result: { id: 'attr_1' } }, '/result/signature'],
    ['a result that is none', { result: [1] }, '/result'],
  ])('%s is 422', async (_what, body, param) => {
    const answer: Answer = await anyone(house).post('/verify', body);
    expect(answer.status).toBe(422);
    expect(answer.body['error']).toMatchObject({ type: 'validation_error', param });
  });

  test('a request without a nonce, as every POST', async () => {
    const response = await fetch(`${house.root}/v1/verify`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"jws":"a.b.c"}',
    });
    expect({ status: response.status, type: ((await response.json()) as Json)['error']!['type'] }).toEqual({
      status: 400,
      type: 'missing_nonce',
    });
  });

  test('results from before there were signatures have none', async () => {
    const result = await analyse(caller, source);
    await owner.query('update attribution.attributions set signature = null where id = $1', [
      requireUuid('attr', String(result['id']), 'analysis'),
    ]);
    const { status, body } = await caller.get(`/attribution/${String(result['id'])}`);
    expect({ status, signature: body['signature'] }).toEqual({ status: 200, signature: null });
  });

  test('the key set says how long it may be kept, and nothing of trust', async () => {
    const response = await fetch(`${house.root}/.well-known/jwks.json`);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toContain('max-age=300');
    for (const header of ['svc-hrei-score', 'svc-hrei-risk']) expect(response.headers.get(header)).toBeNull();
    const { keys: published } = (await response.json()) as { keys: Record<string, string>[] };
    for (const key of published)
      expect(
        Object.keys(key)
          .filter((name) => name !== 'svc:status')
          .toSorted(),
      ).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x']);
  });

  test('a sandbox result is signed by a key of its own', async () => {
    const [account] = (
      await owner.query<{ account_id: string; agent_id: string }>(
        'select account_id, agent_id from auth.api_keys limit 1',
      )
    ).rows;
    const accountId = account!.account_id as never;
    const testKey = await house.backing.database.asTenant(accountId, (em) =>
      house.keys.issue(em, { accountId, agentId: account!.agent_id as never, kind: 'svc_test_sk', bond: UNBOUND }),
    );
    const result = await analyse(new Caller(house.root, testKey), 'ds_sandbox_meta_ads', {
      date_range: ['2026-06-01', '2026-07-31'],
    });
    expect(await verify(house, { result })).toMatchObject({
      valid: true,
      environment: 'sandbox',
      key_id: expect.stringMatching(/^sandbox-[\w-]{43}$/),
    });
  });

  test('rotation takes effect at once; what was signed before stays valid, until its key is revoked', async () => {
    const before = await analyse(caller, source);
    const statuses = new Map((await keySet()).map((key) => [key.kid, key['svc:status']]));
    const [signedWith, next] = [
      String((await verify(house, { result: before }))['key_id']),
      [...statuses].find(([kid, status]) => status === 'next' && !kid.startsWith('sandbox-'))![0],
    ];
    expect(statuses.get(signedWith)).toBeUndefined();

    expect(await keys.rotate('live')).toBe(next);
    const after = await analyse(caller, source);
    expect(await verify(house, { result: after })).toMatchObject({ valid: true, key_id: next });
    expect(await verify(house, { result: before })).toMatchObject({ valid: true, key_id: signedWith });
    expect((await keySet()).find(({ kid }) => kid === signedWith)!['svc:status']).toBe('retired');
    expect((await strangersCheck(house.root, before))['digest']).toBe(strangersDigest(before));

    await keys.revoke(next);
    expect(await verify(house, { result: after })).toMatchObject({
      valid: false,
      signature_valid: true,
      digest_match: true,
      reason: 'revoked_key',
    });
    expect((await keySet()).find(({ kid }) => kid === next)!['svc:status']).toBe('revoked');
    const again = await verify(house, { result: await analyse(caller, source) });
    expect(again).toMatchObject({ valid: true });
    expect([signedWith, next]).not.toContain(String(again['key_id']));
  });
});
