import { OF_SOURCE } from './source-key.ts';

/** Said wherever a source holds both: adding them up could count one sale twice. */
export const IGNORED_PATHS =
  'This source holds single touches or conversions as well as aggregated paths. Analyses read the former and leave ' +
  'the paths out; keep paths in a source of their own.';

/**
 * The stored paths as they count: of each path (on each day) of a source the rows of the latest upload that names it,
 * added up. Rows of one file are told apart by their lines, so a file that comes again replaces itself, and a chunk
 * that is sent twice changes nothing. One row per path, dated and date, with conversions, revenue and nulls as
 * Decimal(38, 4).
 */
export const CURRENT_PATHS = currentPaths(OF_SOURCE);

/** The same of the rows that a condition picks, which begins with {@link OF_SOURCE}. */
export function currentPaths(rows: string): string {
  return `(
  SELECT path, dated, date, tupleElement(counts, 1) AS conversions, tupleElement(counts, 2) AS revenue,
    tupleElement(counts, 3) AS nulls FROM (
    SELECT path, dated, date, argMax(sums, upload) AS counts FROM (
      SELECT data_source_id, path, dated, date, (bitShiftRight(version, 20), upload_id) AS upload,
        (sum(conversions), sum(revenue), sum(nulls)) AS sums
      FROM paths FINAL WHERE ${rows} GROUP BY data_source_id, path, dated, date, upload
    ) GROUP BY data_source_id, path, dated, date
  )
)`;
}
