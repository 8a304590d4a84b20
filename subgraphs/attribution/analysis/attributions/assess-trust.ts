import type { TaskRunner } from '../../../../compute/pool.ts';
import type { TaskInput, TaskOutcome } from '../../../../compute/tasks.ts';
import { canonicalDigest } from '../../../../services/trust/canonical-json.ts';
import { isBaselineChannel } from '../../intake/data-sources/data-source.ts';
import { UNDATED, type StoredDay } from '../../intake/data-sources/source-days.ts';
import type { StoredRows } from '../../intake/touchpoints/stored-rows.ts';
import { runOptionsOf, seedOf, type RunData, type RunParameters } from './analyze.ts';
import { codeVersion } from './code-version.ts';
import { brokenInvariants, internalInconsistency, INVARIANT_NAMES } from './coherence.ts';
import type { ModelOutcomes } from './compose-figures.ts';
import type { AnalysisFigures } from './figures.ts';
import { LARGE_SHARE } from './trust-evidence.ts';
import type { EvidenceRows, TrustEvidence } from './trust-evidence.ts';
import { verifyClaims } from './verify-claims.ts';

/** The rows of a run, and what they are checked against. */
export interface AssessableRun extends RunData {
  /** The rows themselves, counted by no way that a model goes: what the figures are checked against. */
  readonly stored: {
    readonly rows: StoredRows;
    /** What each day of the source holds; null where the store has not changed since that was last verified. */
    readonly days: readonly StoredDay[] | null;
    /** State of the store in which the rows were read; null where it does not tell. */
    readonly parts: string | null;
    /** Rows and days again, with rows that came twice counted once at any price. */
    readonly recount: () => Promise<StoredRows>;
    readonly recountDays: () => Promise<readonly StoredDay[]>;
    /**
     * Where the journeys of the window before the range are to be found; null where the source does not reach back so
     * far.
     */
    readonly preceding: TaskInput<'evidence'>['preceding'];
  };
}

/** What the ingest record and the source say at the time of the run. */
export interface RunProvenance {
  /** Before the run read its first row. */
  readonly measuredAt: Date;
  /** What each day of the source held when its rows arrived. */
  readonly recordedDays: readonly StoredDay[];
  /** When rows last arrived; dates what has no date of its own. */
  readonly lastArrival: Date | null;
  readonly syncIntervalS: number;
  readonly citationReliability: number;
}

export interface AssessmentServices {
  readonly pool: TaskRunner;
  readonly signal: AbortSignal;
}

/** What was measured, and the state of the store in which the rows were newly found to be those on record. */
export interface Assessment {
  readonly evidence: TrustEvidence;
  readonly verifiedParts: string | null;
}

/** How far a run may read around its range: PRAV's follow-up behind it, its exposures and the lookback before it. */
const DAY_S = 86_400;
const FOLLOW_UP_DAYS = 14;
const REACH_BACK_DAYS = 90;

/**
 * Measures what the envelope of a run needs while its models run, on the same pool: ask after the models' tasks are
 * queued.
 * @returns what finishes the measurement once the figures are there; it throws when a measurement failed
 */
