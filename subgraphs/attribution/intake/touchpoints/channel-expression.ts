import type { ChannelRule } from '../../../../schema/contract/channel-rules.ts';
import { referrerHost } from '../../../../schema/origins/referrer-host.ts';
import type { StatementParam } from '../../../../platform/clickhouse/client.ts';
import { DEFAULT_CHANNELS, defaultColumns, defaultPlace, type NetworkSpend } from './default-channels.ts';

/** How the channels of stored rows are called when they are read. */
export interface ChannelNaming {
  /** The first that matches counts. */
  readonly rules: readonly ChannelRule[];
  /** Some touches came without a channel: those that no rule names have one of {@link DEFAULT_CHANNELS}. */
  readonly fillsGaps?: boolean;
  /** What paid touches of a network are called then, in place of the default. */
  readonly networks?: readonly NetworkSpend[];
}

/** Columns in which a rule finds a text, by its member. */
const TEXT_COLUMNS = {
  channel: 'channel',
  source: 'source',
  medium: 'medium',
  referrer: 'referrer',
  clickId: 'click_id',
} as const;
type TextMember = keyof typeof TEXT_COLUMNS;
/** More than any member has words: places of all members make one number of at most 40 bits. */
const WORDS_OF_MEMBER = 256;
const TEXT_MEMBERS = Object.keys(TEXT_COLUMNS) as readonly TextMember[];

/** What rows of a table can be asked for; a rule that asks for more passes them by. */
export const TOUCH_MEMBERS = [...TEXT_MEMBERS, 'campaignRegex'] as const;
export const CAMPAIGN_MEMBERS = ['channel', 'campaignRegex'] as const;

/**
 * The statement's view of a row with another channel, from the inside out: each part reads the columns of the one
 * before.
 */
export interface ChannelExpression {
  /** Columns of its own: places of the row's texts in the lists of words that rules know; 0 for none. */
  readonly words: readonly string[];
  /** One number for the words of each set of members that rules ask for. */
  readonly keys: readonly string[];
  /** Place of the default in {@link DEFAULT_CHANNELS}, from 1, or of the network behind; 0 for one of a file. */
  readonly gap: string;
  /** Place of the first rule that matches, from 1; behind the last where none does. */
  readonly rule: string;
  /** Place of the name that it comes to. */
  readonly name: string;
  readonly channel: string;
}

/**
 * The name that rules give a row's channel. Values are bound, never written into the statement, and both sides of a
 * comparison are brought to lower case by the engine. A text is looked up once per row, and rules that ask for the same
 * members are tried all at once, by a look at the places of these texts: what takes time are the kinds of rules, and
 * the regular expressions.
 * @param prefix of its parameters, where a statement has several
 * @returns null where nothing is said of rows that have these members
 */
export function channelExpression(
  { rules, fillsGaps = false, networks = [] }: ChannelNaming,
  members: typeof TOUCH_MEMBERS | typeof CAMPAIGN_MEMBERS,
  prefix = '',
): ChannelExpression | null {
  const known: readonly string[] = members;
  const lists = listsOf(rules);
  const fitting = rules
    .map(({ match }, place) => ({ match, place: place + 1 }))
    .filter(({ match }) => membersOf(match).every((member) => known.includes(member)));
  const hasGaps = fillsGaps && members === TOUCH_MEMBERS;
  if (fitting.length === 0 && !hasGaps) return null;
  const asked = TEXT_MEMBERS.filter((member) => fitting.some(({ match }) => match[member] !== undefined));
  const none = rules.length + 1;
  const sets = [...new Set(fitting.map(({ match }) => textsOf(match).join()))];
  const alike = [
    ...Map.groupBy(fitting, ({ match }) => JSON.stringify([textsOf(match), match.campaignRegex])).values(),
  ];
  return {
    words: [
      ...asked.map((member) => `${placeOf(member, lists.words[member].size, prefix)} AS ${wordOf(member)}`),
      ...(hasGaps ? defaultColumns(networks) : []),
    ],
    keys: sets.map((set, place) => `${keyOf(set === '' ? [] : (set.split(',') as TextMember[]))} AS rule_key_${place}`),
    gap: hasGaps ? defaultPlace(networks) : '0',
    rule: `least(${[none, none, ...alike.map((group) => firstOf(group, sets, lists, none, prefix))].join(', ')})`,
    // Behind the names of rules, one place for the file's own and then the defaults: one look, where an `if` of each
    // would be slow.
    name: `rule + (rule = ${none}) * gap`,
    channel:
      `if(name = ${none}, toString(channel), arrayConcat({${prefix}rule_names:Array(String)}, [''], ` +
      `${DEFAULT_CHANNELS}${hasGaps && networks.length > 0 ? `, {${prefix}networks:Array(String)}` : ''})[name])`,
  };
}

const weightOf = (position: number): number => WORDS_OF_MEMBER ** position;
const keyOf = (members: readonly TextMember[]): string =>
  ['toUInt64(0)', ...members.map((member, position) => `toUInt64(${wordOf(member)}) * ${weightOf(position)}`)].join(
    ' + ',
  );

interface PlacedMatch {
  readonly match: ChannelRule['match'];
  readonly place: number;
}

