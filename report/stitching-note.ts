import type { AttributionReport } from './attribution-report.ts';
import { numberFormat } from './number-format.ts';

/** What identities did to the journeys, in a sentence; null where the rows say nothing of who is whom. */
export function stitchingNote({ currency, diagnostics: { stitching } }: AttributionReport): string | null {
  if (stitching == null) return null;
  const { pairs, people, user_match_rate: before, stitched_user_match_rate: after } = stitching;
  const format = numberFormat(currency);
  const known = `Identities: ${format.count(pairs)} pairs of ids make ${format.count(people)} people.`;
  return before === null || after === null
    ? known
    : `${known} ${format.percent(after)} of those who bought have touches, ${format.percent(before)} by the ids of ` +
        'the files alone.';
}
