import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { Client } from 'pg';
import type { RequestContext } from '../../../schema/principal.ts';
import { AuditArchive } from '../../../services/audit/audit-archive.ts';
import {
  AddressHasher,
  chainName,
  entryHash,
  GENESIS_HASH,
  type ChainedEntry,
} from '../../../services/audit/audit-entry.ts';
import { recordAuditEvent, type AuditEvent } from '../../../services/audit/audit-event.ts';
import { AuditHeadSigner } from '../../../services/audit/audit-head-signer.ts';
import { AuditHeadsFile } from '../../../services/audit/audit-heads.ts';
import { AuditLog } from '../../../services/audit/audit-log.ts';
import { AuditSealer } from '../../../services/audit/audit-sealer.ts';
import { eventsOwner } from '../../../services/event-migrations.ts';
import { newRequestId, newUuid } from '../../../platform/identifiers.ts';
import { openDatabase, type Database } from '../../../platform/postgres/database.ts';
import { createLogger } from '../../../platform/telemetry/logs.ts';
import { canonicalJson } from '../../../services/trust/canonical-json.ts';
import { KeyVault } from '../../../services/trust/key-vault.ts';
import { trustOwner } from '../../../services/trust/migrations.ts';
import { PublicKeyStore, SigningKeyStore } from '../../../services/trust/signing-key-store.ts';
import { createTestDatabase, type TestDatabase } from '../../platform.ts';

const SECRET = 'a-secret-for-tests-that-nobody-else-uses';
export const ISSUER = 'https://api.example';
export const NOW = new Date('2026-02-01T09:30:00.000Z');

export const contextOf = (clientAddress = '192.0.2.7'): RequestContext => ({
  requestId: newRequestId(),
  principal: null,
  apiVersion: '2026-02-01',
  origin: { clientAddress, userAgent: 'test/1' },
});

export const eventOf = (accountId: string | null, more: Partial<AuditEvent> = {}): AuditEvent => ({
  accountId,
  type: 'auth.token_issued',
  actor: { type: 'agent', id: 'agent_0351EFSwMCuWsp5CADuBq8' },
  target: null,
  outcome: 'success',
  environment: 'live',
  details: {},
  ...more,
});

