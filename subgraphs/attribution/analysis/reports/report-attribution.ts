import type { Principal } from '../../../../schema/principal.ts';
import type { ReportFormat } from '../../../../schema/value-lists.ts';
import { publicId, type Uuid } from '../../../../platform/identifiers.ts';
import type { PacedTurns } from '../../../../platform/paced-turns.ts';
import type { Database } from '../../../../platform/postgres/database.ts';
import { sourceIdsOf } from '../../intake/data-sources/joined-sources.ts';
import { requireRun } from '../../runs/run-table.ts';
import { ATTRIBUTION_RUNS, type Attribution } from '../attributions/attribution.ts';
import type { ExportedFile } from '../attributions/export-attribution.ts';
import type { OpenExports } from '../attributions/open-exports.ts';
import { reportFile } from '../../../../report/report-file.ts';
import { requireFigures } from '../attributions/published-figures.ts';
import { reportOfFigures } from './report-of-figures.ts';

export interface ReportRequest {
  readonly format: ReportFormat;
  /** Aborts when nobody waits for the file any more, or its last byte has gone. */
  readonly signal: AbortSignal;
}

export interface ReportServices {
  readonly database: Database;
  readonly openExports: OpenExports;
  /** To draw a report takes the thread for long. */
  readonly reportTurns: PacedTurns;
}

/**
 * The report of a completed analysis as a file: a page or a workbook, made when it is asked for from the figures that
 * are kept.
 * @throws ProblemError `resource_not_found`, `conflict` (not_ready), `rate_limit_exceeded` (too many files of the
 * account open)
 */
export async function reportAttribution(
  { database, openExports, reportTurns }: ReportServices,
  principal: Principal,
  id: Uuid,
  { format, signal }: ReportRequest,
): Promise<ExportedFile> {
  const leave = openExports.enter(principal.accountId, signal);
  try {
    const attribution = await database.asTenant(principal, (em) => requireRun(em, ATTRIBUTION_RUNS, id));
    const report = reportOf(attribution);
    const over = await reportTurns.take(principal.accountId);
    try {
      signal.throwIfAborted();
      const bytes = await reportFile(format, report, subjectOf(attribution));
      return { fileName: `liftgraph-${publicId('attr', id)}-report.${format}`, body: once(bytes) };
    } finally {
      over();
    }
  } catch (error) {
    leave();
    throw error;
  }
}

/** As the answers of the doors, it shows the channels that the analysis was restricted to. */
function reportOf(attribution: Attribution) {
  return reportOfFigures(requireFigures(attribution), {
    model: attribution.model,
    granularity: attribution.granularity,
    dateRange: [attribution.dateStart, attribution.dateEnd],
    lookbackDays: attribution.lookbackWindowDays,
    confidenceLevel: attribution.confidenceLevel,
    createdAt: attribution.createdAt,
    channels: attribution.channels ?? null,
  });
}

/** What was analysed; of the sandbox it says so, since a page is passed on without the headers that do. */
function subjectOf(attribution: Attribution): string {
  const { id, environment } = attribution;
  const isReal = environment === 'live';
  const sources = sourceIdsOf(attribution).map((source) => publicId('ds', source));
  return `${sources.join(', ')} · ${publicId('attr', id)}${isReal ? '' : ' · sandbox, not real business'}`;
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
