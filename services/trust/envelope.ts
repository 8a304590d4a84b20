import type { RiskLevel, TrustComponent, TrustEnvelope, TrustWeights } from '../../schema/trust-envelope.ts';
import { TRUST_CLASSIFICATIONS } from '../../schema/value-lists.ts';
import { trustWeights } from './weights.ts';

/** The metrics of a component, without its score. */
type Metrics<Component extends TrustComponent> = Omit<TrustEnvelope['components'][Component], 'score'>;

/** What was measured of an estimate: the metrics of each component, the rules that it breaks, and what was checked. */
export interface TrustMeasurement {
  readonly detection: Metrics<'detection'>;
  readonly attribution: Metrics<'attribution'>;
  readonly provenance: Metrics<'provenance'>;
  readonly consistency: Metrics<'consistency'>;
  readonly taxonomy: Metrics<'taxonomy'>;
  /** What the scores of these components are at least, whatever their metrics say. */
  readonly least?: Partial<Readonly<Record<TrustComponent, number>>>;
  readonly verification: TrustEnvelope['verification'];
}

/** Version of the trust layer that belongs to a dated API version. */
export function hreiVersion(apiVersion: string): string {
  return apiVersion.startsWith('2025-') ? '1.0.0' : '1.1.0';
}

/**
 * The envelope of an estimate from what was measured: a component's score is the mean of its metrics, or what it is at
 * least; taxonomy's the share of classifications that apply.
 */
export function estimateEnvelope(measured: TrustMeasurement, now: Date, apiVersion: string): TrustEnvelope {
  const scored = (name: Exclude<TrustComponent, 'taxonomy'>): number =>
    Math.max(mean(measured[name]), measured.least?.[name] ?? 0);
  const components: TrustEnvelope['components'] = {
    detection: { score: scored('detection'), ...measured.detection },
    attribution: { score: scored('attribution'), ...measured.attribution },
    provenance: { score: scored('provenance'), ...measured.provenance },
    consistency: { score: scored('consistency'), ...measured.consistency },
    taxonomy: { score: measured.taxonomy.classifications.length / TRUST_CLASSIFICATIONS.length, ...measured.taxonomy },
  };
  const weights = trustWeights();
  return {
    ...scoreOf(components, weights),
    components,
    verification: measured.verification,
    metadata: { hreiVersion: hreiVersion(apiVersion), evaluatedAt: now, weights },
  };
}

/** Weighted mean of the components that were measured, to two decimals, and the band that is read from it. */
export function scoreOf(
  components: Partial<Readonly<Record<TrustComponent, { readonly score: number }>>>,
  weights: TrustWeights,
): Pick<TrustEnvelope, 'hreiScore' | 'riskLevel'> {
  const present = Object.entries(components) as [TrustComponent, { readonly score: number }][];
  const whole = present.reduce((sum, [component]) => sum + weights[component], 0);
  const hreiScore =
    whole === 0
      ? 0
      : hundredths(present.reduce((sum, [component, { score }]) => sum + weights[component] * score, 0) / whole);
  return { hreiScore, riskLevel: riskLevelOf(hreiScore) };
}

/**
 * The envelope of an answer that only repeats stored records: nothing is estimated, so every risk is 0
 * and each record returned is a claim that the system of record vouches for.
 */
export function recordEnvelope(records: number, now: Date, apiVersion: string): TrustEnvelope {
  return {
    hreiScore: 0,
    riskLevel: 'minimal',
    components: {
      detection: { score: 0, semanticEntropy: 0, calibrationError: 0, perplexityAnomaly: 0 },
      attribution: { score: 0, factualGrounding: 0, knowledgeGraphDivergence: 0, promptSensitivity: 0 },
      provenance: { score: 0, sourceRetrievability: 0, temporalDisplacement: 0, citationReliability: 0 },
      consistency: { score: 0, internalConsistency: 0, logicalCoherence: 0, crossResponseConsistency: 0 },
      taxonomy: { score: 0, classifications: [] },
    },
    verification: {
      groundTruthSource: 'system_of_record',
      claimsVerified: records,
      claimsTotal: records,
      confidenceIntervalsIncluded: false,
      modelRunTraceable: false,
    },
    metadata: { hreiVersion: hreiVersion(apiVersion), evaluatedAt: now, weights: trustWeights() },
  };
}

/** The band of a score that has two decimals: up to 0.20, 0.40, 0.60, 0.80, 1. */
export function riskLevelOf(score: number): RiskLevel {
  if (score <= 0.2) return 'minimal';
  if (score <= 0.4) return 'low';
  if (score <= 0.6) return 'moderate';
  return score <= 0.8 ? 'high' : 'critical';
}

function mean(metrics: Readonly<Record<string, number>>): number {
  const values = Object.values(metrics);
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Two decimals, half up, of the decimal number that is meant: sums of binary fractions miss it by some 10⁻¹⁷. */
function hundredths(score: number): number {
  return Math.round(Number((score * 100).toFixed(9))) / 100;
}
