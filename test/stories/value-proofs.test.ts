import { createPublicKey, verify } from 'node:crypto';
import { Caller, LAYOUTS, type Json } from '../house.ts';
import { withTestKey } from '../test-key.ts';
import { openBilledHouse, SHOP_DAYS, type BilledHouse } from './billed-shop.ts';

const listed = (body: Json): readonly Json[] => body['proofs'] as unknown as readonly Json[];
const idsOf = (body: Json): string[] => listed(body).map((proof) => String(proof['analysis_id']));

describe.each(LAYOUTS)('value proofs, %s', (layout) => {
  let shop: BilledHouse;
  let caller: Caller;
  let source: string;
  let analyses: readonly Json[];
  beforeAll(async () => {
    shop = await openBilledHouse(layout);
    caller = await Caller.register(shop.house.root);
    source = await shop.connect(caller);
    const first = await shop.analyse(caller, source, { lookback_window_days: 30 });
    const again = await shop.analyse(caller, source, { lookback_window_days: 30 });
    analyses = [first, again, await shop.analyse(caller, source, { lookback_window_days: 29 })];
  });
  afterAll(() => shop?.stop());

  const proofs = (query = '') => caller.get(`/billing/value-proofs${query}`);

  test('each completed analysis has one, which says what it brought and what it was charged', async () => {
    const { status, body } = await proofs();
    expect([status, body['meta']]).toEqual([200, { page: 1, per_page: 50, total: 3, total_pages: 1 }]);
    expect(idsOf(body)).toEqual(analyses.map(({ id }) => String(id)).toReversed());
    for (const [place, proof] of listed(body).toReversed().entries()) {
      const analysis = analyses[place]!;
      expect(proof).toMatchObject({
        revenue_lastclick_cents: analysis['revenue_lastclick_cents'],
        revenue_causal_cents: analysis['revenue_causal_cents'],
        delta_r_cents: analysis['delta_r_cents'],
        platform_fee_cents: analysis['platform_fee_cents'],
        currency: 'USD',
        billed: place !== 1,
        repeats: place === 1 ? analyses[0]!['id'] : null,
      });
      expect(String(proof['receipt_id'])).toMatch(/^rcpt_[0-9A-Za-z]{22}$/);
    }
  });

  test('a receipt is signed for its proof, verifies with the published keys, and is the same every time', async () => {
    const { body } = await proofs();
    const [proof] = listed(body);
    const { signed_receipt, ...members } = proof!;
    const [header = '', payload = '', signature = ''] = String(signed_receipt).split('.');
    const told = JSON.parse(Buffer.from(header, 'base64url').toString()) as Json;
    expect(told).toMatchObject({ alg: 'EdDSA', typ: 'svc-receipt+jwt' });
    const keys = (await (await fetch(`${shop.house.root}/.well-known/jwks.json`)).json()) as { keys: Json[] };
    const jwk = keys.keys.find(({ kid }) => String(kid) === String(told['kid']))!;
    const key = createPublicKey({ key: jwk as never, format: 'jwk' });
    expect(verify(null, Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url'))).toBe(true);
    const { iss, iat, jti, ...claims } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Json;
    expect(claims).toEqual(members);
    expect([iss, jti]).toEqual(['http://127.0.0.1:4000', proof!['receipt_id']]);
    expect(Number(iat)).toBe(Math.floor(Date.parse(String(proof!['created_at'])) / 1000));
    expect((await proofs()).body['proofs']).toEqual(body['proofs']);

    const stranger = new Caller(shop.house.root, null);
    const check = (given: object) => stranger.post('/verify', given);
    expect((await check({ jws: signed_receipt })).body).toMatchObject({
      valid: true,
      digest_match: null,
      environment: 'live',
      subject: { type: 'value_receipt', id: proof!['receipt_id'], revision: 1 },
      signed_at: new Date(Number(iat) * 1000).toISOString(),
      payload: { platform_fee_cents: members['platform_fee_cents'] },
    });
    // A receipt vouches for itself, not for a result beside it.
    expect((await check({ jws: signed_receipt, result: analyses[2]! })).body).toMatchObject({
      valid: false,
      reason: 'digest_mismatch',
    });
    const forged = Buffer.from(JSON.stringify({ iss, iat, jti, ...claims, platform_fee_cents: 0 })).toString(
      'base64url',
    );
    expect((await check({ jws: `${header}.${forged}.${signature}` })).body).toMatchObject({
      valid: false,
      reason: 'bad_signature',
    });
  });

  test('the list is narrowed by analysis and period, and comes in pages', async () => {
    const [newest, , oldest] = idsOf((await proofs()).body);
    expect(idsOf((await proofs(`?analysis_id=${String(oldest)}`)).body)).toEqual([oldest]);
    expect(idsOf((await proofs('?analysis_id=attr_nothing')).body)).toEqual([]);
    expect(idsOf((await proofs('?period=day')).body)).toHaveLength(3);
    expect(idsOf((await proofs('?period=2026-01')).body)).toEqual([]);
    const second = await proofs('?limit=2&page=2');
    expect([idsOf(second.body), second.body['meta']]).toEqual([
      [oldest],
      { page: 2, per_page: 2, total: 3, total_pages: 2 },
    ]);
    expect(idsOf((await proofs('?per_page=1')).body)).toEqual([newest]);
    expect((await proofs('?limit=201')).status).toBe(422);
    expect((await proofs('?period=2026-13')).body['error']).toMatchObject({
      type: 'validation_error',
      code: 'invalid_period',
      param: 'query:period',
    });
  });

  test('the graph says the same, also from the analysis', async () => {
    const { body } = await proofs('?limit=1');
    const [proof] = listed(body);
    const { data } = await caller.graphql(
      `{ valueProofs(first: 1) { totalCount edges { node { receiptId signedReceipt createdAt } } }
         attribution(id: "${String(proof!['analysis_id'])}") { valueProof { receiptId deltaRCents } } }`,
    );
    const node = { receiptId: proof!['receipt_id'], signedReceipt: proof!['signed_receipt'] };
    expect(data).toMatchObject({
      valueProofs: { totalCount: 3, edges: [{ node: { ...node, createdAt: proof!['created_at'] } }] },
      attribution: { valueProof: { receiptId: proof!['receipt_id'], deltaRCents: proof!['delta_r_cents'] } },
    });
  });

  test('the audit log tells of every list', async () => {
    const exported = async () => (await caller.get('/audit/events?event_type=data.exported')).body;
    const before = Number((await exported())['total_count']);
    await proofs('?limit=2');
    const after = await exported();
    expect(Number(after['total_count'])).toBe(before + 1);
    const [entry] = after['events'] as unknown as readonly Json[];
    expect(entry).toMatchObject({ severity: 'warning', details: { level: 'value_proofs', proofs: 2 } });
  });

  test('a deleted analysis keeps its proof, and nobody can change or remove one', async () => {
    const [newest] = idsOf((await proofs()).body);
    expect((await caller.delete(`/attribution/${String(newest)}`)).status).toBe(204);
    expect(idsOf((await proofs()).body)).toContain(newest);
    for (const statement of [
      `update billing.value_proofs set signed_receipt = 'x'`,
      `delete from billing.value_proofs where environment = 'live'`,
      'truncate billing.value_proofs',
    ])
      await expect(shop.owner.query(statement)).rejects.toThrow('receipts are never changed or removed');
  });

  test('others see none of them; a test key sees those of the sandbox, which cost nothing', async () => {
    const stranger = await Caller.register(shop.house.root);
    expect(idsOf((await stranger.get('/billing/value-proofs')).body)).toEqual([]);
    const tester = await withTestKey(shop.house, caller);
    expect(idsOf((await tester.get('/billing/value-proofs')).body)).toEqual([]);
    const days = ['2026-06-01', '2026-06-30'];
    const result = await shop.analyse(tester, 'ds_sandbox_shopify', { date_range: days });
    const [proof] = listed((await tester.get('/billing/value-proofs')).body);
    expect(proof).toMatchObject({
      analysis_id: result['id'],
      billed: false,
      platform_fee_cents: result['platform_fee_cents'],
      delta_r_cents: result['delta_r_cents'],
    });
    const { body } = await new Caller(shop.house.root, null).post('/verify', { jws: proof!['signed_receipt'] });
    expect(body).toMatchObject({ valid: true, environment: 'sandbox' });
    expect(listed((await proofs()).body)).toHaveLength(3);
  });

  test('who works in a workspace sees the proofs of it alone', async () => {
    const workspace = String((await caller.post('/workspaces', { name: 'Team' })).body['workspace_id']);
    const inside = caller.in(workspace);
    expect(idsOf((await inside.get('/billing/value-proofs')).body)).toEqual([]);
    const there = await shop.connect(inside);
    const { id } = await shop.analyse(inside, there, { date_range: SHOP_DAYS });
    expect(idsOf((await inside.get('/billing/value-proofs')).body)).toEqual([id]);
    expect(idsOf((await proofs()).body)).toContain(String(id));
  });
});
