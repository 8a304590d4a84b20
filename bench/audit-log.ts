import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { RequestContext } from '../schema/principal.ts';
import { AuditArchive } from '../services/audit/audit-archive.ts';
import { archiveAuditLog } from '../services/audit/archive-audit-log.ts';
import { eventsOwner } from '../services/event-migrations.ts';
import { newUuid } from '../platform/identifiers.ts';
import { openDatabase } from '../platform/postgres/database.ts';
import { startEmbeddedPostgres } from '../platform/postgres/embedded-server.ts';
import { migrate } from '../platform/postgres/migrate.ts';
import { createLogger } from '../platform/telemetry/logs.ts';
import { KeyVault } from '../services/trust/key-vault.ts';
import { trustOwner } from '../services/trust/migrations.ts';
import { SigningKeyStore } from '../services/trust/signing-key-store.ts';
import { auditHeadSigner, auditLog, auditSealer } from '../processes/audit-services.ts';

/**
 * How fast the audit log is sealed, verified and archived, and what verifying needs of memory: twice the entries should
 * take twice the time and no more memory.
 *   npm run bench audit-log [entries, default 100000]
 */
const entries = Number(process.argv[2] ?? 100_000);
const folder = mkdtempSync(join(tmpdir(), 'liftgraph-bench-'));
chmodSync(folder, 0o711);
const logger = createLogger({ level: 'warn', format: 'pretty' });
const pepper = Buffer.alloc(32, 1);
const places = { headsFile: join(folder, 'heads.ndjson'), archiveDirectory: join(folder, 'archive') };
const context: RequestContext = {
  requestId: 'req_0351EFUQxpVTZ7WdNYMSuY',
  principal: null,
  apiVersion: '2026-02-01',
  origin: { clientAddress: '192.0.2.7', userAgent: 'bench/1' },
};
const BODY = {
  type: 'data.accessed',
  severity: 'info',
  actor: { type: 'agent', id: 'agent_0351EFSwMCuWsp5CADuBq8' },
  target: { type: 'attribution', id: 'attr_0351EFUQxpVTZ7WdNYMSuY' },
  outcome: 'success',
  environment: 'live',
  details: {},
  requestId: context.requestId,
  userAgent: 'bench/1',
};

async function measured<T>(label: string, count: number, work: () => Promise<T>): Promise<T> {
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  let peak = before;
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5);
  const startedMs = performance.now();
  const result = await work();
  const tookS = (performance.now() - startedMs) / 1000;
  clearInterval(watch);
  process.stdout.write(
    `${label.padEnd(34)}${tookS.toFixed(2).padStart(7)} s ${Math.round(count / tookS)
      .toLocaleString('en')
      .padStart(9)} entries/s   RSS +${((peak - before) / 2 ** 20).toFixed(0)} MB\n`,
  );
  return result;
}

const postgres = await startEmbeddedPostgres({ dataDir: folder, logger });
await migrate({ ownerUrl: postgres.ownerUrl, owners: [eventsOwner, trustOwner] });
const database = await openDatabase({
  url: postgres.applicationUrl,
  entities: [],
  applicationName: 'bench',
  poolMax: 12,
  logger,
  timeoutMs: 60_000,
});
const owner = new Client({ connectionString: postgres.ownerUrl });
await owner.connect();
try {
  const keys = new SigningKeyStore(database, new KeyVault('a-secret-of-this-benchmark-and-no-other'));
  await keys.ensure('https://api.example');
  const signer = auditHeadSigner({
    database,
    keys,
    places,
    issuer: 'https://api.example',
    logger,
    clock: () => new Date(),
  });
  const sealer = auditSealer(database, pepper);
  const log = auditLog(database, pepper, places);
  const tell = (chain: string, count: number) =>
    owner.query(
      `insert into events.told_audit_events (event_id, tenant_id, body, client_address) select gen_random_uuid(), ` +
        `$1, $2::jsonb, '192.0.2.7' from generate_series(1, $3)`,
      [chain, JSON.stringify(BODY), count],
    );

  const tenants = Array.from({ length: 100 }, () => newUuid());
  for (const tenant of tenants) await tell(tenant, 100);
  await measured('seal 100 entries of 100 tenants', 10_000, () => sealer.sealAll());
  const chain = newUuid();
  await tell(chain, entries / 2);
  await measured('seal one chain', entries / 2, () => sealer.seal(chain));
  await signer.signDue(true);
  await measured('verify it', entries / 2, () => log.verify(context, chain, 1, undefined));
  for (let batch = 0; batch < entries / 2; batch += 250) {
    await tell(chain, 250);
    await sealer.seal(chain);
    await signer.signDue(true);
  }
  const check = await measured('verify twice as much', entries, () => log.verify(context, chain, 1, undefined));
  process.stdout.write(
    `  ${JSON.stringify(check)}, heads file ${(statSync(places.headsFile).size / 2 ** 20).toFixed(1)} MB\n`,
  );
  await measured('newest 500 of the list', 500, () => log.list(chain, {}, 500, 0));
  await measured('newest 500 of a type', 500, () => log.list(chain, { eventType: 'data.accessed' }, 500, 0));
  await measured('500 of a moment', 500, () => log.list(chain, { since: new Date(Date.now() - 3_600_000) }, 500, 0));
  await measured('archive', entries, async () => {
    for await (const segment of archiveAuditLog(owner, new AuditArchive(places.archiveDirectory), 0)) void segment;
  });
  await measured('verify from the archive', entries, () => log.verify(context, chain, 1, undefined));
  await measured('500 from the archive', 500, () => log.list(chain, {}, 500, 50_000));
} finally {
  await owner.end();
  await database.close();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
