import type { PathTable } from '../../../compute/journey-tables.ts';
import type { ClickHouse } from '../../../platform/clickhouse/client.ts';
import { sourceSpend } from '../touchpoints/touchpoint-store.ts';
import { JourneyStore } from '../journeys/journey-store.ts';
import type { JourneyQuery } from '../journeys/journey-query.ts';
import type { RunData } from './analyze.ts';
import type { RunQuery } from './run-attribution-job.ts';

/** Reads what a run needs from the columnar engine, side by side: paths, events, spend. */
export function loadRunData(clickhouse: ClickHouse) {
  return async (query: RunQuery, onStage: (stage: 'loading' | 'building_journeys') => void): Promise<RunData> => {
    const wanted: JourneyQuery = {
      accountId: query.accountId,
      dataSourceId: query.dataSourceId,
      dateRange: [query.startDate, query.endDate],
      lookbackDays: query.lookbackDays,
      conversionEvent: query.conversionEvent,
    };
    onStage('loading');
    const journeys = new JourneyStore(clickhouse, wanted);
    await journeys.facts();
    onStage('building_journeys');
    const [{ paths, totals }, followed, spend] = await Promise.all([journeys.loadPaths(), journeys.loadEvents(), sourceSpend(clickhouse, query, wanted.dateRange)]);
    const spendByChannel = new Map<string, number>();
    for (const day of spend) spendByChannel.set(day.channel, (spendByChannel.get(day.channel) ?? 0) + day.spend);
    return {
      paths,
      events: followed === null ? null : followed.events,
      totals: { ...totals, touches: totals.touches ?? touchesOn(paths) },
      spend: spendByChannel,
      observedUntilS: followed === null ? 0 : followed.observedUntilS,
    };
  };
}

/** Touches of all journeys of an aggregate, which has no rows of single touches. */
function touchesOn(paths: PathTable): number {
  let touches = 0;
  for (let path = 0; path < paths.conversions.length; path += 1) {
    touches += (paths.offsets[path + 1]! - paths.offsets[path]!) * (paths.conversions[path]! + paths.nulls[path]!);
  }
  return touches;
}
