import type { MigrationOwner } from '../../platform/postgres/migrate.ts';
import { chargesMigration } from './fees/migration.ts';
import { spendLimitsMigration } from './spend-limits/migration.ts';
import { planChargesMigration } from './subscriptions/plan-charges-migration.ts';
import { valueProofsMigration } from './value-proofs/migration.ts';

/** Owner `billing`: what analyses and plans have cost, the receipts of it, and what accounts want to spend. */
export const billingOwner: MigrationOwner = {
  schema: 'billing',
  migrations: [chargesMigration, valueProofsMigration, planChargesMigration, spendLimitsMigration],
};
