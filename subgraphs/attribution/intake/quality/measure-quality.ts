import type { DataQuality } from '../../../../schema/contract/data-quality.ts';
import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { interruptible } from '../../../../platform/clickhouse/interruptible.ts';
import { isPaidMedia } from '../data-sources/owned-media.ts';
import { rejectedCurrencies } from '../files/rejects.ts';
import { readTogether } from '../touchpoints/read-together.ts';
import { sourceSpend, type CampaignSpend } from '../touchpoints/touchpoint-store.ts';
import { judgeQuality } from './judge-quality.ts';
import { measureStoredQuality, type QualityQuery } from './stored-quality.ts';
import type { RecordedUpload } from './upload-quality.ts';

/** What the ingest record and the source say, beside the rows. */
export interface QualityContext {
  readonly uploads: readonly RecordedUpload[];
  readonly currency: string;
  readonly baselineChannels: readonly string[];
}

/**
 * Measures how good the rows of a range are: a few statements over what is stored, whose answers have a row per day of
 * the range, channel and currency.
 * @param spend of the range by channel, major units
 */
export async function measureQuality(
  clickhouse: ClickHouse,
  query: QualityQuery,
  { uploads, currency, baselineChannels }: QualityContext,
  spend: Promise<ReadonlyMap<string, number>>,
): Promise<DataQuality> {
  const [stored, spent, rejects] = await Promise.all([
    measureStoredQuality(clickhouse, query),
    spend,
    rejectedCurrencies(
      clickhouse,
      query,
      uploads.filter(({ rowsRejected }) => rowsRejected > 0).map(({ id }) => id),
    ),
  ]);
  const keptOf = new Map(rejects.map((each) => [each.uploadId, each]));
  return judgeQuality({
    stored,
    uploads: uploads.map((upload) => {
      const kept = keptOf.get(upload.id);
      return { ...upload, keptRejects: kept?.kept ?? 0, foreignRows: kept?.foreignRows ?? new Map() };
    }),
    spend: spent,
    dateRange: query.dateRange,
    currency,
    isPaid: (channel) => isPaidMedia(channel, baselineChannels),
  });
}

/** Measures the rows of a range by themselves, for whoever does not analyse them as well. */
export type MeasureQuality = (
  query: QualityQuery,
  context: QualityContext,
  signal?: AbortSignal,
) => Promise<DataQuality>;

export function qualityMeasure(store: ClickHouse): MeasureQuality {
  return async (query, context, signal) => {
    const clickhouse = signal === undefined ? store : interruptible(store, signal);
    const { source } = await readTogether(clickhouse, query);
    const spend = sourceSpend(clickhouse, source, query.dateRange);
    return measureQuality(
      clickhouse,
      source,
      context,
      spend.then(({ rows }) => channelSpend(rows)),
    );
  };
}

/** What was spent on each channel, over its campaigns. */
export function channelSpend(rows: readonly CampaignSpend[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const { channel, spend } of rows) sums.set(channel, (sums.get(channel) ?? 0) + spend);
  return sums;
}
