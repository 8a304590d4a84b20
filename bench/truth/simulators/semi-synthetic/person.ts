import { WRAP_DAYS, histories, quantile } from './histories.ts';
import { FOR, keyOf, logistic, normal, uniform } from './random.ts';
import { isHeldOut } from './world.ts';
import type { CompiledPlan, World } from './world.ts';

const MOST = 512;
const DAY_S = 86_400;

/**
 * One person at a time: a bootstrap draw of a real history, with times jittered, and what does not depend on
 * advertising. Times are seconds since the first day of the burn-in.
 */
export class Person {
  key = 0;
  isCustomer = false;
  optIn = 1;
  openRate = 0;
  heldOut = false;
  logOdds = 0;
  taste = 0;
  /** purchases in the category: the real ones, one by one */
  occasions = 0;
  readonly occasionTime = new Float64Array(MOST);
  readonly occasionValue = new Float64Array(MOST);
  readonly occasionId = new Int32Array(MOST);
  /** visits that come about without advertising */
  visits = 0;
  readonly visitTime = new Float64Array(MOST);
  readonly visitId = new Int32Array(MOST);
  /** nearness of a purchase, per day */
  readonly need: Float64Array;
  private needIsClear = true;
  /** per channel: within reach at the spend as it is (bit 0) and under the plan (bit 1); own rate */
  readonly within: Uint8Array;
  readonly ownRate: Float64Array;
  readonly habit: Float64Array;
  private first = 0;
  private purchases = 0;
  private minuteShift = 0;

  private readonly world: World;

  constructor(world: World) {
    this.world = world;
    const count = world.spec.channels.length;
    this.need = new Float64Array(world.span);
    this.within = new Uint8Array(count);
    this.ownRate = new Float64Array(count);
    this.habit = new Float64Array(count);
  }

  /** Makes this the person of a number under a plan. */
  become(number: number, plan: CompiledPlan): void {
    const { spec } = this.world;
    const real = histories();
    const key = keyOf(spec.seed, number + 10_000);
    this.key = key;
    const drawn = Math.floor(uniform(key, FOR.history, 0) * real.people);
    this.first = real.first[drawn]!;
    this.purchases = real.first[drawn + 1]! - this.first;
    this.minuteShift = -60 + 420 * uniform(key, FOR.shift, 1) ** 1.5;
    // people who buy much in the category are a little more often at home in this shop
    this.taste = 0.95 * normal(key, FOR.propensity, 0) + 0.3 * (Math.log(this.purchases) - 0.8);
    const odds = Math.log(spec.customerShare / (1 - spec.customerShare));
    this.isCustomer = uniform(key, FOR.customer, 0) < logistic(odds + 0.8 * this.taste);
    this.logOdds = this.world.baseline + spec.heterogeneity * this.taste + (this.isCustomer ? spec.customerLift : 0);
    this.optIn = uniform(key, FOR.optIn, 0);
    this.openRate = 0.05 + 0.6 * uniform(key, FOR.openRate, 0) ** 2;
    this.heldOut = isHeldOut(plan, key);
    this.reachOf(plan);
    this.drawOccasions();
    this.drawVisits();
  }

  private reachOf(plan: CompiledPlan): void {
    const { channels } = this.world.spec;
    const target = (this.taste + (this.isCustomer ? 0.8 : 0) - 0.2) / 1.1;
    for (let c = 0; c < channels.length; c += 1) {
      const channel = channels[c]!;
      this.habit[c] = 1;
      this.within[c] = 3;
      if (channel.visitDoor + channel.orderDoor > 0) this.habit[c] = Math.exp(0.7 * normal(this.key, FOR.habit, c));
      if (channel.kind === 'unpaid') continue;
      const rho = channel.targeting;
      const score = Math.sqrt(1 - rho * rho) * normal(this.key, FOR.reach, c) - rho * target;
      // the logistic function with this factor is close to the normal distribution function
      const rank = logistic(1.702 * score);
      this.within[c] = (rank < channel.reach ? 1 : 0) + (rank < plan.reach[c]! ? 2 : 0);
      if (this.within[c] === 0) continue;
      this.ownRate[c] = channel.rate * Math.exp(0.6 * normal(this.key, FOR.frequency, c) - 0.18);
    }
  }

  private drawOccasions(): void {
    const { spec, span, waiting } = this.world;
    const real = histories();
    if (!this.needIsClear) this.need.fill(0);
    this.needIsClear = true;
    this.occasions = 0;
    const shift = 7 * (Math.floor(uniform(this.key, FOR.shift, 0) * 7) - 3);
    for (let k = 0; k < this.purchases; k += 1) {
      const minute = real.minute[this.first + k]!;
      let day = Math.floor(minute / 1440) - spec.firstDay + spec.burnIn + shift;
      // the real shop is closed on Saturdays: some move to the neighbouring day
      const jitter = uniform(this.key, FOR.jitter, k);
      day += jitter < 0.17 ? -1 : jitter > 0.83 ? 1 : 0;
      day = ((day % WRAP_DAYS) + WRAP_DAYS) % WRAP_DAYS;
      if (day >= span || this.occasions >= MOST) continue;
      const waits = waiting[day]! > 0 && uniform(this.key, FOR.promotion, k) < 0.35;
      if (waits) day = Math.min(span - 1, day + waiting[day]!);
      const shifted = (minute % 1440) + this.minuteShift + 120 * (uniform(this.key, FOR.jitter, k + 1000) - 0.5);
      const time = day * DAY_S + 60 * Math.min(1430, Math.max(20, shifted));
      this.insertOccasion(time, real.value[this.first + k]!, k);
    }
    for (let n = 0; n < this.occasions; n += 1) this.addNeed(Math.floor(this.occasionTime[n]! / DAY_S));
  }