/** Place of the first match of a row among those that ask for the same members and the same expression. */
function firstOf(
  group: readonly PlacedMatch[],
  sets: readonly string[],
  { words, regexes }: RuleLists,
  none: number,
  prefix: string,
): string {
  const [
    {
      match: { campaignRegex: regex, ...texts },
    },
  ] = group as readonly [PlacedMatch, ...PlacedMatch[]];
  const members = textsOf(texts);
  const firsts = new Map<number, number>();
  for (const { match, place } of group) {
    const key = members.reduce(
      (sum, member, position) => sum + weightOf(position) * wordPlace(words[member], spelt(member, match[member]!)),
      0,
    );
    if (!firsts.has(key)) firsts.set(key, place);
  }
  const key = `rule_key_${sets.indexOf(members.join())}`;
  const [only] = firsts;
  const first =
    firsts.size === 1
      ? `if(${key} = ${only![0]}, ${only![1]}, ${none})`
      : `transform(${key}, [${[...firsts.keys()].join(', ')}], [${[...firsts.values()].join(', ')}], ${none})`;
  return regex === undefined
    ? first
    : `if(match(campaign, {${prefix}rule_regex_${regexes.indexOf(regex)}:String}), ${first}, ${none})`;
}

/**
 * The same for a step of an aggregated path, which has nothing but its name; null where no rule is about names alone.
 */
export function stepExpression({ rules }: ChannelNaming, prefix = ''): string | null {
  return stepsOf(rules).size === 0
    ? null
    : `transform(lowerUTF8(step), ${lowered(`${prefix}rule_steps`)}, {${prefix}rule_step_names:Array(String)}, ` +
        `toString(step))`;
}

/** Bound parameters of both. */
export function channelParams(
  { rules, networks = [] }: ChannelNaming,
  prefix = '',
): Readonly<Record<string, StatementParam>> {
  const { words, regexes } = listsOf(rules);
  const steps = stepsOf(rules);
  return {
    ...Object.fromEntries(
      TEXT_MEMBERS.filter((member) => words[member].size > 0).map((member) => [
        listOf(member, prefix),
        [...words[member].values()],
      ]),
    ),
    ...Object.fromEntries(regexes.map((regex, place) => [`${prefix}rule_regex_${place}`, regex])),
    ...(steps.size > 0 && {
      [`${prefix}rule_steps`]: [...steps.values()].map(({ step }) => step),
      [`${prefix}rule_step_names`]: [...steps.values()].map(({ channel }) => channel),
    }),
    ...(networks.length > 0 && { [`${prefix}networks`]: networks.map(({ channel }) => channel) }),
    [`${prefix}rule_names`]: rules.map(({ channel }) => channel),
  };
}

const wordOf = (member: TextMember): string => `rule_${TEXT_COLUMNS[member]}`;
const listOf = (member: TextMember, prefix: string): string => `${prefix}rule_${TEXT_COLUMNS[member]}s`;
const lowered = (list: string): string => `arrayMap(word -> lowerUTF8(word), {${list}:Array(String)})`;
const placeOf = (member: TextMember, count: number, prefix: string): string =>
  `transform(lowerUTF8(${TEXT_COLUMNS[member]}), ${lowered(listOf(member, prefix))}, range(1, ${count + 1}), 0)`;
/** A referrer is stored as its host. */
const spelt = (member: TextMember, word: string): string => (member === 'referrer' ? referrerHost(word) || word : word);
/**
 * Words that differ in case alone stand in a list once. The engine has its own idea of cases, so it is given the words
 * as they are spelt.
 */
const foldedWords = (words: readonly string[]): ReadonlyMap<string, string> =>
  new Map(words.map((word) => [word.toLowerCase(), word]));
const wordPlace = (words: ReadonlyMap<string, string>, word: string): number =>
  [...words.keys()].indexOf(word.toLowerCase()) + 1;
const textsOf = (match: ChannelRule['match']): readonly TextMember[] =>
  TEXT_MEMBERS.filter((member) => match[member] !== undefined);
const membersOf = (match: ChannelRule['match']) =>
  (Object.keys(match) as (keyof ChannelRule['match'])[]).filter((member) => match[member] !== undefined);

interface RuleLists {
  /** As rules spell them, by how they are told apart. */
  readonly words: Readonly<Record<TextMember, ReadonlyMap<string, string>>>;
  readonly regexes: readonly string[];
}

function listsOf(rules: readonly ChannelRule[]): RuleLists {
  const said = (member: keyof ChannelRule['match']) => rules.flatMap(({ match }) => match[member] ?? []);
  const words = Object.fromEntries(
    TEXT_MEMBERS.map((member) => [member, foldedWords(said(member).map((word) => spelt(member, word)))]),
  );
  return { words: words as unknown as RuleLists['words'], regexes: [...new Set(said('campaignRegex'))] };
}

/** Names of steps and what they are called, by the first rule about each. */
function stepsOf(
  rules: readonly ChannelRule[],
): ReadonlyMap<string, { readonly step: string; readonly channel: string }> {
  const steps = new Map<string, { readonly step: string; readonly channel: string }>();
  for (const { match, channel } of rules) {
    if (membersOf(match).some((member) => member !== 'channel')) continue;
    const step = match.channel!;
    if (!steps.has(step.toLowerCase())) steps.set(step.toLowerCase(), { step, channel });
  }
  return steps;
}
