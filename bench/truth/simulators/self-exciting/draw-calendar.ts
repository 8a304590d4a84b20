import { ParameterSource, mix, roughNormal } from './random.ts';

/** What the days of a shop are like, from the burn-in's first on. */
export interface Calendar {
  readonly demand: Float64Array;
  readonly orderFactor: Float64Array;
  readonly priceFactor: Float64Array;
  readonly flights: Float64Array;
  readonly auctionPrice: Float64Array;
  readonly mailTimes: Float64Array;
}

/**
 * Demand by weekday, season, trend, slow noise and price cuts; flights of television; prices at auction; mails' dates.
 * Newsletters announce the price cuts, so that mails and demand go together without one causing the other.
 */
export function drawCalendar(
  from: ParameterSource,
  days: number,
  burn: number,
  promotions: boolean,
  flightsFollowDemand: boolean,
  mailsDaily: boolean,
): Calendar {
  const total = days + burn;
  const key = mix(Math.floor(from.between(1, 2 ** 31)));
  const weekend = from.between(0.8, 1.25);
  const trend = from.between(-0.25, 0.35);
  const season = from.between(0, 0.2);
  const phase = from.between(0, 2 * Math.PI);
  const demand = new Float64Array(total);
  const orderFactor = new Float64Array(total).fill(1);
  const priceFactor = new Float64Array(total).fill(1);
  const flights = new Float64Array(total);
  const auctionPrice = new Float64Array(total);
  let slow = 0;
  for (let d = 0; d < total; d++) {
    const weekday = weekdayOf(d, burn);
    slow = 0.85 * slow + 0.06 * roughNormal(key, d);
    const wave = 1 + season * Math.sin((2 * Math.PI * d) / 60 + phase);
    demand[d] = (weekday > 4 ? weekend : 1) * (1 + (trend * d) / total) * wave * Math.exp(slow);
    auctionPrice[d] = Math.exp(0.12 * roughNormal(key, 1000 + d)) * (weekday > 4 ? 1.1 : 1) * (1 + (0.2 * d) / total);
  }
  const promotionStarts = promotions ? drawPromotions(from, total, demand, orderFactor, priceFactor) : [];
  drawFlights(from, flights, flightsFollowDemand ? demand : undefined);
  const mailTimes = drawMails(from, days, burn, promotionStarts, mailsDaily);
  return { demand, orderFactor, priceFactor, flights, auctionPrice, mailTimes };
}

/** 0 = Monday: windows begin on Mondays. */
function weekdayOf(day: number, burn: number): number {
  return (day - burn + 700) % 7;
}

/** Price cuts of 2–5 days, every 15–35: more people come, more of them order, at a lower price. */
function drawPromotions(
  from: ParameterSource,
  total: number,
  demand: Float64Array,
  orderFactor: Float64Array,
  priceFactor: Float64Array,
): number[] {
  const traffic = from.between(1.25, 1.9);
  const orders = from.between(1.2, 1.7);
  const cut = from.between(0.08, 0.25);
  const starts: number[] = [];
  for (let day = from.integer(5, 20); day < total; day += from.integer(15, 35)) {
    starts.push(day);
    const end = Math.min(total, day + from.integer(2, 5));
    for (let d = day; d < end; d++) {
      demand[d] = (demand[d] as number) * traffic;
      orderFactor[d] = orders;
      priceFactor[d] = 1 - cut;
    }
  }
  return starts;
}

/** Flights of 10–25 days on, 5–20 off; strength at most 1. */
function drawFlights(from: ParameterSource, flights: Float64Array, demand: Float64Array | undefined): void {
  let day = -from.integer(0, 10);
  while (day < flights.length) {
    const end = day + from.integer(10, 25);
    const strength = from.between(0.5, 1);
    for (let d = Math.max(0, day); d < Math.min(flights.length, end); d++) flights[d] = strength;
    day = end + from.integer(5, 20);
  }
  if (demand === undefined) return;
  const most = demand.reduce((a, b) => Math.max(a, b), 0);
  for (let d = 0; d < flights.length; d++) {
    const lively = ((demand[d] as number) / most) ** 1.5;
    flights[d] = Math.max(flights[d] as number, 0.3) * lively;
  }
}

/** One to three mails a week, or one a day, in the morning, and one on each promotion's first day. */
function drawMails(
  from: ParameterSource,
  days: number,
  burn: number,
  promotionStarts: readonly number[],
  mailsDaily: boolean,
): Float64Array {
  const perWeek = from.integer(1, 3);
  const hour = from.between(6, 11) / 24;
  const weekdays = mailsDaily ? [0, 1, 2, 3, 4, 5, 6] : [1, 3, 5].slice(0, perWeek);
  const times = new Set<number>();
  for (let d = 0; d < days + burn; d++) {
    if (weekdays.includes(weekdayOf(d, burn)) || promotionStarts.includes(d)) times.add(d - burn + hour);
  }
  return Float64Array.from([...times].toSorted((a, b) => a - b));
}
