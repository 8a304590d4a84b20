import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { authOwner } from '../services/identity/migrations.ts';
import { eventsOwner } from '../services/event-migrations.ts';
import { newUuid } from '../platform/identifiers.ts';
import { openDatabase, wholeAccount } from '../platform/postgres/database.ts';
import { startEmbeddedPostgres } from '../platform/postgres/embedded-server.ts';
import { migrate } from '../platform/postgres/migrate.ts';
import { createPubSub, pubSubOwner } from '../platform/postgres/pub-sub.ts';
import { createLogger } from '../platform/telemetry/logs.ts';
import { agentsOwner } from '../subgraphs/agents/migrations.ts';
import { appendCommission } from '../subgraphs/billing/commissions/append-commission.ts';
import { post } from '../subgraphs/billing/ledger/ledger.ts';
import { billingOwner } from '../subgraphs/billing/migrations.ts';

/**
 * How fast the commission ledger of one agent grows, where each entry waits for the one before, beside a bare insert
 * and commit in the same run; and transfers between two accounts that everybody shares. Rounds by turns, medians.
 *   npm run bench commission-ledger [entries a round, default 200] [rounds, default 7]
 */
const [entries = 200, rounds = 7] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), 'liftgraph-bench-'));
chmodSync(folder, 0o711);
const logger = createLogger({ level: 'warn', format: 'pretty' });
const postgres = await startEmbeddedPostgres({ dataDir: folder, logger });
await migrate({
  ownerUrl: postgres.ownerUrl,
  owners: [pubSubOwner, authOwner, eventsOwner, agentsOwner, billingOwner],
});
const url = postgres.applicationUrl;
const database = await openDatabase({ url, entities: [], applicationName: 'bench', poolMax: 12, logger });
const pubSub = await createPubSub({ url, database, logger });
const owner = new Client({ connectionString: postgres.ownerUrl });
await owner.connect();

const agent = { accountId: newUuid(), agentId: newUuid() };
const scope = wholeAccount({ accountId: agent.accountId, environment: 'live' });
const KINDS: Readonly<Record<string, () => Promise<unknown>>> = {
  'bare insert and commit': () =>
    database.asTenant(scope, (em) => em.execute('insert into public.bare (id, entry) values (?, ?)', [newUuid(), 'x'])),
  'entry of one chain': () =>
    database.asTenant(scope, (em) =>
      appendCommission(em, pubSub, agent, {
        type: 'adjustment',
        sourceAgentId: agent.agentId,
        analysisId: null,
        amountCents: 100,
        currency: 'USD',
        deltaRCents: 2_000,
        rate: 500,
        reverses: null,
        waitsDays: 90,
      }),
    ),
  'transfer of two hot accounts': () =>
    database.asTenant(scope, (em) =>
      post(em, agent.accountId, {
        key: `fee:${newUuid()}`,
        debit: 'receivable',
        credit: 'fees',
        amountCents: 5n,
        currency: 'USD',
      }),
    ),
};

/** How many a second, one after the other, as entries of a chain are by their nature. */
async function rateOf(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  for (let done = 0; done < entries; done += 1) await work();
  return entries / ((performance.now() - startedMs) / 1000);
}

try {
  await owner.query('create table public.bare (id uuid primary key, entry text); grant all on public.bare to public');
  const rates = new Map<string, number[]>(Object.keys(KINDS).map((kind) => [kind, []]));
  for (let round = 0; round <= rounds; round += 1)
    for (const [kind, work] of Object.entries(KINDS)) {
      const rate = await rateOf(work);
      // The first round warms up.
      if (round > 0) rates.get(kind)!.push(rate);
    }
  const median = (values: readonly number[]): number =>
    values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
  const bare = median(rates.get('bare insert and commit')!);
  for (const [kind, values] of rates)
    process.stdout.write(
      `${kind.padEnd(32)}${Math.round(median(values)).toLocaleString('en').padStart(7)}/s  ` +
        `${(median(values) / bare).toFixed(2)} of bare\n`,
    );
} finally {
  await owner.end();
  await pubSub.close();
  await database.close();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
