import type { Uuid } from '../../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../../platform/postgres/database.ts';

/**
 * The kinds of ledger accounts. `receivable` is what a customer owes, `payable` what an agent is owed; each account has
 * its own. Those of the house say what it has earned by analyses (`fees`) and plans (`plan_fees`), what `commissions`
 * have cost, and what money came and went (`cash`).
 */
export const LEDGER_ACCOUNTS = ['receivable', 'payable', 'fees', 'plan_fees', 'commissions', 'cash'] as const;
export const HOUSE_ACCOUNTS = ['fees', 'plan_fees', 'commissions', 'cash'] as const;
export type LedgerAccount = (typeof LEDGER_ACCOUNTS)[number];

/** Currency of charges whose event did not name one. */
export const USUAL_CURRENCY = 'USD';

/** An amount that goes from one ledger account to another. */
export interface Transfer {
  /** What it is for, the same each time that it is tried: there is one transfer of a key. */
  readonly key: string;
  readonly debit: LedgerAccount;
  readonly credit: LedgerAccount;
  readonly amountCents: bigint;
  /** ISO 4217. */
  readonly currency: string;
  /** Key of the transfer that it takes back, all of it; a transfer is taken back once. */
  readonly reverses?: string;
}

/** A key was used before, for another transfer. */
export class KeyTakenError extends Error {
  override readonly name = 'KeyTakenError';
}

/**
 * Posts a transfer between accounts of `accountId`, which `em` acts for, and of the house. One that was posted before
 * is left as it is.
 * @throws KeyTakenError when another transfer has the key; what the database refuses besides (another currency, a
 * second reversal, a closed account) ends the transaction
 */
export async function post(em: SqlEntityManager, accountId: Uuid, transfer: Transfer): Promise<void> {
  const { key, debit, credit, amountCents, currency, reverses = null } = transfer;
  const legs = [accountId, debit, currency, accountId, credit, currency, String(amountCents), currency, reverses];
  const posted = await em.execute<object[]>(
    `insert into billing.transfers (key, account_id, debit, credit, amount_cents, currency, reverses)
     values (?, ?::uuid, billing.ledger_account(?::uuid, ?, ?), billing.ledger_account(?::uuid, ?, ?), ?::bigint, ?,
       ?)
     on conflict (key) do nothing returning key`,
    [key, accountId, ...legs],
  );
  if (posted.length > 0) return;
  // Another statement, so that it sees what a transaction has committed that this one had to wait for.
  const same = await em.execute<object[]>(
    `select from billing.transfers where key = ? and account_id = ?::uuid
       and debit = billing.ledger_account(?::uuid, ?, ?) and credit = billing.ledger_account(?::uuid, ?, ?)
       and amount_cents = ?::bigint and currency = ? and reverses is not distinct from ?`,
    [key, accountId, ...legs],
  );
  if (same.length === 0) throw new KeyTakenError(`another transfer has the key ${key}`);
}

/** Lets nothing but settlements happen to a ledger account of whoever `em` acts for, from now on, in any currency. */
export async function closeLedgerAccount(em: SqlEntityManager, kind: 'receivable' | 'payable'): Promise<void> {
  await em.execute(`select billing.close_ledger_account(?)`, [kind]);
}
