import type { MigrationOwner } from '../../platform/postgres/migrate.ts';
import { chargesMigration } from './fees/migration.ts';

/** Owner `billing`: what analyses have cost. */
export const billingOwner: MigrationOwner = { schema: 'billing', migrations: [chargesMigration] };
