import { appendFileSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { AuditHeadsFile } from '../../../services/audit/audit-heads.ts';
import { chainName } from '../../../services/audit/audit-entry.ts';
import { newSigningKey } from '../../../services/trust/signing-key.ts';
import { signCompact } from '../../../services/trust/compact-jws.ts';
import { createPrivateKey } from 'node:crypto';
import { newUuid } from '../../../platform/identifiers.ts';
import { AuditHouse, contextOf, ISSUER } from './audit-house.ts';

const ENTRIES = 8;
let house: AuditHouse;
/** The same log to somebody who does not look at the signed heads. */
let withoutHeads: AuditHouse['log'];

beforeAll(async () => {
  house = await AuditHouse.open();
  withoutHeads = house.logWith(new AuditHeadsFile(join(house.folder, 'nothing.ndjson')));
});
afterAll(() => house?.close());

const signed = async (count = ENTRIES): Promise<string> => {
  const chain = await house.tenant(count);
  await house.signer().signDue(true);
  return chain;
};

describe('verification', () => {
  test('finds an untouched chain intact, whole and in parts', async () => {
    const chain = await signed();
    expect(await house.verify(chain)).toEqual({
      intact: true,
      entriesVerified: ENTRIES,
      firstBrokenSequence: null,
      reason: null,
      headsMatched: 1,
      signedThrough: ENTRIES,
    });
    expect(await house.verify(chain, 3, 5)).toMatchObject({ intact: true, entriesVerified: 3, headsMatched: 0 });
    expect(await house.verify(chain, 3, 500)).toMatchObject({ intact: true, entriesVerified: ENTRIES - 2 });
    expect(await house.verify(newUuid())).toMatchObject({ intact: true, entriesVerified: 0, signedThrough: null });
    await expect(house.verify(chain, ENTRIES + 1)).rejects.toMatchObject({
      type: 'validation_error',
      problem: { param: '/start_sequence' },
    });
  });

  test('runs once at a time for a chain; a few more wait, and others are refused', async () => {
    const chain = await signed();
    const asked = await Promise.allSettled(Array.from({ length: 10 }, () => house.verify(chain)));
    const verified = asked.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(verified.map(({ intact }) => intact)).toEqual([true, true, true, true]);
    const refused = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    for (const reason of refused)
      expect(reason).toMatchObject({ type: 'rate_limit_exceeded', problem: { code: 'concurrency', retryAfterS: 2 } });
    expect(await house.verify(chain)).toMatchObject({ intact: true });
  });

  test('finds any changed byte of any row', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(ENTRIES - 1),
        fc.constantFrom('entry', 'hash'),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.integer({ min: 1, max: 94 }),
        async (row, column, place, shift) => {
          const chain = await house.tenant(ENTRIES);
          const text = (await house.rows(chain))[row]![column as 'entry' | 'hash'];
          const at = Math.floor(place * text.length);
          const other = String.fromCharCode(32 + ((text.charCodeAt(at) - 32 + shift) % 95));
          await house.tamper(`update events.audit_entries set ${column} = $3 where account_id = $1 and sequence = $2`, [
            chain,
            row + 1,
            text.slice(0, at) + other + text.slice(at + 1),
          ]);
          const check = await withoutHeads.verify(contextOf(), chain, 1, ENTRIES);
          expect(check).toMatchObject({ intact: false, firstBrokenSequence: row + 1, entriesVerified: row });
          expect((await house.log.list(chain, { beforeSequence: ENTRIES + 1 }, 50, 0)).chainVerified).toBe(false);
        },
      ),
      { numRuns: 60 },
    );
  }, 60_000);

  test('finds entries that were taken out, swapped, renumbered or lent to another tenant', async () => {
    const removed = await house.tenant(ENTRIES);
    await house.tamper('delete from events.audit_entries where account_id = $1 and sequence = 4', [removed]);
    expect(await withoutHeads.verify(contextOf(), removed, 1, ENTRIES)).toMatchObject({
      intact: false,
      firstBrokenSequence: 4,
      reason: 'missing',
    });

    const swapped = await house.tenant(ENTRIES);
    await house.tamper(
      'update events.audit_entries e set entry = o.entry, hash = o.hash from events.audit_entries o where ' +
        'e.account_id = $1 and o.account_id = $1 and e.sequence in (3, 6) and o.sequence = 9 - e.sequence',
      [swapped],
    );
    expect(await withoutHeads.verify(contextOf(), swapped, 1, ENTRIES)).toMatchObject({
      intact: false,
      firstBrokenSequence: 3,
      reason: 'altered',
    });

    const closed = await house.tenant(ENTRIES);
    await house.tamper('delete from events.audit_entries where account_id = $1 and sequence = 4', [closed]);
    await house.tamper(
      'update events.audit_entries set sequence = sequence - 1 where account_id = $1 and sequence > 4',
      [closed],
    );
    expect(await withoutHeads.verify(contextOf(), closed, 1, ENTRIES)).toMatchObject({
      intact: false,
      firstBrokenSequence: 4,
      reason: 'altered',
    });

    const [lender, borrower] = [await house.tenant(ENTRIES), await house.tenant(ENTRIES)];
    await house.tamper('delete from events.audit_entries where account_id = $1', [borrower]);
    await house.tamper(
      'insert into events.audit_entries ' +
        'select $1, sequence, entry, hash from events.audit_entries where account_id = $2',
      [borrower, lender],
    );
    expect(await withoutHeads.verify(contextOf(), borrower, 1, ENTRIES)).toMatchObject({
      intact: false,
      firstBrokenSequence: 1,
    });
  });

  test('finds a cut-off tail by the record of the head or, if that was changed too, by the signed head', async () => {
    const chain = await signed();
    await house.tamper('delete from events.audit_entries where account_id = $1 and sequence > 5', [chain]);
    expect(await withoutHeads.verify(contextOf(), chain, 1, ENTRIES)).toMatchObject({
      intact: false,
      firstBrokenSequence: 6,
      reason: 'missing',
    });
    const cut = await signed();
    await house.tamper('delete from events.audit_entries where account_id = $1 and sequence > 5', [cut]);
    await house.owner.query(
      'update events.audit_chains c set sequence = 5, hash = e.hash, signed_sequence = 0 from events.audit_entries e ' +
        'where c.account_id = $1 and e.account_id = $1 and e.sequence = 5',
      [cut],
    );
    // The chain alone can't tell.
    expect(await withoutHeads.verify(contextOf(), cut, 1, undefined)).toMatchObject({
      intact: true,
      entriesVerified: 5,
    });
    expect(await house.verify(cut)).toMatchObject({
      intact: false,
      firstBrokenSequence: 6,
      reason: 'missing',
      signedThrough: ENTRIES,
    });
  });

  test('finds a whole chain that was hashed anew, and signs it no more', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: ENTRIES }), fc.boolean(), async (from, isShorter) => {
        const chain = await signed();
        const content = (entry: Record<string, unknown>) =>
          isShorter && entry['sequence'] === from ? null : { ...entry, details: { forged: true } };
        await house.rechain(chain, from, content);
        await house.owner.query('update events.audit_chains set signed_sequence = 0 where account_id = $1', [chain]);
        expect(await withoutHeads.verify(contextOf(), chain, 1, undefined)).toMatchObject({ intact: true });
        expect(await house.verify(chain)).toMatchObject({
          intact: false,
          reason: isShorter ? 'missing' : 'head_mismatch',
          firstBrokenSequence: ENTRIES,
        });
        const before = readFileSync(house.file.path, 'utf8');
        await house.signer().signDue(true);
        expect(readFileSync(house.file.path, 'utf8').slice(before.length)).not.toContain(chain);
        expect(house.lines.at(-1)).toContain('is not the one whose head was signed before');
      }),
      { numRuns: 12 },
    );
  }, 60_000);

  test('believes no head that nobody here signed, even beside one more chain that was hashed anew', async () => {
    const chain = await signed();
    const [, , , , , sixth] = await house.rows(chain);
    const claims = { iss: ISSUER, chain_id: chainName(chain), sequence: 6, hash: sixth!.hash, iat: 1 };
    const stranger = await newSigningKey('live');
    const key = {
      kid: stranger.kid,
      privateKey: createPrivateKey({ key: stranger.privateKey, format: 'der', type: 'pkcs8' }),
    };
    const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const ours = (await house.publicKeys.published()).find(
      ({ status, environment }) => status === 'current' && environment === 'live',
    );
    const forgeries = [
      await signCompact('svc-audit-head+jwt', claims, key),
      await signCompact('svc-audit-head+jwt', claims, { ...key, kid: ours!.kid }),
      `${encoded({ alg: 'none', typ: 'svc-audit-head+jwt', kid: ours!.kid })}.${encoded(claims)}.`,
    ];
    const clean = readFileSync(house.file.path, 'utf8');
    for (const jws of forgeries) {
      writeFileSync(house.file.path, `${clean}${JSON.stringify({ chain_id: chain, sequence: 6, jws })}\n`);
      expect(await house.verify(chain)).toMatchObject({ intact: false, reason: 'head_unproven', headsMatched: 1 });
    }
    // A signature of ours that was made for something else is not a head.
    const misused = await house.database.asNobody(async (em) =>
      signCompact('svc-result+jwt', claims, await house.keys.current(em, 'live')),
    );
    writeFileSync(house.file.path, `${clean}${JSON.stringify({ chain_id: chain, sequence: 6, jws: misused })}\n`);
    expect(await house.verify(chain)).toMatchObject({ intact: false, reason: 'head_unproven' });
    writeFileSync(house.file.path, clean);
    expect(await house.verify(chain)).toMatchObject({ intact: true });
  });

  test('who owns the table of keys can neither hide heads nor put a key of their own in place of one', async () => {
    const chain = await signed();
    const [kid] = (await house.publicKeys.published())
      .filter(({ status, environment }) => status === 'current' && environment === 'live')
      .map((key) => key.kid);
    const {
      rows: [saved],
    } = await house.owner.query<{ x: string }>('select x from trust.signing_keys where kid = $1', [kid]);
    const { x } = await newSigningKey('live');
    await house.owner.query('update trust.signing_keys set x = $2 where kid = $1', [kid, x]);
    expect(await house.verify(chain)).toMatchObject({ intact: false, reason: 'head_unproven' });
    await house.owner.query('update trust.signing_keys set x = $2 where kid = $1', [kid, saved!.x]);
    await house.keys.revoke(kid!);
    expect(await house.verify(chain)).toMatchObject({ intact: true, headsMatched: 1 });
    await house.rechain(chain, 1, (entry) => ({ ...entry, details: { forged: true } }));
    expect(await house.verify(chain)).toMatchObject({ intact: false, reason: 'head_mismatch' });
  });

  test('a chain that does not hold is told as a critical event behind the break', async () => {
    const chain = await signed();
    await house.tamper('update events.audit_entries set hash = hash || $2 where account_id = $1 and sequence = 2', [
      chain,
      '0',
    ]);
    await house.verify(chain);
    const { entries, totalCount } = await house.log.list(chain, { severity: 'critical' }, 50, 0);
    expect(totalCount).toBe(1);
    expect(entries[0]).toMatchObject({
      sequence: ENTRIES + 1,
      event_type: 'audit.verification_failed',
      outcome: 'failure',
      details: { first_broken_sequence: 2, reason: 'altered', entries_verified: 1 },
    });
  });
});

