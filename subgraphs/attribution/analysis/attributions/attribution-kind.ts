import type { Jobs } from '../../../../platform/jobs/jobs.ts';
import { publicId } from '../../../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../../../platform/postgres/database.ts';
import type { RunKind } from '../../runs/run-kind.ts';
import { readingDigest, sourceIdsOf } from '../../intake/data-sources/joined-sources.ts';
import { noticeRowsSince } from '../../intake/data-sources/late-rows.ts';
import { announceRevision, announcedAttributions, type AnnouncingServices } from './announce-attribution.ts';
import type { Attribution } from './attribution.ts';
import type { ChannelResult, ProgressEvent } from './attribution-progress.ts';
import { computeAnalysis, loadAnalysisInput, type AnalysisInput, type ComputingServices } from './compute-analysis.ts';
import type { AnalysisFigures } from './figures.ts';
import type { TrustEvidence } from './trust-evidence.ts';

export interface AnalysisServices extends AnnouncingServices, ComputingServices {
  readonly jobs: Jobs;
  /** Vouches for a completed row, inside the transaction that completes it. */
  readonly signResult: (em: SqlEntityManager, completed: Attribution) => Promise<string>;
}

/** What a run has found, and how it read the rows. */
export interface AnalysisFindings extends Pick<AnalysisInput, 'arrivals'> {
  readonly figures: AnalysisFigures;
  readonly trust: TrustEvidence | null;
  readonly channelRulesDigest: string | null;
}

/** Analyses: the figures are the same bit by bit, whichever worker makes them. */
export function attributionKind(
  services: AnalysisServices,
): RunKind<Attribution, AnalysisInput, AnalysisFindings, ChannelResult> {
  return {
    ...announcedAttributions(services),
    load: loadAnalysisInput,
    compute: async (job, attribution, input, tell) => {
      const restricted = (event: ProgressEvent): void =>
        tell(event.kind === 'CHANNEL_RESULT' ? { ...event, shown: attribution.channels ?? null } : event);
      const found = await computeAnalysis(
        services,
        job,
        { attribution: publicId('attr', attribution.id) },
        attribution,
        input,
        restricted,
      );
      return { ...found, arrivals: input.arrivals, channelRulesDigest: readingDigest(input.sources) };
    },
    resultOf: ({ figures }) => figures,
    async fill(em, row, { trust, channelRulesDigest }) {
      row.trust = trust;
      row.channelRulesDigest = channelRulesDigest;
      row.signature = null;
      row.sign(await services.signResult(em, row));
    },
    announceRevision: (em, row, { deltaRCents }) => announceRevision(em, services, row, deltaRCents),
    async follow(em, row, { arrivals }) {
      // Rows that came during the run, and rules that changed, were noticed while nobody could act on them.
      if (row.autoRefresh) await noticeRowsSince(em, services.jobs, row, sourceIdsOf(row), arrivals);
    },
  };
}
