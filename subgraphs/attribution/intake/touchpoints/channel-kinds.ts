import type { ClickKind } from '../../../../schema/origins/click-kinds.ts';

/** One kind of channel, under all the names that vendors, exports and people give it. */
export interface ChannelKind {
  /** For all of it, in lower case without blanks and signs. */
  readonly names: readonly string[];
  /** GA4's default channel that its paid touches come to where no file names them. */
  readonly group?: string;
  /** Of a network that sells advertisements: the sites that visits from it name as their source. */
  readonly sites?: readonly string[];
  /** Of such a network: the click ids that its advertisements carry. */
  readonly clicks?: readonly ClickKind[];
}

/** A part of a name makes it one of the first of these that has the part: "google_brand" is more brand than Google. */
export const CHANNEL_KINDS: readonly ChannelKind[] = [
  { names: ['brand', 'brandsearch', 'branded'] },
  { names: ['retargeting', 'remarketing'] },
  {
    names: ['youtube', 'youtubeads', 'yt'],
    group: 'paid_video',
    sites: ['youtube', 'youtu'],
  },
  {
    names: ['googleads', 'google', 'adwords', 'googleadwords', 'gads'],
    group: 'paid_search',
    sites: ['google', 'youtube', 'youtu', 'googleads', 'adwords', 'google shopping', 'googleshopping'],
    clicks: ['gclid', 'gbraid', 'wbraid'],
  },
  {
    names: ['microsoftads', 'microsoft', 'microsoftadvertising', 'msads', 'bing', 'bingads'],
    group: 'paid_search',
    sites: ['bing', 'microsoft', 'msn'],
    clicks: ['msclkid'],
  },
  {
    names: ['metaads', 'meta', 'facebook', 'facebookads', 'fb', 'fbads', 'instagram', 'instagramads', 'ig'],
    group: 'paid_social',
    sites: ['facebook', 'fb', 'meta', 'instagram', 'ig', 'messenger', 'threads', 'facebookads', 'metaads'],
  },
  {
    names: ['tiktokads', 'tiktok', 'tiktokforbusiness', 'tt', 'ttads'],
    group: 'paid_social',
    sites: ['tiktok'],
    clicks: ['ttclid'],
  },
  {
    names: ['linkedinads', 'linkedin', 'linkedincampaignmanager', 'li'],
    group: 'paid_social',
    sites: ['linkedin', 'lnkd'],
    clicks: ['li_fat_id'],
  },
  {
    names: ['pinterestads', 'pinterest', 'pin'],
    group: 'paid_social',
    sites: ['pinterest', 'pin'],
    clicks: ['epik'],
  },
  {
    names: ['snapchatads', 'snapchat', 'snap', 'snapads'],
    group: 'paid_social',
    sites: ['snapchat', 'snap'],
    clicks: ['sccid'],
  },
  {
    names: ['twitterads', 'twitter', 'x', 'xads'],
    group: 'paid_social',
    sites: ['twitter', 'x', 't'],
    clicks: ['twclid'],
  },
  { names: ['redditads', 'reddit'], group: 'paid_social', sites: ['reddit'], clicks: ['rdt_cid'] },
  {
    names: ['amazonads', 'amazon', 'amazonadvertising', 'amazondsp'],
    group: 'paid_shopping',
    sites: ['amazon'],
  },
  { names: ['criteo', 'criteoads'], group: 'display', sites: ['criteo'] },
  { names: ['email', 'emails', 'emailmarketing', 'newsletter', 'mail', 'klaviyo', 'mailchimp', 'crm', 'edm'] },
  { names: ['sms', 'smsmarketing', 'text', 'textmessage', 'attentive', 'postscript'] },
  { names: ['affiliate', 'affiliates', 'affiliatemarketing', 'partner', 'partners', 'awin', 'impact'] },
  { names: ['influencer', 'influencers', 'creators', 'creator'] },
  { names: ['paidsearch', 'cpc', 'ppc', 'searchads', 'sem', 'sea'] },
  { names: ['paidsocial', 'socialads', 'socialpaid'] },
  { names: ['display', 'displayads', 'banner', 'gdn', 'programmatic'] },
];

/** A name but for case, blanks and signs. */
export const plainName = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '');

/** The kind that a name stands for as a whole; null for one that says more, less or something else. */
export function kindNamed(name: string): ChannelKind | null {
  return CHANNEL_KINDS.find(({ names }) => names.includes(plainName(name))) ?? null;
}

/** The kind that a name is one of, such as "Google – Prospecting": by the whole name, else by a part of it. */
export function kindOf(name: string): ChannelKind | null {
  const parts = name.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  return kindNamed(name) ?? CHANNEL_KINDS.find(({ names }) => parts.some((part) => names.includes(part))) ?? null;
}

/**
 * The one of `others` that is the same channel under another name, in all likelihood: the same but for case, blanks and
 * signs, else the only one of its kind, where one of the two stands for the kind as a whole. Null where none or several
 * are as near.
 */
export function likeChannel(channel: string, others: readonly string[]): string | null {
  const same = others.filter((other) => plainName(other) === plainName(channel));
  const kind = kindOf(channel);
  const alike = same.length > 0 || kind === null ? same : others.filter((other) => kindOf(other) === kind);
  const [only] = alike;
  if (only === undefined || alike.length > 1) return null;
  return same.length > 0 || kindNamed(channel) !== null || kindNamed(only) !== null ? only : null;
}
