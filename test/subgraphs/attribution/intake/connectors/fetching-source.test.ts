import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { requireUuid } from '../../../../../platform/identifiers.ts';
import { wholeAccount } from '../../../../../platform/postgres/database.ts';
import { Connectors, SERVED } from '../../../../../subgraphs/attribution/intake/connectors/registry.ts';
import { retireSandboxSources } from '../../../../../subgraphs/attribution/sandbox/retire-sandbox-sources.ts';
import { Caller, openHouse, type Answer, type House, type Json } from '../../../../house.ts';
import { clock } from '../../../../service-clock.ts';
import { withTestKey } from '../../../../test-key.ts';
import { openTinyShop, tinyShopConnector, type TinyShop } from './tiny-shop.ts';

const CHECK_TIMEOUT_MS = 400;
const TOKEN = 'SENTINELtoken-of-the-shop';
const REFUSED_TOKEN = 'SENTINELtoken-that-is-refused';

describe('a source whose rows are fetched', () => {
  let house: House;
  let caller: Caller;
  let other: Caller;
  let owner: Client;
  let shop: TinyShop;
  /** Every answer of the service. */
  const told: Answer[] = [];

  beforeAll(async () => {
    const connectors = new Connectors([...SERVED, tinyShopConnector], { checkTimeoutMs: CHECK_TIMEOUT_MS });
    house = await openHouse('one process', { clock, connectors, logLevel: 'trace' });
    [caller, other] = await Promise.all([Caller.register(house.root), Caller.register(house.root)]);
    owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
  }, 60_000);
  afterAll(async () => {
    await owner.end();
    await house.stop();
  });

  beforeEach(async () => {
    shop = await openTinyShop();
    shop.tokens.add(TOKEN);
    for (let user = 0; user < 45; user += 1) sell(user);
  });
  afterEach(() => shop.close().catch(() => undefined));

  /** A touch and, of every third, a purchase. */
  function sell(user: number): void {
    const day = String(1 + (user % 28)).padStart(2, '0');
    const channel = ['email', 'search', 'social'][(user % 5) % 3]!;
    shop.rows.push({ at: clock(), line: `u${user},2026-10-${day}T10:00:00Z,${channel},0,` });
    if (user % 3 === 0) shop.rows.push({ at: clock(), line: `u${user},2026-10-${day}T12:00:00Z,,1,40` });
  }

  const noted = async (answer: Promise<Answer>): Promise<Answer> => {
    told.push(await answer);
    return answer;
  };
  const connect = (token: string, headers: Record<string, string> = {}, more: object = {}) =>
    noted(
      caller.post(
        '/data-sources/connect',
        { type: 'shopify', credentials: { base_url: shop.url, access_token: token }, ...more },
        headers,
      ),
    );
  const connected = async (): Promise<string> => {
    const answer = await connect(TOKEN);
    expect(answer.status).toBe(201);
    shop.asked.length = 0;
    return String(answer.body['data_source_id']);
  };
  const statusOf = async (id: string): Promise<Json> => (await noted(caller.get(`/data-sources/${id}/status`))).body;
  const request = async (id: string): Promise<string> => {
    const answer = await noted(caller.post(`/data-sources/${id}/sync`, {}));
    expect(answer.status).toBe(202);
    return String(answer.body['sync_id']);
  };
  /** The status of a source once a sync of it has ended. */
  const synced = async (id: string): Promise<Json> => {
    const syncId = await request(id);
    for (;;) {
      const syncs = (await statusOf(id))['recent_syncs'] as unknown as readonly Json[];
      const sync = syncs.find((each) => String(each['sync_id']) === syncId);
      // Asked anew: what is said of the source may be of a moment before what is said of its syncs.
      if (['completed', 'failed'].includes(String(sync?.['status']))) return statusOf(id);
      await sleep(50);
    }
  };
  const sourceCount = async (): Promise<number> =>
    Number((await owner.query<{ count: string }>('select count(*) from attribution.data_sources')).rows[0]!.count);
  const sealedOf = async (id: string): Promise<Buffer | undefined> =>
    (
      await owner.query<{ sealed: Buffer }>(
        'select sealed from attribution.connector_credentials where data_source_id = $1',
        [requireUuid('ds', id, 'source')],
      )
    ).rows[0]?.sealed;

  test('is connected once its credentials are found to be good, which are stored sealed', async () => {
    const answer = await connect(TOKEN);
    expect([answer.status, answer.body]).toMatchObject([
      201,
      { type: 'shopify', status: 'connected', name: 'Tiny shop', ingest: null },
    ]);
    expect(shop.asked).toEqual(['GET /me']);
    const sealed = await sealedOf(String(answer.body['data_source_id']));
    expect(sealed!.toString('latin1')).not.toContain('SENTINEL');
    expect((await connect(TOKEN, {}, { name: 'Mine', brand_id: 'b' })).body).toMatchObject({ name: 'Mine' });
  });

  test('is made once for one idempotency key', async () => {
    const headers = { 'svc-idempotency-key': randomUUID() };
    const [first, again] = [await connect(TOKEN, headers), await connect(TOKEN, headers)];
    expect([first.status, again.status]).toEqual([201, 201]);
    expect(again.body['data_source_id']).toEqual(first.body['data_source_id']);
    expect(shop.asked).toEqual(['GET /me']);
  });

  test.each([
    ['credentials that the shop refuses', REFUSED_TOKEN, 422, 'credentials_rejected', '/credentials'],
    ['credentials of another shape', '', 422, 'too_small', '/credentials/access_token'],
  ])('%s are refused, and nothing is stored', async (_, token, status, code, param) => {
    const before = await sourceCount();
    const answer = await connect(token);
    expect([answer.status, answer.body['error']]).toMatchObject([status, { type: 'validation_error', code, param }]);
    expect(await sourceCount()).toBe(before);
  });

  test.each([
    ['is away', () => shop.close(), 'could not be asked'],
    ['is slow', () => (shop.slowMs = 5_000), 'did not answer within 0.4 s'],
  ])('while the shop %s, connecting is refused with 503, soon', async (_, happens, message) => {
    const before = await sourceCount();
    await happens();
    const startedMs = Date.now();
    const answer = await connect(TOKEN);
    expect([answer.status, answer.body['error']]).toMatchObject([
      503,
      { type: 'service_unavailable', code: 'source_unreachable', message: expect.stringContaining(message) },
    ]);
    expect(answer.headers.get('retry-after')).toBe('30');
    expect(Date.now() - startedMs).toBeLessThan(4_000);
    expect(await sourceCount()).toBe(before);
  });

  test('a sync fetches all pages, the next one what has come since; an analysis reads them', async () => {
    const id = await connected();
    expect((await statusOf(id))['records']).toMatchObject({ touchpoints: 0 });
    expect(await synced(id)).toMatchObject({
      status: 'connected',
      last_error: null,
      records: { touchpoints: 45, conversions: 15, rejected: 0 },
      coverage: { earliest: '2026-10-01', latest: '2026-10-28' },
    });
    expect(shop.asked).toEqual(['page=1', 'page=2', 'page=3'].map((page) => `GET /events?${page}`));

    const asked = await owner.query<{ at: Date }>(
      `select max(started_at) as at from attribution.uploads where data_source_id = $1 and cause = 'sync'`,
      [requireUuid('ds', id, 'source')],
    );
    for (const row of shop.rows) Object.assign(row, { at: new Date(0) });
    for (let user = 45; user < 51; user += 1) sell(user);
    shop.asked.length = 0;
    expect((await synced(id))['records']).toMatchObject({ touchpoints: 51, conversions: 17 });
    expect(shop.asked).toEqual([`GET /events?page=1&since=${asked.rows[0]!.at.toISOString()}`]);

    // Nothing has come, and that is no error.
    shop.rows.length = 0;
    expect(await synced(id)).toMatchObject({ status: 'connected', records: { touchpoints: 51 } });

    const analysis = await noted(
      caller.post('/attribution', {
        data_source_id: id,
        date_range: ['2026-10-01', '2026-10-28'],
        model: 'shapley',
      }),
    );
    expect([analysis.status, analysis.body]).toMatchObject([200, { status: 'completed', revenue: 680 }]);
  });

  test('its first sync begins at start_date, later ones where the last one began', async () => {
    const answer = await connect(TOKEN, {}, { start_date: '2026-10-05' });
    expect(answer.status).toBe(201);
    const id = String(answer.body['data_source_id']);
    expect(await statusOf(id)).toMatchObject({ start_date: '2026-10-05' });
    const { data } = await caller.graphql(`{ dataSource(id: "${id}") { startDate } }`);
    expect(data).toEqual({ dataSource: { startDate: '2026-10-05' } });
    shop.asked.length = 0;
    await synced(id);
    expect(shop.asked[0]).toBe('GET /events?page=1&since=2026-10-05T00:00:00.000Z');
    shop.asked.length = 0;
    await synced(id);
    expect(shop.asked[0]).not.toContain('2026-10-05T00:00:00.000Z');
  });

  test.each([
    ['after today', '2999-01-01', 'future_date'],
    ['before all rows', '1999-12-31', 'outside_retention'],
    ['no day of the calendar', '2026-02-30', 'invalid_format'],
  ])('a start_date %s is refused', async (_, day, code) => {
    const before = await sourceCount();
    const answer = await connect(TOKEN, {}, { start_date: day });
    expect([answer.status, answer.body['error']]).toMatchObject([
      422,
      { type: 'validation_error', code, param: '/start_date' },
    ]);
    expect(await sourceCount()).toBe(before);
    expect(shop.asked).toEqual([]);
  });

  test('a start_date of a source whose rows are sent is refused through both doors', async () => {
    const body = { type: 'csv_upload', credentials: {}, start_date: '2026-10-05' };
    const rest = await noted(caller.post('/data-sources/connect', body));
    expect([rest.status, rest.body['error']]).toMatchObject([422, { code: 'not_applicable', param: '/start_date' }]);
    const { errors } = await caller.graphql(
      'mutation { connectDataSource(input: { type: CSV_UPLOAD, credentials: {}, startDate: "2026-10-05" }) ' +
        '{ dataSource { id } } }',
    );
    expect(errors![0]!.extensions).toMatchObject({ code: 'VALIDATION_ERROR', param: '/start_date' });
  });

  test('a sync that fetches is current_sync, with the id that it was asked for by', async () => {
    const id = await connected();
    shop.slowMs = 300;
    const syncId = await request(id);
    let status = await statusOf(id);
    const seen = new Set<unknown>();
    while (status['current_sync'] !== null) {
      seen.add((status['current_sync'] as unknown as Json)['sync_id']);
      await sleep(50);
      status = await statusOf(id);
    }
    expect([...seen]).toEqual([syncId]);
  });

  test('is syncing from the first question on', async () => {
    const id = await connected();
    shop.slowMs = 500;
    const syncId = await request(id);
    while (shop.asked.length === 0) await sleep(20);
    expect(await statusOf(id)).toMatchObject({ status: 'syncing' });
    // It is under way already.
    expect(await request(id)).toBe(syncId);
    expect(await synced(id)).toMatchObject({ status: 'connected', records: { touchpoints: 45 } });
  });

  test('a page that breaks off is fetched again with the next attempt, from the same time on', async () => {
    const id = await connected();
    shop.brokenPages = 1;
    expect(await synced(id)).toMatchObject({ status: 'connected', records: { touchpoints: 45, conversions: 15 } });
    expect(shop.asked).toEqual(['page=1', 'page=2', 'page=1', 'page=2', 'page=3'].map((page) => `GET /events?${page}`));
  });

  test('a shop that stays away leaves the source in error, to be tried again; what it missed comes then', async () => {
    const id = await connected();
    shop.brokenPages = 3;
    expect(await synced(id)).toMatchObject({
      status: 'error',
      last_error: { code: 'source_unreachable', retryable: true },
    });
    expect(await synced(id)).toMatchObject({ status: 'connected', last_error: null, records: { touchpoints: 45 } });
    expect(shop.asked.filter((each) => each.includes('since'))).toEqual([]);
  });

  test('a token that was revoked ends the sync at once, and leaves the source in error', async () => {
    const id = await connected();
    shop.tokens.clear();
    expect(await synced(id)).toMatchObject({
      status: 'error',
      last_error: {
        code: 'credentials_rejected',
        message: 'the shop does not know this token. Make a new one.',
        retryable: false,
      },
    });
    expect(shop.asked).toEqual(['GET /events?page=1']);
    shop.tokens.add(TOKEN);
    expect(await synced(id)).toMatchObject({ status: 'connected', last_error: null });
  });

  test('a token that is revoked between two pages does so, too', async () => {
    const id = await connected();
    shop.isRevokedMidway = true;
    expect(await synced(id)).toMatchObject({ status: 'error', last_error: { code: 'credentials_rejected' } });
    expect(shop.asked).toEqual(['GET /events?page=1', 'GET /events?page=2']);
  });

  test('its credentials open for no other source', async () => {
    const [id, elsewhere] = [await connected(), await connected()];
    await owner.query('update attribution.connector_credentials set sealed = $1 where data_source_id = $2', [
      await sealedOf(elsewhere),
      requireUuid('ds', id, 'source'),
    ]);
    expect(await synced(id)).toMatchObject({ status: 'error', last_error: { code: 'internal' } });
    expect(shop.asked).toEqual([]);
  });

  test('is of no tenant but its own, nor are its credentials', async () => {
    const uuid = requireUuid('ds', await connected(), 'source');
    const { rows } = await owner.query<{ id: string; own: boolean }>(
      `select distinct keys.account_id as id, keys.account_id = source.account_id as own
         from auth.api_keys keys, attribution.data_sources source where source.id = $1`,
      [uuid],
    );
    const seenBy = async (accountId: string, environment: 'live' | 'sandbox'): Promise<boolean> => {
      const found = await house.backing.database.asTenant(wholeAccount({ accountId, environment }), (em) =>
        em.execute<{ id: string }[]>('select data_source_id as id from attribution.connector_credentials'),
      );
      return found.some(({ id }) => id === uuid);
    };
    expect(new Set(rows.map(({ own }) => own))).toEqual(new Set([true, false]));
    for (const { id, own } of rows) {
      expect(await seenBy(id, 'live')).toBe(own);
      expect(await seenBy(id, 'sandbox')).toBe(false);
    }
  });

  test('another tenant can neither see nor sync nor delete it', async () => {
    const id = await connected();
    const answers = await Promise.all([
      other.get(`/data-sources/${id}/status`),
      other.post(`/data-sources/${id}/sync`, {}),
      other.delete(`/data-sources/${id}`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(shop.asked).toEqual([]);
  });

  test('its deletion erases its credentials', async () => {
    const id = await connected();
    expect((await noted(caller.delete(`/data-sources/${id}`))).status).toBe(204);
    expect(await sealedOf(id)).toBeUndefined();
    expect((await noted(caller.get(`/data-sources/${id}/status`))).status).toBe(404);
  });

  test('a source of a test key loses them, too, when it is retired after thirty days', async () => {
    const test = await withTestKey(house, caller);
    const body = { type: 'shopify', credentials: { base_url: shop.url, access_token: TOKEN } };
    const id = String((await noted(test.post('/data-sources/connect', body))).body['data_source_id']);
    expect(await sealedOf(id)).toBeDefined();
    await owner.query(`update attribution.data_sources set created_at = now() - interval '31 days' where id = $1`, [
      requireUuid('ds', id, 'source'),
    ]);
    await retireSandboxSources(house.backing.database, house.backing.jobs);
    expect(await sealedOf(id)).toBeUndefined();
  });

  test('a type without a connector is refused over both doors, in words that name the others', async () => {
    const answer = await noted(caller.post('/data-sources/connect', { type: 'ga4', credentials: {} }));
    expect([answer.status, answer.body['error']]).toMatchObject([
      422,
      {
        type: 'validation_error',
        code: 'unsupported_type',
        param: '/type',
        message: 'type: this deployment has no connector for ga4; it serves csv_upload, shopify.',
      },
    ]);
    const { errors } = await caller.graphql(
      'mutation { connectDataSource(input: { type: GA4, credentials: {} }) { dataSource { id } } }',
    );
    expect(errors).toMatchObject([{ message: expect.stringContaining('it serves csv_upload, shopify') }]);
  });

  test('credentials are in no answer, log line, audit entry, event or row', async () => {
    await connect(REFUSED_TOKEN);
    const id = await connected();
    shop.brokenPages = 3;
    await synced(id);
    await shop.close();
    await connect(TOKEN);
    for (const path of ['/data-sources', '/audit/events', '/events?limit=100'])
      await noted(caller.get(path, { accept: 'application/json' }));
    const graph = await caller.graphql(
      '{ dataSources { edges { node { id type name error { message } detail { recentSyncs { syncId } } } } } }',
    );
    const tables = await owner.query<{ name: string }>(
      `select format('%I.%I', table_schema, table_name) as name from information_schema.tables where table_type = ` +
        `'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
    );
    const rows: string[] = [];
    for (const { name } of tables.rows)
      rows.push(...(await owner.query<{ row: string }>(`select t::text as row from ${name} t`)).rows.map((r) => r.row));
    // It was all there to be leaked.
    expect(house.log()).toContain('Tiny shop: /events?page=2 with … failed');
    expect(rows.some((row) => row.includes('source_unreachable'))).toBe(true);
    const hex = Buffer.from('SENTINEL').toString('hex');
    const everything = [...told.map(({ text }) => text), JSON.stringify(graph), house.log(), ...rows];
    expect(everything.filter((text) => text.includes('SENTINEL') || text.includes(hex))).toEqual([]);
  });
});
