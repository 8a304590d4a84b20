import { z } from 'zod';
import { RISK_LEVELS, TRUST_CLASSIFICATIONS } from '../value-lists.ts';
import { graphTypes, moment } from './terms.ts';

/* The trust envelope (HREI) that every answer carries: interface specification §2. Every subgraph knows it. */

const riskLevel = z.enum(RISK_LEVELS).register(graphTypes, {
  name: 'RiskLevel',
  description: 'How much care an answer needs',
});
const trustClassification = z.enum(TRUST_CLASSIFICATIONS).register(graphTypes, {
  name: 'TrustClassification',
  description: 'A way in which an answer may be wrong',
});

/** From 0, which is perfect trust, to 1. */
const risk = (graph: string) => z.number().min(0).max(1).meta({ graph });

const component = <Metrics extends z.ZodRawShape>(name: string, description: string, metrics: Metrics) =>
  z
    .object({ score: risk('Mean of the three'), ...metrics })
    .register(graphTypes, { name, description, isShareable: true });

const detection = component('TrustDetection', 'Risk that the answer claims what was not observed', {
  semanticEntropy: risk('How often resampled data ranks the channels differently: entropy of the rankings'),
  calibrationError: risk('Distance between predicted and observed conversion rates on held-out journeys'),
  perplexityAnomaly: risk('How unlike the reference period the journeys are'),
});
const attribution = component('TrustAttribution', 'Risk that a claim is credited to the wrong source', {
  factualGrounding: risk('Share of claims that a second computation does not confirm'),
  knowledgeGraphDivergence: risk('Distance between the channel transitions of this period and the reference period'),
  promptSensitivity: risk('How far shares move when days or the lookback change a little'),
});
const provenance = component('TrustProvenance', 'Risk that the sources cannot be retrieved, or are out of date', {
  sourceRetrievability: risk('Share of the evidence that can no longer be read as it was'),
  temporalDisplacement: risk('Grows with the age of the newest evidence'),
  citationReliability: risk('1 minus the health of the sources'),
});
const consistency = component('TrustConsistency', 'Risk that the answer contradicts itself or others', {
  internalConsistency: risk('Part of the revenue by which the sums miss the total'),
  logicalCoherence: risk('Share of invariants that are violated'),
  crossResponseConsistency: risk('How far the models disagree on the shares'),
});
const taxonomy = component('TrustTaxonomy', 'Kinds of error that were found', {
  score: risk('Number of classifications, divided by 4'),
  classifications: z.array(trustClassification).meta({ graph: 'Each at most once; empty when nothing was found' }),
});

const components = z
  .object({
    detection: detection.meta({ graph: 'Claims of what was not observed' }),
    attribution: attribution.meta({ graph: 'Claims credited to the wrong source' }),
    provenance: provenance.meta({ graph: 'Sources that cannot be retrieved, or are out of date' }),
    consistency: consistency.meta({ graph: 'Contradictions' }),
    taxonomy: taxonomy.meta({ graph: 'Kinds of error' }),
  })
  .register(graphTypes, {
    name: 'TrustComponents',
    description: 'The five parts of the score; each is a risk from 0 to 1',
    isShareable: true,
  });

const verification = z
  .object({
    groundTruthSource: z.string().meta({ graph: 'What claims are checked against; system_of_record for records' }),
    claimsVerified: z.int().min(0).meta({ graph: 'Figures that a second, independent path confirms' }),
    claimsTotal: z.int().min(0).meta({ graph: 'Figures in the answer; for records, the records' }),
    confidenceIntervalsIncluded: z.boolean().meta({ graph: 'Whether the answer carries intervals' }),
    modelRunTraceable: z.boolean().meta({ graph: 'Whether the run can be repeated bit by bit from what is stored' }),
  })
  .register(graphTypes, { name: 'TrustVerification', description: 'What was checked against what', isShareable: true });

const metadata = z
  .object({
    hreiVersion: z.string().meta({ graph: 'Version of the definitions' }),
    evaluatedAt: moment.meta({ graph: 'When the score was made' }),
    weights: z.record(z.string(), z.number()).meta({ graph: 'Weight of each component in the score; they sum to 1' }),
  })
  .register(graphTypes, { name: 'TrustMetadata', description: 'How and when the score was made', isShareable: true });

/** The envelope; the order of the members is the order in every answer. */
export const trustEnvelope = z
  .object({
    hreiScore: risk('Weighted mean of the components').meta({
      description: '0 is perfect trust, 1 is critical risk; two decimals',
      digits: 2,
    }),
    riskLevel: riskLevel.meta({ graph: 'Band of the score: up to 0.20, 0.40, 0.60, 0.80, 1' }),
    components: components.meta({ graph: 'Where the risk comes from' }),
    verification: verification.meta({ graph: 'What was checked' }),
    metadata: metadata.meta({ graph: 'How the score was made' }),
  })
  .meta({ id: 'TrustEnvelope', description: 'Scores the integrity of this answer (HREI).' })
  .register(graphTypes, {
    name: 'TrustEnvelope',
    description: 'How far the answer may be trusted; 0 is perfect trust, 1 is none',
    isShareable: true,
  });