  private insertOccasion(time: number, value: number, id: number): void {
    let at = this.occasions;
    for (; at > 0 && this.occasionTime[at - 1]! > time; at -= 1) {
      this.occasionTime[at] = this.occasionTime[at - 1]!;
      this.occasionValue[at] = this.occasionValue[at - 1]!;
      this.occasionId[at] = this.occasionId[at - 1]!;
    }
    this.occasionTime[at] = time;
    this.occasionValue[at] = value;
    this.occasionId[at] = id;
    this.occasions += 1;
  }

  /** Interest rises over a week before a purchase, and platforms take days to notice that it is over. */
  private addNeed(day: number): void {
    this.needIsClear = false;
    const { need } = this;
    for (let d = Math.max(0, day - 12); d <= day; d += 1) need[d]! += Math.exp(-(day - d) / 3.5);
    for (let d = day + 1; d <= day + 8 && d < need.length; d += 1) need[d]! += 0.5 * Math.exp(-(d - day) / 2.5);
  }

  private drawVisits(): void {
    const { spec, span, cut } = this.world;
    this.visits = 0;
    const keep = Math.min(0.9, spec.browseKeep * Math.exp(0.6 * this.taste + (this.isCustomer ? 0.5 : -0.3)));
    const real = histories();
    const clock = Math.floor(uniform(this.key, FOR.history, 1) * real.people);
    const [from, to] = [real.first[clock]!, real.first[clock + 1]!];
    const round = WRAP_DAYS / spec.browseSpeed;
    const offset = uniform(this.key, FOR.shift, 2) * round;
    const rounds = Math.ceil(span / round) + 1;
    for (let k = from; k < to; k += 1) {
      const at = real.minute[k]! / 1440 / spec.browseSpeed - offset;
      for (let n = 0; n < rounds; n += 1) {
        const id = (k - from) * 64 + n;
        if (uniform(this.key, FOR.browse, id) < keep) this.insertVisit(Math.floor(at + n * round), id);
      }
    }
    const considers = logistic(this.logOdds + 1.5);
    for (let n = 0; n < this.occasions; n += 1) {
      const id = this.occasionId[n]!;
      if (uniform(this.key, FOR.consider, 16 * id) < considers) this.drawVisitsBefore(n, id);
    }
    for (let day = 0; day < span; day += 1) {
      if (cut[day] === 0) continue;
      const comes = uniform(this.key, FOR.promotion, 5000 + day) < spec.promotionTraffic * Math.exp(this.taste);
      if (comes) this.insertVisit(day, 40_000 + day);
    }
  }

  /** Lags are those between real purchases of one person within a fortnight, so that visits come in real bursts. */
  private drawVisitsBefore(n: number, id: number): void {
    const { visitsBefore } = this.world.spec;
    let more = -Math.log(uniform(this.key, FOR.consider, 16 * id + 1)) * visitsBefore;
    for (let k = 0; k < 6 && more > 0.5; k += 1, more -= 1) {
      const lag = quantile(histories().shortGaps, uniform(this.key, FOR.consider, 16 * id + 2 + k)) - 0.5;
      this.insertVisit(Math.floor(this.occasionTime[n]! / DAY_S - lag), 50_000 + 8 * id + k, this.occasionTime[n]!);
    }
  }

  private insertVisit(day: number, id: number, before = Infinity): void {
    if (day < 0 || day >= this.world.span || this.visits >= MOST) return;
    const minute = quantile(histories().minuteOfDay, uniform(this.key, FOR.shift, 100 + id)) + this.minuteShift;
    let time = day * DAY_S + 60 * (Math.min(1430, Math.max(20, minute)) + uniform(this.key, FOR.shift, id));
    if (time >= before) time = before - 600 - 7200 * uniform(this.key, FOR.shift, id);
    let at = this.visits;
    for (; at > 0 && this.visitTime[at - 1]! > time; at -= 1) {
      this.visitTime[at] = this.visitTime[at - 1]!;
      this.visitId[at] = this.visitId[at - 1]!;
    }
    this.visitTime[at] = Math.max(0, time);
    this.visitId[at] = id;
    this.visits += 1;
  }

  /** Size of an impulse order: one of the person's own purchases, smaller. */
  impulseValue(slot: number): number {
    const pick = this.first + Math.floor(uniform(this.key, FOR.value, slot) * this.purchases);
    return 0.7 * histories().value[pick]!;
  }
}
