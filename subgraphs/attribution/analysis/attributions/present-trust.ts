import { repeatedDigest } from '../../../../services/trust/canonical-json.ts';
import { type TrustClassification, type TrustEnvelope } from '../../../../schema/trust-envelope.ts';
import { estimateEnvelope } from '../../../../services/trust/envelope.ts';
import type { DataSource } from '../../intake/data-sources/data-source.ts';
import { recount } from './claims.ts';
import type { AnalysisFigures } from './figures.ts';
import { isMisleading, qualityRisk } from './quality-gate.ts';
import { LARGE_SHARE } from './trust-evidence.ts';
import type { EvidenceRows, TrustEvidence } from './trust-evidence.ts';

/** What a run's source is at the moment of reading. */
export interface SourceNow {
  /** Null when it is gone altogether. */
  readonly source: Pick<
    DataSource,
    | 'deletedAt'
    | 'error'
    | 'statusAt'
    | 'healthScore'
    | 'statistics'
    | 'rowsAccepted'
    | 'rowsRejected'
    | 'channelRulesDigest'
  > | null;
  /** Days whose rows changed after the run. */
  readonly changedDays: ReadonlySet<string>;
}

/** E-folding time of temporal displacement. */
const STALE_AFTER_MS = 30 * 86_400_000;
const OUTDATED = 0.3;
const MISATTRIBUTED = 0.35;

/** The trust envelope of a completed analysis as it is to be judged now. */
export function presentTrust(
  evidence: TrustEvidence,
  figures: AnalysisFigures,
  { source, changedDays }: SourceNow,
  now: Date,
  apiVersion: string,
): TrustEnvelope {
  const isConnected = source !== null && source.deletedAt == null && source.statusAt(now) !== 'error';
  const { verified, total } = recount(evidence.claims, figures, repeatedDigest(figures) === evidence.resultDigest);
  const temporalDisplacement = displacement(evidence.evidence, now);
  const classifications: TrustClassification[] = [];
  if (verified < total) classifications.push('fabrication');
  if (
    evidence.crossResponseConsistency > MISATTRIBUTED ||
    evidence.widestChannel !== null ||
    isMisleading(figures.dataQuality) ||
    figures.channels.some(({ share, identification }) => share > LARGE_SHARE && identification?.status === 'partial') ||
    figures.diagnostics.tests?.some(({ status }) => status === 'fail') === true
  )
    classifications.push('misattribution');
  if (temporalDisplacement > OUTDATED || source?.statusAt(now) === 'error') classifications.push('outdated_reference');
  if (evidence.invariants.broken.length > 0) classifications.push('reasoning_failure');
  return estimateEnvelope(
    {
      detection: evidence.detection,
      attribution: {
        factualGrounding: 1 - verified / total,
        knowledgeGraphDivergence: evidence.knowledgeGraphDivergence,
        promptSensitivity: evidence.promptSensitivity,
      },
      provenance: {
        sourceRetrievability: isConnected ? shareChanged(evidence.evidence, changedDays) : 1,
        temporalDisplacement,
        citationReliability:
          source === null || source.deletedAt != null
            ? evidence.evidence.citationReliability
            : citationReliability(source, now),
      },
      consistency: {
        internalConsistency: evidence.internalConsistency,
        logicalCoherence: evidence.invariants.broken.length / evidence.invariants.checked,
        crossResponseConsistency: evidence.crossResponseConsistency,
      },
      taxonomy: { classifications },
      least: { attribution: qualityRisk(figures.dataQuality), provenance: qualityRisk(figures.dataQuality) },
      verification: {
        groundTruthSource: evidence.groundTruthSource,
        claimsVerified: verified,
        claimsTotal: total,
        confidenceIntervalsIncluded: evidence.confidenceIntervalsIncluded,
        modelRunTraceable: isTraceable(evidence, source, changedDays),
      },
    },
    now,
    apiVersion,
  );
}

/**
 * 1 − health of a source. One that has no health, since it holds undated paths alone, is judged by the rows that could
 * be used.
 */
export function citationReliability(source: NonNullable<SourceNow['source']>, now: Date): number {
  const accepted = Number(source.rowsAccepted);
  const health = source.healthScore(now) ?? accepted / Math.max(1, accepted + Number(source.rowsRejected));
  return Math.min(1, Math.max(0, 1 - health));
}

/**
 * 1 − exp(−excess age / 30 days), where the age is that of the newest evidence at the end of the range, or now if that
 * is earlier.
 */
function displacement({ newestAt, rangeEndsAt, syncIntervalS }: EvidenceRows, now: Date): number {
  if (newestAt === null) return 1;
  const ageMs = Math.min(now.getTime(), Date.parse(rangeEndsAt)) - Date.parse(newestAt) - syncIntervalS * 1000;
  return 1 - Math.exp(-Math.max(0, ageMs) / STALE_AFTER_MS);
}

function shareChanged({ days, unmatched }: EvidenceRows, changedDays: ReadonlySet<string>): number {
  let [changed, all] = [0, 0];
  for (const [day, rows] of Object.entries(days)) {
    all += rows;
    if (changedDays.has(day) || unmatched.includes(day)) changed += rows;
  }
  return all === 0 ? 1 : changed / all;
}

/**
 * Rows, seed and code are known, and the rows are still there as they were and read by the same rules: the same run
 * gives the same figures.
 */
function isTraceable(
  { evidence, trace }: TrustEvidence,
  source: SourceNow['source'],
  changedDays: ReadonlySet<string>,
): boolean {
  const days = Object.keys(evidence.days).toSorted();
  const [first, last] = [days[0] ?? '', days.at(-1) ?? ''];
  const isStored = trace.inputsDigest !== '' && trace.seed !== '' && trace.codeVersion !== '';
  const isReadAlike = (source?.channelRulesDigest ?? null) === (trace.channelRulesDigest ?? null);
  return (
    isStored &&
    isReadAlike &&
    source !== null &&
    source.deletedAt == null &&
    evidence.unmatched.length === 0 &&
    ![...changedDays].some((day) => day >= first && day <= last)
  );
}
