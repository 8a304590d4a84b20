import type { ChannelRule } from '../../../../../schema/contract/channel-rules.ts';

/** A row as far as rules look at it. */
export interface NamedRow {
  readonly channel: string;
  readonly source: string;
  readonly medium: string;
  readonly referrer: string;
  readonly clickId: string;
  readonly campaign: string;
}

/** What a row's channel is called by rules, worked out in the plainest way. */
export function referenceChannel(rules: readonly ChannelRule[], row: NamedRow): string {
  const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();
  const fits = ({ match }: ChannelRule): boolean =>
    (['channel', 'source', 'medium', 'referrer', 'clickId'] as const).every(
      (member) => match[member] === undefined || same(match[member], row[member]),
    ) &&
    (match.campaignRegex === undefined ||
      new RegExp(match.campaignRegex.replace('(?i)', ''), match.campaignRegex.startsWith('(?i)') ? 'i' : '').test(
        row.campaign,
      ));
  return rules.find(fits)?.channel ?? row.channel;
}
