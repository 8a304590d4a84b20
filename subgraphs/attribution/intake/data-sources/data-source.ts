import { defineEntity, p } from '@mikro-orm/core';
import { ProblemError } from '../../../../schema/problems.ts';
import type { DELIMITERS, SOURCE_STATUSES, SYNC_SCHEDULES } from '../../../../schema/value-lists.ts';
import type { Environment } from '../../../../schema/principal.ts';
import { publicId, type Uuid } from '../../../../platform/identifiers.ts';
import { daysBetween } from '../../../../schema/day-range.ts';
import { SANDBOX_ACCOUNT_ID } from '../../../../schema/sandbox-sources.ts';
import type { SourceType } from '../connectors/connector.ts';
import { completenessOf, type Coverage } from './coverage.ts';

export type SyncSchedule = (typeof SYNC_SCHEDULES)[number];
export type Delimiter = (typeof DELIMITERS)[number];
export type SourceStatus = (typeof SOURCE_STATUSES)[number];

/** Channels that are there without marketing, unless a source or a run names others (see docs/concepts/baseline.md). */
export const DEFAULT_BASELINE_CHANNELS: readonly string[] = ['direct', 'organic*', '(none)', 'unassigned'];

/** Why the last sync of a source failed. */
export interface SourceError {
  readonly code: string;
  readonly message: string;
  /** RFC 3339. */
  readonly at: string;
  readonly retryable: boolean;
}

/** What the stored rows of a source amount to; measured after every upload and sync. Dates are `YYYY-MM-DD`, UTC. */
export interface SourceStatistics extends Coverage {
  readonly touchpoints: number;
  readonly conversions: number;
  readonly spendRows: number;
  readonly paths: number;
  /** Pairs of ids that are one person. Absent from measurements that are older than such files; so are the next. */
  readonly identities?: number;
  /** Rates of exchange, one per currency and day. */
  readonly fxRates?: number;
  /** Share of conversions whose user has at least one touchpoint. */
  readonly touchpointMatchRate: number;
  /** Share of conversions without a touchpoint in the 30 days before. */
  readonly unattributedShare: number;
  /** Share of the users of conversions who have a touch, by the ids of the files. */
  readonly userMatchRate?: number;
  /** The same once the ids of one person are one; null without identities. */
  readonly stitchedUserMatchRate?: number | null;
  /** Share of uploaded rows that repeated a natural key. */
  readonly duplicateRate: number;
}

const DataSourceSchema = defineEntity({
  name: 'DataSource',
  tableName: 'data_sources',
  schema: 'attribution',
  properties: {
    id: p.uuid().$type<Uuid>().primary(),
    accountId: p.uuid().$type<Uuid>(),
    agentId: p.uuid().$type<Uuid>().nullable(),
    environment: p.text().$type<Environment>(),
    workspaceId: p.uuid().$type<Uuid>().nullable(),
    /** Brand that the rows are of, in the words of the account. */
    brandId: p.text().nullable(),
    type: p.text().$type<SourceType>(),
    name: p.text(),
    syncingUntil: p.datetime(3).nullable(),
    syncSchedule: p.text().$type<SyncSchedule>().default('daily'),
    timezone: p.text().default('UTC'),
    /** First day that the first sync asks for, `YYYY-MM-DD`, UTC. */
    startDate: p.date().nullable(),
    currency: p.text().nullable(),
    delimiter: p.text().$type<Delimiter>().nullable(),
    mapping: p.json().$type<Readonly<Record<string, string>>>().nullable(),
    baselineChannels: p.array().$type<string[]>(),
    /** Share of revenue left after the cost of goods; null where nobody has said it. */
    margin: p.float().nullable(),
    statistics: p.json().$type<SourceStatistics>().nullable(),
    rowsAccepted: p.bigint().$type<number>().default(0),
    rowsRejected: p.bigint().$type<number>().default(0),
    error: p.json().$type<SourceError>().nullable(),
    /** State of the columnar store in which the rows were found to be those of the ingest record. */
    verifiedParts: p.text().nullable(),
    /** Names the channel rules in force; null for none. */
    channelRulesDigest: p.text().nullable(),
    /** Names who is one person here; null where no file says it. */
    identitiesDigest: p.text().nullable(),
    /** An analysis of it was asked for with auto_refresh. */
    feedsRefreshes: p.boolean().default(false),
    /** Counted by the database with every change that a watcher sees. */
    statusVersion: p.integer().default(0),
    lastSync: p.datetime(3).nullable(),
    createdAt: p.datetime(3),
    deletedAt: p.datetime(3).nullable(),
  },
});

