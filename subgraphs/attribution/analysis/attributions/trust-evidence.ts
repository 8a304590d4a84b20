import type { CheckedClaim } from './claims.ts';

/** A channel with more than this part of the credit decides what is made of an answer. */
export const LARGE_SHARE = 0.1;

/**
 * What is kept of a completed run so that its trust envelope can be made whenever it is read. What depends on the
 * moment of reading (age, state and health of the source, changed rows, the stored figures themselves) is kept as
 * facts, not as a score.
 */
export interface TrustEvidence {
  /** RFC 3339; before the run read its first row. */
  readonly measuredAt: string;
  readonly detection: {
    readonly semanticEntropy: number;
    readonly calibrationError: number;
    readonly perplexityAnomaly: number;
  };
  /** What the last two were measured against. */
  readonly reference: 'preceding_window' | 'first_half' | 'random_halves';
  readonly knowledgeGraphDivergence: number;
  readonly promptSensitivity: number;
  /** Distance that each perturbation moved the shares. */
  readonly perturbations: Readonly<Record<string, number>>;
  readonly internalConsistency: number;
  readonly crossResponseConsistency: number;
  readonly invariants: { readonly checked: number; readonly broken: readonly string[] };
  readonly claims: readonly CheckedClaim[];
  /** Of the result as it was stored. */
  readonly resultDigest: string;
  /** A channel with more than a tenth of the credit whose interval is wider than twice its point. */
  readonly widestChannel: string | null;
  readonly confidenceIntervalsIncluded: boolean;
  readonly groundTruthSource: string;
  readonly evidence: EvidenceRows;
  readonly trace: {
    /** Digest of the rows within reach and of what was asked. */
    readonly inputsDigest: string;
    readonly seed: string;
    readonly codeVersion: string;
    /** Names the channel rules that the rows were read by; absent for none. */
    readonly channelRulesDigest?: string;
  };
}

/** The rows that the run could read, and their dates. */
export interface EvidenceRows {
  /** Rows per day within reach, `YYYY-MM-DD`. */
  readonly days: Readonly<Record<string, number>>;
  /** Days whose rows were not those of the ingest record already then. */
  readonly unmatched: readonly string[];
  /** RFC 3339; null where nothing is dated and nothing says when it came. */
  readonly newestAt: string | null;
  /** End of the range, RFC 3339. */
  readonly rangeEndsAt: string;
  /** How far apart the syncs of the source are, seconds. */
  readonly syncIntervalS: number;
  /** 1 − health of the source at the time of the run. */
  readonly citationReliability: number;
}
