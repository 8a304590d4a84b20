import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuditLog } from '../../../../services/audit/audit-log.ts';
import { newUuid } from '../../../../platform/identifiers.ts';
import { auditLog } from '../../../../processes/audit-services.ts';
import { checkBooks } from '../../../../subgraphs/billing/books/check-books.ts';
import { CommissionChainChecker, type ChainPlace } from '../../../../subgraphs/billing/commissions/commission-chain.ts';
import {
  COMMISSION_COLUMNS,
  commissionOf,
  GENESIS_HASH,
  ledgerHashOf,
  type CommissionRow,
} from '../../../../subgraphs/billing/commissions/commission-entry.ts';
import { openEconomy, type Economy, type Member } from '../economy.ts';

let economy: Economy;
let log: AuditLog;
let agent: Member;
let witness: ChainPlace;
beforeAll(async () => {
  economy = await openEconomy();
  const places = { headsFile: join(tmpdir(), `heads-${newUuid()}`), archiveDirectory: tmpdir() };
  log = auditLog(economy.database, randomBytes(32), places);
  // Of its ledger each row is looked at: it has entries that were taken back, too.
  agent = await economy.agent();
  const referred = await economy.agent(agent);
  const brand = await economy.brand();
  await economy.clock.stop();
  for (const cents of [100_000, 40_000, 90_000, 7_000]) await economy.analyse(brand, referred, cents);
  await economy.analyse(brand, referred, 5_000, { data: { currency: 'EUR' } });
  await economy.clock.stop('40 days');
  await economy.setStatus(referred, 'closed');
  await economy.churn();
  await economy.payOut('2200-01-01');
  await economy.clock.run();
  const { entries } = await log.list(agent.accountId, { eventType: 'commission.created' }, 1, 0);
  const { sequence, ledger_hash: hash } = entries[0]!.details as { sequence: number; ledger_hash: string };
  witness = { sequence, hash };
});
afterAll(() => economy?.close());

const TABLES = [
  'charges',
  'transfers',
  'ledger_accounts',
  'commissions',
  'commission_chains',
  'payouts',
  'paid_commissions',
];

/** What is found after tampering past every trigger, as whoever owns the server could; nothing of it stays. */
async function tampered(sql: string): Promise<string[]> {
  const client = await economy.owner.connect();
  try {
    await client.query('begin');
    for (const table of TABLES) await client.query(`alter table billing.${table} disable trigger user`);
    await client.query(sql);
    const { rows: wrong } = await client.query<{ check_name: string }>('select check_name from billing.check_books()');
    const { rows: heads } = await client.query<ChainPlace>(
      'select sequence, hash from billing.commission_chains where agent_id = $1 and account_id = $2',
      [agent.agentId, agent.accountId],
    );
    const { rows } = await client.query<CommissionRow>(
      `select ${COMMISSION_COLUMNS} from billing.commissions c where agent_id = $1 order by c.sequence`,
      [agent.agentId],
    );
    const checker = new CommissionChainChecker(witness);
    for (const row of rows) checker.take(commissionOf(row));
    const { intact } = checker.finish(heads[0] ?? null);
    return [...new Set([...wrong.map(({ check_name: name }) => name), ...(intact ? [] : ['chain'])])];
  } finally {
    await client.query('rollback');
    client.release();
  }
}

test('books that nobody touched agree', async () => {
  const { disagreements, chains } = await checkBooks({ database: economy.database, auditLog: log });
  expect([disagreements, chains]).toEqual([[], 2]);
  expect(await tampered('select 1')).toEqual([]);
});

const OTHER: Readonly<Record<string, (column: string) => string>> = {
  uuid: () => 'gen_random_uuid()',
  text: (column) => `case when ${column} ~ '^[A-Z]{3}$' then 'XXX' else ${column} || 'x' end`,
  int8: (column) => `${column} + 1`,
  int4: (column) => `${column} + 100`,
  timestamptz: (column) => `${column} + interval '1 millisecond'`,
};

