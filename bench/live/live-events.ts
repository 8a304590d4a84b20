// How many events reach listeners, and how soon: recorded in PostgreSQL, told by NOTIFY, through the gateway to each
// stream. npm run bench live/live-events [streams, default 50] [events, default 400]
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGateway } from '../../gateway/server.ts';
import { KeyStore } from '../../services/identity/keys/key-store.ts';
import { SCOPES, type Principal, type RequestContext } from '../../schema/principal.ts';
import { EVENT_CATALOGUE } from '../../schema/event-catalogue.ts';
import { eventsOwner } from '../../services/event-migrations.ts';
import { recordEvent } from '../../services/events/outbox.ts';
import { newRequestId, newUuid, type Uuid } from '../../platform/identifiers.ts';
import { openDatabase, wholeAccount } from '../../platform/postgres/database.ts';
import { startEmbeddedPostgres } from '../../platform/postgres/embedded-server.ts';
import { EndpointSecrets } from '../../services/webhooks/endpoint-secret.ts';
import { createCaller } from '../../platform/outgoing/caller.ts';
import { KeyVault } from '../../services/trust/key-vault.ts';
import { migrate } from '../../platform/postgres/migrate.ts';
import { createPubSub, pubSubOwner } from '../../platform/postgres/pub-sub.ts';
import { createLogger } from '../../platform/telemetry/logs.ts';
import { auditLog } from '../../processes/audit-services.ts';
import { agentScores } from '../../subgraphs/agents/registry/trust-score.ts';
import { agentsSubgraph } from '../../subgraphs/agents/subgraph.ts';

const [streams = 50, events = 400] = process.argv.slice(2).map(Number);
const AT_A_TIME = 4;
/** Of one transaction, so that the stream is what is measured, and not the disk. */
const BATCH = 10;
const PACE_PER_S = 100;
const TARGET_PER_S = 5_000;

const folder = mkdtempSync(join(tmpdir(), 'liftgraph-bench-'));
chmodSync(folder, 0o711);
const logger = createLogger({ level: 'warn', format: 'pretty' });
const clock = () => new Date();
const pepper = Buffer.alloc(32, 1);
const data = EVENT_CATALOGUE['attribution.completed'].example;

const postgres = await startEmbeddedPostgres({ dataDir: folder, logger });
await migrate({ ownerUrl: postgres.ownerUrl, owners: [pubSubOwner, eventsOwner] });
const database = await openDatabase({
  url: postgres.applicationUrl,
  entities: [],
  applicationName: 'bench',
  poolMax: 12,
  logger,
});
const pubSub = await createPubSub({ url: postgres.applicationUrl, database, logger });
const documentsFolder = join(folder, 'operations');
mkdirSync(documentsFolder);
writeFileSync(
  join(documentsFolder, 'events.graphql'),
  readFileSync(new URL('../../schema/operations/events.graphql', import.meta.url)),
);
const outgoing = createCaller({ allowPrivate: false, timeoutMs: 1_000, maxResponseBytes: 1 });
const subgraph = await agentsSubgraph({
  database,
  pubSub,
  outgoing,
  endpointSecrets: new EndpointSecrets(new KeyVault('a-secret-of-this-benchmark-and-no-other')),
  keys: new KeyStore(database, pepper),
  auditLog: auditLog(database, pepper, { headsFile: join(folder, 'heads'), archiveDirectory: folder }),
  clock,
  newcomersPlan: 'pay_per_analysis',
  agentScores: agentScores(0),
  region: 'eu',
  tierTable: 'three',
  endReferrals: async () => undefined,
});
const none = (): never => {
  throw new Error('nobody comes in by a door');
};
const gateway = await createGateway({
  subgraphs: [subgraph],
  documentsFolder,
  logger,
  clock,
  newRequestId,
  config: { publicBaseUrl: 'http://127.0.0.1/v1', graphqlIntrospection: false },
  admission: { admit: none, countStranger: none, whenEnded: none } as never,
  claims: { claim: none } as never,
  originOf: none,
  isSandboxHost: none,
  resolveApiVersion: none,
  readJson: none,
});

function caller(accountId: Uuid): RequestContext {
  const principal: Principal = {
    kind: 'account',
    accountId,
    agentId: null,
    credentialId: newUuid(),
    scopes: SCOPES,
    environment: 'live',
    proof: 'secret',
    workspace: null,
  };
  return { requestId: newRequestId(), principal, apiVersion: '2026-02-01' };
}

async function record(accountId: Uuid, count: number): Promise<void> {
  await database.asTenant(wholeAccount({ accountId, environment: 'live' }), async (em) => {
    for (let number = 0; number < count; number += 1)
      await recordEvent(em, pubSub, {
        accountId,
        environment: 'live',
        type: 'attribution.completed',
        subject: `attr_${number}`,
        data,
      });
  });
}

/** Records as fast as the database takes it, or `perS` of them, `batch` in each transaction. */
async function recordAll(accounts: readonly Uuid[], batch: number, perS = Infinity): Promise<void> {
  let next = 0;
  const startedMs = performance.now();
  await Promise.all(
    Array.from({ length: AT_A_TIME }, async () => {
      for (let number = next; number < events; number = next) {
        next += batch;
        const waitMs = startedMs + (number / perS) * 1000 - performance.now();
        if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
        await record(accounts[(number / batch) % accounts.length]!, Math.min(batch, events - number));
      }
    }),
  );
}

async function deliver(label: string, batch: number, perS?: number): Promise<void> {
  const account = newUuid();
  const open = Array.from({ length: streams }, () => gateway.client.subscribe('Events', {}, caller(account)));
  await Promise.all(open.map((stream) => stream.next()));
  const delaysMs: number[] = [];
  const cpu = process.cpuUsage();
  const startedMs = performance.now();
  const reading = open.map(async (stream) => {
    for (let seen = 0; seen < events; seen += 1) {
      const { value } = (await stream.next()) as { value: { events: { event: { timestamp: string | Date } } } };
      delaysMs.push(Date.now() - new Date(value.events.event.timestamp).getTime());
    }
    await stream.return?.();
  });
  await recordAll([account], batch, perS);
  await Promise.all(reading);
  const tookS = (performance.now() - startedMs) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const total = streams * events;
  delaysMs.sort((one, other) => one - other);
  const rate = Math.round(total / tookS);
  print(
    `${label}: ${rate} events/s on ${streams} streams${perS === undefined ? ` (target ${TARGET_PER_S})` : ''}, ` +
      `${((user + system) / 1000 / total).toFixed(3)} ms CPU each; recorded to received p50 ` +
      `${delaysMs[total >> 1]} ms, ` +
      `p95 ${delaysMs[Math.floor(total * 0.95)]} ms`,
  );
}

async function write(label: string, accounts: number): Promise<void> {
  const startedMs = performance.now();
  await recordAll(
    Array.from({ length: accounts }, () => newUuid()),
    1,
  );
  print(`${label}: ${Math.round((events / (performance.now() - startedMs)) * 1000)} events/s, ${AT_A_TIME} at a time`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

try {
  await deliver('warming up', BATCH);
  await deliver('as fast as it goes', BATCH);
  await deliver(`${PACE_PER_S} events recorded a second`, 1, PACE_PER_S);
  await write('recorded for one account', 1);
  await write('recorded for 50 accounts', 50);
} finally {
  await gateway.close();
  await pubSub.close();
  await database.close();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
