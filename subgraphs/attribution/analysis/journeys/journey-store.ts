import { NO_CHANNEL, notYetFoundSound } from '../../../../compute/journey-tables.ts';
import type { EventCampaigns, EventTable } from '../../../../compute/journey-tables.ts';
import type { ClickHouse, StatementOptions } from '../../../../platform/clickhouse/client.ts';
import { ProblemError } from '../../../../schema/problems.ts';
import type { ExportFormat } from '../../../../schema/value-lists.ts';
import { sourceParams } from '../../intake/touchpoints/source-key.ts';
import { float64Column, textColumn, uint16Lists, wordLists } from './arrow-columns.ts';
import { ENGINE_FORMATS, fileText, type FileLimits } from './file-format.ts';
import { GrowingArray } from './growing-array.ts';
import { readJourneyFacts, type JourneyFacts } from './journey-facts.ts';
import {
  DAY_MS,
  spanOf,
  type JourneyEvents,
  type JourneyPaths,
  type JourneyQuery,
  type TimeSpan,
} from './journey-query.ts';
import {
  CODE_BITS,
  eventStatement,
  MAX_SPAN_MS,
  pathStatement,
  REVENUE_SCALE,
  storedPathsStatement,
} from './journey-statements.ts';
import { fnv1a32 } from './user-hash.ts';

/** Follow-up that PRAV needs behind the range, and how far back it looks for exposures (models: PRAV). */
const FOLLOW_UP_DAYS = 14;
const REACH_BACK_DAYS = 90;
const TIMEOUT_MS = 300_000;
/**
 * Users' events spill to disk beyond this, which costs half a second on 10 M events and saves 200 MB; small blocks save
 * another 100.
 */
const MEMORY_SETTINGS = {
  max_bytes_before_external_group_by: 100_000_000,
  max_bytes_ratio_before_external_group_by: 0,
  max_block_size: 16_384,
};

/** Reads journeys out of the columnar store; everything a query needs to know first is read once per store. */
export class JourneyStore {
  readonly #clickhouse: ClickHouse;
  readonly #query: JourneyQuery;
  readonly #range: TimeSpan;
  #facts: Promise<JourneyFacts> | undefined;

  /** @throws ProblemError `validation_error` for an impossible range */
  constructor(clickhouse: ClickHouse, query: JourneyQuery) {
    this.#clickhouse = clickhouse;
    this.#query = query;
    this.#range = spanOf(query.dateRange);
  }

  /** @throws ProblemError `validation_error` with code `too_many_channels` */
  facts(): Promise<JourneyFacts> {
    // The widest window that any of the statements reads.
    const widest = {
      startMs: Math.min(this.#journeySpan().startMs, this.#range.startMs - REACH_BACK_DAYS * DAY_MS),
      endMs: this.#range.endMs + FOLLOW_UP_DAYS * DAY_MS,
    };
    return (this.#facts ??= readJourneyFacts(this.#clickhouse, this.#query, this.#range, widest));
  }

  /**
   * Distinct paths of the range with their counts, and the totals. Conversions count by their own day, journeys without
   * one by the day of their last touch; conversions ahead of the range only end the journeys before them.
   */
  async loadPaths(): Promise<JourneyPaths> {
    const facts = await this.facts();
    return readPaths(
      this.#clickhouse.batches(this.#pathStatement(facts), this.#options(facts, this.#journeySpan())),
      facts,
    );
  }

  /** Every event of the window that PRAV needs around the range; null for a source of aggregated paths. */
  async loadEvents(): Promise<JourneyEvents | null> {
    const facts = await this.facts();
    if (facts.holdsPaths) return null;
    const window = this.#eventWindow(facts);
    const statement = eventStatement({
      source: this.#query,
      withEventIds: facts.withEventIds,
      withCampaigns: facts.campaigns.length > 0,
    });
    const { events, campaigns } = await readEvents(
      this.#clickhouse.batches(statement, this.#options(facts, window)),
      facts,
      window.startMs,
    );
    return {
      events,
      campaigns,
      tooManyCampaigns: facts.tooManyCampaigns,
      fromS: window.startMs / 1000,
      untilS: (window.endMs - 1) / 1000,
      observedUntilS: facts.latestMs / 1000,
    };
  }

  /**
   * The distinct paths of the range as a file, the most journeys first; only those with one of `channels` where these
   * are given. Columns: path (in CSV as uploads write it, `a > b`; a list elsewhere), journeys, conversions, revenue,
   * nulls. The empty path: conversions without a touch.
   */
  async pathFile(
    format: ExportFormat,
    channels: readonly string[] | null,
    { maxBytes, signal }: FileLimits,
  ): Promise<AsyncIterable<Uint8Array>> {
    const facts = await this.facts();
    const names = 'arrayMap(step -> ({channels:Array(String)})[step + 1], steps)';
    const statement = `SELECT ${format === 'csv' ? fileText(format, `arrayStringConcat(${names}, ' > ')`) : names} AS
      path,
      conversions + nulls AS journeys, conversions, amounts / ${REVENUE_SCALE} AS revenue, nulls
      FROM (SELECT path AS steps, conversions, amounts, nulls FROM (${this.#pathStatement(facts)}))
      ${channels === null ? '' : `WHERE hasAny(${names}, {shown:Array(String)})`} ORDER BY journeys DESC, steps`;
    const { name, settings } = ENGINE_FORMATS[format];
    const options = this.#options(facts, this.#journeySpan());
    return this.#clickhouse.file(statement, name, {
      ...options,
      params: { ...options.params, shown: channels ?? [] },
      settings: { ...options.settings, ...settings, max_bytes_before_external_sort: 100_000_000 },
      maxBytes,
      signal,
    });
  }

