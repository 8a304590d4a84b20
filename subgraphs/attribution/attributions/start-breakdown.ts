import type { EventCampaigns, EventTable } from '../../../compute/journey-tables.ts';
import type { Failure } from '../../../compute/outcome.ts';
import type { RunOptions } from '../../../compute/run-options.ts';
import type { TaskInput, TaskName, TaskOutcome } from '../../../compute/tasks.ts';
import type { CampaignSpend } from '../touchpoints/touchpoint-store.ts';
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

export type Breakdown = Required<Pick<AnalysisFigures, 'timeSeries' | 'campaigns'>> & { readonly warnings: readonly string[] };

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
  readonly channelCount: number;
  readonly campaigns: CampaignRows;
  readonly model: AttributionModel;
  readonly granularity: Granularity;
  readonly options: RunOptions;
}

type Run = <Name extends TaskName>(name: Name, input: TaskInput<Name>) => Promise<TaskOutcome<Name>>;

/** Periods × channels of a time series: each is a figure of the answer. */
const MAX_POINTS = 2 ** 17;
/** Campaigns × channels that are told apart. Few of these pairs exist, and {@link MAX_CAMPAIGN_ROWS} of them are answered. */
const MAX_PAIRS = 2 ** 20;
const MAX_CAMPAIGN_ROWS = 20_000;
/** Models whose credit is made of PRAV's effects, where PRAV could run. */
const INCREMENTAL_MODELS: ReadonlySet<AttributionModel> = new Set(['causal', 'prav']);

const NO_TIMES = 'This source holds aggregated paths, which carry neither the times nor the campaigns of touches: there is no time series and no split by campaign.';
const TOO_MANY_PERIODS = 'The range has too many periods for this many channels: there is no time series. Ask for weeks or months.';
const TOO_MANY_CAMPAIGNS = 'The source names too many campaigns to tell them apart: there is no split by campaign. Is the right column mapped to campaign?';

/** Starts what the breakdown by period and by campaign needs of the rows. */
export function startBreakdown({ events, channelCount, campaigns, model, granularity, options }: BrokenDownRun, run: Run): BreakdownRuns {
  if (events === null) return { segments: [], finish: () => Promise.resolve({ timeSeries: null, campaigns: null, warnings: [NO_TIMES] }) };
  const calendar = calendarOf(options, granularity);
  const hasPeriods = calendar.periods.length * channelCount <= MAX_POINTS;
  const hasCampaigns = !campaigns.tooMany && (1 + (campaigns.ofEvents?.names.length ?? 0)) * channelCount <= MAX_PAIRS;
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
      const campaignRows = hasCampaigns ? campaignsOf(credit, ofEvents?.names ?? [], credits, campaigns.spend, incremental) : null;
      const toldApart = campaignRows === null || campaignRows.length > MAX_CAMPAIGN_ROWS ? null : campaignRows;
      return {
        timeSeries: hasPeriods ? timeSeriesOf(credit, calendar.periods, credits, incremental) : null,
        campaigns: toldApart,
        warnings: [...(hasPeriods ? [] : [TOO_MANY_PERIODS]), ...(toldApart === null ? [TOO_MANY_CAMPAIGNS] : [])],
      };
    },
  };
}

function answered<Result extends { readonly ok: true }>(outcome: Result | Failure): Result {
  if (outcome.ok) return outcome;
  throw new Error(`breakdown failed: ${outcome.message}`);
}