describe('the file of heads', () => {
  test('a head is due after 100 entries, or 60 seconds after the first that none covers', async () => {
    await house.signer().signDue(true);
    const [few, many, old] = [await house.tenant(99), await house.tenant(100), await house.tenant(1)];
    await house.owner.query(
      `update events.audit_chains set unsigned_since = unsigned_since - interval '61 seconds' where account_id = $1`,
      [old],
    );
    expect(await house.signer().signDue()).toBe(2);
    expect(
      [await house.verify(few), await house.verify(many), await house.verify(old)].map(
        ({ signedThrough }) => signedThrough,
      ),
    ).toEqual([null, 100, 1]);
    expect(await house.signer().signDue()).toBe(0);
  });

  test('several signers at once sign every head, and a line that a crash cut off is a line of its own', async () => {
    const chains = await Promise.all(Array.from({ length: 40 }, () => house.tenant(1)));
    appendFileSync(house.file.path, `{"chain_id":"${chains[0]}","sequence":1,"jws":"ey`);
    await Promise.all(Array.from({ length: 4 }, () => house.signer().signDue(true)));
    await house.signer().signDue(true);
    for (const chain of chains)
      expect(await house.verify(chain)).toMatchObject({ intact: true, headsMatched: 1, signedThrough: 1 });
    // A last line that was cut off says nothing either.
    const size = readFileSync(house.file.path).length;
    appendFileSync(house.file.path, '{"chain_id":');
    expect(await house.verify(chains[0]!)).toMatchObject({ intact: true });
    truncateSync(house.file.path, size);
  });

  test('a head that was signed and is not in the file any more is missed', async () => {
    const chain = await signed();
    expect(await withoutHeads.verify(contextOf(), chain, 1, undefined)).toMatchObject({
      intact: false,
      reason: 'heads_missing',
      signedThrough: null,
    });
  });

  test('a signer that dies between the file and the database signs again, which says nothing new', async () => {
    const chain = await house.tenant(3);
    const failing = house.signer();
    await house.owner.query('alter function events.record_signed_head rename to record_signed_head_gone');
    await expect(failing.signDue(true)).rejects.toThrow();
    await house.owner.query('alter function events.record_signed_head_gone rename to record_signed_head');
    expect(await house.verify(chain)).toMatchObject({ intact: true, signedThrough: 3 });
    await failing.signDue(true);
    expect(await house.verify(chain)).toMatchObject({ intact: true, headsMatched: 2, signedThrough: 3 });
  });
});

