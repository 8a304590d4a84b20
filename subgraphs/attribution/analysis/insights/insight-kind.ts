import { publicId } from '../../../../platform/identifiers.ts';
import type { RunKind } from '../../runs/run-kind.ts';
import {
  computeAnalysis,
  loadAnalysisInput,
  type AnalysisInput,
  type ComputingServices,
} from '../attributions/compute-analysis.ts';
import type { AnalysisFigures } from '../attributions/figures.ts';
import type { TrustEvidence } from '../attributions/trust-evidence.ts';
import { askedBy, Insight, INSIGHT_RUNS } from './insight.ts';

/** What such a run has found. */
export interface InsightFindings {
  readonly figures: AnalysisFigures;
  readonly trust: TrustEvidence | null;
}

const silently = async (): Promise<void> => undefined;

/** Runs that a read needed: the figures of an analysis, of which nobody is told, and which nobody signs or pays for. */
export function insightKind(services: ComputingServices): RunKind<Insight, AnalysisInput, InsightFindings> {
  return {
    ...INSIGHT_RUNS,
    load: (em, row, at) => loadAnalysisInput(em, askedBy(row), at),
    compute: (job, row, input, tell) =>
      computeAnalysis(services, job, { insight: publicId('ins', row.id) }, askedBy(row), input, (event) => {
        if (event.kind === 'PROGRESS') tell(event);
      }),
    resultOf: ({ figures }) => figures,
    async fill(_em, row, { trust }) {
      row.trust = trust;
    },
    announce: silently,
    announceRevision: silently,
    follow: silently,
  };
}
