import { z } from 'zod';
import { regexCost } from '../regex-cost.ts';
import { noun } from './noun.ts';
import { channelName, idInPath } from './terms.ts';

export const MAX_CHANNEL_RULES = 200;
/** Of everything that rules say, as UTF-8: they travel with every statement that reads rows. */
const MAX_RULES_BYTES = 64 * 1024;

/**
 * Of the regular expressions of a source, by {@link regexCost}. The engine compiles them for every statement, and
 * meanwhile others wait: these take it between a tenth and a fifth of a second.
 */
const MAX_REGEX_COST = 15_000;

/** What stands in a row; compared whole, whatever its case. */
const text = z.string().min(1).max(512);
const NOTHING_NAMED = 'must name at least one of channel, source, medium, referrer, click_id, campaign_regex';

/** What a row must be like: everything that is named must fit. */
export const channelMatch = z
  .strictObject({
    channel: text.optional().meta({ description: 'The channel as the file calls it' }),
    source: text.optional().meta({ description: 'Source of a touch, such as utm_source' }),
    medium: text.optional().meta({ description: 'Medium of a touch, such as utm_medium' }),
    referrer: text.optional().meta({
      description: 'Host that the visitor of a touch came from; scheme, path and www. do not count',
    }),
    clickId: text.optional().meta({
      description: 'Kind of click id of a touch, such as gclid',
    }),
    campaignRegex: z.string().min(1).max(256).optional().meta({
      description:
        'Regular expression (RE2) that is found anywhere in the campaign; cases differ unless it begins with (?i)',
    }),
  })
  .refine((match) => Object.values(match).some((member) => member !== undefined), {
    message: NOTHING_NAMED,
    params: { code: 'empty_match' },
  })
  .meta({
    id: 'ChannelMatch',
    graph: 'What a row must be like: everything that is named must fit, texts whole and whatever their case.',
  });

/** What uploads refuse in names. */
// oxlint-disable-next-line no-control-regex -- these are what it looks for
const CONTROL_CHARACTER = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/;

export const channelRule = z
  .strictObject({
    match: channelMatch,
    channel: channelName
      .refine((name) => !CONTROL_CHARACTER.test(name), {
        message: 'must not hold control characters',
        params: { code: 'control_character' },
      })
      .meta({
        description: 'What the channel of such rows is called',
      }),
  })
  .meta({ id: 'ChannelRule', graph: 'Gives the channel of rows that match.' });
export type ChannelRule = z.output<typeof channelRule>;

const rules = z
  .array(channelRule)
  .max(MAX_CHANNEL_RULES)
  .refine((given) => bytesOf(given) <= MAX_RULES_BYTES, {
    message: `must have at most ${MAX_RULES_BYTES} bytes of text in all`,
    params: { code: 'too_big' },
  })
  .refine((given) => regexCostOf(given) <= MAX_REGEX_COST, {
    message:
      `must not have regular expressions of more than ${MAX_REGEX_COST} instructions in all: counted repetitions ` +
      'multiply, and classes of Unicode such as \\pL have hundreds',
    params: { code: 'costly_regex' },
  })
  .meta({ description: 'The first that matches counts' });

/** Whether one statement may read rows by all of these. */
export const areFewRules = (given: readonly ChannelRule[]): boolean => rules.safeParse(given).success;

function regexCostOf(given: readonly { readonly match: { readonly campaignRegex?: string | undefined } }[]): number {
  const patterns = new Set(given.flatMap(({ match }) => match.campaignRegex ?? []));
  return [...patterns].reduce((sum, pattern) => sum + regexCost(pattern), 0);
}

function bytesOf(given: readonly { readonly match: object; readonly channel: string }[]): number {
  const texts = given.flatMap(({ match, channel }) => [...(Object.values(match) as unknown[]), channel]);
  return texts.reduce<number>((sum, each) => sum + (typeof each === 'string' ? Buffer.byteLength(each) : 0), 0);
}

/** The rules of a source. */
export const channelRuleList = z
  .object({ rules })
  .meta({ id: 'ChannelRules', graph: 'How the channels of a source are called, whatever its files call them.' });

export const newChannelRules = z.object({ rules }).meta({
  id: 'ChannelRulesRequest',
  graph: 'Rules in place of all that a source has; none to call channels as its files do.',
});

const example = {
  rules: [
    { match: { source: 'facebook', medium: 'cpc' }, channel: 'meta_ads' },
    { match: { channel: 'Google Ads', campaign_regex: '(?i)brand' }, channel: 'google_brand' },
    { match: { click_id: 'gclid' }, channel: 'google_ads' },
  ],
};
const named = z.object({
  dataSourceId: idInPath({ rest: 'id', description: 'Data source, ds_…', graph: 'Public id of the source.' }),
});
const path = { id: 'ds_01JQ2kZr5uHn4GdPaLxWqB' };

export const channelRules = noun({
  one: 'channelRules',
  many: 'channel-rules',
  tag: 'Data sources',
  record: channelRuleList,
  example,
  operations: {
    getChannelRules: {
      method: 'GET',
      path: '/data-sources/{id}/channel-rules',
      kind: 'read',
      action: 'dataSource:read',
      field: 'channelRules',
      summary: 'Read the channel rules of a data source',
      description: 'In the order in which they are tried; none where channels are called as the files call them.',
      graph: 'Channel rules of a source, in the order in which they are tried. Errors: RESOURCE_NOT_FOUND.',
      named,
      answer: { one: channelRuleList },
      answered: 'The rules',
      example: { path },
    },
    setChannelRules: {
      method: 'PUT',
      path: '/data-sources/{id}/channel-rules',
      kind: 'write',
      action: 'dataSource:write',
      summary: 'Set the channel rules of a data source',
      description:
        'In place of all that it has. The first rule that matches a row gives its channel; rows without one keep ' +
        'theirs, and touches whose file names no channel have that of GA4’s default channel group. Rules act when ' +
        'rows are read, so that later analyses follow them without a new upload. Spend and the clicks of ' +
        'conversions have a channel and a campaign, steps of aggregated paths only a channel: rules that ask for ' +
        'more pass them by.',
      graph:
        'Sets the channel rules of a source, in place of all that it has; they act when rows are read. Errors: ' +
        'VALIDATION_ERROR (also empty_match, invalid_regex, costly_regex), RESOURCE_NOT_FOUND, CONFLICT.',
      named,
      input: newChannelRules,
      answer: {
        one: channelRuleList,
        payload: {
          description: 'The rules that are in force from now on.',
          member: 'The rules of the source.',
          trust: 'Trust envelope of the rules.',
        },
      },
      answered: 'The rules',
      problems: ['conflict'],
      example: { path },
    },
  },
});
