import type { EventTable } from '../../../../compute/journey-tables.ts';
import type { ClickHouse } from '../../../../platform/clickhouse/client.ts';
import { interruptible } from '../../../../platform/clickhouse/interruptible.ts';
import { refusedForGood } from '../../../../platform/clickhouse/outage.ts';
import { dayAfter } from '../../../../schema/day-range.ts';
import { ProblemError } from '../../../../schema/problems.ts';
import { recordedRange, type StoredDay } from '../../intake/data-sources/source-days.ts';
import { rangeExperiments } from '../experiments/range-experiments.ts';
import { spanOf } from '../journeys/journey-query.ts';
import { measureCustomerTypes } from '../journeys/customer-types.ts';
import { loadJourneys } from '../journeys/journey-store.ts';
import { loadSampledEvents } from '../journeys/sampled-events.ts';
import { orderCosts } from '../../intake/touchpoints/order-costs.ts';
import { IGNORED_PATHS } from '../../intake/touchpoints/current-paths.ts';
import { channelSpend, measureQuality } from '../../intake/quality/measure-quality.ts';
import { nearChannels, nearChannelWarning } from '../../intake/channel-rules/near-channels.ts';
import { readTogether, stitchingOf } from '../../intake/touchpoints/read-together.ts';
import { sourceKeyOf } from '../../intake/touchpoints/source-key.ts';
import { partsDigest, storedDays } from '../../intake/touchpoints/stored-days.ts';
import { countStoredRows, type CountedTouches, type StoredRows } from '../../intake/touchpoints/stored-rows.ts';
import { dailySpend, sourceChannels, sourceSpend } from '../../intake/touchpoints/touchpoint-store.ts';
import { RunFailedError } from '../../runs/run-failed-error.ts';
import type { AssessableRun } from './assess-trust.ts';
import type { RunFailure } from '../../runs/run.ts';
import type { LoadRunData, RunQuery } from './compute-analysis.ts';

/**
 * Reads what a run needs from the columnar engine, side by side: paths, events, spend, what experiments say of the
 * range, and counts of the rows themselves. Every read ends with the signal.
 * @throws RunFailedError where another attempt would meet the same
 */
export function loadRunData(store: ClickHouse): LoadRunData {
  const read = readRunData(store);
  return async (query, onStage, signal) => {
    try {
      return await read(query, onStage, signal);
    } catch (error) {
      const reason = refusedForGood(error);
      throw reason === null ? error : new RunFailedError(TOO_MUCH_TO_READ[reason]);
    }
  };
}

const TOO_MUCH_TO_READ = {
  statement_too_large: {
    code: 'insufficient_data',
    message:
      'The rows of this range need more memory than one analysis may take. Choose a shorter range, or ' +
      'split the source.',
  },
  statement_ended: {
    code: 'internal',
    message:
      'Reading the rows of this range took too long and was ended. Choose a shorter range, or ask again later. The ' +
      'analysis is not billed.',
  },
} as const satisfies Record<string, RunFailure>;

