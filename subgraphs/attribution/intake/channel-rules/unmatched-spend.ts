import { z } from 'zod';
import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { spendOf, storedPathsOf, touchpointsOf, withoutGaps } from '../touchpoints/named-rows.ts';
import { OF_SOURCE, sourceParams, type SourceKey } from '../touchpoints/source-key.ts';
import { MAX_CHANNELS } from '../touchpoints/touchpoint-store.ts';
import { nearChannels, type NearChannel } from './near-channels.ts';

const READ_TIMEOUT_MS = 120_000;

/** Spend of a source that is held against no touch although touches have a name that is near. */
export async function unmatchedSpend(clickhouse: ClickHouse, key: SourceKey): Promise<readonly NearChannel[]> {
  const source = await withoutGaps(clickhouse, key);
  const names = (kind: string, name: string, rows: string) =>
    `SELECT '${kind}' AS kind, name FROM (SELECT DISTINCT toString(${name}) AS name FROM ${rows} WHERE ${OF_SOURCE} ` +
    `LIMIT ${MAX_CHANNELS})`;
  const rows = await clickhouse.rows(
    [
      names('spend', 'channel', spendOf(source, '')),
      names('touches', 'channel', touchpointsOf(source, '')),
      names('touches', 'arrayJoin(path)', storedPathsOf(source)),
    ].join(' UNION ALL '),
    z.object({ kind: z.enum(['spend', 'touches']), name: z.string() }),
    { params: sourceParams(source), timeoutMs: READ_TIMEOUT_MS },
  );
  const of = (kind: 'spend' | 'touches') => rows.filter((row) => row.kind === kind).map(({ name }) => name);
  return nearChannels(of('spend'), of('touches'));
}
