import { UniqueConstraintViolationException } from '@mikro-orm/core';
import type { SqlEntityManager } from '@mikro-orm/postgresql';
import { ProblemError } from '../../../schema/problems.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import type { Plan } from '../../../schema/principal.ts';
import type { Uuid } from '../../../platform/identifiers.ts';
import type { Tier } from '../../../schema/value-lists.ts';

/** An operator: the tenant that everything else belongs to. At least one of the two names is given. */
export interface NewAccount {
  readonly accountId: Uuid;
  readonly operatorId: string | null;
  readonly operatorEmail: string | null;
  /** What the operator is called in lists. */
  readonly name?: string;
  /** `pay_per_analysis` when nothing is said. */
  readonly plan?: Plan;
  /** Tier of the account's agent; absent without one. */
  readonly tier?: Tier;
  /** Agreed with this account; plan and tier decide where it is absent. */
  readonly requestsPerMinute?: number;
  readonly requestsPerDay?: number;
}

/**
 * Creates an account inside the transaction of its own tenant.
 * @throws ProblemError `conflict` / `operator_already_registered` when either name is taken.
 */
export async function createAccount(em: SqlEntityManager, account: NewAccount): Promise<void> {
  try {
    await em.execute(
      `insert into auth.accounts (account_id, operator_id, operator_email, name, plan, tier, requests_per_minute, ` +
        `requests_per_day) values (?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        account.accountId,
        account.operatorId,
        account.operatorEmail?.toLowerCase() ?? null,
        account.name ?? null,
        account.plan ?? 'pay_per_analysis',
        account.tier ?? null,
        account.requestsPerMinute ?? null,
        account.requestsPerDay ?? null,
      ],
    );
  } catch (error) {
    if (!(error instanceof UniqueConstraintViolationException)) throw error;
    throw new ProblemError(
      'conflict',
      'This operator has registered already. Use its key, or register under another operator.',
      { code: 'operator_already_registered', cause: error },
    );
  }
}

/** Holds the account to the end of the transaction, so that changes of its keys happen one after the other. */
export async function lockAccount(em: SqlEntityManager, accountId: string): Promise<{ readonly plan: Plan }> {
  const [account] = await em.execute<{ plan: Plan }[]>(
    `select plan from auth.accounts where account_id = ? for no key update`,
    [accountId],
  );
  if (account === undefined) throw new Error(`there is no account ${accountId}`);
  return account;
}

/** The plan that an account is on, by which its calls are limited, too. */
export async function planOf(database: Database, accountId: Uuid): Promise<Plan> {
  const [account] = await database.askAs<{ plan: Plan }>(accountId, {
    name: 'accounts.plan',
    text: 'select plan from auth.accounts where account_id = $1',
    values: [accountId],
  });
  if (account === undefined) throw new Error(`there is no account ${accountId}`);
  return account.plan;
}

/** The same, inside a transaction of the account's tenant. */
export async function planIn(em: SqlEntityManager, accountId: Uuid): Promise<Plan> {
  const [account] = await em.execute<{ plan: Plan }[]>(`select plan from auth.accounts where account_id = ?`, [
    accountId,
  ]);
  if (account === undefined) throw new Error(`there is no account ${accountId}`);
  return account.plan;
}

/** Puts an account on another plan: from now on, what it completes costs what that plan says. */
export async function changePlan(em: SqlEntityManager, accountId: string, plan: Plan): Promise<void> {
  await em.execute(`update auth.accounts set plan = ? where account_id = ?`, [plan, accountId]);
}

/** Puts the account's agent on another tier; its next call is limited by that. */
export async function changeTier(em: SqlEntityManager, accountId: string, tier: Tier): Promise<void> {
  await em.execute(`update auth.accounts set tier = ? where account_id = ?`, [tier, accountId]);
}
