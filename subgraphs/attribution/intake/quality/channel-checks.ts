import { likeChannel } from '../touchpoints/channel-kinds.ts';
import { aboveLimit, checkOf, LEAST, sumOf, touchesOf, words, type Look } from './quality-check.ts';

/* Whether spend and touches speak of the same channels, and touches of campaigns and people. */

const APART_LIMITS = { warning: 0.05 } as const;
const CAMPAIGN_LIMITS = { warning: 0.2 } as const;
const BOT_LIMITS = { warning: 0.05 } as const;

/** Spend on channels that no touch names. */
export const spendWithoutTouches: Look = ({ stored: { channels }, spend, currency }) => {
  const total = sumOf(spend.values(), (amount) => amount);
  if (total <= 0 || touchesOf(channels) < LEAST.touches) return null;
  const touched = channels.map(({ channel }) => channel);
  const apart = [...spend]
    .filter(([channel, amount]) => amount > 0 && !touched.includes(channel))
    .toSorted(([a, one], [b, two]) => two - one || (a < b ? -1 : 1));
  const amount = sumOf(apart, ([, each]) => each);
  const alike = apart.flatMap(([channel]) => {
    const other = likeChannel(channel, touched);
    return other === null ? [] : [{ channel, other }];
  });
  const twice = alike
    .filter(({ other }) => (spend.get(other) ?? 0) > 0)
    .map(({ channel, other }) => `${channel} as ${other}`);
  const rules = alike.map(({ channel, other }) => JSON.stringify({ match: { channel }, channel: other }));
  return aboveLimit(APART_LIMITS, {
    code: 'spend_without_touches',
    value: amount / total,
    amount,
    currency,
    message:
      `${words.percent(amount / total)} of the spend, ${words.money(amount, currency)}, is on channels that no touch ` +
      `names: ${words.list(apart.map(([channel, each]) => `${channel} (${words.money(each, currency)})`))}. What it ` +
      `brings cannot be told.` +
      (twice.length > 0
        ? ` The touches have a cost of their own, so that it may count twice: ${words.list(twice)}.`
        : ''),
    remedy:
      rules.length > 0
        ? `The touches seem to call them otherwise. Use one name in both files, or channel rules: ${rules.join(', ')}.`
        : 'Call them as the touches do, in the file or by a channel rule. Channels that leave no touches, such as ' +
          'television, need an experiment.',
  });
};

/** Touches of paid channels that no spend is stated for, priced as those of the others. */
export const touchesWithoutSpend: Look = ({ stored: { channels }, spend, currency, isPaid }) => {
  const paid = channels.filter(({ channel }) => isPaid(channel));
  const costs = ({ channel }: { readonly channel: string }): boolean => (spend.get(channel) ?? 0) > 0;
  const [priced, free] = [paid.filter(costs), paid.filter((each) => !costs(each))];
  const stated = sumOf(spend.values(), (amount) => amount);
  if (stated <= 0 || touchesOf(paid) < LEAST.touches) return null;
  const unspent = touchesOf(free);
  const aTouch = touchesOf(priced) === 0 ? 0 : sumOf(priced, ({ channel }) => spend.get(channel)!) / touchesOf(priced);
  const amount = aTouch * unspent;
  const names = free.toSorted((a, b) => b.touches - a.touches).map(({ channel }) => channel);
  return aboveLimit(APART_LIMITS, {
    code: 'touches_without_spend',
    value: unspent / touchesOf(paid),
    amount: amount > 0 ? amount : null,
    currency,
    message:
      `${words.count(unspent)} touches are of channels that no spend is stated for: ${words.list(names)}. ` +
      (amount > 0
        ? `At the price of the others they cost ${words.money(amount, currency)}, which no return counts.`
        : 'Their return cannot be told.'),
    remedy:
      'Add their spend, under the names that the touches have; or name them baseline channels, if nobody pays for ' +
      'them.',
  });
};

/** Paid touches that name no campaign. */
export const campaignCoverage: Look = ({ stored: { channels }, spend, currency, isPaid }) => {
  const paid = channels.filter(({ channel }) => isPaid(channel));
  const [touches, unnamed] = [touchesOf(paid), sumOf(paid, (each) => each.unnamed)];
  if (touches < LEAST.touches) return null;
  const amount = sumOf(paid, (each) => ((spend.get(each.channel) ?? 0) * each.unnamed) / each.touches);
  const finding = {
    code: 'campaign_coverage' as const,
    value: 1 - unnamed / touches,
    amount: amount > 0 ? amount : null,
    currency,
    message:
      `${words.count(unnamed)} of ${words.count(touches)} paid touches name no campaign` +
      (amount > 0 ? `, and ${words.money(amount, currency)} of spend cannot be held against its campaigns.` : '.'),
    remedy: 'Tag every ad with a campaign (utm_campaign), and map the column of the file to campaign.',
  };
  // Where none has one, nobody tracks campaigns here: no figure is wrong for it.
  if (unnamed === touches) return checkOf('info', 1 - CAMPAIGN_LIMITS.warning, finding);
  return unnamed / touches > CAMPAIGN_LIMITS.warning ? checkOf('warning', 1 - CAMPAIGN_LIMITS.warning, finding) : null;
};

/** Touches of users who touch more than people can. */
export const botLikeUsers: Look = ({ stored: { channels, bots }, spend, currency, isPaid }) => {
  const touches = touchesOf(channels);
  if (touches < LEAST.touches) return null;
  const value = bots.touches / touches;
  const paid = sumOf(spend, ([channel, amount]) => (isPaid(channel) ? amount : 0));
  const amount = bots.cost > 0 ? bots.cost : value * paid;
  return aboveLimit(BOT_LIMITS, {
    code: 'bot_like_users',
    value,
    amount: amount > 0 ? amount : null,
    currency,
    message:
      `${words.count(bots.users)} users made ${words.count(bots.touches)} touches, ${words.percent(value)} of all ` +
      `and more than a hundred a day each` +
      (amount > 0 ? `; about ${words.money(amount, currency)} of spend went to them.` : '.'),
    remedy: 'Leave out bots, tests and internal traffic; look for one id that stands for many people, such as "null".',
  });
};
