import type { ClickKind } from '../../../../schema/origins/click-kinds.ts';

/*
 * Channels of touches that came without one, in the order and by the conditions of GA4's default channel group
 * (https://support.google.com/analytics/answer/9756891), from the four things that a file may say of a touch instead. Where it
 * says neither source nor medium, these follow from the kind of its click id, else from the host that it came from.
 */

const SEARCH_SITES = ['google', 'bing', 'yahoo', 'duckduckgo', 'ecosia', 'baidu', 'yandex', 'naver', 'daum', 'seznam', 'qwant', 'startpage', 'brave', 'ask', 'aol', 'sogou', 'so', 'coccoc', 'rambler', 'onet', 'lycos', 'dogpile', 'virgilio', 'mojeek', 'swisscows', 'kvasir'];
const SOCIAL_SITES = [
  'facebook', 'fb', 'meta', 'instagram', 'ig', 'threads', 'linkedin', 'lnkd', 'twitter', 'x', 't', 'tiktok', 'pinterest', 'pin', 'reddit', 'snapchat', 'quora', 'tumblr', 'vk', 'ok', 'weibo', 'wechat', 'whatsapp', 'telegram', 'discord', 'messenger',
  'mastodon', 'bsky', 'xing', 'line', 'badoo', 'viadeo', 'meetup', 'nextdoor', 'flickr', 'disqus',
];
const VIDEO_SITES = ['youtube', 'youtu', 'vimeo', 'twitch', 'dailymotion', 'netflix', 'disneyplus', 'hulu', 'wistia', 'iqiyi', 'youku', 'bilibili', 'rumble'];
const SHOPPING_SITES = ['amazon', 'ebay', 'etsy', 'walmart', 'alibaba', 'aliexpress', 'shopify', 'idealo', 'rakuten', 'mercadolibre', 'shopzilla', 'google shopping', 'googleshopping', 'shopping', 'igshopping'];

/** A site by its name, by its host in any country, or by a host of it that is for visitors. */
const sites = (names: readonly string[], hosts = ''): string => `'^(((www|m|l|lm|mobile|search|cn|ar|out|old|web|business|shop|gate)[.])*(${names.join('|')})([.][a-z]{2,4}){0,2}${hosts})$'`;
const SEARCH = sites(SEARCH_SITES, '|com[.]google[.]android[.]googlequicksearchbox|[a-z]{2}[.]search[.]yahoo[.]com|search[.]brave[.]com');
const SOCIAL = sites(SOCIAL_SITES, '|(com[.]facebook[.]katana|com[.]linkedin[.]android|com[.]reddit[.]frontpage|com[.]instagram[.]android|com[.]twitter[.]android|bsky[.]app|news[.]ycombinator[.]com|linktr[.]ee)');
const VIDEO = sites(VIDEO_SITES);
const SHOPPING = sites(SHOPPING_SITES);

/** Kinds of click ids that only advertisements carry, by what they say of their source; fbclid is on every link of Facebook's. */
const PAID_SEARCH_CLICKS: readonly ClickKind[] = ['gclid', 'gbraid', 'wbraid', 'msclkid', 'yclid'];
const PAID_SOCIAL_CLICKS: readonly ClickKind[] = ['ttclid', 'twclid', 'li_fat_id', 'epik', 'sccid', 'rdt_cid'];
const DISPLAY_CLICKS: readonly ClickKind[] = ['dclid'];
const SOCIAL_CLICKS: readonly ClickKind[] = ['fbclid', 'igshid', ...PAID_SOCIAL_CLICKS];

const list = (values: readonly string[]): string => `(${values.map((value) => `'${value}'`).join(', ')})`;
const siteOf = (column: string): string =>
  `multiIf(${[SHOPPING, SEARCH, SOCIAL, VIDEO].map((pattern, place) => `match(lowerUTF8(${column}), ${pattern}), ${place + 1}`).join(', ')}, 0)`;
const [FROM_SHOPPING, FROM_SEARCH, FROM_SOCIAL, FROM_VIDEO] = ['1', '2', '3', '4'].map((place) => `default_site = ${place}`);

/** Columns that {@link DEFAULT_CHANNEL} reads beside those of the table. */
export const DEFAULT_COLUMNS: readonly string[] = [
  'lowerUTF8(source) AS default_source',
  `multiIf(source != '', ${siteOf('source')}, click_id IN ${list(PAID_SEARCH_CLICKS)}, 2, click_id IN ${list(SOCIAL_CLICKS)}, 3, ${siteOf('referrer')}) AS default_site`,
  `multiIf(medium != '', lowerUTF8(medium), click_id IN ${list([...PAID_SEARCH_CLICKS, ...PAID_SOCIAL_CLICKS])}, 'cpc', click_id IN ${list(DISPLAY_CLICKS)}, 'display',
    source = '' AND referrer != '', 'referral', '') AS default_medium`,
];

const PAID = `match(default_medium, '^(.*cp.*|ppc|retargeting|paid.*)$')`;
const SHOP_CAMPAIGN = `match(lowerUTF8(campaign), '^(.*(([^a-df-z]|^)shop|shopping).*)$')`;
const EMAIL = list(['email', 'e-mail', 'e_mail', 'e mail']);

/** The channel by those columns. Cases do not count. */
export const DEFAULT_CHANNEL = `multiIf(
  default_source IN ('(direct)', 'direct') AND default_medium IN ('', '(none)', 'none', '(not set)'), 'direct',
  position(lowerUTF8(campaign), 'cross-network') > 0, 'cross_network',
  (${FROM_SHOPPING} OR ${SHOP_CAMPAIGN}) AND ${PAID}, 'paid_shopping',
  ${FROM_SEARCH} AND ${PAID}, 'paid_search',
  ${FROM_SOCIAL} AND ${PAID}, 'paid_social',
  ${FROM_VIDEO} AND ${PAID}, 'paid_video',
  default_medium IN ('display', 'banner', 'expandable', 'interstitial', 'cpm'), 'display',
  ${PAID}, 'paid_other',
  ${FROM_SHOPPING} OR ${SHOP_CAMPAIGN}, 'organic_shopping',
  ${FROM_SOCIAL} OR default_medium IN ('social', 'social-network', 'social-media', 'sm', 'social network', 'social media'), 'organic_social',
  ${FROM_VIDEO} OR position(default_medium, 'video') > 0, 'organic_video',
  ${FROM_SEARCH} OR default_medium = 'organic', 'organic_search',
  default_medium IN ('referral', 'app', 'link'), 'referral',
  default_source IN ${EMAIL} OR default_medium IN ${EMAIL}, 'email',
  default_medium IN ('affiliate', 'affiliates'), 'affiliates',
  default_medium = 'audio', 'audio',
  default_source = 'sms' OR default_medium = 'sms', 'sms',
  endsWith(default_medium, 'push') OR position(default_medium, 'mobile') > 0 OR position(default_medium, 'notification') > 0 OR default_source = 'firebase', 'mobile_push',
  'unassigned')`;
