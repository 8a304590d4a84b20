/** The trust envelope (HREI) that every answer carries; all scores are risks in [0, 1], 0 is perfect trust. */
export interface TrustEnvelope {
  readonly hreiScore: number;
  readonly riskLevel: RiskLevel;
  readonly components: {
    readonly detection: { readonly score: number; readonly semanticEntropy: number; readonly calibrationError: number; readonly perplexityAnomaly: number };
    readonly attribution: { readonly score: number; readonly factualGrounding: number; readonly knowledgeGraphDivergence: number; readonly promptSensitivity: number };
    readonly provenance: { readonly score: number; readonly sourceRetrievability: number; readonly temporalDisplacement: number; readonly citationReliability: number };
    readonly consistency: { readonly score: number; readonly internalConsistency: number; readonly logicalCoherence: number; readonly crossResponseConsistency: number };
    readonly taxonomy: { readonly score: number; readonly classifications: readonly TrustClassification[] };
  };
  readonly verification: {
    readonly groundTruthSource: string;
    readonly claimsVerified: number;
    readonly claimsTotal: number;
    readonly confidenceIntervalsIncluded: boolean;
    readonly modelRunTraceable: boolean;
  };
  readonly metadata: { readonly hreiVersion: string; readonly evaluatedAt: Date; readonly weights: Readonly<Record<TrustComponent, number>> };
}

export type RiskLevel = 'minimal' | 'low' | 'moderate' | 'high' | 'critical';
export type TrustClassification = 'fabrication' | 'misattribution' | 'outdated_reference' | 'reasoning_failure';
export type TrustComponent = 'detection' | 'attribution' | 'provenance' | 'consistency' | 'taxonomy';

/** Weight of each component in `hreiScore`; they sum to 1. */
const TRUST_WEIGHTS: Readonly<Record<TrustComponent, number>> = {
  detection: 0.25,
  attribution: 0.25,
  provenance: 0.2,
  consistency: 0.2,
  taxonomy: 0.1,
};

/** Version of the trust layer that belongs to a dated API version. */
export function hreiVersion(apiVersion: string): string {
  return apiVersion.startsWith('2025-') ? '1.0.0' : '1.1.0';
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
    verification: { groundTruthSource: 'system_of_record', claimsVerified: records, claimsTotal: records, confidenceIntervalsIncluded: false, modelRunTraceable: false },
    metadata: { hreiVersion: hreiVersion(apiVersion), evaluatedAt: now, weights: TRUST_WEIGHTS },
  };
}
