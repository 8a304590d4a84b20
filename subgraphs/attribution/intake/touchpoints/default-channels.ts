import type { ClickKind } from '../../../../schema/origins/click-kinds.ts';

/*
 * Channels of touches that came without one, in the order and by the conditions of GA4's default channel group
 * (https://support.google.com/analytics/answer/9756891), from the four things that a file may say of a touch instead.
 * Where it says neither source nor medium, these follow from the kind of its click id, else from the host that it came
 * from.
 */

const SEARCH_SITES = [
  'google',
  'bing',
  'yahoo',
  'duckduckgo',
  'ecosia',
  'baidu',
  'yandex',
  'naver',
  'daum',
  'seznam',
  'qwant',
  'startpage',
  'brave',
  'ask',
  'aol',
  'sogou',
  'so',
  'coccoc',
  'rambler',
  'onet',
  'lycos',
  'dogpile',
  'virgilio',
  'mojeek',
  'swisscows',
  'kvasir',
];
const SOCIAL_SITES = [
  'facebook',
  'fb',
  'meta',
  'instagram',
  'ig',
  'threads',
  'linkedin',
  'lnkd',
  'twitter',
  'x',
  't',
  'tiktok',
  'pinterest',
  'pin',
  'reddit',
  'snapchat',
  'quora',
  'tumblr',
  'vk',
  'ok',
  'weibo',
  'wechat',
  'whatsapp',
  'telegram',
  'discord',
  'messenger',
  'mastodon',
  'bsky',
  'xing',
  'line',
  'badoo',
  'viadeo',
  'meetup',
  'nextdoor',
  'flickr',
  'disqus',
];
const VIDEO_SITES = [
  'youtube',
  'youtu',
  'vimeo',
  'twitch',
  'dailymotion',
  'netflix',
  'disneyplus',
  'hulu',
  'wistia',
  'iqiyi',
  'youku',
  'bilibili',
  'rumble',
];
const SHOPPING_SITES = [
  'amazon',
  'ebay',
  'etsy',
  'walmart',
  'alibaba',
  'aliexpress',
  'shopify',
  'idealo',
  'rakuten',
  'mercadolibre',
  'shopzilla',
  'google shopping',
  'googleshopping',
  'shopping',
  'igshopping',
];

/** What a site's hosts for visitors begin with. */
const SUBDOMAINS = [
  'www',
  'm',
  'l',
  'lm',
  'mobile',
  'search',
  'cn',
  'ar',
  'out',
  'old',
  'web',
  'business',
  'shop',
  'gate',
].join('|');

/** A site by its name, by its host in any country, or by a host of it that is for visitors; `hosts` are others. */
const sites = (names: readonly string[], hosts = ''): string =>
  `'^(((${SUBDOMAINS})[.])*(${names.join('|')})([.][a-z]{2,4}){0,2}${hosts})$'`;
const SEARCH = sites(
  SEARCH_SITES,
  '|com[.]google[.]android[.]googlequicksearchbox|[a-z]{2}[.]search[.]yahoo[.]com|search[.]brave[.]com',
);
/** Apps, and sites whose name alone would not do. */
const SOCIAL_HOSTS = [
  'com[.]facebook[.]katana',
  'com[.]linkedin[.]android',
  'com[.]reddit[.]frontpage',
  'com[.]instagram[.]android',
  'com[.]twitter[.]android',
  'bsky[.]app',
  'news[.]ycombinator[.]com',
  'linktr[.]ee',
];
const SOCIAL = sites(SOCIAL_SITES, `|(${SOCIAL_HOSTS.join('|')})`);
const VIDEO = sites(VIDEO_SITES);
const SHOPPING = sites(SHOPPING_SITES);

/**
 * Kinds of click ids that only advertisements carry, by what they say of their source; fbclid is on every link of
 * Facebook's.
 */
const PAID_SEARCH_CLICKS: readonly ClickKind[] = ['gclid', 'gbraid', 'wbraid', 'msclkid', 'yclid'];
const PAID_SOCIAL_CLICKS: readonly ClickKind[] = ['ttclid', 'twclid', 'li_fat_id', 'epik', 'sccid', 'rdt_cid'];
const DISPLAY_CLICKS: readonly ClickKind[] = ['dclid'];
const SOCIAL_CLICKS: readonly ClickKind[] = ['fbclid', 'igshid', ...PAID_SOCIAL_CLICKS];

const list = (values: readonly string[]): string => `(${values.map((value) => `'${value}'`).join(', ')})`;
const EMAIL = list(['email', 'e-mail', 'e_mail', 'e mail']);

/**
 * Conditions that exclude the later ones, and a number for each: numbers are cheap to ask for, texts are looked at once
 * for each value.
 */
