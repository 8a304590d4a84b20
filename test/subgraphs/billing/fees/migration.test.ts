import { Client } from 'pg';
import { newUuid, type Uuid } from '../../../../platform/identifiers.ts';
import { migrate } from '../../../../platform/postgres/migrate.ts';
import { MIGRATION_OWNERS } from '../../../../processes/backing-services.ts';
import { billingOwner } from '../../../../subgraphs/billing/migrations.ts';
import { createTestDatabase } from '../../../platform.ts';

test('analyses from before there were charges cost nothing, and stay to the credit of who served them', async () => {
  const { ownerUrl, drop } = await createTestDatabase(
    MIGRATION_OWNERS.map((owner) => (owner === billingOwner ? { ...owner, migrations: [] } : owner)),
  );
  const owner = new Client({ connectionString: ownerUrl });
  await owner.connect();
  try {
    const [accountId, agentId, dataSourceId] = [newUuid(), newUuid(), newUuid()];
    await owner.query(
      `insert into attribution.data_sources (id, account_id, environment, type, name, baseline_channels, statistics,
         created_at) values ($1, $2, 'live', 'csv_upload', 'old', '{}', '{}', now())`,
      [dataSourceId, accountId],
    );
    const analysis = async (minute: number, result: object | null, digest: string | null, environment = 'live') => {
      const id = newUuid();
      await owner.query(
        `insert into attribution.attributions (id, account_id, agent_id, data_source_id, model, status, date_start,
           date_end, granularity, lookback_window_days, conversion_event, confidence_level, markov_order, environment,
           result, trust, created_at, completed_at)
         values ($1, $2, $3, $4, 'causal', $5, '2026-01-01', '2026-01-31', 'daily', 30, 'purchase', 0.95, 1, $6, $7, $8,
           now(), timestamptz '2026-02-01' + make_interval(mins => $9))`,
        [
          id,
          accountId,
          agentId,
          dataSourceId,
          result === null ? 'failed' : 'completed',
          environment,
          result,
          digest === null ? null : { trace: { inputsDigest: digest } },
          minute,
        ],
      );
      return id;
    };
    // The later ones are told first: the order is that of their ends.
    const again = await analysis(2, { currency: 'EUR', deltaRCents: 700 }, 'sha256:a');
    const first = await analysis(1, { currency: 'EUR', deltaRCents: 700 }, 'sha256:a');
    const vast = await analysis(3, { currency: 'EUR', deltaRCents: 2 ** 60 }, 'sha256:b');
    const deleted = await analysis(4, { deltaRCents: 30 }, null);
    await analysis(5, null, null);
    await analysis(6, { currency: 'USD', deltaRCents: 5_000 }, 'sha256:c', 'sandbox');
    expect((await migrate({ ownerUrl, owners: MIGRATION_OWNERS })).at(0)).toBe('billing/001-charges');

    const { rows } = await owner.query(
      `select analysis_id, plan, currency, delta_r_cents, fee_cents, repeats from billing.charges order by charged_at`,
    );
    const charge = (id: Uuid, currency: string | null, delta: number, repeats: Uuid | null = null) => ({
      analysis_id: id,
      plan: null,
      currency,
      delta_r_cents: String(delta),
      fee_cents: '0',
      repeats,
    });
    expect(rows).toEqual([
      charge(first, 'EUR', 700),
      charge(again, 'EUR', 700, first),
      charge(vast, 'EUR', Number.MAX_SAFE_INTEGER),
      charge(deleted, null, 30),
    ]);
    const recovered = await owner.query<{ total: string }>('select billing.recovered($1) as total', [agentId]);
    expect(recovered.rows[0]!.total).toBe(String(Number.MAX_SAFE_INTEGER));
  } finally {
    await owner.end();
    await drop();
  }
});
