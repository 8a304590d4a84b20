import type { AuditLog } from '../../../services/audit/audit-log.ts';
import type { Uuid } from '../../../platform/identifiers.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import { checkCommissionChain } from '../commissions/verify-commission.ts';

/** Something in the books that does not agree. */
export interface Disagreement {
  /** `balance`, `currency`, `transfer`, `reversal`, `fee`, `commission`, `payout`, `paid_twice` or `chain`. */
  readonly check: string;
  /** The row that it was found at. */
  readonly subject: string;
}

export interface BooksCheck {
  readonly disagreements: readonly Disagreement[];
  /** How many ledgers of agents were hashed again. */
  readonly chains: number;
}

/**
 * Adds the books up again and compares: each balance with its transfers, each transfer with the fee, commission or
 * payout that it is for and the other way round, each commission ledger with its hashes and with the audit log. Any
 * single row that was altered, added or taken out past the rules is found.
 */
export async function checkBooks(services: {
  readonly database: Database;
  readonly auditLog: AuditLog;
}): Promise<BooksCheck> {
  const { database } = services;
  const found = await database.asNobody(
    (em) => em.execute<{ check_name: string; subject: string }[]>(`select * from billing.check_books() order by 1, 2`),
    { isolation: 'repeatable read', timeoutMs: 600_000 },
  );
  const disagreements = found.map(({ check_name: check, subject }) => ({ check, subject }));
  const accounts = await database.asNobody((em) =>
    em.execute<{ account: Uuid }[]>(`select account from billing.commission_accounts() account`),
  );
  for (const { account } of accounts) {
    const { intact, firstBrokenSequence } = await checkCommissionChain(services, account);
    if (!intact) disagreements.push({ check: 'chain', subject: `${account} at entry ${firstBrokenSequence}` });
  }
  return { disagreements, chains: accounts.length };
}
