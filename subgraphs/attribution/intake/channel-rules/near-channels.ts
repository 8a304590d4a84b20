import type { ChannelRule } from '../../../../schema/contract/channel-rules.ts';

/** One channel under the names that vendors, exports and people give it, in lower case without blanks and signs. */
const KNOWN_ALIKE: readonly (readonly string[])[] = [
  [
    'metaads',
    'meta',
    'facebook',
    'facebookads',
    'fb',
    'fbads',
    'instagram',
    'instagramads',
    'ig',
    'paidsocialmeta',
    'facebookinstagram',
  ],
  ['googleads', 'google', 'adwords', 'googleadwords', 'googlecpc', 'googlesearch', 'gads', 'sea', 'paidsearchgoogle'],
  ['tiktokads', 'tiktok', 'tiktokforbusiness', 'tt', 'ttads'],
  ['microsoftads', 'microsoft', 'microsoftadvertising', 'bing', 'bingads', 'bingcpc'],
  ['linkedinads', 'linkedin', 'linkedincampaignmanager', 'li'],
  ['pinterestads', 'pinterest', 'pin'],
  ['snapchatads', 'snapchat', 'snap', 'snapads'],
  ['twitterads', 'twitter', 'x', 'xads'],
  ['redditads', 'reddit'],
  ['amazonads', 'amazon', 'amazonadvertising', 'amazondsp'],
  ['youtubeads', 'youtube', 'yt'],
  ['criteo', 'criteoads'],
  ['email', 'emails', 'emailmarketing', 'newsletter', 'mail', 'klaviyo', 'mailchimp', 'crm'],
  ['sms', 'smsmarketing', 'textmessage', 'attentive', 'postscript'],
  ['affiliate', 'affiliates', 'affiliatemarketing', 'partner', 'partners', 'awin', 'impact'],
  ['paidsearch', 'cpc', 'ppc', 'searchads', 'sem'],
  ['paidsocial', 'socialads', 'socialpaid'],
  ['display', 'displayads', 'banner', 'gdn', 'programmatic'],
  ['influencer', 'influencers', 'creators', 'creator'],
];

/** Longest list of proposals that somebody reads. */
const MAX_PROPOSALS = 20;

/** A name of spend that no touch has, and a rule that would give it the name that touches have. */
export interface NearChannel {
  readonly spend: string;
  readonly touches: string;
  readonly rule: ChannelRule;
}

/**
 * Names of spend that no touch has, with the name of touches that is meant in all likelihood: the same but for case,
 * blanks and signs, or another well-known name of the same vendor. Nothing is said where two names of touches are as
 * near, or where the nearest has spend of its own.
 */
export function nearChannels(spend: Iterable<string>, touches: Iterable<string>): readonly NearChannel[] {
  const [spent, touched] = [new Set(spend), new Set(touches)];
  const free = [...touched].filter((name) => name !== '' && !spent.has(name));
  const near = [...spent]
    .filter((name) => name !== '' && !touched.has(name))
    .toSorted()
    .flatMap((name) => {
      const same = free.filter((each) => plain(each) === plain(name));
      const alike =
        same.length > 0 ? same : free.filter((each) => kindOf(each) !== null && kindOf(each) === kindOf(name));
      const [channel] = alike;
      return channel === undefined || alike.length > 1
        ? []
        : [{ spend: name, touches: channel, rule: { match: { channel: name }, channel } }];
    });
  return near.slice(0, MAX_PROPOSALS);
}

/** What to tell whoever sent the files, and the rule that would mend it. */
export function nearChannelWarning({ spend, touches, rule }: NearChannel): string {
  return (
    `Spend says ${JSON.stringify(spend)}, touches say ${JSON.stringify(touches)}: as long as both stand, what was ` +
    `spent is held against no touch. If they are one channel, set the channel rule ${JSON.stringify(rule)}.`
  );
}

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '');

function kindOf(name: string): number | null {
  const place = KNOWN_ALIKE.findIndex((names) => names.includes(plain(name)));
  return place < 0 ? null : place;
}