export function measureEvidence(
  data: AssessableRun,
  parameters: RunParameters,
  { pool, signal }: AssessmentServices,
): (figures: AnalysisFigures, outcomes: ModelOutcomes, provenance: RunProvenance) => Promise<Assessment> {
  const options = runOptionsOf(data, parameters);
  const seed = seedOf(parameters);
  const { paths, events } = data;
  const evidenceRun = pool.run(
    'evidence',
    {
      paths,
      events,
      rangeStartS: options.rangeStartS,
      rangeEndS: options.rangeEndS,
      lookbackS: options.lookbackS,
      preceding: data.stored.preceding,
      seed,
    },
    { cancel: signal },
  );
  const askSensitivity = (weights: Extract<ModelOutcomes['causal'], { readonly ok: true }>['weights'] | null) =>
    pool.run('sensitivity', { paths, events, options, model: parameters.model, weights, seed }, { cancel: signal });
  // The causal model's weights are only known once it ran.
  let sensitivityRun = parameters.model === 'causal' ? null : askSensitivity(null);
  return async (figures, outcomes, provenance) => {
    sensitivityRun ??= askSensitivity(outcomes.causal.ok ? outcomes.causal.weights : null);
    const evidence = measured('evidence', await evidenceRun);
    const stored = await trustworthyCounts(data);
    const days = await trustworthyDays(data, provenance.recordedDays);
    const isVerified = unmatchedDays(days, provenance.recordedDays).length === 0;
    const isBaseline = (channel: string): boolean => isBaselineChannel(channel, parameters.baselineChannels);
    const baseline = new Set(figures.channels.map(({ channel }) => channel).filter(isBaseline));
    const orders = events === null ? stored.paths : stored.orders;
    const witness = {
      journeys: evidence.witness,
      touches: stored.touches,
      conversions: orders.conversions,
      revenue: orders.revenue,
      baseline,
    };
    const scrutiny = measured(
      'scrutiny',
      await pool.run('scrutiny', { model: parameters.model, outcomes, witness, seed }, { cancel: signal }),
    );
    const sensitivity = measured('sensitivity', await sensitivityRun);
    const journeyTouches = new Map(
      evidence.witness.channels.map((channel, c) => [channel, evidence.witness.journeyTouches[c]!]),
    );
    const resultDigest = canonicalDigest(figures);
    const rows = evidenceRows(data, parameters, days, provenance);
    const trust: TrustEvidence = {
      measuredAt: provenance.measuredAt.toISOString(),
      detection: {
        semanticEntropy: scrutiny.semanticEntropy,
        calibrationError: evidence.calibrationError,
        perplexityAnomaly: evidence.perplexityAnomaly,
      },
      reference: evidence.reference,
      knowledgeGraphDivergence: evidence.transitionDivergence,
      promptSensitivity: sensitivity.mean,
      perturbations: sensitivity.distances,
      internalConsistency: internalInconsistency(figures),
      crossResponseConsistency: scrutiny.disagreement,
      invariants: {
        checked: INVARIANT_NAMES.length,
        broken: brokenInvariants(figures, {
          touchesOf: (channel) => (journeyTouches.get(channel) ?? 0) + (stored.touches.get(channel) ?? 0),
        }),
      },
      claims: verifyClaims(figures, {
        stored,
        journeys: evidence.witness,
        isPaths: events === null,
        secondCredit: scrutiny.secondCredit,
      }),
      resultDigest,
      widestChannel: widestChannel(figures),
      confidenceIntervalsIncluded: figures.channels.some(({ confidenceInterval }) => confidenceInterval !== null),
      groundTruthSource: groundTruth(data, parameters, outcomes),
      evidence: rows,
      trace: {
        inputsDigest: inputsDigest(days, rows, parameters, data.experiments ?? []),
        seed: parameters.seed,
        codeVersion: codeVersion(),
        ...(parameters.channelRulesDigest != null && { channelRulesDigest: parameters.channelRulesDigest }),
      },
    };
    return { evidence: trust, verifiedParts: isVerified && data.stored.days !== null ? data.stored.parts : null };
  };
}

function measured<Name extends 'evidence' | 'scrutiny' | 'sensitivity'>(
  name: Name,
  outcome: TaskOutcome<Name>,
): Extract<TaskOutcome<Name>, { readonly ok: true }> {
  if (outcome.ok) return outcome as Extract<TaskOutcome<Name>, { readonly ok: true }>;
  throw new Error(`${name} could not be measured: ${outcome.message}`);
}

/** The quick counts where they agree with what is known; else the dear ones, which count rows that came twice once. */
async function trustworthyCounts({ stored, totals, events }: AssessableRun): Promise<StoredRows> {
  const touches = [...stored.rows.touches.values()].reduce((sum, count) => sum + count, 0);
  return events === null || touches === totals.touches ? stored.rows : stored.recount();
}

