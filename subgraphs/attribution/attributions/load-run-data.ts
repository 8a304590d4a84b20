import type { ClickHouse } from '../../../platform/clickhouse/client.ts';
import { rangeExperiments } from '../experiments/range-experiments.ts';
import { loadJourneys } from '../journeys/journey-store.ts';
import { IGNORED_PATHS } from '../touchpoints/current-paths.ts';
import { sourceSpend } from '../touchpoints/touchpoint-store.ts';
import type { RunData } from './analyze.ts';
import type { RunQuery } from './run-attribution-job.ts';

/** Reads what a run needs from the columnar engine, side by side: paths, events, spend, and what experiments say of the range. */
export function loadRunData(clickhouse: ClickHouse) {
  return async (query: RunQuery, onStage: (stage: 'loading' | 'building_journeys') => void): Promise<RunData> => {
    const { accountId, dataSourceId, lookbackDays, conversionEvent } = query;
    const dateRange = [query.startDate, query.endDate] as const;
    onStage('loading');
    const spendRead = sourceSpend(clickhouse, query, dateRange);
    onStage('building_journeys');
    const [{ paths, totals, followed, ignoresPaths }, spend, experiments] = await Promise.all([
      loadJourneys(clickhouse, { accountId, dataSourceId, dateRange, lookbackDays, conversionEvent }),
      spendRead,
      rangeExperiments(clickhouse, query, query.experiments ?? [], { start: query.startDate, end: query.endDate }),
    ]);
    const spendByChannel = new Map<string, number>();
    for (const each of spend) spendByChannel.set(each.channel, (spendByChannel.get(each.channel) ?? 0) + each.spend);
    return {
      paths,
      events: followed?.events ?? null,
      totals,
      spend: spendByChannel,
      campaigns: { ofEvents: followed?.campaigns ?? null, tooMany: followed?.tooManyCampaigns ?? false, spend },
      observedUntilS: followed?.observedUntilS ?? 0,
      experiments,
      warnings: ignoresPaths ? [IGNORED_PATHS] : [],
    };
  };
}
