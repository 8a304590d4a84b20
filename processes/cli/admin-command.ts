import { z } from 'zod';
import { AccountDirectory, type AccountRecord } from '../../services/identity/accounts/account-directory.ts';
import { UNBOUND } from '../../services/identity/keys/key-bond.ts';
import { KeyStore, type IssuedKeyPair } from '../../services/identity/keys/key-store.ts';
import { openAccount } from '../../services/identity/opening/open-account.ts';
import type { Plan, Scope } from '../../schema/principal.ts';
import { recordAuditEvent } from '../../services/audit/audit-event.ts';
import { newRequestId, publicId } from '../../platform/identifiers.ts';
import { openDatabase, type Database } from '../../platform/postgres/database.ts';
import { ProblemError } from '../../schema/problems.ts';
import { createLogger } from '../../platform/telemetry/logs.ts';
import { printable } from '../../report/terminal-text.ts';
import { planOfNewcomers } from '../config/config.ts';
import { BadInputError } from './bad-input-error.ts';
import { withInstallation, type Installation } from './installation.ts';

interface Limits {
  readonly requestsPerMinute?: number;
  readonly requestsPerDay?: number;
}

export interface NewAccountOptions extends Limits {
  readonly email: string;
  /** Where nothing is said, what the service puts newcomers on. */
  readonly plan?: Plan;
  readonly name?: string;
  readonly json?: true;
}

export interface NewKeyOptions {
  readonly account: string;
  readonly name?: string;
  readonly scopes?: readonly Scope[];
  readonly json?: true;
}

/** `liftgraph admin account create`. */
export async function createAccountByAdmin({ json, email, plan: asked, ...account }: NewAccountOptions): Promise<void> {
  if (!z.email().max(320).safeParse(email).success) throw new BadInputError(`${email} is not an e-mail address.`);
  await withInstallation(async (installation) => {
    const plan = asked ?? planOfNewcomers(installation.config.billing);
    const opened = withKeys(installation, (database, keys) =>
      openAccount({ database, keys, context: { requestId: newRequestId() } }, { email, plan, ...account }),
    );
    const { accountId, pair } = await opened.catch((error: unknown) => {
      if (!(error instanceof ProblemError && error.type === 'conflict')) throw error;
      throw new BadInputError(
        `There is an account of ${email} already. Another pair of keys for it: npx liftgraph admin key create ` +
          `--account ${email}`,
        { cause: error },
      );
    });
    showPair(installation, pair, { account_id: accountId, email, plan }, json);
  });
}

/** `liftgraph admin account list`. */
export async function listAccounts({ json }: { readonly json?: true }): Promise<void> {
  await withInstallation(async ({ urls }) => {
    await using directory = await AccountDirectory.open(urls.ownerUrl);
    const accounts = await directory.list();
    if (json === true) process.stdout.write(`${JSON.stringify(accounts.map(asJson), undefined, 2)}\n`);
    else for (const account of accounts) process.stdout.write(`${lineOf(account)}\n`);
    if (accounts.length === 0)
      process.stderr.write(
        'There is no account yet. Make one: npx liftgraph admin account create --email you@example.com\n',
      );
  });
}

/** `liftgraph admin account set-plan <account> <plan>`. */
export async function setPlan(
  reference: string,
  plan: Plan,
  { requestsPerMinute, requestsPerDay }: Limits,
): Promise<void> {
  await withInstallation(async ({ urls }) => {
    await using directory = await AccountDirectory.open(urls.ownerUrl);
    const { accountId } = await requireAccount(directory, reference);
    await directory.setPlan(accountId, plan, {
      requestsPerMinute: requestsPerMinute ?? null,
      requestsPerDay: requestsPerDay ?? null,
    });
    process.stdout.write(`${lineOf(await requireAccount(directory, accountId))}\n`);
  });
}

