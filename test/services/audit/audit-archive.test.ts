import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { archiveAuditLog } from '../../../services/audit/archive-audit-log.ts';
import { newUuid } from '../../../platform/identifiers.ts';
import { AuditHouse } from './audit-house.ts';

let house: AuditHouse;
beforeAll(async () => {
  house = await AuditHouse.open();
});
afterAll(() => house?.close());

/** A chain of 30, the last 5 of which were told later, behind the archived part. */
const archive = async (days = 0) => {
  const segments = [];
  for await (const segment of archiveAuditLog(house.owner, house.archive, days)) segments.push(segment);
  return segments;
};
const signedChain = async (count: number): Promise<string> => {
  const chain = newUuid();
  await house.tell(chain, count / 2, { type: 'data.exported' });
  await house.tell(chain, count / 2);
  await house.sealer.seal(chain);
  await house.signer().signDue(true);
  return chain;
};
const pathOf = (fileName: string): string => join(house.folder, 'archive', fileName);

describe('the archive', () => {
  test('takes what is old enough and covered by a signed head, and nothing else', async () => {
    const young = await signedChain(10);
    expect(await archive(90)).toEqual([]);
    const unsigned = await house.tenant(4);
    const segments = await archive();
    expect(segments.find(({ chain }) => chain === unsigned)).toBeUndefined();
    expect(segments.find(({ chain }) => chain === young)).toEqual({
      chain: young,
      fileName: `${young}/0000000001-0000000009.ndjson.gz`,
      entries: 9,
    });
    expect((await house.rows(young)).map(({ sequence }) => sequence)).toEqual([10]);
    expect(await archive()).toEqual([]);
  });

  test('is read and verified like the rest, and grows segment by segment', async () => {
    const chain = await signedChain(20);
    const before = await house.log.list(chain, {}, 50, 0);
    await archive();
    await house.tell(chain, 10);
    await house.sealer.seal(chain);
    await house.signer().signDue(true);
    await archive();
    expect((await house.rows(chain)).map(({ sequence }) => sequence)).toEqual([30]);
    await house.tell(chain, 2);

    const list = await house.log.list(chain, {}, 50, 0);
    expect(list).toMatchObject({ totalCount: 32, chainVerified: true });
    expect(list.entries.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 32 }, (_, index) => 32 - index));
    expect(list.entries.slice(12)).toEqual(before.entries);
    const sequences = async (
      ...args: Parameters<typeof house.log.list> extends [string, ...infer Rest] ? Rest : never
    ) => {
      const { entries, totalCount, chainVerified } = await house.log.list(chain, ...args);
      return [entries.map(({ sequence }) => sequence), totalCount, chainVerified];
    };
    expect(await sequences({}, 4, 1)).toEqual([[31, 30, 29, 28], 32, true]);
    expect(await sequences({}, 3, 12)).toEqual([[20, 19, 18], 32, true]);
    expect(await sequences({ eventType: 'data.exported' }, 2, 1)).toEqual([[9, 8], 10, true]);
    expect(await sequences({ beforeSequence: 3 }, 5, 0)).toEqual([[2, 1], 2, true]);

    expect(await house.verify(chain)).toMatchObject({
      intact: true,
      entriesVerified: 32,
      headsMatched: 2,
      signedThrough: 30,
    });
    expect(await house.verify(chain, 15, 31)).toMatchObject({ intact: true, entriesVerified: 17 });
  });

  test('keeps no signer from going on that another has overtaken', async () => {
    const chain = await house.tenant(4);
    const [slow, other] = [house.signer(), house.signer()];
    expect(await slow.signDue(true)).toBeGreaterThan(0);
    await house.tell(chain, 4);
    await house.sealer.seal(chain);
    await other.signDue(true);
    // The head that the slow one knows is not in the database any more.
    await archive();
    await house.tell(chain, 2);
    await house.sealer.seal(chain);
    expect(await slow.signDue(true)).toBe(1);
    expect(house.lines.join('')).not.toContain(chain);
    expect(await house.verify(chain)).toMatchObject({ intact: true, headsMatched: 3, signedThrough: 10 });
  });

  test('is part of what can be tampered with: a changed, cut or missing file is found', async () => {
    const chain = await signedChain(10);
    const segment = (await archive()).find((each) => each.chain === chain);
    const path = pathOf(segment!.fileName);
    const whole = readFileSync(path);
    const lines = gunzipSync(whole).toString().trimEnd().split('\n');

    writeFileSync(
      path,
      gzipSync(lines.map((line, index) => (index === 3 ? line.replace('"live"', '"sandbox"') : line)).join('\n')),
    );
    expect(await house.verify(chain)).toMatchObject({ intact: false, firstBrokenSequence: 4, reason: 'altered' });
    writeFileSync(path, gzipSync(lines.slice(0, -2).join('\n')));
    expect(await house.verify(chain)).toMatchObject({ intact: false, firstBrokenSequence: 8, reason: 'missing' });
    writeFileSync(path, whole.subarray(0, -20));
    expect(await house.verify(chain)).toMatchObject({ intact: false });
    writeFileSync(path, Buffer.from('no archive'));
    expect(await house.verify(chain)).toMatchObject({ intact: false, firstBrokenSequence: 1 });
    writeFileSync(path, whole);
    renameSync(path, `${path}.gone`);
    await expect(house.verify(chain)).rejects.toMatchObject({
      type: 'service_unavailable',
      problem: { code: 'archive_unavailable' },
    });
    renameSync(`${path}.gone`, path);
    expect(await house.verify(chain)).toMatchObject({ firstBrokenSequence: null, intact: true });
  });

  test('a run that was cut off before the database let go is taken up again', async () => {
    const chain = await signedChain(6);
    await house.owner.query('alter function events.archive_audit_entries rename to archive_audit_entries_gone');
    await expect(archive()).rejects.toThrow();
    await house.owner.query('alter function events.archive_audit_entries_gone rename to archive_audit_entries');
    expect((await house.rows(chain)).length).toBe(6);
    await archive();
    expect((await house.rows(chain)).length).toBe(1);
    expect(await house.verify(chain)).toMatchObject({ intact: true, entriesVerified: 6 });
  });

  test('a chain that does not hold is not archived', async () => {
    const chain = await signedChain(6);
    await house.tamper('update events.audit_entries set hash = hash || $2 where account_id = $1 and sequence = 2', [
      chain,
      '0',
    ]);
    await expect(archive()).rejects.toThrow(`The chain ${chain} is broken at 2`);
    expect((await house.rows(chain)).length).toBe(6);
    await house.tamper('update events.audit_entries set hash = left(hash, 71) where account_id = $1 and sequence = 2', [
      chain,
    ]);
    await archive();
  });

  test('after two years the files alone hold the entries, and the chain is verified from their end on', async () => {
    const chain = await signedChain(10);
    await archive();
    await house.owner.query(
      `update events.audit_segments set last_occurred_at = now() - interval '2 years 1 day' where account_id = $1`,
      [chain],
    );
    await house.tell(chain, 2);
    expect(await house.verify(chain)).toMatchObject({ intact: true, entriesVerified: 3, signedThrough: 10 });
    expect(await house.log.list(chain, {}, 50, 0)).toMatchObject({ totalCount: 3, chainVerified: true });
  });
});
