import { checkBooks } from '../../subgraphs/billing/books/check-books.ts';
import { closeMonths } from '../../subgraphs/billing/invoices/close-months.ts';
import { payOut, payoutMonth } from '../../subgraphs/billing/payouts/pay-out.ts';
import { endAgent } from '../../subgraphs/agents/registry/end-agent.ts';
import { newRequestId, publicId } from '../../platform/identifiers.ts';
import { openDatabase, wholeAccount, type Database } from '../../platform/postgres/database.ts';
import { createPubSub, type PubSub } from '../../platform/postgres/pub-sub.ts';
import { createLogger } from '../../platform/telemetry/logs.ts';
import { AccountDirectory } from '../../services/identity/accounts/account-directory.ts';
import { auditLog, auditPlaces } from '../audit-services.ts';
import { endReferrals } from '../end-referrals.ts';
import { BadInputError } from './bad-input-error.ts';
import { withInstallation, type Installation } from './installation.ts';

/** Exit codes of `books check`, in the manner of grep. */
const AGREES = 0;
const DISAGREES = 1;

/** Adding up years of business takes longer than answering a request. */
const TIMEOUT_MS = 600_000;

interface Opened {
  readonly database: Database;
  readonly pubSub: PubSub;
}

/** `liftgraph admin books check`: adds everything up again. Returns the exit code. */
export async function runBooksCheck({ json }: { readonly json?: true }): Promise<number> {
  let code = AGREES;
  await onDatabase(async ({ database }, { config, keyPepper }) => {
    const log = auditLog(database, keyPepper(), auditPlaces(config));
    const { disagreements, chains } = await checkBooks({ database, auditLog: log });
    if (disagreements.length > 0) code = DISAGREES;
    if (json === true)
      return print(
        JSON.stringify({ agrees: disagreements.length === 0, ledgers: chains, disagreements }, undefined, 2),
      );
    for (const { check, subject } of disagreements) print(`${check.padEnd(12)}${subject}`);
    print(
      disagreements.length === 0
        ? `The books agree: balances, fees, commissions, payouts, and ${chains} commission ledgers with their hashes.`
        : `THE BOOKS DISAGREE in ${disagreements.length} places. Keep a copy of the database before anything else.`,
    );
  });
  return code;
}

/** `liftgraph admin invoice close-months`. */
export async function runMonthClose(): Promise<void> {
  await onDatabase(async (opened) => {
    const { made, late } = await closeMonths(opened);
    print(`${made} invoices were made, ${late} are past due since now.`);
  });
}

/** `liftgraph admin payout`: ends referrals whose agents are gone, then pays what could be paid before the first. */
export async function runPayout({ json }: { readonly json?: true }): Promise<void> {
  await onDatabase(async ({ database, pubSub }, { config }) => {
    const ended = await endReferrals(database, { pubSub, tierTable: config.tierTable });
    const month = await payoutMonth(database);
    const payouts = await payOut({ database, pubSub }, month);
    const shown = payouts.map(({ agentId, currency, amountCents, commissionIds }) => ({
      agent_id: publicId('agent', agentId),
      currency,
      amount_cents: Number(amountCents),
      commissions: commissionIds.length,
    }));
    if (json === true) return print(JSON.stringify({ month, referrals_ended: ended, payouts: shown }, undefined, 2));
    for (const { agent_id: agent, currency, amount_cents: cents, commissions } of shown)
      print(`${agent}  ${(cents / 100).toFixed(2)} ${currency}  ${commissions} commissions`);
    print(`${payouts.length} payouts for the first of ${month.slice(0, 7)}; ${ended} referrals ended.`);
  });
}

/** `liftgraph admin agent suspend`: for fraud. */
export async function suspendAgent(reference: string, { reason }: { readonly reason: string }): Promise<void> {
  await onDatabase(async ({ database, pubSub }, { config, urls }) => {
    await using directory = await AccountDirectory.open(urls.ownerUrl);
    const account = await directory.find(reference);
    if (account === undefined || account.agentId === null)
      throw new BadInputError(
        `There is no agent of an account ${reference}. npx liftgraph admin account list shows all accounts.`,
      );
    const { accountId, agentId } = { accountId: account.accountId, agentId: account.agentId };
    await database.asTenant(wholeAccount({ accountId, environment: 'live' }), (em) =>
      endAgent(em, { requestId: newRequestId() }, { accountId, agentId }, 'suspended', null, reason),
    );
    const ended = await endReferrals(database, { pubSub, tierTable: config.tierTable });
    print(
      `${publicId('agent', agentId)} is suspended: its keys have ended, it is not paid, and ${ended} referrals have ` +
        `ended with their commissions of the last 90 days.`,
    );
  });
}

async function onDatabase(work: (opened: Opened, installation: Installation) => Promise<void>): Promise<void> {
  await withInstallation(async (installation) => {
    const logger = createLogger({ level: 'silent', format: 'json' });
    const url = installation.urls.applicationUrl;
    const database = await openDatabase({
      url,
      entities: [],
      applicationName: 'liftgraph-admin',
      poolMax: 2,
      logger,
      timeoutMs: TIMEOUT_MS,
    });
    const pubSub = await createPubSub({ url, database, logger });
    try {
      await work({ database, pubSub }, installation);
    } finally {
      await pubSub.close();
      await database.close();
    }
  });
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