/** `liftgraph admin key create`. */
export async function createKeyByAdmin({ account: reference, name, scopes, json }: NewKeyOptions): Promise<void> {
  await withInstallation(async (installation) => {
    const { accountId, agentId, operatorEmail, plan } = await withDirectory(installation, (directory) =>
      requireAccount(directory, reference),
    );
    const pair = await withKeys(installation, (database, keys) =>
      database.asTenant(accountId, async (em) => {
        const made = await keys.createPair(em, {
          accountId,
          agentId,
          bond: UNBOUND,
          name: name ?? null,
          ...(scopes === undefined ? {} : { scopes }),
        });
        await recordAuditEvent(
          em,
          { requestId: newRequestId() },
          {
            accountId,
            type: 'agent.scope_changed',
            actor: { type: 'system', id: null },
            target: { type: 'key_pair', id: publicId('kp', made.keyPairId) },
            outcome: 'success',
            environment: 'live',
            details: {
              change: 'key_pair_created',
              key_ids: [publicId('key', made.live.id), publicId('key', made.test.id)],
              scopes: scopes ?? 'all',
            },
          },
        );
        return made;
      }),
    );
    showPair(installation, pair, { account_id: accountId, email: operatorEmail, plan }, json);
  });
}

async function withDirectory<T>({ urls }: Installation, work: (directory: AccountDirectory) => Promise<T>): Promise<T> {
  await using directory = await AccountDirectory.open(urls.ownerUrl);
  return await work(directory);
}

async function withKeys<T>(
  { urls, keyPepper }: Installation,
  work: (database: Database, keys: KeyStore) => Promise<T>,
): Promise<T> {
  const pepper = keyPepper();
  const database = await openDatabase({
    url: urls.applicationUrl,
    entities: [],
    applicationName: 'liftgraph-admin',
    poolMax: 2,
    logger: createLogger({ level: 'silent', format: 'json' }),
  });
  try {
    return await work(database, new KeyStore(database, pepper));
  } finally {
    await database.close();
  }
}

async function requireAccount(directory: AccountDirectory, reference: string): Promise<AccountRecord> {
  const account = await directory.find(reference);
  if (account === undefined)
    throw new BadInputError(`There is no account ${reference}. npx liftgraph admin account list shows all.`);
  return account;
}

function showPair(
  { config }: Installation,
  { keyPairId, live, test }: IssuedKeyPair,
  account: Readonly<Record<string, string | null>>,
  json: true | undefined,
): void {
  if (json === true) {
    const shown = ({ id, secret }: typeof live) => ({ id: publicId('key', id), key: secret });
    const pair = { key_pair_id: publicId('kp', keyPairId), live: shown(live), test: shown(test) };
    process.stdout.write(`${JSON.stringify({ ...account, ...pair }, undefined, 2)}\n`);
    return;
  }
  const told = Object.values(account)
    .filter((value) => value !== null)
    .join('  ');
  process.stdout.write(
    `${[
      `account   ${told}`,
      `live key  ${live.secret}`,
      `test key  ${test.secret}`,
      '',
      'Keep them now: they are shown this once, and whoever has them acts for this account.',
      'See that the live key works:',
      '',
      `  curl -sS ${config.publicBaseUrl}/keys -H 'Authorization: Bearer ${live.secret}'`,
    ].join('\n')}\n`,
  );
}

function lineOf({
  accountId,
  operatorEmail,
  operatorId,
  name,
  plan,
  tier,
  requestsPerMinute,
  requestsPerDay,
  workingKeys,
  createdAt,
}: AccountRecord): string {
  const kind = tier === null ? 'people' : `agent, ${tier}`;
  const details = [
    requestsPerMinute === null ? [] : `${requestsPerMinute}/min`,
    requestsPerDay === null ? [] : `${requestsPerDay}/day`,
    `${workingKeys} ${workingKeys === 1 ? 'key' : 'keys'}`,
    `since ${createdAt.toISOString().slice(0, 10)}`,
  ].flat();
  // Whoever registers names itself.
  const who = printable([operatorEmail ?? operatorId, name].filter((part) => part !== null).join(', '));
  return `${accountId}  ${plan.padEnd(16)}  ${kind.padEnd(17)}  ${details.join(', ')}  ${who}`;
}

function asJson({
  accountId,
  operatorEmail,
  operatorId,
  name,
  plan,
  tier,
  agentId,
  requestsPerMinute,
  requestsPerDay,
  workingKeys,
  createdAt,
}: AccountRecord): object {
  return {
    account_id: accountId,
    operator_email: operatorEmail,
    operator_id: operatorId,
    name,
    plan,
    tier,
    agent_id: agentId === null ? null : publicId('agent', agentId),
    requests_per_minute: requestsPerMinute,
    requests_per_day: requestsPerDay,
    working_keys: workingKeys,
    created_at: createdAt.toISOString(),
  };
}
