import type { EventCampaigns, EventTable } from '../../../../compute/journey-tables.ts';
import type { Failure } from '../../../../compute/outcome.ts';
import type { RunOptions } from '../../../../compute/run-options.ts';
import type { TaskInput, TaskName, TaskOutcome } from '../../../../compute/tasks.ts';
import type { CampaignSpend } from '../../intake/touchpoints/touchpoint-store.ts';
import type { AttributionModel, Granularity } from './attribution.ts';
import { campaignsOf, timeSeriesOf, type IncrementalSegments } from './breakdown.ts';
import type { Credit, ModelOutcomes } from './compose-figures.ts';
import type { AnalysisFigures } from './figures.ts';
import { calendarOf } from './periods.ts';

/** What a run knows of campaigns beside its events. */
export interface CampaignRows {
  /** null: no event names one, or `tooMany` do. */
  readonly ofEvents: EventCampaigns | null;
  readonly tooMany: boolean;
  readonly spend: readonly CampaignSpend[];
}

export const NO_CAMPAIGNS: CampaignRows = { ofEvents: null, tooMany: false, spend: [] };

export type Breakdown = Required<Pick<AnalysisFigures, 'timeSeries' | 'campaigns'>> & {
  readonly warnings: readonly string[];
};

/** The tasks behind a breakdown, under way beside the models. */
export interface BreakdownRuns {
  /** What PRAV is asked to split its credit over. */
  readonly segments: NonNullable<TaskInput<'prav'>['segments']>;
  /** The breakdown of the credit that the run publishes, once the tasks have answered. */
  finish(credit: Credit, outcomes: ModelOutcomes): Promise<Breakdown>;
}

/** The rows and the question of a run, as far as they matter here. */
interface BrokenDownRun {
  readonly events: EventTable | null;
  /** Of the run: channels with spend alone are none of the events. */
  readonly channels: readonly string[];
  readonly campaigns: CampaignRows;
  readonly model: AttributionModel;
  readonly granularity: Granularity;
  readonly options: RunOptions;
}

type Run = <Name extends TaskName>(name: Name, input: TaskInput<Name>) => Promise<TaskOutcome<Name>>;

/**
 * Of a time series, and of a split by campaign, as JSON: whoever reads an answer waits for all of it, and so do others.
 */
const MAX_ANSWER_BYTES = 1024 * 1024;
/** A figure beside the name that it belongs to; and the figures of a campaign with their names. */
const POINT_BYTES = 16;
const CAMPAIGN_BYTES = 250;
/** Campaigns × channels that are told apart while the credit is split. */
const MAX_PAIRS = 2 ** 20;
/** Models whose credit is made of PRAV's effects, where PRAV could run. */
const INCREMENTAL_MODELS: ReadonlySet<AttributionModel> = new Set(['causal', 'prav']);

const NO_TIMES =
  'This source holds aggregated paths, which carry neither the times nor the campaigns of touches: there is no time ' +
  'series and no split by campaign.';
const TOO_MANY_PERIODS =
  'The range has too many periods for this many channels: there is no time series. Ask for weeks or months.';
const TOO_MANY_CAMPAIGNS =
  'The source names too many campaigns to tell them apart: there is no split by campaign. Is the right column mapped ' +
  'to campaign?';

/** Starts what the breakdown by period and by campaign needs of the rows. */
export function startBreakdown(
  { events, channels, campaigns, model, granularity, options }: BrokenDownRun,
  run: Run,
): BreakdownRuns {
  if (events === null)
    return { segments: [], finish: () => Promise.resolve({ timeSeries: null, campaigns: null, warnings: [NO_TIMES] }) };
  const calendar = calendarOf(options, granularity);
  const hasPeriods =
    calendar.periods.length * sum(channels, (name) => POINT_BYTES + Buffer.byteLength(name)) <= MAX_ANSWER_BYTES;
  const hasCampaigns =
    !campaigns.tooMany && (1 + (campaigns.ofEvents?.names.length ?? 0)) * channels.length <= MAX_PAIRS;
  const periods = hasPeriods ? calendar.table : { count: 1, ofDay: new Uint16Array(calendar.table.ofDay.length) };
  const ofEvents = hasCampaigns ? campaigns.ofEvents : null;

  const rows = run('breakdown', { events, options, periods, campaigns: ofEvents });
  const isIncremental = INCREMENTAL_MODELS.has(model);
  const byCampaign = ofEvents === null ? [] : [{ of: ofEvents.slot, count: 1 + ofEvents.names.length }];
  return {
    segments: isIncremental ? [periods, ...byCampaign] : [],
    async finish(credit, { prav, causal }) {
      const credits = answered(await rows);
      const incremental: IncrementalSegments | null =
        isIncremental && prav.ok && (model === 'prav' || (causal.ok && causal.basis === 'placebo_adjusted'))
          ? { channels: prav.channels, periods: prav.segments[0]!, campaigns: prav.segments[1] ?? null }
          : null;
      const campaignRows = hasCampaigns
        ? campaignsOf(credit, ofEvents?.names ?? [], credits, campaigns.spend, incremental)
        : null;
      const isShort =
        campaignRows !== null &&
        sum(campaignRows, ({ channel, campaign }) => CAMPAIGN_BYTES + Buffer.byteLength(channel + (campaign ?? ''))) <=
          MAX_ANSWER_BYTES;
      const toldApart = isShort ? campaignRows : null;
      return {
        timeSeries: hasPeriods ? timeSeriesOf(credit, calendar.periods, credits, incremental) : null,
        campaigns: toldApart,
        warnings: [...(hasPeriods ? [] : [TOO_MANY_PERIODS]), ...(toldApart === null ? [TOO_MANY_CAMPAIGNS] : [])],
      };
    },
  };
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

function answered<Result extends { readonly ok: true }>(outcome: Result | Failure): Result {
  if (outcome.ok) return outcome;
  throw new Error(`breakdown failed: ${outcome.message}`);
}
