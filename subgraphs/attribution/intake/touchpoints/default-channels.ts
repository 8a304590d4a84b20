import type { ClickKind } from '../../../../schema/origins/click-kinds.ts';
import { CHANNEL_KINDS, kindNamed, kindOf } from './channel-kinds.ts';

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
const kindNumber = (conditions: Conditions, column: string): string =>
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

/** The network whose advertisements a site or a click id tells, and what its spend is called. */
export interface NetworkSpend {
  /** Place in {@link CHANNEL_KINDS}. */
  readonly kind: number;
  readonly channel: string;
}

/**
 * Networks all of whose spend has one name, which names the network as a whole: what they sold is told apart from that
 * of others by no channel group of GA4's, so their paid touches are called as the spend is.
 */
export function networksOf(spend: readonly string[]): readonly NetworkSpend[] {
  return CHANNEL_KINDS.flatMap((kind, place) => {
    const [channel, ...more] = spend.filter((name) => kindOf(name) === kind);
    const isNetwork = kind.sites !== undefined && channel !== undefined && kindNamed(channel) === kind;
    return isNetwork && more.length === 0 ? [{ kind: place, channel }] : [];
  });
}

/** Place in `networks` of the one that a touch names, from 1; 0 for none. */
function networkColumn(networks: readonly NetworkSpend[]): string {
  const kinds = networks.map(({ kind }) => CHANNEL_KINDS[kind]!);
  const bySite = (column: string) =>
    kinds.flatMap((kind, place) => [`match(lowerUTF8(${column}), ${sites(kind.sites!)})`, `${place + 1}`]);
  const byClick = kinds.flatMap(({ clicks = [] }, place) =>
    clicks.length === 0 ? [] : [`click_id IN ${list(clicks)}`, `${place + 1}`],
  );
  return `multiIf(source != '', multiIf(${bySite('source').join(', ')}, 0), ${[...byClick, ...bySite('referrer')].join(
    ', ',
  )}, 0) AS default_network`;
}

/** Columns that {@link defaultPlace} reads beside those of the table. */
export const defaultColumns = (networks: readonly NetworkSpend[]): readonly string[] => [
  `multiIf(source != '', ${kindNumber(SOURCES, 'source')}, click_id IN ${list(PAID_SEARCH_CLICKS)},
    ${numberOf(SOURCES, 'search')}, click_id IN ${list(SOCIAL_CLICKS)}, ${numberOf(SOURCES, 'social')},
    ${kindNumber(SOURCES, 'referrer')}) AS default_source`,
  `multiIf(medium != '', ${kindNumber(MEDIA, 'medium')},
    click_id IN ${list([...PAID_SEARCH_CLICKS, ...PAID_SOCIAL_CLICKS])}, ${numberOf(MEDIA, 'paid')},
      click_id IN ${list(DISPLAY_CLICKS)}, ${numberOf(MEDIA, 'display')},
    source = '' AND referrer != '', ${numberOf(MEDIA, 'referral')}, ${numberOf(MEDIA, 'none')}) AS default_medium`,
  `match(lowerUTF8(campaign), '^(.*(([^a-df-z]|^)shop|shopping).*)$') AS default_shop`,
  `position(lowerUTF8(campaign), 'cross-network') > 0 AS default_cross`,
  ...(networks.length > 0 ? [networkColumn(networks)] : []),
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
/** Those that somebody pays for. */
const PAID_PLACES = `[${NAMES.flatMap((name, place) =>
  /^(paid_.*|cross_network|display)$/.test(name) ? [place + 1] : [],
).join(', ')}]`;

/** Place of the channel by those columns, from 1; 0 for a touch that has one. Cases do not count. */
const GROUP_PLACE = `(channel = '') * least(
  ${CHANNELS.map(([, condition], place) => `if(${condition}, ${place + 1}, ${NAMES.length})`).join(',\n  ')})`;

/** The same, where the paid touches of `networks` have places behind the groups. */
export const defaultPlace = (networks: readonly NetworkSpend[]): string =>
  networks.length === 0
    ? GROUP_PLACE
    : `arrayMap(place -> if(default_network > 0 AND has(${PAID_PLACES}, place), ${NAMES.length} + default_network, ` +
      `place), [${GROUP_PLACE}])[1]`;

/** The channels by their places, as far as they are no networks'. */
export const DEFAULT_CHANNELS = `[${NAMES.map((name) => `'${name}'`).join(', ')}]`;
