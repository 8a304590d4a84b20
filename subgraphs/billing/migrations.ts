import type { MigrationOwner } from '../../platform/postgres/migrate.ts';
import { chargesMigration } from './fees/migration.ts';
import { valueProofsMigration } from './value-proofs/migration.ts';

/** Owner `billing`: what analyses have cost, and the receipts of it. */
export const billingOwner: MigrationOwner = { schema: 'billing', migrations: [chargesMigration, valueProofsMigration] };