  #pathStatement({ holdsPaths, withEventIds }: JourneyFacts): string {
    return holdsPaths ? storedPathsStatement(this.#query) : pathStatement({ source: this.#query, withEventIds });
  }

  /** The range with the lookback before it. */
  #journeySpan(): TimeSpan {
    return { startMs: this.#range.startMs - this.#query.lookbackDays * DAY_MS, endMs: this.#range.endMs };
  }

  /** From the lookback before the range, or 90 days before T1 if that is earlier, to T1 itself. */
  #eventWindow({ latestMs }: JourneyFacts): TimeSpan {
    const lastMs = Math.min(latestMs, this.#range.endMs + FOLLOW_UP_DAYS * DAY_MS);
    return { startMs: Math.min(this.#journeySpan().startMs, lastMs - REACH_BACK_DAYS * DAY_MS), endMs: lastMs + 1 };
  }

  #options({ channels, campaigns }: JourneyFacts, span: TimeSpan): StatementOptions {
    if (span.endMs - span.startMs > MAX_SPAN_MS)
      throw new ProblemError('validation_error', 'date_range: longer than 278 years.', {
        param: '/date_range',
        code: 'invalid_range',
      });
    const { conversionEvent, lookbackDays } = this.#query;
    return {
      params: {
        ...sourceParams(this.#query),
        channels,
        campaigns,
        conversion_event: conversionEvent,
        from: span.startMs,
        until: span.endMs,
        start: this.#range.startMs,
        lookback: lookbackDays * DAY_MS,
      },
      settings: MEMORY_SETTINGS,
      timeoutMs: TIMEOUT_MS,
    };
  }
}

/**
 * Columns: path (channel indices), conversions, amounts (in 1/10000), the sum of their sizes, their squares where
 * single orders are known, nulls, touches. The empty path goes into the totals only.
 */
async function readPaths(
  batches: ReturnType<ClickHouse['batches']>,
  { channels, holdsPaths }: JourneyFacts,
): Promise<JourneyPaths> {
  const offsets = new GrowingArray(Uint32Array);
  const steps = new GrowingArray(Uint16Array);
  const conversions = new GrowingArray(Float64Array);
  const value = new GrowingArray(Float64Array);
  const nulls = new GrowingArray(Float64Array);
  const squares = new GrowingArray(Float64Array);
  const sums = { converting: 0, nulls: 0, amount: 0, turnover: 0, unattributed: 0, unattributedAmount: 0, touches: 0 };
  offsets.append([0]);
  for await (const batch of batches) {
    const path = uint16Lists(batch, 'path');
    const [c, v, n] = [
      float64Column(batch, 'conversions'),
      float64Column(batch, 'amounts'),
      float64Column(batch, 'nulls'),
    ];
    const [turnover, touches] = [float64Column(batch, 'turnover'), float64Column(batch, 'touches')];
    const q = holdsPaths ? null : float64Column(batch, 'squares');
    for (let row = 0; row < batch.numRows; row += 1) {
      const length = path.offsets[row + 1]! - path.offsets[row]!;
      sums.amount += v[row]!;
      sums.turnover += turnover[row]!;
      sums.touches += touches[row]!;
      if (length === 0) {
        sums.unattributed += c[row]!;
        sums.unattributedAmount += v[row]!;
        continue;
      }
      sums.converting += c[row]!;
      sums.nulls += n[row]!;
      steps.append(path.elements.subarray(path.offsets[row], path.offsets[row + 1]));
      offsets.append([steps.length]);
      conversions.append([c[row]!]);
      value.append([v[row]! / REVENUE_SCALE]);
      nulls.append([n[row]!]);
      if (q !== null) squares.append([q[row]! / REVENUE_SCALE ** 2]);
    }
  }
  return {
    paths: {
      channels,
      offsets: offsets.done(),
      steps: steps.done(),
      conversions: conversions.done(),
      value: value.done(),
      nulls: nulls.done(),
      ...(holdsPaths ? {} : { valueSquares: squares.done() }),
      soundness: notYetFoundSound(),
    },
    totals: {
      journeys: sums.converting + sums.nulls,
      convertingJourneys: sums.converting,
      conversions: sums.converting + sums.unattributed,
      revenue: sums.amount / REVENUE_SCALE,
      turnover: sums.turnover / REVENUE_SCALE,
      unattributedConversions: sums.unattributed,
      unattributedRevenue: sums.unattributedAmount / REVENUE_SCALE,
      touches: sums.touches,
    },
  };
}

/** Columns: user_id, events (packed, see the statement), amounts of the conversions in the same order. */
async function readEvents(
  batches: ReturnType<ClickHouse['batches']>,
  { channels, campaigns, touches, conversions }: JourneyFacts,
  fromMs: number,
): Promise<{ events: EventTable; campaigns: EventCampaigns | null }> {
  const count = touches + conversions;
  const userStart = new GrowingArray(Uint32Array);
  const userHash = new GrowingArray(Uint32Array);
  const timeS = new GrowingArray(Float64Array, count);
  const channel = new GrowingArray(Uint16Array, count);
  const slot = new GrowingArray(Uint16Array, campaigns.length === 0 ? 0 : count);
  const conversion = new GrowingArray(Uint8Array, count);
  const value = new GrowingArray(Float64Array, conversions);
  userStart.append([0]);
  for await (const batch of batches) {
    const users = textColumn(batch, 'user_id');
    const events = wordLists(batch, 'events');
    const amounts = wordLists(batch, 'amounts');
    const first = timeS.length;
    const rows = batch.numRows;
    const length = events.offsets[rows]! - events.offsets[0]!;
    timeS.extend(length);
    channel.extend(length);
    if (campaigns.length > 0) slot.extend(length);
    conversion.extend(length);
    const unpacked = { timeS: timeS.values, channel: channel.values, slot: slot.values, conversion: conversion.values };
    unpackEvents(events.words.subarray(2 * events.offsets[0]!), length, unpacked, first, {
      fromMs,
      channels: channels.length,
      slots: campaigns.length + 1,
    });
    const user = userHash.extend(rows);
    userStart.extend(rows);
    for (let row = 0; row < rows; row += 1) {
      userHash.values[user + row] = fnv1a32(users.bytes, users.offsets[row]!, users.offsets[row + 1]!);
      userStart.values[user + row + 1] = first + events.offsets[row + 1]! - events.offsets[0]!;
    }
    const amountRows = amounts.offsets[rows]! - amounts.offsets[0]!;
    const at = value.extend(amountRows);
    for (let i = 0; i < amountRows; i += 1) {
      const word = 2 * (amounts.offsets[0]! + i);
      // Signed 64-bit: the upper word carries the sign.
      value.values[at + i] = ((amounts.words[word + 1]! | 0) * 2 ** 32 + amounts.words[word]!) / REVENUE_SCALE;
    }
  }
  return {
    events: {
      channels,
      userStart: userStart.done(),
      userHash: userHash.done(),
      timeS: timeS.done(),
      channel: channel.done(),
      conversion: conversion.done(),
      value: value.done(),
      soundness: notYetFoundSound(),
    },
    campaigns: campaigns.length === 0 ? null : { names: campaigns, slot: slot.done() },
  };
}

interface UnpackedEvents {
  readonly timeS: Float64Array;
  readonly channel: Uint16Array;
  /** Written only where there are campaigns. */
  readonly slot: Uint16Array;
  readonly conversion: Uint8Array;
}

/** What the numbers of the statement count from. */
interface Packing {
  readonly fromMs: number;
  readonly channels: number;
  /** Campaigns, and one for none. */
  readonly slots: number;
}

function unpackEvents(
  words: Uint32Array,
  count: number,
  target: UnpackedEvents,
  at: number,
  { fromMs, channels, slots }: Packing,
): void {
  for (let i = 0; i < count; i += 1) {
    const low = words[2 * i]!;
    const code = low & (2 ** CODE_BITS - 1);
    const channel = slots === 1 ? code : Math.floor(code / slots);
    target.timeS[at + i] = (fromMs + words[2 * i + 1]! * 2 ** (31 - CODE_BITS) + (low >>> (CODE_BITS + 1))) / 1000;
    target.channel[at + i] = channel === channels ? NO_CHANNEL : channel;
    if (slots > 1) target.slot[at + i] = code - channel * slots;
    target.conversion[at + i] = (low >>> CODE_BITS) & 1;
  }
}

/** Both at once, with what a source holds read only once: the quickest way to everything a run needs. */
export async function loadJourneys(
  clickhouse: ClickHouse,
  query: JourneyQuery,
): Promise<
  JourneyPaths & Pick<JourneyFacts, 'ignoresPaths' | 'counted'> & { readonly followed: JourneyEvents | null }
> {
  const store = new JourneyStore(clickhouse, query);
  const [journeys, followed, { ignoresPaths, counted }] = await Promise.all([
    store.loadPaths(),
    store.loadEvents(),
    store.facts(),
  ]);
  return { ...journeys, followed, ignoresPaths, counted };
}
