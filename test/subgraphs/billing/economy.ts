import { randomUUID } from 'node:crypto';
import { Pool } from 'pg';
import { pino } from 'pino';
import type { Plan } from '../../../schema/principal.ts';
import { createAccount } from '../../../services/identity/accounts/account-store.ts';
import { authOwner } from '../../../services/identity/migrations.ts';
import { eventsOwner } from '../../../services/event-migrations.ts';
import { newUuid, publicId, type Uuid } from '../../../platform/identifiers.ts';
import { openDatabase, wholeAccount, type Database } from '../../../platform/postgres/database.ts';
import { createPubSub, pubSubOwner, type PubSub } from '../../../platform/postgres/pub-sub.ts';
import { agentsOwner } from '../../../subgraphs/agents/migrations.ts';
import { accrueReferrals } from '../../../subgraphs/agents/referrals/accrue-referrals.ts';
import { churnReferrals } from '../../../subgraphs/agents/referrals/churn-referrals.ts';
import type { CommissionTerms, CommissionType } from '../../../subgraphs/billing/commissions/commission-rules.ts';
import { earnCommissions } from '../../../subgraphs/billing/commissions/earn-commissions.ts';
import { takeBackCommissions } from '../../../subgraphs/billing/commissions/take-back-commissions.ts';
import { isRepetition } from '../../../subgraphs/billing/fees/charge.ts';
import { chargeAnalyses } from '../../../subgraphs/billing/fees/charge-analyses.ts';
import { billingOwner } from '../../../subgraphs/billing/migrations.ts';
import { payOut, type Payout } from '../../../subgraphs/billing/payouts/pay-out.ts';
import { FrozenClock } from '../../frozen-clock.ts';
import { createTestDatabase, PATIENCE_MS } from '../../platform.ts';
import { ended, type Ending } from './fees/books.ts';

/** An agent and its account. */
export interface Member {
  readonly agentId: Uuid;
  readonly accountId: Uuid;
}

/** An entry of a commission ledger as it is stored. */
export interface StoredCommission {
  readonly id: Uuid;
  readonly type: CommissionType;
  readonly cents: number;
  readonly rate: number;
  readonly source: Uuid;
  readonly reverses: Uuid | null;
  readonly isPaid: boolean;
}

/** Agents, brands, fees and what they earn whom, on a database of its own and by the tables alone. */
export interface Economy {
  readonly database: Database;
  readonly pubSub: PubSub;
  readonly owner: Pool;
  readonly ownerUrl: string;
  /** For a process of its own. */
  readonly url: string;
  readonly clock: FrozenClock;
  /** A shop that pays. */
  brand(plan?: Plan): Promise<Uuid>;
  agent(referrer?: Member): Promise<Member>;
  /** An analysis that `payer` has run and `by` has served: what relaying its event does, in one transaction. */
  analyse(payer: Uuid, by: Member | null, deltaRCents: number, more?: Ending): Promise<Uuid>;
  setStatus(agent: Member, status: 'closed' | 'suspended' | 'active'): Promise<void>;
  /** Ends the referrals of agents that are gone. */
  churn(): Promise<number>;
  payOut(month: string): Promise<Payout[]>;
  /** In the order of the chain. */
  commissions(of: Member): Promise<readonly StoredCommission[]>;
  /** Debits less credits, of an account or of the house. */
  balance(of: Uuid | null, kind: string, currency?: string): Promise<bigint>;
  close(): Promise<void>;
}

export async function openEconomy(terms: Partial<CommissionTerms> = {}): Promise<Economy> {
  const logger = pino({ level: 'silent' });
  const owners = [pubSubOwner, authOwner, eventsOwner, agentsOwner, billingOwner];
  const { ownerUrl, applicationUrl: url, drop } = await createTestDatabase(owners);
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
  const tiers = { pubSub, tierTable: terms.tierTable ?? 'three' } as const;
  const consumers = [
    chargeAnalyses,
    accrueReferrals({ ...tiers, isRepetition }),
    earnCommissions({ ...tiers, decay: terms.decay ?? 'none' }),
  ];
  const open = async (plan: Plan, tier?: 'discovery'): Promise<Uuid> => {
    const accountId = newUuid();
    await database.asTenant(accountId, (em) =>
      createAccount(em, {
        accountId,
        operatorId: accountId,
        operatorEmail: null,
        plan,
        ...(tier === undefined ? {} : { tier }),
      }),
    );
    return accountId;
  };
  return {
    database,
    pubSub,
    owner,
    ownerUrl,
    url,
    clock: new FrozenClock(ownerUrl),
    brand: (plan = 'pay_per_analysis') => open(plan),
    async agent(referrer) {
      const [accountId, agentId] = [await open('pay_per_analysis', 'discovery'), newUuid()];
      await database.asTenant(accountId, async (em) => {
        await em.execute(
          `insert into agents.agents (id, account_id, name, operator_id, capabilities, referral_code, referred_by)
           values (?, ?, 'member', ?, '{attribution}', ?, ?)`,
          [agentId, accountId, accountId, `REF_${randomUUID()}`, referrer?.agentId ?? null],
        );
        await em.execute(`select agents.record_referrals(?::uuid)`, [agentId]);
      });
      return { agentId, accountId };
    },
    async analyse(payer, by, deltaRCents, more = {}) {
      const { id, ...event } = ended(payer, {
        ...more,
        deltaRCents,
        ...(by === null ? {} : { agentId: by.agentId }),
      });
      const recorded = { ...event, eventId: newUuid(), sequence: 1, position: 1, occurredAt: new Date() };
      await database.asTenant(wholeAccount(event), async (em) => {
        for (const consume of consumers) await consume(em, { ...recorded, workspaceId: null });
      });
      return id;
    },
    async setStatus({ agentId }, status) {
      await owner.query('update agents.agents set status = $2 where id = $1', [agentId, status]);
    },
    churn: () =>
      churnReferrals(database, {
        ...tiers,
        ended: async (em, referrer, referred) => void (await takeBackCommissions(em, pubSub, referrer, referred)),
      }),
    payOut: (month) => payOut({ database, pubSub }, month),
    async commissions({ agentId }) {
      const { rows } = await owner.query<StoredCommission & { cents: string }>(
        `select id, type, amount_cents as cents, rate, source_agent_id as source, reverses,
           exists (select from billing.paid_commissions where commission_id = c.id) as "isPaid"
         from billing.commissions c where agent_id = $1 order by sequence`,
        [agentId],
      );
      return rows.map((row) => ({ ...row, cents: Number(row.cents) }));
    },
    async balance(of, kind, currency = 'USD') {
      const { rows } = await owner.query<{ cents: string }>(
        `select balance_cents as cents from billing.ledger_accounts
         where account_id is not distinct from $1 and kind = $2 and currency = $3`,
        [of, kind, currency],
      );
      return BigInt(rows[0]?.cents ?? 0);
    },
    async close() {
      await owner.end();
      await pubSub.close();
      await database.close();
      await drop();
    },
  };
}

/** The public id of an agent. */
export const shown = ({ agentId }: Member): string => publicId('agent', agentId);