describe('the list', () => {
  test('shows the newest first, filtered, page by page', async () => {
    const chain = newUuid();
    await house.tell(chain, 4);
    await house.tell(chain, 2, { type: 'agent.key_revoked', actor: { type: 'key', id: 'key_1' } });
    await house.tell(chain, 4, { type: 'data.exported' });
    const list = async (filter: object, limit = 50, offset = 0) => {
      const { entries, ...rest } = await house.log.list(chain, filter, limit, offset);
      return { sequences: entries.map(({ sequence }) => sequence), ...rest };
    };
    expect(await list({})).toEqual({ sequences: [10, 9, 8, 7, 6, 5, 4, 3, 2, 1], totalCount: 10, chainVerified: true });
    expect(await list({}, 3, 2)).toEqual({ sequences: [8, 7, 6], totalCount: 10, chainVerified: true });
    expect(await list({ severity: 'warning' }, 2)).toEqual({ sequences: [10, 9], totalCount: 6, chainVerified: true });
    expect(await list({ eventType: 'agent.key_revoked' })).toEqual({
      sequences: [6, 5],
      totalCount: 2,
      chainVerified: true,
    });
    expect(await list({ actorId: 'key_1', beforeSequence: 6 })).toEqual({
      sequences: [5],
      totalCount: 1,
      chainVerified: true,
    });
    const [, , , fourth] = await house.rows(chain);
    const since = new Date((JSON.parse(fourth!.entry) as { occurred_at: string }).occurred_at);
    expect((await list({ since })).sequences).toContain(4);
    expect((await list({ since: new Date(Date.now() + 60_000) })).totalCount).toBe(0);
    expect(await list({}, 50, 10)).toEqual({ sequences: [], totalCount: 10, chainVerified: true });
    // Whoever reads seals first.
    await house.tell(chain, 1);
    expect((await list({}, 1)).sequences).toEqual([11]);
  });
});