async function trustworthyDays(
  { stored }: AssessableRun,
  recorded: readonly StoredDay[],
): Promise<readonly StoredDay[]> {
  if (stored.days === null) return recorded;
  return unmatchedDays(stored.days, recorded).length === 0 ? stored.days : stored.recountDays();
}

function unmatchedDays(found: readonly StoredDay[], recorded: readonly StoredDay[]): readonly string[] {
  const known = new Map(recorded.map(({ day, rows, digest }) => [day, `${rows} ${digest}`]));
  return found.filter(({ day, rows, digest }) => known.get(day) !== `${rows} ${digest}`).map(({ day }) => day);
}

function evidenceRows(
  { events, observedUntilS }: RunData,
  { rangeStartS, rangeEndS, lookbackS }: RunParameters,
  days: readonly StoredDay[],
  provenance: RunProvenance,
): EvidenceRows {
  const dayOf = (timeS: number): string => new Date(timeS * 1000).toISOString().slice(0, 10);
  const [first, last] = [
    dayOf(rangeStartS - Math.max(lookbackS, REACH_BACK_DAYS * DAY_S)),
    dayOf(rangeEndS - 1 + FOLLOW_UP_DAYS * DAY_S),
  ];
  const within = days.filter(({ day }) => day === UNDATED || (day >= first && day <= last));
  const unmatched = new Set(unmatchedDays(within, provenance.recordedDays));
  const newestDay = within.findLast(({ day }) => day !== UNDATED)?.day;
  const newest =
    events !== null
      ? new Date(observedUntilS * 1000)
      : newestDay === undefined
        ? provenance.lastArrival
        : new Date(Date.parse(newestDay) + DAY_S * 1000 - 1);
  return {
    days: Object.fromEntries(within.map(({ day, rows }) => [day, rows])),
    unmatched: [...unmatched],
    newestAt: newest?.toISOString() ?? null,
    rangeEndsAt: new Date(rangeEndS * 1000).toISOString(),
    syncIntervalS: provenance.syncIntervalS,
    citationReliability: provenance.citationReliability,
  };
}

function inputsDigest(
  stored: readonly StoredDay[],
  { days }: EvidenceRows,
  { channelRulesDigest = null, acceptQuality: _accepted, ...parameters }: RunParameters,
  experiments: NonNullable<RunData['experiments']>,
): string {
  const channelRules = channelRulesDigest === null ? {} : { channelRules: channelRulesDigest };
  return canonicalDigest({
    parameters,
    ...channelRules,
    experiments,
    rows: stored.filter(({ day }) => Object.hasOwn(days, day)).map(({ day, rows, digest }) => [day, rows, digest]),
  });
}

/** A channel with more than a tenth of the credit and an interval wider than twice its point; the widest of them. */
function widestChannel({ channels }: AnalysisFigures): string | null {
  const widthOf = ({ confidenceInterval, attributedRevenueCents }: AnalysisFigures['channels'][number]): number =>
    confidenceInterval === null
      ? 0
      : (confidenceInterval.upper - confidenceInterval.lower) /
        Math.max(attributedRevenueCents / 100, Number.MIN_VALUE);
  const wide = channels.filter((channel) => channel.share > LARGE_SHARE && widthOf(channel) > 2);
  return wide.toSorted((a, b) => widthOf(b) - widthOf(a))[0]?.channel ?? null;
}

/** What the figures were held against: the stored rows, what told cause from selection, and measured effects. */
function groundTruth({ events }: RunData, { model }: RunParameters, { causal, prav }: ModelOutcomes): string {
  const isCausal = model === 'causal' || model === 'prav';
  return [
    events === null ? 'stored_paths' : 'stored_touchpoints',
    ...(isCausal ? [prav.ok ? 'placebo_visits' : 'prior_weights'] : []),
    ...(model === 'causal' && causal.ok && causal.calibrations.length > 0 ? ['experiments'] : []),
  ].join('+');
}