function readRunData(store: ClickHouse): LoadRunData {
  return async (asked, onStage, signal) => {
    const clickhouse = interruptible(store, signal);
    onStage('loading');
    onStage('building_journeys');
    const together = await readTogether(clickhouse, asked).catch(failedWhereInvalid);
    const query = together.source;
    const { lookbackDays, conversionEvent } = query;
    const source = sourceKeyOf(query);
    const dateRange = [query.startDate, query.endDate] as const;
    // Before anything is read that has a row per channel.
    await sourceChannels(clickhouse, query).catch(failedWhereInvalid);
    const spendRead = sourceSpend(clickhouse, query, dateRange);
    const spendOfChannels = spendRead.then(({ rows }) => channelSpend(rows));
    const quality =
      query.quality === undefined
        ? undefined
        : measureQuality(clickhouse, { ...source, dateRange, conversionEvent }, query.quality, spendOfChannels);
    const spendByDay = dailySpend(clickhouse, query, dateRange);
    const daysRead = readDays(clickhouse, query);
    const journeysRead = loadJourneys(clickhouse, {
      ...source,
      dateRange,
      lookbackDays,
      conversionEvent,
      countsTouches: true,
      observedBefore: new Date(dayAfter(recordedRange(query.now).end)),
    });
    const count = (counted: Promise<CountedTouches> | null): Promise<StoredRows> =>
      countStoredRows(clickhouse, { ...source, dateRange, conversionEvent }, counted);
    const [
      { paths, totals, followed, ignoresPaths },
      spend,
      spendDays,
      costs,
      experiments,
      rows,
      days,
      stitching,
      customers,
      measured,
    ] = await Promise.all([
      journeysRead,
      spendRead,
      spendByDay,
      orderCosts(clickhouse, { ...source, dateRange, conversionEvent }),
      rangeExperiments(clickhouse, query, query.experiments ?? [], { start: query.startDate, end: query.endDate }),
      count(journeysRead.then(({ counted }) => counted!)),
      daysRead,
      stitchingOf(clickhouse, together),
      measureCustomerTypes(clickhouse, { ...source, dateRange, lookbackDays, conversionEvent }),
      quality,
    ]);
    const spendByChannel = await spendOfChannels;
    const preceding = await loadPreceding(clickhouse, query, followed);
    const recountDays = async (): Promise<readonly StoredDay[]> =>
      (await storedDays(clickhouse, query, { deduplicated: true, now: query.now })).days;
    return {
      paths,
      events: followed?.events ?? null,
      totals,
      spend: spendByChannel,
      spendDays,
      ...(costs !== null && { orderCosts: costs }),
      campaigns: {
        ofEvents: followed?.campaigns ?? null,
        tooMany: spend.tooManyCampaigns || (followed?.tooManyCampaigns ?? false),
        spend: spend.rows,
      },
      observedUntilS: followed?.observedUntilS ?? 0,
      experiments,
      ...(stitching !== null && { stitching }),
      ...(customers !== null && { customers }),
      warnings: [
        ...(ignoresPaths ? [IGNORED_PATHS] : []),
        ...together.warnings,
        ...nearChannels(spendByChannel.keys(), [...paths.channels, ...(followed?.events.channels ?? [])]).map(
          nearChannelWarning,
        ),
      ],
      ...(measured !== undefined && { quality: measured }),
      stored: { rows, ...days, recount: () => count(null), recountDays, preceding },
    };
  };
}

/** What is wrong with the rows fails the analysis for good: another attempt would find the same. */
function failedWhereInvalid(error: unknown): never {
  if (error instanceof ProblemError && error.type === 'validation_error')
    throw new RunFailedError({ code: 'insufficient_data', message: error.message });
  throw error;
}

/** Days are hashed only where the store has changed since they were verified. */
async function readDays(
  clickhouse: ClickHouse,
  query: RunQuery,
): Promise<Pick<AssessableRun['stored'], 'days' | 'parts'>> {
  const parts = await partsDigest(clickhouse, query);
  if (parts !== null && parts === query.verifiedParts) return { days: null, parts };
  return { days: (await storedDays(clickhouse, query, { deduplicated: false, now: query.now })).days, parts };
}

/** 1 % of the users or 20,000 of them, whichever is more: enough to know how journeys went before the range. */
const LEAST_USERS = 20_000;
const MOST_ONE_IN = 100;

/**
 * Where the window of equal length before the range is to be found: among the events of the run where these reach that
 * far, else read for a sample of users; null where the source reaches back less than half of it.
 */
async function loadPreceding(
  clickhouse: ClickHouse,
  query: RunQuery,
  followed: { readonly events: EventTable; readonly fromS: number } | null,
): Promise<AssessableRun['stored']['preceding']> {
  if (followed === null) return null;
  const { startMs, endMs } = spanOf([query.startDate, query.endDate]);
  const span = { startMs: startMs - (endMs - startMs), endMs: startMs };
  if ((query.earliestDay ?? query.startDate) > new Date((span.startMs + span.endMs) / 2).toISOString().slice(0, 10))
    return null;
  if (followed.fromS * 1000 <= span.startMs) return 'in_events';
  const oneIn = Math.max(1, Math.min(MOST_ONE_IN, Math.floor(followed.events.userHash.length / LEAST_USERS)));
  return {
    events: await loadSampledEvents(clickhouse, {
      ...sourceKeyOf(query),
      span,
      conversionEvent: query.conversionEvent,
      channels: followed.events.channels,
      oneIn,
    }),
  };
}
