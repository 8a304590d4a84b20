import { CHANNELS, channelIndex, VISIT_MIX } from './marketing-plan.ts';
import { deriveSeed, randomStream, type RandomStream } from './seeded-random.ts';
import { secondOfDay, type ShopCalendar } from './shop-calendar.ts';

/** A time in which somebody wants to buy such things anyway, advertised to or not. */
export interface MarketEpisode {
  readonly firstDay: number;
  readonly lastDay: number;
  /** Expected orders per visit, on an ordinary day. */
  readonly ordersPerVisit: number;
}

/** A touch that happens, unless it hangs on an episode that an order has closed before. */
export interface PossibleTouch {
  /** Seconds since day 0, 00:00. */
  readonly offsetS: number;
  readonly channel: number;
  readonly campaign: number;
  readonly click: boolean;
  /** The episode that it hangs on; -1 for none. */
  readonly episode: number;
}

/**
 * All chance in a person's half-year, drawn before anything happens: every counterfactual starts from the same draws.
 */
export interface Shopper {
  readonly id: string;
  readonly seed: number;
  /** Bought here before the data begins. */
  readonly returning: boolean;
  /** Multiplies the effect of every touch; mean 1. */
  readonly responsiveness: number;
  readonly episodes: readonly MarketEpisode[];
  /** Ordered by time. */
  readonly touches: readonly PossibleTouch[];
}

/** Days that advertisements keep following a shopper who left without buying. */
const RETARGETING_DAYS = 9;
const META = channelIndex('meta_ads');
const GOOGLE = channelIndex('google_ads');
const DISPLAY = channelIndex('display');
const RETARGETING = channelIndex('retargeting');
const INFLUENCER = channelIndex('influencer');
const EMAIL = channelIndex('email');
const UNPAID = [channelIndex('direct'), channelIndex('organic_search')] as const;

/**
 * Draws one person. `affinity` (standard normal) is the taste for the shop: it decides how often the person
 * is in the market, and who gets the newsletter, is found by look-alike targeting and is followed by
 * retargeting. That is the selection which makes last click praise the wrong channels.
 */
export function drawShopper(seed: number, index: number, calendar: ShopCalendar): Shopper {
  const own = deriveSeed(seed, index);
  const random = randomStream(own);
  const affinity = random.normal();
  const returning = random.chance(1 / (1 + Math.exp(1.2 - 0.8 * affinity)));
  const subscriber = random.chance(returning ? 0.55 : 0.07);
  const follower = random.chance(0.13);
  const responsiveness = Math.exp(0.6 * random.normal() - 0.18);
  const touches: PossibleTouch[] = [];

  const add = (day: number, channel: number, episode = -1, notBeforeS = 0): number | undefined => {
    if (day >= calendar.days) return undefined;
    const offsetS = day * 86_400 + secondOfDay(random.uniform());
    if (offsetS < notBeforeS) return undefined;
    const { campaigns, clickShare } = CHANNELS[channel]!;
    touches.push({
      offsetS,
      channel,
      campaign: Math.floor(random.uniform() * campaigns.length),
      click: random.chance(clickShare),
      episode,
    });
    return offsetS;
  };
  const scatter = (perDay: number, channel: number): void => {
    for (let left = random.poisson(perDay * calendar.days); left > 0; left -= 1)
      add(Math.floor(random.uniform() * calendar.days), channel);
  };

  const episodes = drawEpisodes(random, affinity, calendar);
  episodes.forEach((episode, number) => {
    let firstVisitS = Number.POSITIVE_INFINITY;
    for (let day = episode.firstDay; day <= episode.lastDay; day += 1) {
      for (let visits = random.poisson(0.8); visits > 0; visits -= 1) {
        firstVisitS = Math.min(firstVisitS, add(day, drawVisitChannel(random.uniform()), number) ?? firstVisitS);
      }
      if (random.chance(0.12)) add(day, GOOGLE, number);
      if (random.chance(0.03)) add(day, META);
    }
    for (let day = episode.firstDay; day <= episode.lastDay + RETARGETING_DAYS; day += 1) {
      for (let views = random.poisson(0.4); views > 0; views -= 1) add(day, RETARGETING, number, firstVisitS);
    }
  });

  scatter(0.0035 * Math.exp(0.3 * affinity), random.pick(UNPAID));
  scatter(0.0105 * Math.exp(0.25 * affinity + 0.7 * random.normal() - 0.245), META);
  scatter(0.0016 * Math.exp(0.2 * affinity), GOOGLE);
  scatter(0.0065 * Math.exp(0.6 * random.normal() - 0.18), DISPLAY);
  if (follower) {
    for (const day of calendar.influencerDays)
      if (random.chance(0.55)) add(day + Math.floor(4 * random.uniform() ** 2), INFLUENCER);
  }
  if (subscriber) {
    for (let day = 0; day < calendar.days; day += 1) {
      const sent = calendar.weekday[day] === 2 || calendar.weekday[day] === 5 || calendar.sale[day] === 1;
      if (sent && random.chance(0.14)) add(day, EMAIL);
    }
  }
  touches.sort((a, b) => a.offsetS - b.offsetS);
  return {
    id: `u${own.toString(36).padStart(7, '0')}${index.toString(36)}`,
    seed: own,
    returning,
    responsiveness,
    episodes,
    touches,
  };
}

/** The channel of a visit in the market, from a number in (0, 1). */
export function drawVisitChannel(uniform: number): number {
  let left = uniform;
  for (const [channel, share] of VISIT_MIX) {
    left -= share;
    if (left < 0) return channel;
  }
  return UNPAID[0];
}

function drawEpisodes(random: RandomStream, affinity: number, calendar: ShopCalendar): MarketEpisode[] {
  const peak = Math.max(...calendar.demand);
  const episodes: MarketEpisode[] = [];
  for (let left = random.poisson(0.5 * Math.exp(0.55 * affinity - 0.15)); left > 0; left -= 1) {
    let firstDay: number;
    do firstDay = Math.floor(random.uniform() * calendar.days);
    while (random.uniform() * peak > calendar.demand[firstDay]!);
    const length = 2 + Math.floor(-6 * Math.log(random.uniform()));
    episodes.push({
      firstDay,
      lastDay: Math.min(firstDay + length, firstDay + 30),
      ordersPerVisit: 0.085 * Math.exp(0.3 * affinity),
    });
  }
  return episodes;
}
