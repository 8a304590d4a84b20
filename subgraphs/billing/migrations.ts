import type { MigrationOwner } from '../../platform/postgres/migrate.ts';
import { commissionsMigration } from './commissions/migration.ts';
import { chargesMigration } from './fees/migration.ts';
import { ledgerMigration } from './ledger/migration.ts';
import { payoutsMigration } from './payouts/migration.ts';

/** Owner `billing`: what analyses have cost, and who owes whom. */
export const billingOwner: MigrationOwner = {
  schema: 'billing',
  migrations: [chargesMigration, ledgerMigration, commissionsMigration, payoutsMigration],
};
