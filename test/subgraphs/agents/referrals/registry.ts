import { randomBytes, randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { Pool } from 'pg';
import { KeyStore } from '../../../../services/identity/keys/key-store.ts';
import { authOwner } from '../../../../services/identity/migrations.ts';
import type { Tier } from '../../../../schema/value-lists.ts';
import type { TierTable } from '../../../../services/identity/limits/tiers.ts';
import { EVENT_CATALOGUE } from '../../../../schema/event-catalogue.ts';
import { eventsOwner } from '../../../../services/event-migrations.ts';
import type { RecordedEvent } from '../../../../services/events/outbox.ts';
import { EndpointSecrets } from '../../../../services/webhooks/endpoint-secret.ts';
import { newRequestId, newUuid, publicId, type Uuid } from '../../../../platform/identifiers.ts';
import { createCaller } from '../../../../platform/outgoing/caller.ts';
import { openDatabase, wholeAccount, type Database } from '../../../../platform/postgres/database.ts';
import { createPubSub, pubSubOwner, type PubSub } from '../../../../platform/postgres/pub-sub.ts';
import { KeyVault } from '../../../../services/trust/key-vault.ts';
import { agentsOwner } from '../../../../subgraphs/agents/migrations.ts';
import { accrueReferrals } from '../../../../subgraphs/agents/referrals/accrue-referrals.ts';
import { Agent } from '../../../../subgraphs/agents/registry/agent.ts';
import { registerAgent } from '../../../../subgraphs/agents/registry/register-agent.ts';
import { createTestDatabase } from '../../../platform.ts';

const logger = pino({ level: 'silent' });
export const REGISTRY_OWNERS = [pubSubOwner, authOwner, eventsOwner, agentsOwner];

export interface Registered {
  readonly agentId: Uuid;
  readonly accountId: Uuid;
  readonly code: string;
}

/** An agent's standing as it is stored, and what was told of it. */
export interface Standing {
  readonly tier: Tier;
  /** What its calls are limited by. */
  readonly accountTier: Tier;
  readonly active: number;
  /** Of each `agent.tier_changed`, in order. */
  readonly changes: readonly (readonly [from: string, to: string, active: number])[];
}

/** The registry of agents on a database of its own. */
export interface Registry {
  readonly database: Database;
  readonly pubSub: PubSub;
  readonly ownerUrl: string;
  readonly owner: Pool;
  register(referrer?: Registered): Promise<Registered>;
  /** An analysis that has ended, as it is recorded. */
  analysis(
    by: Registered,
    deltaRCents: number,
    more?: { readonly environment?: 'sandbox'; readonly inputDigest?: string; readonly id?: Uuid },
  ): RecordedEvent;
  /** What relaying the event does, in one transaction. */
  consume(event: RecordedEvent, table?: TierTable): Promise<void>;
  standing(of: Registered): Promise<Standing>;
  close(): Promise<void>;
}

export async function openRegistry(): Promise<Registry> {
  const { ownerUrl, applicationUrl, drop } = await createTestDatabase(REGISTRY_OWNERS);
  const database = await openDatabase({
    url: applicationUrl,
    entities: [Agent],
    applicationName: 'test',
    poolMax: 16,
    logger,
    timeoutMs: 20_000,
  });
  const pubSub = await createPubSub({ url: applicationUrl, database, logger });
  const owner = new Pool({ connectionString: ownerUrl, max: 4 });
  // Dropping the database ends what is left of it.
  owner.on('error', () => undefined);
  const outgoing = createCaller({ allowPrivate: false, timeoutMs: 1_000, maxResponseBytes: 1 });
  const services = {
    database,
    keys: new KeyStore(database, randomBytes(32)),
    outgoing,
    endpointSecrets: new EndpointSecrets(new KeyVault('a-secret-for-tests-that-nobody-else-uses')),
    newcomersPlan: 'pay_per_analysis' as const,
    clock: () => new Date(),
  };
  return {
    database,
    pubSub,
    ownerUrl,
    owner,
    async register(referrer) {
      const { agent } = await registerAgent(
        services,
        { requestId: newRequestId(), principal: null, apiVersion: '2026-02-01' },
        { name: 'test-agent', operatorId: randomUUID(), referralCode: referrer?.code },
        async () => undefined,
      );
      return { agentId: agent.id, accountId: agent.accountId, code: agent.referralCode };
    },
    analysis({ accountId, agentId }, deltaRCents, { environment, inputDigest, id = newUuid() } = {}) {
      const subject = publicId('attr', id);
      const data = {
        ...EVENT_CATALOGUE['attribution.completed'].example,
        id: subject,
        agent_id: publicId('agent', agentId),
        delta_r_cents: deltaRCents,
        input_digest: inputDigest ?? `sha256:${randomBytes(32).toString('hex')}`,
      };
      return {
        eventId: newUuid(),
        accountId,
        environment: environment ?? 'live',
        type: 'attribution.completed',
        subject,
        sequence: 1,
        position: 1,
        data,
        occurredAt: new Date(),
        workspaceId: null,
      };
    },
    consume: (event, tierTable = 'three') =>
      database.asTenant(wholeAccount(event), (em) =>
        accrueReferrals({ pubSub, tierTable, isRepetition: () => Promise.resolve(false) })(em, event),
      ),
    async standing({ agentId, accountId }) {
      const { rows } = await owner.query<{ tier: Tier; accountTier: Tier; active: number }>(
        `select agent.tier, account.tier as "accountTier", (select count(*)::int from agents.referrals
          where referrer_id = agent.id and chain_depth = 1 and status = 'active') as active
         from agents.agents agent join auth.accounts account using (account_id) where agent.id = $1`,
        [agentId],
      );
      const told = await owner.query<{ data: Readonly<Record<string, string & number>> }>(
        `select data from events.outbox where account_id = $1 and type = 'agent.tier_changed' order by position`,
        [accountId],
      );
      return {
        ...rows[0]!,
        changes: told.rows.map(
          ({ data }) => [data['previous_tier']!, data['tier']!, data['active_referrals']!] as const,
        ),
      };
    },
    async close() {
      await owner.end();
      await pubSub.close();
      await database.close();
      await outgoing.close();
      await drop();
    },
  };
}
