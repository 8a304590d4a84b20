import type { Migration } from '../../../platform/postgres/migrate.ts';
import { environmentTable, IN_WORKSPACE, narrowTenant, tenantTable } from '../../../platform/postgres/tenant-tables.ts';

/** How long the receipts of test keys are kept, as everything of the sandbox. */
const SANDBOX_DAYS = 30;

/**
 * The receipts of completed analyses, each made once. What a receipt says stands in it alone, so that nothing shown can
 * differ from what was signed.
 */
export const valueProofsMigration: Migration = {
  name: '010-value-proofs',
  up: [
    `alter table billing.charges add column model text`,
    `comment on column billing.charges.model is 'that was asked for; null for analyses charged before it was kept'`,
    `create index charges_by_time on billing.charges (account_id, charged_at)`,
    `create table billing.value_proofs (
       id uuid primary key,
       analysis_id uuid not null unique,
       account_id uuid not null,
       workspace_id uuid,
       environment text not null check (environment in ('live', 'sandbox')),
       signed_receipt text not null,
       created_at timestamptz(3) not null
     )`,
    `create index value_proofs_newest on billing.value_proofs (account_id, environment, created_at desc, id desc)`,
    ...tenantTable('billing.value_proofs'),
    ...environmentTable('billing.value_proofs'),
    narrowTenant('billing.value_proofs', IN_WORKSPACE),
    `revoke update, delete, truncate on billing.value_proofs from liftgraph_app`,
    `create function billing.refuse_change_of_proof() returns trigger language plpgsql as $$ begin
       if tg_op = 'DELETE' then
         if old.environment = 'sandbox' then return old; end if;
       end if;
       raise exception 'receipts are never changed or removed' using errcode = 'restrict_violation';
     end $$`,
    `create trigger append_only before update or delete on billing.value_proofs
       for each row execute function billing.refuse_change_of_proof()`,
    `create trigger never_emptied before truncate on billing.value_proofs
       for each statement execute function billing.refuse_change_of_proof()`,
    `create function billing.forget_old_sandbox_proofs() returns bigint
       language sql volatile security definer set search_path = billing, pg_temp
       as $$ with gone as (delete from value_proofs where environment = 'sandbox'
               and created_at < auth.clock() - interval '${SANDBOX_DAYS} days' returning 1)
             select count(*) from gone $$`,
  ],
};
