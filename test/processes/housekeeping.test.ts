import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { z } from 'zod';
import { uuidFromPublicId } from '../../platform/identifiers.ts';
import { tidy } from '../../processes/housekeeping.ts';
import { retireSandboxSources } from '../../subgraphs/attribution/sandbox/retire-sandbox-sources.ts';
import { daysAgo } from '../days-ago.ts';
import { Caller, openHouse, type House } from '../house.ts';
import { smallestShop } from '../smallest-shop.ts';
import { withTestKey } from '../test-key.ts';

const ROWS = smallestShop(daysAgo(30), daysAgo(29));

/** Tables of an environment that forget_old_sandbox_results() leaves alone, with the reason. */
const STAYING: Readonly<Record<string, string>> = {
  'attribution.data_sources': 'retire_old_sandbox_sources() retires them, since their rows are elsewhere, too',
  'attribution.channel_rules': 'go with the retirement of their source, by a trigger',
  'attribution.connector_credentials': 'go with the retirement of their source, by a trigger',
  'attribution.remembered_options': 'go with the retirement of their source, by a trigger',
  'attribution.insights': 'forget_old_insights() deletes them after thirty days, whosever they are',
  'attribution.insight_progress': 'goes with its insight',
  'attribution.source_days': 'tell no more than counts of a source that nobody sees',
  'auth.authorization_codes': 'forget_old_grants() deletes them',
  'auth.endpoint_calls': 'forget_old_endpoint_calls() deletes them after thirty days',
  'auth.tokens': 'forget_old_grants() deletes them',
  'auth.workspaces': 'are places, not results: they stay as those of live keys do',
  'billing.spend_limits': 'are the wish of an account, as those of live keys are',
  'billing.subscriptions': 'forget_old_sandbox_subscriptions() deletes them after thirty days',
  'billing.value_proofs': 'forget_old_sandbox_proofs() deletes them after thirty days',
  'events.outbox': 'forget_old_events() deletes them',
  'events.webhook_deliveries': 'forget_old_deliveries() deletes them',
  'events.webhook_endpoints': 'stay until they are deleted, as those of live keys do',
  'trust.signing_keys': 'are of the installation',
};

