import type { ChannelRule } from '../../../../schema/contract/channel-rules.ts';
import { kindOf, likeChannel, plainName } from '../touchpoints/channel-kinds.ts';

/** Longest list of proposals that somebody reads. */
const MAX_PROPOSALS = 20;

/** A name of spend that no touch has, and a rule that would give it the name that touches have. */
export interface NearChannel {
  readonly spend: string;
  readonly touches: string;
  readonly rule: ChannelRule;
}

/**
 * Names of spend that no touch has, with the name of touches that is meant in all likelihood: the same channel under
 * another name, or the channel group of what the network sells. Nothing is said where two names of touches are as near,
 * or where the nearest has spend of its own.
 */
export function nearChannels(spend: Iterable<string>, touches: Iterable<string>): readonly NearChannel[] {
  const [spent, touched] = [new Set(spend), new Set(touches)];
  const free = [...touched].filter((name) => name !== '' && !spent.has(name));
  const near = [...spent]
    .filter((name) => name !== '' && !touched.has(name))
    .toSorted()
    .flatMap((name) => {
      const channel = likeChannel(name, free) ?? groupOf(name, free);
      return channel === null ? [] : [{ spend: name, touches: channel, rule: { match: { channel: name }, channel } }];
    });
  return near.slice(0, MAX_PROPOSALS);
}

/** Touches that name their channel group alone do not tell one network of it from another. */
function groupOf(name: string, touched: readonly string[]): string | null {
  const group = kindOf(name)?.group;
  const named = touched.filter((each) => group !== undefined && plainName(each) === plainName(group));
  return named.length === 1 ? named[0]! : null;
}

/** What to tell whoever sent the files, and the rule that would mend it. */
export function nearChannelWarning({ spend, touches, rule }: NearChannel): string {
  return (
    `Spend says ${JSON.stringify(spend)}, touches say ${JSON.stringify(touches)}: as long as both stand, what was ` +
    `spent is held against no touch. If they are one channel, set the channel rule ${JSON.stringify(rule)}.`
  );
}
