import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { INSTALLATION_CHAIN } from '../../../services/audit/audit-migration.ts';
import { recordAuditEvent } from '../../../services/audit/audit-event.ts';
import { newUuid } from '../../../platform/identifiers.ts';
import { findUnprotectedTables } from '../../../platform/postgres/tenant-tables.ts';
import { AuditHouse, contextOf, eventOf } from './audit-house.ts';

let house: AuditHouse;
beforeAll(async () => {
  house = await AuditHouse.open();
});
afterAll(() => house?.close());

describe('sealing', () => {
  test('numbers events without gaps in the order of their occurrence, hashed as the contract says', async () => {
    const chain = newUuid();
    await house.tell(chain, 3);
    expect(await house.sealer.seal(chain)).toBe(3);
    await house.tell(chain, 2);
    expect(await house.sealer.seal(chain)).toBe(2);
    expect(await house.sealer.seal(chain)).toBe(0);

    const rows = await house.rows(chain);
    let previous = `sha256:${'0'.repeat(64)}`;
    for (const [index, { sequence, entry, hash }] of rows.entries()) {
      const content = JSON.parse(entry) as Record<string, unknown>;
      expect(content).toMatchObject({
        chain_id: chain,
        sequence: index + 1,
        event_type: 'auth.token_issued',
        severity: 'info',
        outcome: 'success',
        environment: 'live',
        previous_hash: previous,
        details: { index: index % 3 },
      });
      expect(content['event_id']).toMatch(/^aud_[0-9A-Za-z]{22}$/);
      expect(content['actor']).toEqual({
        type: 'agent',
        id: 'agent_0351EFSwMCuWsp5CADuBq8',
        ip_hash: expect.stringMatching(/^hmac-sha256:[0-9a-f]{64}$/),
        user_agent: 'test/1',
      });
      expect(sequence).toBe(index + 1);
      // By hand, with another's canonical JSON.
      expect(hash).toBe(
        `sha256:${createHash('sha256')
          .update(`${previous}\n${canonicalize(content)}`)
          .digest('hex')}`,
      );
      previous = hash;
    }
    const moments = rows.map(({ entry }) => (JSON.parse(entry) as { occurred_at: string }).occurred_at);
    expect(moments).toEqual(moments.toSorted());
  });

  test('what belongs to no tenant has a chain of its own', async () => {
    await house.tell(null, 1, { type: 'auth.failed', actor: { type: 'anonymous', id: null } });
    expect(await house.sealer.seal(INSTALLATION_CHAIN)).toBe(1);
    expect(JSON.parse((await house.rows(INSTALLATION_CHAIN))[0]!.entry)).toMatchObject({
      chain_id: 'installation',
      sequence: 1,
      severity: 'warning',
    });
  });

  test('any text survives as it was', async () => {
    const chain = newUuid();
    const told: unknown[] = [];
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          text: fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')),
          number: fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
          nested: fc.array(fc.record({ z: fc.integer(), a: fc.boolean() }), { maxLength: 3 }),
        }),
        async (details) => {
          told.push(JSON.parse(JSON.stringify(details)));
          await house.tell(chain, 1, { details });
        },
      ),
      { numRuns: 100 },
    );
    await house.sealer.seal(chain);
    expect((await house.rows(chain)).map(({ entry }) => (JSON.parse(entry) as { details: unknown }).details)).toEqual(
      told,
    );
    expect(await house.verify(chain)).toMatchObject({ intact: true, entriesVerified: 100 });
  });

  test('eight sealers at once over a hundred tenants leave neither gaps nor doubles', async () => {
    const tenants = Array.from({ length: 100 }, () => newUuid());
    const telling = Promise.all(
      Array.from({ length: 10 }, async (_, turn) => {
        for (const tenant of tenants.slice(turn * 10, turn * 10 + 10))
          for (let again = 0; again < 5; again += 1) await house.tell(tenant, 2, { details: { again } });
      }),
    );
    const sealing = Promise.all(
      Array.from({ length: 8 }, async () => {
        let sealed = 0;
        for (let round = 0; round < 6; round += 1) sealed += await house.sealer.sealAll();
        return sealed;
      }),
    );
    await telling;
    const sealed = (await sealing).reduce((sum, each) => sum + each, 0) + (await house.sealer.sealAll());
    expect(sealed).toBe(1_000);
    for (const tenant of tenants) {
      const rows = await house.rows(tenant);
      expect(rows.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
      expect(new Set(rows.map(({ entry }) => (JSON.parse(entry) as { event_id: string }).event_id)).size).toBe(10);
      expect(await house.verify(tenant)).toMatchObject({ intact: true, entriesVerified: 10 });
    }
  }, 60_000);

  test('eight sealers of one chain take turns', async () => {
    const chain = newUuid();
    await house.tell(chain, 600);
    const sealed = await Promise.all(Array.from({ length: 8 }, () => house.sealer.seal(chain)));
    expect(sealed.reduce((sum, each) => sum + each, 0)).toBe(600);
    expect(await house.verify(chain)).toMatchObject({ intact: true, entriesVerified: 600 });
  }, 30_000);

  test('a sealer that is killed in the middle loses and doubles nothing', async () => {
    const chain = newUuid();
    await house.tell(chain, 1_500);
    const program = fileURLToPath(new URL('doomed-sealer.mjs', import.meta.url));
    // It prints a dot after every statement: killed when it has taken a batch, when it has stored one, and within the
    // next.
    for (const statements of [1, 2, 3]) {
      const child = spawn(
        process.execPath,
        [
          '--import',
          new URL('../../../processes/typescript-hook.mjs', import.meta.url).href,
          program,
          house.testDatabase.applicationUrl,
          chain,
        ],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      for (let seen = 0; seen < statements; seen += 1) await once(child.stdout, 'data');
      child.kill('SIGKILL');
      await once(child, 'close');
    }
    await house.sealer.seal(chain);
    expect((await house.rows(chain)).length).toBe(1_500);
    expect(await house.verify(chain)).toMatchObject({ intact: true, entriesVerified: 1_500 });
    const { rows } = await house.owner.query('select from events.told_audit_events where tenant_id = $1', [chain]);
    expect(rows).toHaveLength(0);
  }, 60_000);

  test('an event whose transaction is rolled back has not happened', async () => {
    const chain = newUuid();
    await expect(
      house.database.asNobody(async (em) => {
        await recordAuditEvent(em, contextOf(), eventOf(chain));
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(await house.sealer.seal(chain)).toBe(0);
  });
});

describe('the database', () => {
  test('lets nobody change or remove an entry, its owner not either', async () => {
    const chain = await house.tenant(2);
    for (const sql of [
      'update events.audit_entries set hash = hash where account_id = $1',
      'delete from events.audit_entries where account_id = $1',
    ]) {
      await expect(house.owner.query(sql, [chain])).rejects.toThrow('the audit log is append-only');
      await expect(house.database.asTenant(chain, (em) => em.execute(sql.replace('$1', '?'), [chain]))).rejects.toThrow(
        /permission denied/,
      );
    }
    await expect(house.owner.query('truncate events.audit_entries')).rejects.toThrow('the audit log is append-only');
    for (const table of ['audit_entries', 'audit_chains', 'audit_addresses', 'audit_segments']) {
      await expect(
        house.database.asTenant(chain, (em) =>
          em.execute(`insert into events.${table} (account_id) values (?)`, [chain]),
        ),
      ).rejects.toThrow(/permission denied/);
      await expect(house.database.asTenant(chain, (em) => em.execute(`truncate events.${table}`))).rejects.toThrow(
        /permission denied/,
      );
    }
    await expect(
      house.database.asNobody((em) =>
        em.execute(`select events.archive_audit_entries(?::uuid, 1, 1, '', '')`, [chain]),
      ),
    ).rejects.toThrow(/permission denied/);
  });

  test('takes nothing that does not continue the chain, or that nobody told', async () => {
    const chain = await house.tenant(1);
    const [last] = await house.rows(chain);
    const append = (entries: readonly object[]) =>
      house.database.asNobody((em) =>
        em.execute('select events.finish_audit_seal(?::uuid, ?::jsonb)', [chain, JSON.stringify(entries)]),
      );
    const sha = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
    await expect(append([{ event_id: newUuid(), sequence: 2, entry: '{}', hash: sha('{}') }])).rejects.toThrow(
      'do not continue the chain',
    );
    await expect(
      append([{ event_id: newUuid(), sequence: 3, entry: '{}', hash: sha(`${last!.hash}\n{}`) }]),
    ).rejects.toThrow('do not continue the chain');
    await expect(
      append([{ event_id: newUuid(), sequence: 2, entry: '{}', hash: sha(`${last!.hash}\n{}`) }]),
    ).rejects.toThrow('stands for no event');
    expect(await house.rows(chain)).toHaveLength(1);
  });

  test('shows a tenant nothing of another', async () => {
    const [mine, theirs] = [await house.tenant(1), await house.tenant(1)];
    const seen = await house.database.asTenant(mine, (em) =>
      em.execute<{ account_id: string }[]>(
        'select account_id from events.audit_entries union select account_id from events.audit_chains',
      ),
    );
    expect(seen.map(({ account_id }) => account_id)).toEqual([mine]);
    expect(theirs).not.toBe(mine);
    expect(await findUnprotectedTables(house.testDatabase.ownerUrl)).toEqual([]);
  });

  test('keeps addresses beside the chain, and coarsens them after 90 days', async () => {
    const chain = newUuid();
    await house.database.asNobody(async (em) => {
      for (const address of ['192.0.2.77', '2001:db8:1:2::3', '192.0.2.77', 'unknown'])
        await recordAuditEvent(em, contextOf(address), eventOf(chain));
    });
    await house.sealer.seal(chain);
    const hashes = (await house.rows(chain)).map(
      ({ entry }) => (JSON.parse(entry) as { actor: { ip_hash: string } }).actor.ip_hash,
    );
    expect(hashes[0]).toBe(hashes[2]);
    expect(new Set(hashes).size).toBe(3);
    const addresses = async () =>
      (
        await house.owner.query<{ address: string }>(
          'select address::text from events.audit_addresses where account_id = $1 order by sequence',
          [chain],
        )
      ).rows.map(({ address }) => address);
    expect(await addresses()).toEqual(['192.0.2.77/32', '2001:db8:1:2::3/128', '192.0.2.77/32']);
    await house.owner.query(
      `update events.audit_addresses set occurred_at = now() - interval '91 days'
        where account_id = $1 and sequence < 3`,
      [chain],
    );
    const coarsen = () =>
      house.database.asNobody((em) => em.execute<[{ n: string }]>('select events.coarsen_old_addresses() as n'));
    expect(Number((await coarsen())[0].n)).toBe(2);
    expect(Number((await coarsen())[0].n)).toBe(0);
    expect(await addresses()).toEqual(['192.0.2.0/24', '2001:db8:1::/48', '192.0.2.77/32']);
    expect(await house.verify(chain)).toMatchObject({ intact: true, entriesVerified: 4 });
  });
});
