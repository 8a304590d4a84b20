import { z } from 'zod';
import { type TrustEnvelope } from '../../schema/trust-envelope.ts';
import { recordEnvelope } from '../../services/trust/envelope.ts';
import type { Json } from '../operation.ts';
import { roundHalfUp } from '../../schema/rounding.ts';
import { snakeCase } from '../../schema/rest-shape.ts';
import { CURRENT_VERSION } from '../versions.ts';

const risk = z.number().min(0).max(1);

const RISK_LEVELS = ['minimal', 'low', 'moderate', 'high', 'critical'] as const;

/** The HREI envelope of an answer (interface specification §2). */
export const trustEnvelope = z
  .object({
    hrei_score: risk.meta({ description: '0 is perfect trust, 1 is critical risk; two decimals' }),
    risk_level: z.enum(RISK_LEVELS),
    components: z.object({
      detection: z.object({ score: risk, semantic_entropy: risk, calibration_error: risk, perplexity_anomaly: risk }),
      attribution: z.object({ score: risk, factual_grounding: risk, knowledge_graph_divergence: risk, prompt_sensitivity: risk }),
      provenance: z.object({ score: risk, source_retrievability: risk, temporal_displacement: risk, citation_reliability: risk }),
      consistency: z.object({ score: risk, internal_consistency: risk, logical_coherence: risk, cross_response_consistency: risk }),
      taxonomy: z.object({ score: risk, classifications: z.array(z.enum(['fabrication', 'misattribution', 'outdated_reference', 'reasoning_failure'])) }),
    }),
    verification: z.object({
      ground_truth_source: z.string(),
      claims_verified: z.int().min(0),
      claims_total: z.int().min(0),
      confidence_intervals_included: z.boolean(),
      model_run_traceable: z.boolean(),
    }),
    metadata: z.object({ hrei_version: z.string(), evaluated_at: z.iso.datetime(), weights: z.record(z.string(), z.number()) }),
  })
  .meta({ id: 'TrustEnvelope', description: 'Scores the integrity of this answer (HREI).' });

/** The envelope as REST writes it, for answers that do not come from the graph. */
export function presentTrust(envelope: TrustEnvelope): Json {
  return snakeMembers({
    ...envelope,
    hreiScore: roundHalfUp(envelope.hreiScore, 2),
    metadata: { ...envelope.metadata, evaluatedAt: envelope.metadata.evaluatedAt.toISOString() },
  });
}

function snakeMembers(value: object): Json {
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [snakeCase(name), typeof member === 'object' && member !== null && !Array.isArray(member) ? snakeMembers(member as object) : member]),
  );
}

/** The envelope of `records` stored records, for the examples of the documentation. */
export function exampleTrust(records: number): Json {
  return presentTrust(recordEnvelope(records, new Date('2026-02-01T09:30:00.000Z'), CURRENT_VERSION));
}
