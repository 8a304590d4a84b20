import type { AttributionReport } from './attribution-report.ts';
import { paidChannels } from './shown-channels.ts';
import { numberFormat } from './number-format.ts';

/** Why the effects of some channels are known in part only, or not at all. */
export interface IdentificationNote {
  readonly status: 'partial' | 'none';
  readonly channels: readonly string[];
  readonly message: string;
}

/** What is printed where a figure would stand that the rows cannot give. */
export const NOT_MEASURABLE = 'not measurable';
/** Marks the credit of a channel that is known in part only. */
export const IN_PART = '≈';

/** One note per reason in the order of the channels; channels with the same reason share a note. */
export function identificationNotes(report: AttributionReport): readonly IdentificationNote[] {
  const format = numberFormat(report.currency);
  const notes = new Map<string, { status: 'partial' | 'none'; channels: string[]; message: string }>();
  for (const { channel, identification, spend_response: response } of paidChannels(report)) {
    if (identification == null || identification.status === 'point') continue;
    for (const { code, message } of identification.reasons) {
      const key = `${code} ${message}`;
      const note = notes.get(key) ?? { status: identification.status, channels: [], message };
      note.channels.push(channel);
      notes.set(key, note);
    }
    if (response != null) {
      const { lower, upper, level } = response.confidence_interval;
      const message =
        `Daily revenue rose with its spend: by ${format.money(response.incremental_revenue)} over the range ` +
        `(${format.percent(level)} interval ${format.money(lower)} to ${format.money(upper)}, by a time series). ` +
        'What else moved on the same days would look alike, so this is part of no total.';
      notes.set(`response ${channel}`, { status: 'none', channels: [channel], message });
    }
  }
  return [...notes.values()];
}
