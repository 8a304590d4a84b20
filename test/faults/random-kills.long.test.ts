import { jest } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../compute/numerics/random.ts';
import { requireUuid } from '../../platform/identifiers.ts';
import { Customers } from './customers.ts';
import { DataFolder } from './data-folder.ts';
import { freePort } from '../free-port.ts';
import { brokenPromises, type AcknowledgedTenant, type Ledger } from './ledger.ts';
import { Service } from './service.ts';
import { logIn, noteRefresh, openedSession, refresh } from './sessions.ts';

/** `FAULT_KILLS=1000 FAULT_SEED=7 npm run test:long test/faults/random-kills` goes on for hours. */
const KILLS = Number(process.env['FAULT_KILLS'] ?? 10);
const SEED = Number(process.env['FAULT_SEED'] ?? 20_261);
const CUSTOMERS = 2;
const MOST_ACKNOWLEDGED = 6;
const MOST_DELAY_MS = 150;
const VICTIMS = ['service', 'postgres', 'engine'] as const;

jest.setTimeout(120_000 + KILLS * 20_000);

describe(`${KILLS} random kills with seed ${SEED}`, () => {
  const folder = new DataFolder();
  let env: Record<string, string>;
  let service: Service;
  let customers: Customers;

  beforeAll(async () => {
    env = { LIFTGRAPH_DATA_DIR: folder.path, JOB_LEASE_S: '2', COMPUTE_THREADS: '2', PORT: String(await freePort()) };
    service = await Service.start({ env });
    customers = new Customers(service.root, SEED);
  });

  afterAll(async () => {
    if (service?.isOver === false) await service.stop();
    folder.remove();
  });

  test('nothing that was acknowledged is lost, done twice or left unfinished', async () => {
    const random = seededRandom(SEED);
    const acting = customers.act(CUSTOMERS);
    const supervise = async (): Promise<void> => {
      for (let kill = 0; kill < KILLS; kill += 1) {
        await Promise.race([customers.acknowledged(1 + Math.floor(random() * MOST_ACKNOWLEDGED)), acting]);
        await sleep(random() * MOST_DELAY_MS);
        const victim = VICTIMS[Math.floor(random() * VICTIMS.length)]!;
        if (victim === 'service') {
          await service.stop('SIGKILL');
          service = await Service.start({ env });
        } else await killNext(() => (victim === 'postgres' ? folder.postmasterPid() : folder.enginePid()));
      }
      customers.close();
    };
    await Promise.all([supervise(), acting]);

    expect(customers.ledger.length).toBeGreaterThanOrEqual(CUSTOMERS);
    expect(await brokenPromises(customers.ledger, service.root)).toEqual([]);
    expect(await halfRefreshes()).toEqual([]);
  });

  /** Refresh tokens that were used up for anything else than one pair. */
  const halfRefreshes = () =>
    folder.sql(
      `select parent.id from auth.tokens parent left join auth.tokens child on child.parent_id = parent.id
        where parent.use = 'refresh'
       group by parent.id having array_agg(child.use order by child.use) is distinct from case
         when parent.used_at is null then array[null] else array['access', 'refresh'] end`,
    );

  describe('the checks find a planted fault:', () => {
    /** One customer is enough. */
    let ledger: Ledger;
    const broken = () => brokenPromises(ledger, service.root);
    /** The one that no other fault is planted in. */
    let bystander: Ledger;
    beforeEach(async () => {
      // Kills may have made analyses fail, which is a proper end: faults are planted in those that have figures.
      const completed = new Set(
        (await folder.sql<{ id: string }>(`select id from attribution.attributions where result is not null`, [])).map(
          ({ id }) => id,
        ),
      );
      const hasFigures = (id: string) => completed.has(uuidOf(id));
      const figuresOf = ({ sources }: AcknowledgedTenant) =>
        sources.flatMap(({ analyses }) => analyses).filter(hasFigures).length;
      const byFigures = structuredClone(customers.ledger).toSorted((one, other) => figuresOf(other) - figuresOf(one));
      [ledger, bystander] = [byFigures.slice(0, 1), byFigures.slice(1, 2)];
      if (figuresOf(ledger[0]!) === 0)
        throw new Error('every analysis failed: there are no figures to plant a fault in');
      source().analyses.sort((one, other) => Number(hasFigures(other)) - Number(hasFigures(one)));
    });
    const source = () => ledger[0]!.sources[0]!;
    const uuidOf = (id: string) => requireUuid('attr', id, 'analysis');

    test('a row that never arrived', async () => {
      source().touchpoints += 1;
      expect(await broken()).toEqual([expect.stringMatching(/^ds_\w+ holds \d+ touchpoints/)]);
    });

    test('an analysis that nobody finished', async () => {
      const id = source().analyses[0]!;
      const [saved] = await folder.sql<{ completed_at: string }>(
        `update attribution.attributions set status = 'processing' where id = $1 returning completed_at`,
        [uuidOf(id)],
      );
      expect(saved).toBeDefined();
      await folder.sql(
        `update attribution.attribution_progress set event = ` +
          `'{"kind":"ERROR","failure":{"code":"internal","message":"planted"}}' where run_id = $1 and event ` +
          `->> 'kind' ` +
          `= 'RESULT'`,
        [uuidOf(id)],
      );
      expect(await broken()).toEqual([`${id} is left processing`]);
      await folder.sql(`update attribution.attributions set status = 'completed' where id = $1`, [uuidOf(id)]);
    });

    test('an end that was told twice', async () => {
      const id = source().analyses[1]!;
      await folder.sql(
        `insert into attribution.attribution_progress
          select (jsonb_populate_record(p, jsonb_build_object('sequence', sequence + 1))).*
            from attribution.attribution_progress p
         where run_id = $1 and event ->> 'kind' in ('RESULT', 'ERROR')`,
        [uuidOf(id)],
      );
      expect(await broken()).toEqual([`${id} has 2 last events`]);
      await folder.sql(
        `delete from attribution.attribution_progress where run_id = $1 and sequence = (select max(sequence) ` +
          `from attribution.attribution_progress where run_id = $1)`,
        [uuidOf(id)],
      );
    });

    test('an event that was lost', async () => {
      const id = source().analyses[1]!;
      await folder.sql(`delete from attribution.attribution_progress where run_id = $1 and sequence = 2`, [uuidOf(id)]);
      expect(await broken()).toEqual([`${id} has gaps among its events`]);
    });

    test('figures that changed', async () => {
      const id = source().analyses[0]!;
      await folder.sql(
        `update attribution.attributions set result = jsonb_set(result, '{diagnostics,runDigest}', ` +
          `'"sha256:planted"') where id = $1`,
        [uuidOf(id)],
      );
      expect(await broken()).toContain(`${id} has other figures than an undisturbed run`);
    });

    test('a session that outlives its end, a refresh token that works twice, a refresh in halves', async () => {
      // Its sources are none of this test's business.
      ledger[0]!.sources.length = 0;
      const { agentId, key, sessions } = ledger[0]!;
      const family =
        `(select id from auth.tokens where family_id = (select family_id from auth.tokens order by ` +
        `created_at desc limit 1))`;
      const refreshed = async () => {
        const session = openedSession(agentId, await logIn(service.root, agentId, key));
        noteRefresh(session, await refresh(service.root, agentId, session.refreshToken));
        sessions.push(session);
      };
      await refreshed();
      expect([await broken(), await halfRefreshes()]).toEqual([[], []]);
      await folder.sql(`update auth.tokens set revoked_at = null where id in ${family}`);
      expect(new Set(await broken())).toEqual(new Set(['an access token of an ended session is answered with 200']));
      sessions.length = 0;

      await refreshed();
      await folder.sql(`update auth.tokens set used_at = null where id in ${family}`);
      expect(await halfRefreshes()).toHaveLength(1);
      expect(await broken()).toContain('a refresh token that was used up is answered with 200');
    });

    test('an event that the audit log has twice, and an entry that it lost', async () => {
      const account =
        `(select account_id from attribution.data_sources where id = ` +
        `'${requireUuid('ds', source().id, 'data source')}')`;
      // What was computed is none of this test's business.
      ledger[0]!.sources.length = 0;
      await folder.sql(
        `insert into events.told_audit_events (event_id, tenant_id, body) select gen_random_uuid(), account_id, ` +
          `entry::jsonb || jsonb_build_object('type', entry::jsonb -> 'event_type', 'requestId', 'req_1', ` +
          `'userAgent', null) ` +
          `from events.audit_entries where sequence = 1 and account_id = ${account}`,
        [],
      );
      expect(await broken()).toContain('a registration stands in the audit log 2 times');
      await folder.sql('alter table events.audit_entries disable trigger all', []);
      await folder.sql(`delete from events.audit_entries where sequence = 2 and account_id = ${account}`, []);
      await folder.sql('alter table events.audit_entries enable trigger all', []);
      expect(await broken()).toContain('an audit chain is broken at 2: missing');
    });

    test('a rotation that was forgotten, and so happens twice', async () => {
      ledger = bystander;
      // One rotation too many ends the key that they are read with.
      ledger[0]!.sources.length = 0;
      await folder.sql('delete from idempotency.claims');
      expect(await broken()).toEqual(
        expect.arrayContaining([
          'a rotation that is asked for again is answered otherwise',
          'a key has 2 successors, not 1',
          'a rotation stands in the audit log 2 times',
        ]),
      );
    });

    test('a source that is gone, and a key that is', async () => {
      await folder.sql(`delete from attribution.data_sources where id = $1`, [
        requireUuid('ds', source().id, 'data source'),
      ]);
      expect(await broken()).toContain(`${source().id} is gone`);
      await folder.sql(`delete from auth.tokens`);
      await folder.sql(`delete from auth.api_keys`);
      expect(await broken()).toEqual(['a key that was handed out is answered with 401']);
    });
  });
});

/** Kills what the number stands for; one that was killed a moment ago is waited for until it is back under another. */
async function killNext(pid: () => number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid(), 'SIGKILL');
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      await sleep(20);
    }
  }
}
