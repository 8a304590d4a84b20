import { recordEvent } from '../../../services/events/outbox.ts';
import { newUuid, publicId, type Uuid } from '../../../platform/identifiers.ts';
import { wholeAccount, type Database, type SqlEntityManager } from '../../../platform/postgres/database.ts';
import type { PubSub } from '../../../platform/postgres/pub-sub.ts';
import type { Beneficiary } from '../commissions/append-commission.ts';
import { post } from '../ledger/ledger.ts';

export interface PayoutServices {
  readonly database: Database;
  readonly pubSub: PubSub;
}

/**
 * The first day of the month whose payday was the last, by the clock of the database. Payday is the first of the month,
 * two o'clock UTC (decisions of the contract, §7).
 */
export async function payoutMonth(database: Database): Promise<string> {
  const [row] = await database.asNobody((em) =>
    em.execute<[{ month: string }]>(
      `select to_char((auth.clock() - interval '2 hours') at time zone 'UTC', 'YYYY-MM-01') as month`,
    ),
  );
  return row.month;
}

/** What was paid to whom. */
export interface Payout extends Beneficiary {
  readonly payoutId: Uuid;
  readonly currency: string;
  readonly amountCents: bigint;
  readonly commissionIds: readonly Uuid[];
}

/**
 * Pays every agent what could be paid before the first of the month, in each currency once a month and each agent in a
 * transaction of its own: a second run of a month finds nothing left. Where more was taken back than earned, the rest
 * waits for the next month. Suspended agents wait. To be run after referrals have ended, whose commissions are not
 * paid.
 * @param month its first day, UTC, such as `2026-02-01`
 */
export async function payOut(services: PayoutServices, month: string): Promise<Payout[]> {
  const { database } = services;
  const waiting = await database.asNobody((em) =>
    em.execute<{ account_id: Uuid; agent_id: Uuid }[]>(`select * from billing.agents_to_pay(?::timestamptz)`, [
      `${month}T00:00:00Z`,
    ]),
  );
  const paid: Payout[] = [];
  for (const { account_id: accountId, agent_id: agentId } of waiting) {
    paid.push(
      ...(await database.asTenant(wholeAccount({ accountId, environment: 'live' }), (em) =>
        payAgent(em, services, { accountId, agentId }, month),
      )),
    );
  }
  return paid;
}

async function payAgent(
  em: SqlEntityManager,
  { pubSub }: PayoutServices,
  agent: Beneficiary,
  month: string,
): Promise<Payout[]> {
  // One payday of an agent at a time. Entries may come meanwhile: what can be paid is not taken back any more.
  await em.execute(`select pg_advisory_xact_lock(hashtextextended('payout:' || ?, 0))`, [agent.agentId]);
  const [standing] = await em.execute<[{ payable: boolean }]>(`select agents.may_be_paid(?::uuid) as payable`, [
    agent.agentId,
  ]);
  if (!standing.payable) return [];
  const due = await em.execute<{ currency: string; cents: string; ids: Uuid[] }[]>(
    `select c.currency, sum(c.amount_cents) as cents, array_agg(c.id order by c.sequence) as ids
     from billing.commissions c
     where c.agent_id = ? and c.payable_at < ?::timestamptz and c.reverses is null
       and not exists (select from billing.commissions taken where taken.reverses = c.id)
       and not exists (select from billing.paid_commissions paid where paid.commission_id = c.id)
       and not exists (select from billing.payouts before where before.agent_id = c.agent_id
         and before.month = ?::date and before.currency = c.currency)
     group by c.currency having sum(c.amount_cents) > 0 order by c.currency`,
    [agent.agentId, `${month}T00:00:00Z`, month],
  );
  const payouts = due.map(({ currency, cents, ids }): Payout => ({
    ...agent,
    payoutId: newUuid(),
    currency,
    amountCents: BigInt(cents),
    commissionIds: ids,
  }));
  for (const payout of payouts) await store(em, payout, month);
  for (const payout of payouts) await announce(em, pubSub, payout);
  return payouts;
}

async function store(em: SqlEntityManager, payout: Payout, month: string): Promise<void> {
  const { payoutId, accountId, agentId, currency, amountCents, commissionIds } = payout;
  await em.execute(
    `insert into billing.payouts (id, account_id, agent_id, month, currency, amount_cents)
     values (?, ?, ?, ?, ?, ?)`,
    [payoutId, accountId, agentId, month, currency, String(amountCents)],
  );
  await em.execute(
    `insert into billing.paid_commissions (commission_id, account_id, payout_id)
     select value::uuid, ?, ? from jsonb_array_elements_text(?::jsonb)`,
    [accountId, payoutId, JSON.stringify(commissionIds)],
  );
  await post(em, accountId, { key: `payout:${payoutId}`, debit: 'payable', credit: 'cash', amountCents, currency });
}

/** The longest list that a message of 20 KB has room for; the whole stands in `GET /commissions`. */
const LISTED = 400;

async function announce(em: SqlEntityManager, pubSub: PubSub, payout: Payout): Promise<void> {
  const { payoutId, accountId, agentId, currency, amountCents, commissionIds } = payout;
  const [row] = await em.execute<[{ paid: string }]>(
    `select to_jsonb(paid_at) #>> '{}' as paid from billing.payouts where id = ?`,
    [payoutId],
  );
  await recordEvent(em, pubSub, {
    accountId,
    environment: 'live',
    type: 'commission.paid',
    subject: publicId('agent', agentId),
    data: {
      payout_id: payoutId,
      amount_cents: Number(amountCents),
      currency,
      commission_ids: commissionIds.slice(0, LISTED).map((id) => publicId('com', id)),
      commissions_count: commissionIds.length,
      paid_at: new Date(row.paid).toISOString(),
    },
  });
}
