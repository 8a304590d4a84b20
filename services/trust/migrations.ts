import type { MigrationOwner } from '../../platform/postgres/migrate.ts';

/**
 * Owner `trust`: the keys that results are signed with, and the addresses that results were signed for. Both belong to
 * the installation, not to a tenant. Private keys are sealed, and wiped when their key is retired or revoked.
 */
export const trustOwner: MigrationOwner = {
  schema: 'trust',
  migrations: [
    {
      name: '001-signing-keys',
      up: [
        `create table trust.signing_keys (
           kid text primary key,
           environment text not null check (environment in ('live', 'sandbox')),
           status text not null check (status in ('next', 'current', 'retired', 'revoked')),
           x text not null,
           sealed_private_key bytea,
           created_at timestamptz(3) not null default now(),
           current_since timestamptz(3),
           ended_at timestamptz(3),
           check ((status in ('next', 'current')) = (sealed_private_key is not null)),
           check ((status in ('next', 'current')) = (ended_at is null))
         )`,
        `create unique index signing_keys_in_use on trust.signing_keys (environment, status) where status in ` +
          `('next', 'current')`,
        `create table trust.issuers (
           issuer text primary key,
           first_used timestamptz(3) not null default now()
         )`,
        `revoke delete on trust.signing_keys, trust.issuers from liftgraph_app`,
      ],
    },
  ],
};