const SOURCES = {
  shopping: (text: string) => `match(${text}, ${SHOPPING})`,
  search: (text: string) => `match(${text}, ${SEARCH})`,
  social: (text: string) => `match(${text}, ${SOCIAL})`,
  video: (text: string) => `match(${text}, ${VIDEO})`,
  direct: (text: string) => `${text} IN ('(direct)', 'direct')`,
  email: (text: string) => `${text} IN ${EMAIL}`,
  sms: (text: string) => `${text} = 'sms'`,
  push: (text: string) => `${text} = 'firebase'`,
} as const;
/** Whatever is paid is asked for first below, so that a medium which is more than that is only that. */
const MEDIA = {
  displayByView: (text: string) => `${text} = 'cpm'`,
  paid: (text: string) => `match(${text}, '^(.*cp.*|ppc|retargeting|paid.*)$')`,
  display: (text: string) => `${text} IN ('display', 'banner', 'expandable', 'interstitial')`,
  social: (text: string) =>
    `${text} IN ('social', 'social-network', 'social-media', 'sm', 'social network', 'social media')`,
  video: (text: string) => `position(${text}, 'video') > 0`,
  organic: (text: string) => `${text} = 'organic'`,
  referral: (text: string) => `${text} IN ('referral', 'app', 'link')`,
  email: (text: string) => `${text} IN ${EMAIL}`,
  affiliate: (text: string) => `${text} IN ('affiliate', 'affiliates')`,
  audio: (text: string) => `${text} = 'audio'`,
  sms: (text: string) => `${text} = 'sms'`,
  push: (text: string) =>
    `endsWith(${text}, 'push') OR position(${text}, 'mobile') > 0 OR position(${text}, 'notification') > 0`,
  none: (text: string) => `${text} IN ('(none)', 'none', '(not set)')`,
} as const;

type Conditions = Readonly<Record<string, (text: string) => string>>;
const kindOf = (conditions: Conditions, column: string): string =>
  `multiIf(${Object.values(conditions)
    .flatMap((condition, place) => [condition(`lowerUTF8(${column})`), place + 1])
    .join(', ')}, 0)`;
// Not AND, OR and multiIf: what these take to leave rows out is more than it takes to ask all rows everything.
const both = (one: string, other: string): string => `bitAnd(${one}, ${other})`;
const either = (...conditions: readonly string[]): string =>
  conditions.reduce((one, other) => `bitOr(${one}, ${other})`);
// A set of one or two numbers takes the engine ten times as long as comparing them.
const isOne = (column: string, conditions: Conditions, kinds: readonly string[]): string =>
  either(...kinds.map((kind) => `${column} = ${numberOf(conditions, kind)}`));
const sourceIs = (...kinds: readonly (keyof typeof SOURCES)[]): string => isOne('default_source', SOURCES, kinds);
const mediumIs = (...kinds: readonly (keyof typeof MEDIA)[]): string => isOne('default_medium', MEDIA, kinds);
const numberOf = (conditions: Conditions, kind: string): number => Object.keys(conditions).indexOf(kind) + 1;

/** Columns that {@link DEFAULT_PLACE} reads beside those of the table. */
export const DEFAULT_COLUMNS: readonly string[] = [
  `multiIf(source != '', ${kindOf(SOURCES, 'source')}, click_id IN ${list(PAID_SEARCH_CLICKS)},
    ${numberOf(SOURCES, 'search')}, click_id IN ${list(SOCIAL_CLICKS)}, ${numberOf(SOURCES, 'social')},
    ${kindOf(SOURCES, 'referrer')}) AS default_source`,
  `multiIf(medium != '', ${kindOf(MEDIA, 'medium')},
    click_id IN ${list([...PAID_SEARCH_CLICKS, ...PAID_SOCIAL_CLICKS])}, ${numberOf(MEDIA, 'paid')},
      click_id IN ${list(DISPLAY_CLICKS)}, ${numberOf(MEDIA, 'display')},
    source = '' AND referrer != '', ${numberOf(MEDIA, 'referral')}, ${numberOf(MEDIA, 'none')}) AS default_medium`,
  `match(lowerUTF8(campaign), '^(.*(([^a-df-z]|^)shop|shopping).*)$') AS default_shop`,
  `position(lowerUTF8(campaign), 'cross-network') > 0 AS default_cross`,
];

const PAID = mediumIs('paid', 'displayByView');

/** Channels in the order of GA4's conditions, and when a touch is of one. */
const CHANNELS = [
  ['direct', both(sourceIs('direct'), mediumIs('none'))],
  ['cross_network', 'default_cross'],
  ['paid_shopping', both(either(sourceIs('shopping'), 'default_shop'), PAID)],
  ['paid_search', both(sourceIs('search'), PAID)],
  ['paid_social', both(sourceIs('social'), PAID)],
  ['paid_video', both(sourceIs('video'), PAID)],
  ['display', mediumIs('display', 'displayByView')],
  ['paid_other', mediumIs('paid')],
  ['organic_shopping', either(sourceIs('shopping'), 'default_shop')],
  ['organic_social', either(sourceIs('social'), mediumIs('social'))],
  ['organic_video', either(sourceIs('video'), mediumIs('video'))],
  ['organic_search', either(sourceIs('search'), mediumIs('organic'))],
  ['referral', mediumIs('referral')],
  ['email', either(sourceIs('email'), mediumIs('email'))],
  ['affiliates', mediumIs('affiliate')],
  ['audio', mediumIs('audio')],
  ['sms', either(sourceIs('sms'), mediumIs('sms'))],
  ['mobile_push', either(sourceIs('push'), mediumIs('push'))],
] as const;

const NAMES = [...CHANNELS.map(([name]) => name), 'unassigned'];

/** Place of the channel by those columns, from 1; 0 for a touch that has one. Cases do not count. */
export const DEFAULT_PLACE = `(channel = '') * least(
  ${CHANNELS.map(([, condition], place) => `if(${condition}, ${place + 1}, ${NAMES.length})`).join(',\n  ')})`;

/** The channels by their places. */
export const DEFAULT_CHANNELS = `[${NAMES.map((name) => `'${name}'`).join(', ')}]`;