/** A connected origin of touchpoints, conversions, spend or ready-made paths. */
export class DataSource extends DataSourceSchema.class {
  /** Rows that were accepted over the life of the source, upserts included. */
  recordsSynced(): number {
    return Number(this.rowsAccepted);
  }

  /** True for the sources of the sandbox, which every test key sees and nobody may change. */
  isSynthetic(): boolean {
    return this.accountId === SANDBOX_ACCOUNT_ID;
  }

  /** @throws ProblemError `conflict` / `sandbox_source` for a source that nobody may change */
  assertChangeable(): void {
    if (!this.isSynthetic()) return;
    throw new ProblemError(
      'conflict',
      `${publicId('ds', this.id as Uuid)} is shared by every test key and cannot be changed. Connect a csv_upload ` +
        `source with your test key for rows of your own.`,
      { code: 'sandbox_source' },
    );
  }

  /** When rows last arrived; those of yesterday reach a synthetic source at midnight. */
  lastArrival(now: Date): Date | null {
    return this.isSynthetic() && this.statistics != null ? startOfDay(now) : (this.lastSync ?? null);
  }

  /**
   * First and last day with rows. A synthetic source is made some weeks ahead, which only follow-ups of an analysis may
   * read.
   */
  coverage(now: Date): { readonly earliest: string | null; readonly latest: string | null } {
    const { earliest = null, latest = null } = this.statistics ?? {};
    const yesterday = new Date(startOfDay(now).getTime() - 1).toISOString().slice(0, 10);
    return { earliest, latest: this.isSynthetic() && latest !== null && latest > yesterday ? yesterday : latest };
  }

  /**
   * `syncing` while rows arrive (a lease, so that a killed upload does not leave it syncing for ever), `error` after a
   * failed sync.
   */
  statusAt(now: Date): SourceStatus {
    if (this.syncingUntil != null && this.syncingUntil > now) return 'syncing';
    return this.error == null ? 'connected' : 'error';
  }

  /** True for a source that holds aggregated paths, so that nothing at user level can be computed from it. */
  holdsOnlyPaths(): boolean {
    return (
      this.statistics !== null &&
      this.statistics !== undefined &&
      this.statistics.paths > 0 &&
      this.statistics.touchpoints === 0 &&
      this.statistics.conversions === 0
    );
  }

  /**
   * True for a source whose aggregated paths no analysis reads, because it holds single touches or conversions, too.
   */
  ignoresPaths(): boolean {
    return this.statistics != null && this.statistics.paths > 0 && !this.holdsOnlyPaths();
  }

  /**
   * Health in [0, 1]: the mean of freshness (1 on the day of the newest row, 0 after 30 days), match rate and
   * completeness (share of days without a gap); null before anything was stored.
   */
  healthScore(now: Date): number | null {
    const statistics = this.statistics;
    if (statistics == null || statistics.earliest === null || statistics.latest === null) return null;
    const ageDays = Math.max(0, daysBetween(statistics.latest, now.toISOString().slice(0, 10)) - 2);
    const freshness = Math.max(0, 1 - ageDays / 30);
    return (freshness + statistics.touchpointMatchRate + completenessOf(statistics)) / 3;
  }
}
DataSourceSchema.setClass(DataSource);

function startOfDay(now: Date): Date {
  return new Date(now.toISOString().slice(0, 10));
}

/** Whether a channel name matches one of the patterns; a trailing `*` matches any ending, case does not count. */
export function isBaselineChannel(channel: string, patterns: readonly string[]): boolean {
  const name = channel.toLowerCase();
  return patterns.some((pattern) => {
    const wanted = pattern.toLowerCase();
    return wanted.endsWith('*') ? name.startsWith(wanted.slice(0, -1)) : name === wanted;
  });
}
