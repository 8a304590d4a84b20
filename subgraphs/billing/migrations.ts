import type { MigrationOwner } from '../../platform/postgres/migrate.ts';
import { booksMigration } from './books/migration.ts';
import { commissionsMigration } from './commissions/migration.ts';
import { chargesMigration } from './fees/migration.ts';
import { ledgerMigration } from './ledger/migration.ts';
import { payoutsMigration } from './payouts/migration.ts';
import { valueProofsMigration } from './value-proofs/migration.ts';

/** Owner `billing`: what analyses have cost, the receipts of it, and who owes whom. */
export const billingOwner: MigrationOwner = {
  schema: 'billing',
  migrations: [
    chargesMigration,
    ledgerMigration,
    commissionsMigration,
    payoutsMigration,
    booksMigration,
    valueProofsMigration,
  ],
};
