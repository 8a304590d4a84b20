import { randomBytes } from 'node:crypto';
import { Pool } from 'pg';
import { pino } from 'pino';
import { EVENT_CATALOGUE, type EventData } from '../../../../schema/event-catalogue.ts';
import type { Environment, Plan } from '../../../../schema/principal.ts';
import { createAccount } from '../../../../services/identity/accounts/account-store.ts';
import { authOwner } from '../../../../services/identity/migrations.ts';
import { eventsOwner } from '../../../../services/event-migrations.ts';
import type { NewEvent } from '../../../../services/events/outbox.ts';
import { newUuid, publicId, type Uuid } from '../../../../platform/identifiers.ts';
import { openDatabase, type Database } from '../../../../platform/postgres/database.ts';
import { createPubSub, pubSubOwner, type PubSub } from '../../../../platform/postgres/pub-sub.ts';
import { billingOwner } from '../../../../subgraphs/billing/migrations.ts';
import { createTestDatabase, PATIENCE_MS, type TestDatabase } from '../../../platform.ts';

/** A charge as it is stored. */
export interface Charge {
  readonly analysis: Uuid;
  readonly plan: Plan | null;
  readonly delta: bigint;
  readonly fee: bigint;
  readonly repeats: Uuid | null;
}

/** An analysis that has ended, before it happens. */
export interface Ending {
  readonly id?: Uuid;
  readonly deltaRCents?: number | null;
  readonly inputDigest?: string | null;
  readonly environment?: Environment;
  readonly agentId?: Uuid;
  readonly workspaceId?: Uuid;
  readonly data?: Partial<EventData<'attribution.completed'>>;
}

/** Accounts and what analyses cost them, on a database of their own. */
export interface Books {
  readonly database: Database;
  readonly pubSub: PubSub;
  readonly testDatabase: TestDatabase;
  readonly owner: Pool;
  open(plan: Plan): Promise<Uuid>;
  /** From now on. */
  change(accountId: Uuid, plan: Plan): Promise<void>;
  /** Of an account, oldest first. */
  charges(accountId: Uuid): Promise<readonly Charge[]>;
  close(): Promise<void>;
}

export const anyDigest = (): string => `sha256:${randomBytes(32).toString('hex')}`;

/** The event of an analysis that has ended. */
export function ended(
  accountId: Uuid,
  { id = newUuid(), deltaRCents = 0, inputDigest = anyDigest(), environment = 'live', ...more }: Ending,
): NewEvent<'attribution.completed'> & { readonly id: Uuid } {
  const subject = publicId('attr', id);
  return {
    id,
    accountId,
    environment,
    type: 'attribution.completed',
    subject,
    workspaceId: more.workspaceId ?? null,
    data: {
      ...EVENT_CATALOGUE['attribution.completed'].example,
      id: subject,
      agent_id: more.agentId === undefined ? null : publicId('agent', more.agentId),
      delta_r_cents: deltaRCents,
      input_digest: inputDigest,
      ...more.data,
    },
  };
}

export async function openBooks(): Promise<Books> {
  const logger = pino({ level: 'silent' });
  const testDatabase = await createTestDatabase([pubSubOwner, authOwner, eventsOwner, billingOwner]);
  const { applicationUrl: url, ownerUrl } = testDatabase;
  const database = await openDatabase({
    url,
    entities: [],
    applicationName: 'test',
    poolMax: 8,
    logger,
    timeoutMs: PATIENCE_MS,
  });
  const pubSub = await createPubSub({ url, database, logger });
  const owner = new Pool({ connectionString: ownerUrl, max: 4 });
  // Dropping the database ends what is left of it.
  owner.on('error', () => undefined);
  return {
    database,
    pubSub,
    testDatabase,
    owner,
    async open(plan) {
      const accountId = newUuid();
      await database.asTenant(accountId, (em) =>
        createAccount(em, { accountId, operatorId: accountId, operatorEmail: null, plan }),
      );
      return accountId;
    },
    async change(accountId, plan) {
      await owner.query('update auth.accounts set plan = $2 where account_id = $1', [accountId, plan]);
    },
    async charges(accountId) {
      const { rows } = await owner.query<Omit<Charge, 'delta' | 'fee'> & { delta: string; fee: string }>(
        `select analysis_id as analysis, plan, delta_r_cents as delta, fee_cents as fee, repeats from billing.charges
         where account_id = $1 order by charged_at, analysis_id`,
        [accountId],
      );
      return rows.map((row) => ({ ...row, delta: BigInt(row.delta), fee: BigInt(row.fee) }));
    },
    async close() {
      await owner.end();
      await pubSub.close();
      await database.close();
      await testDatabase.drop();
    },
  };
}
