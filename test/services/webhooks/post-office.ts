import { pino } from 'pino';
import { EVENT_CATALOGUE, type EventType } from '../../../schema/event-catalogue.ts';
import { authOwner } from '../../../services/identity/migrations.ts';
import { eventsOwner } from '../../../services/event-migrations.ts';
import { recordEvent, type RecordedEvent } from '../../../services/events/outbox.ts';
import { startRelay } from '../../../services/events/relay.ts';
import type { Delivery } from '../../../services/webhooks/delivery.ts';
import { listDeliveries } from '../../../services/webhooks/delivery-store.ts';
import { startDeliveryWorker } from '../../../services/webhooks/delivery-worker.ts';
import { EndpointSecrets } from '../../../services/webhooks/endpoint-secret.ts';
import { deleteEndpoint, insertEndpoint, requireWebhook } from '../../../services/webhooks/endpoint-store.ts';
import type { Endpoint } from '../../../services/webhooks/endpoint.ts';
import { fanOut } from '../../../services/webhooks/fan-out.ts';
import { SCOPES } from '../../../schema/principal.ts';
import { newUuid, type Uuid } from '../../../platform/identifiers.ts';
import type { Caller } from '../../../platform/outgoing/caller.ts';
import { openDatabase, wholeAccount, type Database } from '../../../platform/postgres/database.ts';
import { createPubSub, pubSubOwner, type PubSub } from '../../../platform/postgres/pub-sub.ts';
import { KeyVault } from '../../../services/trust/key-vault.ts';
import { createTestDatabase, PATIENCE_MS, type TestDatabase } from '../../platform.ts';
import { FIRST_PAGE } from '../../../platform/graph/connection.ts';

const logger = pino({ level: 'silent' });
export const VAULT_SECRET = 'seals the secrets of webhooks in tests only';
export const OWN_SECRET = 'a secret for tests';

/** Outbox, relay and senders on a database of their own, without the rest of the house. */
export interface PostOffice {
  readonly testDatabase: TestDatabase;
  readonly database: Database;
  readonly pubSub: PubSub;
  readonly accountId: Uuid;
  /** A webhook at this address. */
  open(url: string, events?: readonly EventType[]): Promise<Endpoint>;
  /** Makes room: there is a limit. */
  drop(id: Uuid): Promise<void>;
  /** Something happens that webhooks of this type hear of. */
  happen(type?: EventType): Promise<RecordedEvent>;
  endpoint(id: Uuid): Promise<Endpoint>;
  /** Attempts to deliver to an endpoint, in their order. */
  deliveries(id: Uuid): Promise<readonly Delivery[]>;
  /** The same once there are so many, and none is pending. */
  settled(id: Uuid, count: number): Promise<readonly Delivery[]>;
  close(): Promise<void>;
}

export interface PostOfficeOptions {
  /** Nothing is relayed or sent without. */
  readonly caller?: Caller;
  readonly waitsMs?: readonly number[];
  readonly leaseMs?: number;
}

export async function openPostOffice({
  caller,
  waitsMs = [50, 50, 50, 50, 50],
  leaseMs = 2_000,
}: PostOfficeOptions): Promise<PostOffice> {
  const testDatabase = await createTestDatabase([pubSubOwner, authOwner, eventsOwner]);
  const database = await openDatabase({
    url: testDatabase.applicationUrl,
    entities: [],
    applicationName: 'post-office',
    poolMax: 8,
    logger,
    timeoutMs: PATIENCE_MS,
  });
  const pubSub = await createPubSub({ url: testDatabase.applicationUrl, database, logger });
  const secrets = new EndpointSecrets(new KeyVault(VAULT_SECRET));
  const running =
    caller === undefined
      ? []
      : [
          startRelay({ database, pubSub, consumers: [fanOut(pubSub)], logger }),
          startDeliveryWorker({ database, pubSub, caller, secrets, leaseMs, waitsMs, logger, clock: () => new Date() }),
        ];
  const accountId = newUuid();
  const scope = wholeAccount({ accountId, environment: 'live' });
  const office: PostOffice = {
    testDatabase,
    database,
    pubSub,
    accountId,
    open(url, events = ['health.alert']) {
      const id = newUuid();
      return database.asTenant(scope, (em) =>
        insertEndpoint(em, {
          id,
          kind: 'webhook',
          accountId,
          environment: 'live',
          workspaceId: null,
          url,
          events,
          scopes: SCOPES,
          metadata: {},
          sealedSecret: secrets.seal(OWN_SECRET, id),
          secretPrefix: 'a s…',
          apiVersion: '2026-02-01',
        }),
      );
    },
    drop: (id) => database.asTenant(scope, (em) => deleteEndpoint(em, id)),
    happen: (type = 'health.alert') =>
      database.asTenant(scope, (em) =>
        recordEvent(em, pubSub, {
          accountId,
          environment: 'live',
          type,
          subject: newUuid(),
          data: EVENT_CATALOGUE[type].example as never,
        }),
      ),
    endpoint: (id) => database.asTenant(scope, (em) => requireWebhook(em, id)),
    deliveries: async (id) =>
      (
        await database.asTenant(scope, (em) => listDeliveries(em, id, {}, { ...FIRST_PAGE, limit: 5_000 }))
      ).list.toReversed(),
    async settled(id, count) {
      for (const deadlineMs = performance.now() + 20_000; ;) {
        const deliveries = await office.deliveries(id);
        if (deliveries.length >= count && deliveries.every(({ status }) => status !== 'pending')) return deliveries;
        if (performance.now() > deadlineMs)
          throw new Error(
            `${deliveries.length} attempts of ${count}, ` +
              `${deliveries.filter(({ status }) => status === 'pending').length} pending`,
          );
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    async close() {
      await Promise.all(running.map((each) => each.close()));
      await pubSub.close();
      await database.close();
      await testDatabase.drop();
    },
  };
  return office;
}
