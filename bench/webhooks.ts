import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EVENT_CATALOGUE } from '../schema/event-catalogue.ts';
import { eventsOwner } from '../services/event-migrations.ts';
import { recordEvent } from '../services/events/outbox.ts';
import { startRelay } from '../services/events/relay.ts';
import { startDeliveryWorker } from '../services/webhooks/delivery-worker.ts';
import { EndpointSecrets } from '../services/webhooks/endpoint-secret.ts';
import { insertEndpoint } from '../services/webhooks/endpoint-store.ts';
import { fanOut } from '../services/webhooks/fan-out.ts';
import { newWebhookSecret } from '../services/webhooks/signature.ts';
import { newUuid } from '../platform/identifiers.ts';
import { createCaller } from '../platform/outgoing/caller.ts';
import { openDatabase, wholeAccount } from '../platform/postgres/database.ts';
import { startEmbeddedPostgres } from '../platform/postgres/embedded-server.ts';
import { migrate } from '../platform/postgres/migrate.ts';
import { createPubSub, pubSubOwner } from '../platform/postgres/pub-sub.ts';
import { createLogger } from '../platform/telemetry/logs.ts';
import { KeyVault } from '../services/trust/key-vault.ts';

/**
 * How long after its commit an event is first sent, at a steady pace, and how many a second one process relays, sends
 * and settles when many wait. To a receiver in the same process, four webhooks, each event for one of them.
 *   npm run bench webhooks [events a second, default 40]
 */
const perSecond = Number(process.argv[2] ?? 40);
const STEADY = 600;
const BURST = 2_000;
const WEBHOOKS = 4;
const TARGET_P95_MS = 250;
const TYPES = ['health.alert', 'forecast.ready', 'journey.milestone', 'campaign.anomaly'] as const;

const folder = mkdtempSync(join(tmpdir(), 'liftgraph-bench-'));
chmodSync(folder, 0o711);
const logger = createLogger({ level: 'warn', format: 'pretty' });
const postgres = await startEmbeddedPostgres({ dataDir: folder, logger });
await migrate({ ownerUrl: postgres.ownerUrl, owners: [pubSubOwner, eventsOwner] });
const database = await openDatabase({
  url: postgres.applicationUrl,
  entities: [],
  applicationName: 'bench',
  poolMax: 16,
  logger,
  timeoutMs: 60_000,
});
const pubSub = await createPubSub({ url: postgres.applicationUrl, database, logger });
const secrets = new EndpointSecrets(new KeyVault('a secret of the bench, which nobody else uses'));
const caller = createCaller({ allowPrivate: true, timeoutMs: 15_000, maxResponseBytes: 1_024 });

const delaysMs: number[] = [];
const receiver = createServer(async (request, response) => {
  const atMs = Date.now();
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  delaysMs.push(atMs - Date.parse((JSON.parse(body) as { timestamp: string }).timestamp));
  response.end();
}).listen(0, '127.0.0.1');
await once(receiver, 'listening');

const accountId = newUuid();
const scope = wholeAccount({ accountId, environment: 'live' });
for (let index = 0; index < WEBHOOKS; index += 1) {
  const id = newUuid();
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/${index}`;
  await database.asTenant(scope, (em) =>
    insertEndpoint(em, {
      id,
      kind: 'webhook',
      accountId,
      environment: 'live',
      workspaceId: null,
      url,
      events: [TYPES[index]!],
      scopes: [],
      metadata: {},
      sealedSecret: secrets.seal(newWebhookSecret(), id),
      secretPrefix: '…',
      apiVersion: '2026-02-01',
    }),
  );
}
const happen = (index: number): Promise<unknown> => {
  const type = TYPES[index % WEBHOOKS]!;
  return database.asTenant(scope, (em) =>
    recordEvent(em, pubSub, {
      accountId,
      environment: 'live',
      type,
      subject: newUuid(),
      data: EVENT_CATALOGUE[type].example,
    }),
  );
};
const arrived = async (count: number): Promise<void> => {
  while (delaysMs.length < count) await sleep(5);
};

let relay = startRelay({ database, pubSub, consumers: [fanOut(pubSub)], logger });
let worker = startDeliveryWorker({
  database,
  pubSub,
  caller,
  secrets,
  leaseMs: 20_000,
  logger,
  clock: () => new Date(),
});
const startedMs = performance.now();
const recorded: Promise<unknown>[] = [];
for (let index = 0; index < STEADY; index += 1) {
  await sleep(startedMs + (index * 1_000) / perSecond - performance.now());
  recorded.push(happen(index));
}
await Promise.all(recorded);
await arrived(STEADY);
const sorted = delaysMs.splice(0).toSorted((one, other) => one - other);
const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
process.stdout.write(
  `event to first attempt, ${perSecond} events a second: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, p99 ${at(0.99)} ms ` +
    `(target: p95 ≤ ${TARGET_P95_MS} ms)\n`,
);

await Promise.all([relay.close(), worker.close()]);
const SIDE_BY_SIDE = 8;
for (let index = 0; index < BURST; index += SIDE_BY_SIDE)
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, (_, offset) => happen(index + offset)));
const burstMs = performance.now();
const cpuBefore = process.cpuUsage();
relay = startRelay({ database, pubSub, consumers: [fanOut(pubSub)], logger });
worker = startDeliveryWorker({ database, pubSub, caller, secrets, leaseMs: 20_000, logger, clock: () => new Date() });
await arrived(BURST);
const { user, system } = process.cpuUsage(cpuBefore);
process.stdout.write(
  `a backlog of ${BURST.toLocaleString('en')}: ${Math.round(BURST / ((performance.now() - burstMs) / 1_000))} events ` +
    `a second by one process, ${((user + system) / 1_000 / BURST).toFixed(2)} ms of its CPU each\n`,
);

await Promise.all([relay.close(), worker.close()]);
await caller.close();
receiver.closeAllConnections();
receiver.close();
await pubSub.close();
await database.close();
await postgres.stop();
rmSync(folder, { recursive: true, force: true });
if (at(0.95) > TARGET_P95_MS) process.exitCode = 1;
