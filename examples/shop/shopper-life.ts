import { basketCents } from './basket.ts';
import { CHANNELS, channelIndex } from './marketing-plan.ts';
import { uniformAt } from './seeded-random.ts';
import { secondOfDay, type ShopCalendar } from './shop-calendar.ts';
import { drawVisitChannel, type Shopper } from './shopper.ts';

/** Hears of what happens in a life. Times are seconds since day 0. */
export interface LifeWitness {
  touch?(offsetS: number, channel: number, campaign: number, click: boolean): void;
  order(offsetS: number, cents: number, newCustomer: boolean): void;
}

const DIRECT = channelIndex('direct');

/** Days after an order in which another one is unlikely. */
const SATED_DAYS = 21;
const DRAW = { hour: 0, decision: 1, lag: 2, closingChannel: 3, closingCampaign: 4, parcel: 5 } as const;

/** Pull of one touch on the first day, so that its decaying pulls add up to `ordersPerTouch` (geometric ad-stock). */
const FIRST_DAY_PULL = Float64Array.from(
  CHANNELS,
  (channel) => channel.ordersPerTouch * (1 - 2 ** (-1 / channel.halfLifeDays)),
);
const DAILY_DECAY = Float64Array.from(CHANNELS, (channel) => 2 ** (-1 / channel.halfLifeDays));

/**
 * Plays a shopper's half-year. Each day the shopper decides once: the chance of an order is 1 − exp(−hazard);
 * the hazard is the wish to buy anyway (in the market, for each visit of the day) plus the pull of all touches
 * so far, with diminishing returns. An order ends the episode and with it the touches that hang on it.
 * Channels in the bit mask `muted` keep their touches and lose their pull: the same person, the same
 * random numbers, without the channel's effect.
 */
export function playLife(shopper: Shopper, calendar: ShopCalendar, muted: number, witness: LifeWitness): void {
  const { seed, episodes, touches } = shopper;
  const pull = new Float64Array(CHANNELS.length);
  const closed = new Uint8Array(episodes.length);
  let bought = shopper.returning;
  let lastOrderDay = -SATED_DAYS;
  let next = 0;
  let wish = 0;
  let lastClickS = -1;

  const playTouchesUntil = (offsetS: number): void => {
    for (let touch = touches[next]; touch !== undefined && touch.offsetS < offsetS; touch = touches[next]) {
      next += 1;
      if (touch.episode >= 0 && closed[touch.episode] === 1) continue;
      witness.touch?.(touch.offsetS, touch.channel, touch.campaign, touch.click);
      if (touch.click) {
        lastClickS = touch.offsetS;
        if (touch.episode >= 0) wish += episodes[touch.episode]!.ordersPerVisit;
      }
      if ((muted & (1 << touch.channel)) === 0) pull[touch.channel]! += FIRST_DAY_PULL[touch.channel]!;
    }
  };

  for (let day = 0; day < calendar.days; day += 1) {
    let pulls = 0;
    for (let channel = 0; channel < pull.length; channel += 1) pulls += pull[channel]! *= DAILY_DECAY[channel]!;
    const touched = next < touches.length && touches[next]!.offsetS < (day + 1) * 86_400;
    if (!touched && pulls < 1e-7) continue;

    // Not before 00:30, so that the visit which closes the order falls into the data.
    const decisionS = day * 86_400 + Math.max(1800, secondOfDay(uniformAt(seed, day, DRAW.hour)));
    wish = 0;
    lastClickS = -1;
    if (touched) {
      playTouchesUntil(decisionS);
      pulls = 0;
      for (let channel = 0; channel < pull.length; channel += 1) pulls += pull[channel]!;
    }
    const sale = calendar.sale[day] === 1 ? 1.5 : 1;
    const sated = day - lastOrderDay < SATED_DAYS ? 0.2 : 1;
    const hazard = sated * sale * (wish + (shopper.responsiveness * pulls) / (1 + pulls / 0.3));
    if (uniformAt(seed, day, DRAW.decision) < 1 - Math.exp(-hazard)) {
      witness.order(
        visitBeforeOrder(seed, day, decisionS, lastClickS, witness),
        basketCents(seed, day, sale > 1),
        !bought,
      );
      lookForParcel(seed, day, calendar, witness);
      bought = true;
      lastOrderDay = day;
      for (let number = 0; number < episodes.length; number += 1)
        if (episodes[number]!.firstDay <= day) closed[number] = 1;
    }
    playTouchesUntil((day + 1) * 86_400);
  }
}

/**
 * Every order has a visit minutes before it: the day's last click, else one more visit, which tells how the
 * shopper came in and caused nothing. Answers the time of the order.
 */
function visitBeforeOrder(
  seed: number,
  day: number,
  decisionS: number,
  lastClickS: number,
  witness: LifeWitness,
): number {
  const lagS = 150 + Math.floor(1400 * uniformAt(seed, day, DRAW.lag));
  if (lastClickS >= 0) return Math.min(decisionS, lastClickS + lagS);
  if (witness.touch !== undefined) {
    const channel = drawVisitChannel(uniformAt(seed, day, DRAW.closingChannel));
    const { campaigns } = CHANNELS[channel]!;
    witness.touch(
      decisionS - lagS,
      channel,
      Math.floor(uniformAt(seed, day, DRAW.closingCampaign) * campaigns.length),
      true,
    );
  }
  return decisionS;
}

/** Who has ordered comes back once or twice to see where the parcel is. */
function lookForParcel(seed: number, day: number, calendar: ShopCalendar, witness: LifeWitness): void {
  for (let visit = 0; visit < 3; visit += 1) {
    const uniform = uniformAt(seed, day, DRAW.parcel + visit);
    const visitDay = day + 1 + 2 * visit;
    if (uniform < 0.5 && visitDay < calendar.days)
      witness.touch?.(visitDay * 86_400 + secondOfDay(2 * uniform), DIRECT, 0, true);
  }
}
