import { Client } from 'pg';
import { newUuid } from '../../../../platform/identifiers.ts';
import { migrate } from '../../../../platform/postgres/migrate.ts';
import { agentsOwner } from '../../../../subgraphs/agents/migrations.ts';
import { createTestDatabase } from '../../../platform.ts';
import { REGISTRY_OWNERS } from './registry.ts';

test('agents that registered with a code before there were referrals have them', async () => {
  const before = { ...agentsOwner, migrations: agentsOwner.migrations.filter(({ name }) => name < '005') };
  const { ownerUrl, drop } = await createTestDatabase(
    REGISTRY_OWNERS.map((owner) => (owner === agentsOwner ? before : owner)),
  );
  const owner = new Client({ connectionString: ownerUrl });
  await owner.connect();
  try {
    const chain = Array.from({ length: 4 }, () => ({ id: newUuid(), accountId: newUuid() }));
    for (const [place, { id, accountId }] of chain.entries()) {
      await owner.query(
        `insert into agents.agents (id, account_id, name, operator_id, capabilities, referral_code, referred_by) ` +
          `values ($1, $2, 'old', $2::uuid::text, '{}', $1::uuid::text, $3)`,
        [id, accountId, chain[place - 1]?.id ?? null],
      );
    }
    expect(await migrate({ ownerUrl, owners: REGISTRY_OWNERS })).toContain('agents/005-referrals');
    const { rows } = await owner.query(
      `select referrer_id, account_id, referred_id, chain_depth, status from agents.referrals`,
    );
    const wanted = [
      [0, 1, 1],
      [1, 2, 1],
      [2, 3, 1],
      [0, 2, 2],
      [1, 3, 2],
    ].map(([referrer, referred, depth]) => ({
      referrer_id: chain[referrer!]!.id,
      account_id: chain[referrer!]!.accountId,
      referred_id: chain[referred!]!.id,
      chain_depth: depth,
      status: 'pending',
    }));
    expect(rows).toHaveLength(wanted.length);
    expect(rows).toEqual(expect.arrayContaining(wanted));
  } finally {
    await owner.end();
    await drop();
  }
});
