import { scoreOf } from '../../services/trust/envelope.ts';
import { trustWeights } from '../../services/trust/weights.ts';
import { roundHalfUp } from '../../schema/rounding.ts';
import { snakeCase } from '../../schema/rest-shape.ts';
import type { AnalysisFigures } from '../../subgraphs/attribution/analysis/attributions/figures.ts';
import { presentTrust } from '../../subgraphs/attribution/analysis/attributions/present-trust.ts';
import type { TrustEvidence } from '../../subgraphs/attribution/analysis/attributions/trust-evidence.ts';
import type { ReportedTrust } from '../../report/attribution-report.ts';

/**
 * The trust of figures that were made from files: all but provenance, which asks for a source that is connected,
 * healthy and on record. The score is the weighted mean of the other components.
 */
export function trustOfFiles(evidence: TrustEvidence, figures: AnalysisFigures, now: Date): ReportedTrust {
  const { components, verification } = presentTrust(
    evidence,
    figures,
    { source: null, changedDays: new Set() },
    now,
    '',
  );
  const { provenance: _unknown, ...measured } = components;
  const { hreiScore, riskLevel } = scoreOf(measured, trustWeights());
  return {
    hrei_score: hreiScore,
    risk_level: riskLevel,
    components: Object.fromEntries(
      Object.entries({
        detection: measured.detection,
        attribution: measured.attribution,
        consistency: measured.consistency,
      }).map(([name, metrics]) => [name, rounded(metrics)]),
    ),
    classifications: measured.taxonomy.classifications,
    verification: {
      ground_truth_source: verification.groundTruthSource,
      claims_verified: verification.claimsVerified,
      claims_total: verification.claimsTotal,
    },
    not_measured: ['provenance'],
  };
}

function rounded(metrics: Readonly<Record<string, number>>): Readonly<Record<string, number | null>> {
  return Object.fromEntries(Object.entries(metrics).map(([name, value]) => [snakeCase(name), roundHalfUp(value, 4)]));
}