/** The audit log on a database of its own, with everything that belongs to it. */
export class AuditHouse {
  readonly testDatabase: TestDatabase;
  readonly database: Database;
  /** Owns the tables, as whoever owns the database does. */
  readonly owner: Client;
  readonly folder = mkdtempSync(join(tmpdir(), 'liftgraph-audit-'));
  readonly file = new AuditHeadsFile(join(this.folder, 'heads.ndjson'));
  readonly archive = new AuditArchive(join(this.folder, 'archive'));
  readonly keys: SigningKeyStore;
  readonly publicKeys: PublicKeyStore;
  readonly sealer: AuditSealer;
  readonly lines: string[] = [];
  readonly #logger = createLogger({
    level: 'info',
    format: 'json',
    destination: new Writable({ write: (chunk, _encoding, done) => (this.lines.push(String(chunk)), done()) }),
  });
  readonly log: AuditLog;

  private constructor(testDatabase: TestDatabase, database: Database, owner: Client) {
    this.testDatabase = testDatabase;
    this.database = database;
    this.owner = owner;
    this.keys = new SigningKeyStore(database, new KeyVault(SECRET));
    this.publicKeys = new PublicKeyStore(database);
    this.sealer = new AuditSealer(database, new AddressHasher(randomBytes(32)));
    this.log = this.logWith(this.file);
  }

  static async open(): Promise<AuditHouse> {
    const testDatabase = await createTestDatabase([eventsOwner, trustOwner]);
    const logger = createLogger({ level: 'silent', format: 'json' });
    const database = await openDatabase({
      url: testDatabase.applicationUrl,
      entities: [],
      applicationName: 'test',
      poolMax: 12,
      logger,
      timeoutMs: 30_000,
    });
    const owner = new Client({ connectionString: testDatabase.ownerUrl });
    await owner.connect();
    const house = new AuditHouse(testDatabase, database, owner);
    await house.keys.ensure(ISSUER);
    return house;
  }

  logWith(heads: AuditHeadsFile): AuditLog {
    return new AuditLog({
      database: this.database,
      sealer: this.sealer,
      archive: this.archive,
      heads,
      findKey: async (kid) => (await this.publicKeys.list()).find((key) => key.kid === kid) ?? null,
    });
  }

  /** A signer as a fresh process has it. */
  signer(): AuditHeadSigner {
    return new AuditHeadSigner({
      database: this.database,
      keys: this.keys,
      file: this.file,
      issuer: ISSUER,
      logger: this.#logger,
      clock: () => NOW,
    });
  }

  tell(accountId: string | null, count: number, more: Partial<AuditEvent> = {}): Promise<void> {
    return this.database.asNobody(async (em) => {
      for (let index = 0; index < count; index += 1)
        await recordAuditEvent(em, contextOf(), eventOf(accountId, { details: { index }, ...more }));
    });
  }

  /** A fresh tenant with so many sealed entries. */
  async tenant(count: number): Promise<string> {
    const chain = newUuid();
    await this.tell(chain, count);
    await this.sealer.seal(chain);
    return chain;
  }

  verify(chain: string, start = 1, end?: number) {
    return this.log.verify(contextOf(), chain, start, end);
  }

  async rows(chain: string): Promise<ChainedEntry[]> {
    const { rows } = await this.owner.query<{ sequence: string; entry: string; hash: string }>(
      'select sequence, entry, hash from events.audit_entries where account_id = $1 order by sequence',
      [chain],
    );
    return rows.map((row) => ({ ...row, sequence: Number(row.sequence) }));
  }

  /** What whoever owns the database can do: the guards are theirs to take down. */
  async tamper(sql: string, values: readonly unknown[]): Promise<void> {
    await this.owner.query(
      'begin; alter table events.audit_entries disable trigger all; drop index if exists events.audit_entries_type, ' +
        'events.audit_entries_severity, events.audit_entries_moment, events.audit_entries_actor',
    );
    try {
      await this.owner.query(sql, [...values]);
    } finally {
      await this.owner.query('alter table events.audit_entries enable trigger all; commit');
    }
  }

  /** Puts another history in place of this one, hashed anew from a number on, with the head to go with it. */
  async rechain(
    chain: string,
    from: number,
    change: (entry: Record<string, unknown>) => Record<string, unknown> | null,
  ): Promise<void> {
    const rows = await this.rows(chain);
    let head = { sequence: from - 1, hash: rows[from - 2]?.hash ?? GENESIS_HASH };
    const links: ChainedEntry[] = [];
    for (const { entry } of rows.slice(from - 1)) {
      const changed = change(JSON.parse(entry) as Record<string, unknown>);
      if (changed === null) continue;
      const text = canonicalJson({
        ...changed,
        chain_id: chainName(chain),
        sequence: head.sequence + 1,
        previous_hash: head.hash,
      });
      head = { sequence: head.sequence + 1, hash: entryHash(head.hash, text) };
      links.push({ ...head, entry: text });
    }
    await this.tamper('delete from events.audit_entries where account_id = $1 and sequence >= $2', [chain, from]);
    await this.tamper(
      'insert into events.audit_entries select $1, (e ->> $3)::bigint, e ->> $4, e ->> $5 from ' +
        'jsonb_array_elements($2::jsonb) e',
      [chain, JSON.stringify(links), 'sequence', 'entry', 'hash'],
    );
    await this.owner.query(
      'update events.audit_chains set sequence = $2, hash = $3, unsigned_since = now() where account_id = $1',
      [chain, head.sequence, head.hash],
    );
  }

  async close(): Promise<void> {
    await this.owner.end();
    await this.database.close();
    await this.testDatabase.drop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