describe('housekeeping', () => {
  let house: House;
  let owner: Client;

  beforeAll(async () => {
    house = await openHouse('one process');
    owner = new Client({ connectionString: house.ownerUrl });
    await owner.connect();
  });

  afterAll(async () => {
    await owner?.end();
    await house?.stop();
  });

  test('forgets what has served its time and nothing else', async () => {
    const caller = await Caller.register(house.root);
    const source = await caller.post('/data-sources/connect', { type: 'csv_upload', credentials: { content: ROWS } });
    const request = { data_source_id: String(source.body['data_source_id']), date_range: [daysAgo(30), daysAgo(1)] };
    const [old, fresh] = [await caller.post('/attribution', request), await caller.post('/attribution', request)];
    expect(String(old.body['status'])).toBe('completed');
    await owner.query(
      `update auth.nonces set used_at = now() - interval '25 hours' where nonce = (select nonce from auth.nonces ` +
        `limit 1)`,
    );
    await owner.query(
      `update attribution.attributions set completed_at = now() - interval '61 minutes' where created_at = (select ` +
        `min(created_at) from attribution.attributions)`,
    );

    const forgotten = await tidy(house.backing.database);
    expect(forgotten.get('auth.forget_old_nonces()')).toBe(1);
    expect(forgotten.get('attribution.forget_old_progress()')).toBeGreaterThan(5);
    expect(new Set((await tidy(house.backing.database)).values())).toEqual(new Set([0]));

    // The history is gone, the result is not: a stream from the start has its end, a resumed one is over.
    const streamOf = (id: unknown, after: string) => caller.open('GET', `/attribution/${String(id)}/stream${after}`);
    expect(await (await streamOf(old.body['id'], '')).text()).toContain('event: result');
    expect((await streamOf(old.body['id'], '?last_event_id=3')).status).toBe(204);
    expect(await (await streamOf(fresh.body['id'], '?last_event_id=3')).text()).toContain('id: 4');
  });

  test('every table that test keys can fill is emptied, or keeps its rows for a reason', async () => {
    const { rows } = await owner.query<{ name: string; isForgotten: boolean }>(`
      with recursive forgotten (id) as (
        select c.oid from pg_class c join pg_proc f on f.proname = 'forget_old_sandbox_results'
          where c.relkind = 'r' and f.prosrc ~ ('delete from ' || c.oid::regclass::text || '\\M')
        union select k.conrelid from pg_constraint k join forgotten on k.confrelid = forgotten.id
          where k.contype = 'f' and k.confdeltype = 'c')
      select c.oid::regclass::text as name, c.oid in (select id from forgotten) as "isForgotten"
        from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'environment' and not a.attisdropped
        where c.relkind = 'r' order by 1`);
    expect(rows).toEqual(
      expect.arrayContaining(
        ['attributions', 'attribution_progress', 'experiments', 'uploads'].map((table) => ({
          name: `attribution.${table}`,
          isForgotten: true,
        })),
      ),
    );
    expect(
      rows
        .filter(({ name, isForgotten }) => !isForgotten && !(name in STAYING))
        .map(
          ({ name }) =>
            `rows of test keys stay in ${name}: a migration of its own replaces forget_old_sandbox_results() by one ` +
            `that deletes them, or STAYING says why`,
        ),
    ).toEqual([]);
    const known = new Set(rows.map(({ name }) => name));
    expect(Object.keys(STAYING).filter((name) => !known.has(name))).toEqual([]);
  });

  test('sandbox objects live for thirty days, live ones longer', async () => {
    const live = await Caller.register(house.root);
    const test = await withTestKey(house, live);
    const made = await Promise.all(
      [live, test].map(async (caller) => {
        const source = await caller.post('/data-sources/connect', {
          type: 'csv_upload',
          credentials: { content: ROWS },
        });
        const request = {
          data_source_id: String(source.body['data_source_id']),
          date_range: [daysAgo(30), daysAgo(1)],
        };
        return {
          caller,
          source: request.data_source_id,
          old: await caller.post('/attribution', request),
          fresh: await caller.post('/attribution', request),
        };
      }),
    );
    const age = (table: string, ids: readonly string[]) =>
      owner.query(`update attribution.${table} set created_at = now() - interval '31 days' where id = any($1)`, [ids]);
    await age(
      'attributions',
      made.map(({ old }) => uuidFromPublicId('attr', String(old.body['id']))!),
    );
    await age(
      'data_sources',
      made.map(({ source }) => uuidFromPublicId('ds', source)!),
    );

    expect((await tidy(house.backing.database)).get('attribution.forget_old_sandbox_results()')).toBe(1);
    await retireSandboxSources(house.backing.database, house.backing.jobs);
    const statusOf = async (caller: Caller, path: string) => (await caller.get(path)).status;
    for (const { caller, source, old, fresh } of made) {
      const gone = caller === test ? 404 : 200;
      expect(await statusOf(caller, `/attribution/${String(old.body['id'])}`)).toBe(gone);
      expect(await statusOf(caller, `/attribution/${String(fresh.body['id'])}`)).toBe(200);
      expect(await statusOf(caller, `/data-sources/${source}/status`)).toBe(gone);
    }
    expect(await statusOf(test, '/data-sources/ds_sandbox_ga4/status')).toBe(200);
    const { rows } = await owner.query<{ id: string }>(
      'select id from attribution.data_sources where deleted_at is not null',
    );
    const stored = async () =>
      (
        await house.backing.clickhouse.rows(
          `SELECT toString(count()) AS n FROM touchpoints WHERE data_source_id = '${rows[0]!.id}'`,
          z.object({ n: z.string() }),
        )
      )[0]!.n;
    for (let tries = 0; tries < 100 && (await stored()) !== '0'; tries += 1) await sleep(50);
    expect(await stored()).toBe('0');
  });
});
