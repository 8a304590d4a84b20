import { recordAuditEvent } from '../../../services/audit/audit-event.ts';
import { recordEvent } from '../../../services/events/outbox.ts';
import { newRequestId, newUuid, type Uuid } from '../../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';
import type { PubSub } from '../../../platform/postgres/pub-sub.ts';
import { post, type Transfer } from '../ledger/ledger.ts';
import { GENESIS_HASH, hashedEntry, ledgerHashOf, type Commission } from './commission-entry.ts';

/** Whose ledger it is. */
export interface Beneficiary {
  readonly accountId: Uuid;
  readonly agentId: Uuid;
}

/** An entry before it has its place in the chain. */
export type NewCommission = Omit<
  Commission,
  'id' | 'agentId' | 'sequence' | 'createdAt' | 'payableAt' | 'previousHash' | 'ledgerHash'
> & {
  /** Days until it can be paid. */
  readonly waitsDays: number;
};

/**
 * Appends an entry to the chain of an agent, whose account `em` acts for, posts its transfer, and tells the audit log
 * and whoever listens. The log is witness to the chain: its heads are signed outside of the database. Does this last in
 * the transaction, since it records an event.
 */
export async function appendCommission(
  em: SqlEntityManager,
  pubSub: PubSub,
  { accountId, agentId }: Beneficiary,
  { waitsDays, ...said }: NewCommission,
): Promise<Commission> {
  const id = newUuid();
  await post(em, accountId, transferOf(id, said));
  const [head] = await em.execute<[{ sequence: number; hash: string; now: string; later: string }]>(
    `insert into billing.commission_chains (agent_id, account_id, hash) values (?, ?, ?)
     on conflict (agent_id) do update set sequence = commission_chains.sequence
     returning sequence, hash, to_jsonb(auth.clock()::timestamptz(3)) #>> '{}' as now,
       to_jsonb((auth.clock() + make_interval(days => ?))::timestamptz(3)) #>> '{}' as later`,
    [agentId, accountId, GENESIS_HASH, waitsDays],
  );
  const unhashed = {
    ...said,
    id,
    agentId,
    sequence: head.sequence + 1,
    createdAt: new Date(head.now),
    payableAt: new Date(head.later),
    previousHash: head.hash,
  };
  const entry: Commission = { ...unhashed, ledgerHash: ledgerHashOf(unhashed) };
  await insert(em, accountId, entry);
  await tell(em, pubSub, accountId, entry);
  return entry;
}

/** What is taken back goes back to where it came from. */
function transferOf(
  id: Uuid,
  { amountCents, currency, reverses }: Pick<Commission, 'amountCents' | 'currency' | 'reverses'>,
): Transfer {
  const [debit, credit] =
    amountCents < 0 ? (['payable', 'commissions'] as const) : (['commissions', 'payable'] as const);
  return {
    key: `commission:${id}`,
    debit,
    credit,
    amountCents: BigInt(Math.abs(amountCents)),
    currency,
    ...(reverses === null ? {} : { reverses: `commission:${reverses}` }),
  };
}

async function insert(em: SqlEntityManager, accountId: Uuid, entry: Commission): Promise<void> {
  await em.execute(
    `with head as (
       update billing.commission_chains set sequence = ?, hash = ? where agent_id = ?
     )
     insert into billing.commissions (id, account_id, agent_id, sequence, type, source_agent_id, analysis_id,
         amount_cents, currency, delta_r_cents, rate, reverses, created_at, payable_at, previous_hash, ledger_hash)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      entry.sequence,
      entry.ledgerHash,
      entry.agentId,
      entry.id,
      accountId,
      entry.agentId,
      entry.sequence,
      entry.type,
      entry.sourceAgentId,
      entry.analysisId,
      entry.amountCents,
      entry.currency,
      entry.deltaRCents,
      entry.rate,
      entry.reverses,
      entry.createdAt.toISOString(),
      entry.payableAt.toISOString(),
      entry.previousHash,
      entry.ledgerHash,
    ],
  );
}

async function tell(em: SqlEntityManager, pubSub: PubSub, accountId: Uuid, entry: Commission): Promise<void> {
  const commission = { ...hashedEntry(entry), ledger_hash: entry.ledgerHash };
  await recordAuditEvent(
    em,
    { requestId: newRequestId() },
    {
      accountId,
      type: 'commission.created',
      actor: { type: 'system', id: null },
      target: { type: 'commission', id: commission.id },
      outcome: 'success',
      environment: 'live',
      details: {
        agent_id: commission.agent_id,
        type: entry.type,
        sequence: entry.sequence,
        ledger_hash: entry.ledgerHash,
        amount_cents: entry.amountCents,
        currency: entry.currency,
      },
    },
  );
  await recordEvent(em, pubSub, {
    accountId,
    environment: 'live',
    type: entry.amountCents < 0 ? 'commission.reversed' : 'commission.earned',
    // One chain is one subject: its entries are told in their order.
    subject: commission.agent_id,
    data: { commission },
  });
}
