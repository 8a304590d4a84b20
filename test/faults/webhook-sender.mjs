// A process that relays events and delivers them to webhooks, and nothing else: the test kills it.
import '../../processes/typescript-hook.mjs';

const { pino } = await import('pino');
const { openDatabase } = await import('../../platform/postgres/database.ts');
const { createPubSub } = await import('../../platform/postgres/pub-sub.ts');
const { startRelay } = await import('../../services/events/relay.ts');
const { fanOut } = await import('../../services/webhooks/fan-out.ts');
const { startDeliveryWorker } = await import('../../services/webhooks/delivery-worker.ts');
const { EndpointSecrets } = await import('../../services/webhooks/endpoint-secret.ts');
const { createCaller } = await import('../../platform/outgoing/caller.ts');
const { KeyVault } = await import('../../services/trust/key-vault.ts');

const { url, vaultSecret, waitsMs, leaseMs, timeoutMs, plant } = JSON.parse(process.argv[2]);
const logger = pino({ level: 'silent' });
const database = await openDatabase({ url, entities: [], applicationName: 'doomed-sender', poolMax: 4, logger });
const pubSub = await createPubSub({ url, database, logger });
const caller = createCaller({ allowPrivate: true, timeoutMs, maxResponseBytes: 1_024 });
let calls = 0;
// Planted faults: what the checks of the test must find.
const planted = {
  'says that it sent what it did not': {
    ...caller,
    call: (request) =>
      ++calls % 10 === 0 ? Promise.resolve({ status: 200, headers: {}, body: Buffer.alloc(0) }) : caller.call(request),
  },
  'gives repeats another id': {
    ...caller,
    call: (request) =>
      caller.call({
        ...request,
        headers: { ...request.headers, 'webhook-id': `evt_${String(++calls).padStart(22, '0')}` },
      }),
  },
};
startRelay({ database, pubSub, consumers: [fanOut(pubSub)], logger });
startDeliveryWorker({
  database,
  pubSub,
  caller: planted[plant] ?? caller,
  secrets: new EndpointSecrets(new KeyVault(vaultSecret)),
  leaseMs,
  waitsMs,
  logger,
  clock: () => new Date(),
});
// Whoever started it may be gone, or have failed.
process.once('disconnect', () => process.exit());
process.send?.('up');
