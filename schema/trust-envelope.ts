/** The five parts of the trust envelope's score. */
export const TRUST_COMPONENTS = ['detection', 'attribution', 'provenance', 'consistency', 'taxonomy'] as const;
export type TrustComponent = (typeof TRUST_COMPONENTS)[number];

/** Weight of each component in `hreiScore`; they sum to 1. */
export type TrustWeights = Readonly<Record<TrustComponent, number>>;

/** The trust envelope (HREI) that every answer carries; all scores are risks in [0, 1], 0 is perfect trust. */
export interface TrustEnvelope {
  /** Σ weight · component score, to two decimals, half up. */
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
  readonly metadata: { readonly hreiVersion: string; readonly evaluatedAt: Date; readonly weights: TrustWeights };
}

/** Bands of the score. */
export type RiskLevel = 'minimal' | 'low' | 'moderate' | 'high' | 'critical';
/** What can be wrong with an answer, by the contract's taxonomy. */
export const TRUST_CLASSIFICATIONS = ['fabrication', 'misattribution', 'outdated_reference', 'reasoning_failure'] as const;
export type TrustClassification = (typeof TRUST_CLASSIFICATIONS)[number];
