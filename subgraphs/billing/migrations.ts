import type { MigrationOwner } from '../../platform/postgres/migrate.ts';
import { booksMigration } from './books/migration.ts';
import { planBooksMigration } from './books/plan-books-migration.ts';
import { commissionsMigration } from './commissions/migration.ts';
import { chargesMigration } from './fees/migration.ts';
import { invoicesMigration } from './invoices/migration.ts';
import { ledgerMigration } from './ledger/migration.ts';
import { payoutsMigration } from './payouts/migration.ts';
import { spendLimitsMigration } from './spend-limits/migration.ts';
import { subscriptionsMigration } from './subscriptions/migration.ts';
import { planChargesMigration } from './subscriptions/plan-charges-migration.ts';
import { valueProofsMigration } from './value-proofs/migration.ts';

/** Owner `billing`: what analyses and plans cost, receipts of it, who owes whom, and what accounts want to spend. */
export const billingOwner: MigrationOwner = {
  schema: 'billing',
  migrations: [
    chargesMigration,
    ledgerMigration,
    commissionsMigration,
    payoutsMigration,
    booksMigration,
    valueProofsMigration,
    planChargesMigration,
    spendLimitsMigration,
    subscriptionsMigration,
    planBooksMigration,
    invoicesMigration,
  ],
};