test('any altered value of any row of ledger and commissions is found', async () => {
  const { rows: columns } = await economy.owner.query<{ table: string; column: string; type: string }>(
    `select table_name as table, column_name as column, udt_name as type from information_schema.columns
     where table_schema = 'billing'
       and table_name in ('transfers', 'ledger_accounts', 'commissions', 'commission_chains')
       -- When an account was opened says nothing of money; and a closed one is one all the same.
       and column_name not in ('opened_at', 'closed_at')`,
  );
  expect(columns.length).toBeGreaterThan(30);
  await economy.owner.query('alter table billing.commissions drop constraint commissions_type_check');
  const missed: string[] = [];
  for (const { table, column, type } of columns) {
    const key = { transfers: 'key', ledger_accounts: 'id', commissions: 'id', commission_chains: 'agent_id' }[table]!;
    // One row, which has a value there: of the agent that the chain is checked of.
    const own = table === 'commissions' || table === 'commission_chains' ? `and agent_id = '${agent.agentId}'` : '';
    const one = `(select ${key} from billing.${table} where ${column} is not null ${own} limit 1)`;
    const others = await tampered(
      `set constraints all deferred;
       update billing.${table} set ${column} = ${OTHER[type]!(column)} where ${key} = ${one}`,
    ).catch((error: Error) => [`refused: ${error.message}`]);
    if (others.length === 0) missed.push(`${table}.${column}`);
  }
  expect(missed).toEqual([]);
});

test.each([
  [
    'the tail of a chain cut off, its head set back',
    `
     delete from billing.commissions where agent_id = AGENT
       and sequence = (select max(sequence) from billing.commissions where agent_id = AGENT);
     update billing.commission_chains set (sequence, hash) = (select sequence, ledger_hash from billing.commissions
       where agent_id = AGENT order by sequence desc limit 1) where agent_id = AGENT`,
  ],
  [
    'two entries swapped',
    `update billing.commissions set sequence = 1000 where agent_id = AGENT and sequence = 1;
     update billing.commissions set sequence = 1 where agent_id = AGENT and sequence = 2;
     update billing.commissions set sequence = 2 where agent_id = AGENT and sequence = 1000`,
  ],
  ['a payout that pays less than its entries', `update billing.payouts set amount_cents = amount_cents - 1`],
  ['an entry that was paid and is not on the list', `delete from billing.paid_commissions`],
  [
    'a fee that is lower in charge and transfer',
    `
     update billing.charges set fee_cents = fee_cents - 1; update billing.transfers set amount_cents = amount_cents - 1
       where key like 'fee:%'`,
  ],
  [
    'a transfer for nothing',
    `insert into billing.transfers (account_id, key, debit, credit, amount_cents, currency)
     select account_id, 'fee:' || gen_random_uuid(), debit, credit, 5, currency from billing.transfers limit 1`,
  ],
])('%s is found', async (_, sql) => {
  expect(await tampered(sql.replaceAll('AGENT', `'${agent.agentId}'`))).not.toEqual([]);
});

test('a chain that was hashed anew, head and all, is not the one that the audit log has seen', async () => {
  const { rows } = await economy.owner.query<CommissionRow>(
    `select ${COMMISSION_COLUMNS} from billing.commissions c where agent_id = $1 order by c.sequence`,
    [agent.agentId],
  );
  const forge = (seen: ChainPlace | null): boolean => {
    const checker = new CommissionChainChecker(seen);
    let previousHash = GENESIS_HASH;
    let sequence = 0;
    for (const entry of rows.map(commissionOf)) {
      const forged = { ...entry, amountCents: entry.amountCents + 1, previousHash };
      previousHash = ledgerHashOf(forged);
      sequence = entry.sequence;
      checker.take({ ...forged, ledgerHash: previousHash });
    }
    return checker.finish({ sequence, hash: previousHash }).intact;
  };
  expect([forge(null), forge(witness)]).toEqual([true, false]);
});
