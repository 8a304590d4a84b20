import { UniqueConstraintViolationException } from '@mikro-orm/core';
import type { SqlEntityManager } from '@mikro-orm/postgresql';
import { ProblemError } from '../../schema/problems.ts';
import type { Uuid } from '../identifiers.ts';

/** An operator: the tenant that everything else belongs to. At least one of the two names is given. */
export interface NewAccount {
  readonly accountId: Uuid;
  readonly operatorId: string | null;
  readonly operatorEmail: string | null;
}

/**
 * Creates an account inside the transaction of its own tenant.
 * @throws ProblemError `conflict` / `operator_already_registered` when either name is taken.
 */
export async function createAccount(em: SqlEntityManager, account: NewAccount): Promise<void> {
  try {
    await em.execute(`insert into auth.accounts (account_id, operator_id, operator_email) values (?, ?, ?)`, [account.accountId, account.operatorId, account.operatorEmail]);
  } catch (error) {
    if (!(error instanceof UniqueConstraintViolationException)) throw error;
    throw new ProblemError('conflict', 'This operator has registered already. Use its key, or register under another operator.', { code: 'operator_already_registered', cause: error });
  }
}
