import { Client } from 'pg';
import { newUuid } from '../../../platform/identifiers.ts';
import { migrate } from '../../../platform/postgres/migrate.ts';
import { MIGRATION_OWNERS } from '../../../processes/backing-services.ts';
import { attributionOwner } from '../../../subgraphs/attribution/migrations.ts';
import { createTestDatabase } from '../../platform.ts';

const STARTED_MS = Date.now();
/** The same days from beginning to end, also when midnight passes. */
const daysAgo = (days: number): string => new Date(STARTED_MS - days * 86_400_000).toISOString().slice(0, 10);

test('what was measured of sources with days of other centuries is measured anew; of others it stays', async () => {
  const before = {
    ...attributionOwner,
    migrations: attributionOwner.migrations.filter(({ name }) => name !== '028-values-in-range'),
  };
  const { ownerUrl, drop } = await createTestDatabase(
    MIGRATION_OWNERS.map((owner) => (owner === attributionOwner ? before : owner)),
  );
  const owner = new Client({ connectionString: ownerUrl });
  await owner.connect();
  try {
    const source = async (days: readonly string[], statistics: object): Promise<string> => {
      const [id, accountId] = [newUuid(), newUuid()];
      await owner.query(
        `insert into attribution.data_sources (id, account_id, environment, type, name, baseline_channels, ` +
          `statistics, created_at) values ($1, $2, 'live', 'csv_upload', 'old', '{}', $3, now())`,
        [id, accountId, JSON.stringify({ touchpoints: 3, missingDays: [], ...statistics })],
      );
      for (const day of days)
        await owner.query(
          `insert into attribution.source_days (data_source_id, account_id, environment, day, rows, digest, ` +
            `changed_at) values ($1, $2, 'live', $3, 1, '', now())`,
          [id, accountId, day],
        );
      return id;
    };
    const gaps = Array.from({ length: 9_000 }, (_, back) => daysAgo(back + 100));
    const far = await source(['1900-01-02', '1970-01-01', daysAgo(30), daysAgo(28), '9999-12-31'], {
      earliest: '1900-01-02',
      latest: '9999-12-31',
      missingDays: gaps,
    });
    const nothingElse = await source(['1900-01-02'], { earliest: '1900-01-02', latest: '1900-01-02' });
    const long = await source(['2001-05-05', daysAgo(0)], {
      earliest: '2001-05-05',
      latest: daysAgo(0),
      missingDays: gaps,
    });
    const sound = await source([daysAgo(9)], { earliest: daysAgo(9), latest: daysAgo(7), missingDays: [daysAgo(8)] });
    expect(await migrate({ ownerUrl, owners: MIGRATION_OWNERS })).toEqual(['attribution/028-values-in-range']);

    const statisticsOf = async (id: string): Promise<Readonly<Record<string, unknown>>> =>
      (
        await owner.query<{ statistics: Readonly<Record<string, unknown>> }>(
          'select statistics from attribution.data_sources where id = $1',
          [id],
        )
      ).rows[0]!.statistics;
    expect(await statisticsOf(far)).toEqual({
      touchpoints: 3,
      earliest: daysAgo(30),
      latest: daysAgo(28),
      missingDays: [daysAgo(29)],
    });
    expect(await statisticsOf(nothingElse)).toEqual({ touchpoints: 3, earliest: null, latest: null, missingDays: [] });
    const { missingDays, ...rest } = await statisticsOf(long);
    expect(rest).toEqual({ touchpoints: 3, earliest: '2001-05-05', latest: daysAgo(0) });
    expect(missingDays).toEqual(Array.from({ length: 730 }, (_, place) => daysAgo(730 - place)));
    expect(await statisticsOf(sound)).toEqual({
      touchpoints: 3,
      earliest: daysAgo(9),
      latest: daysAgo(7),
      missingDays: [daysAgo(8)],
    });
    const { rows } = await owner.query<{ day: string }>(
      'select day::text from attribution.source_days where data_source_id = $1 order by day',
      [far],
    );
    expect(rows.map(({ day }) => day)).toEqual(['1970-01-01', daysAgo(30), daysAgo(28)]);
  } finally {
    await owner.end();
    await drop();
  }
});
