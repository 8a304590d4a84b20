import { NO_CHANNEL } from '../../compute/journey-tables.ts';
import type { Random } from '../../compute/numerics/random.ts';
import { CandidateHistory, Kind, NO_PARENT } from './candidate-history.ts';
import { exponential, logNormalMeanOne, normal, poisson, weighted } from './variates.ts';
import { paidChannels } from './world-spec.ts';
import type { ChannelSpec, WorldSpec } from './world-spec.ts';

const WEEK_DAYS = 7;
const FLIGHT_DAYS = 18;
/** Interest at which a touch works as on the average user, relative to a typical spell's peak. */
const HALF_INTEREST = 0.3;
const RETARGETING_DELAY_DAYS = 3;
const HALO_DELAY_DAYS = 1.5;
/** How long before the order the visits come that announce it. */
const ANNOUNCEMENT_DAYS = 1;

/** A spell of interest: strength × density of a rise and decay that began at `startDays`. */
interface Episode {
  readonly startDays: number;
  readonly strength: number;
}

/**
 * What a touch can at most do, as a multiple of its effect: candidates are drawn for that and thinned in the replay.
 */
export const boundOfBoost = ({ boost }: ChannelSpec): number =>
  boost === null ? 1 : Math.max(boost.without, boost.with);

/**
 * Draws what may happen to one user. Exogenous parts: lasting propensity, spells of interest, random reach. Parts that
 * depend on them: touches and visits out of interest, retargeting after visits, visits after advertising, orders with
 * and without advertising. A branching process: each dependent event has one parent and vanishes with it.
 */
export class HistoryDraw {
  private readonly spec: WorldSpec;
  private readonly random: Random;
  private readonly history = new CandidateHistory();
  private readonly episodes: Episode[] = [];
  private readonly paid: ReadonlySet<number>;
  private readonly phase: readonly number[];
  private readonly visitWeights: readonly number[];
  private readonly closingWeights: readonly number[];
  private readonly fastDays: number;
  private readonly halfInterest: number;

  constructor(spec: WorldSpec, random: Random) {
    this.spec = spec;
    this.random = random;
    this.paid = new Set(paidChannels(spec));
    this.phase = spec.channels.map(() => random());
    this.visitWeights = spec.channels.map(({ paid, touchesPerUser }) => (paid ? 0 : touchesPerUser));
    this.closingWeights = spec.channels.map(({ closing }) => closing);
    const { riseDays, decayDays } = spec.episodes;
    this.fastDays = (riseDays * decayDays) / (riseDays + decayDays);
    this.halfInterest = HALF_INTEREST * this.interestDensity(this.fastDays * Math.log1p(decayDays / riseDays));
  }

  /** The history is the same object each time, overwritten. */
  next(): CandidateHistory {
    const { spec, random, history } = this;
    const propensity = logNormalMeanOne(random, spec.propensitySpread);
    history.clear(random() < Math.min(1, spec.knownShare * propensity));
    this.drawEpisodes(propensity);
    for (let c = 0; c < spec.channels.length; c++) this.drawTouches(c, propensity);
    this.drawOrganicOrders(propensity);
    // Whatever has offspring stands before it; the loop also meets what it adds.
    for (let i = 0; i < history.count; i++) this.drawOffspring(i, propensity);
    history.sort();
    return history;
  }

  private drawEpisodes(propensity: number): void {
    const { spec, random } = this;
    const { perUser, decayDays, strengthSpread, propensityExponent } = spec.episodes;
    const before = 3 * decayDays;
    const mean = (perUser * (spec.days + before)) / spec.days;
    // E[propensity^e] of a log-normal with mean 1, so that the exponent moves no average.
    const meanPower = Math.exp(((propensityExponent ** 2 - propensityExponent) * spec.propensitySpread ** 2) / 2);
    const count = poisson(random, (mean * propensity ** propensityExponent) / meanPower);
    this.episodes.length = 0;
    for (let i = 0; i < count; i++) {
      const day = this.seasonalDay(-before);
      this.episodes.push({ startDays: day, strength: logNormalMeanOne(random, strengthSpread) });
    }
  }

  private drawTouches(c: number, propensity: number): void {
    const { spec, random } = this;
    const { touchesPerUser, interestShare, lagDays, targeting, reach, customersOnly, onAir } = spec.channels[c]!;
    const audience = customersOnly ? spec.knownShare : 1;
    const meanPower = Math.exp(((targeting ** 2 - targeting) * spec.propensitySpread ** 2) / 2);
    const reached = random() < reach;
    const spread = reached
      ? poisson(
          random,
          (touchesPerUser * (1 - interestShare) * propensity ** targeting) / (meanPower * reach * audience),
        )
      : 0;
    const kind = customersOnly ? Kind.customer : Kind.spread;
    for (let i = 0; i < spread; i++) this.touch(this.dayOnAir(c, onAir), c, kind);
    for (const episode of this.episodes) {
      const count = poisson(random, (touchesPerUser * interestShare * episode.strength) / spec.episodes.perUser);
      for (let i = 0; i < count; i++) this.touch(this.interestDay(episode) + this.lag(lagDays), c, Kind.interest);
    }
  }

  private drawOrganicOrders(propensity: number): void {
    const { spec, random } = this;
    const { organicOrdersPerUser, organicInterestShare, orderLagDays, orderSteepness, episodes } = spec;
    // E[strength^p], as for the propensity.
    const meanPower = Math.exp(((orderSteepness ** 2 - orderSteepness) * episodes.strengthSpread ** 2) / 2);
    const lasting = poisson(random, organicOrdersPerUser * (1 - organicInterestShare) * propensity);
    for (let i = 0; i < lasting; i++) this.order(this.seasonalDay(0), Kind.organicOrder, NO_PARENT);
    for (const episode of this.episodes) {
      const count = poisson(
        random,
        (organicOrdersPerUser * organicInterestShare * episode.strength ** orderSteepness) /
          (meanPower * episodes.perUser),
      );
      for (let i = 0; i < count; i++)
        this.order(this.interestDay(episode) + this.lag(orderLagDays), Kind.organicOrder, NO_PARENT);
    }
  }

  private drawOffspring(at: number, propensity: number): void {
    const { spec, random, history } = this;
    const kind = history.kind[at]!;
    const t = history.timeDays[at]!;
    const c = history.channel[at]!;
    if (kind === Kind.organicOrder || kind === Kind.causedOrder) return;
    if (!this.paid.has(c)) {
      for (let r = 0; r < spec.channels.length; r++) {
        const count = poisson(random, spec.channels[r]!.perVisit);
        for (let i = 0; i < count; i++)
          this.touch(t + exponential(random, RETARGETING_DELAY_DAYS), r, Kind.offspring, at);
      }
      return;
    }
    const channel = spec.channels[c]!;
    const visits = poisson(random, channel.effect * channel.halo);
    for (let i = 0; i < visits; i++)
      this.touch(t + exponential(random, HALO_DELAY_DAYS), weighted(random, this.visitWeights), Kind.offspring, at);
    const { effectOnInterest: onInterest } = spec;
    const orders = poisson(
      random,
      channel.effect * boundOfBoost(channel) * (1 + onInterest) * propensity ** spec.effectOnPropensity,
    );
    for (let i = 0; i < orders; i++) {
      const when = t + exponential(random, channel.halfLifeDays / Math.LN2);
      const interest = this.interestAt(when);
      const response = 1 + onInterest * ((2 * interest) / (interest + this.halfInterest) - 1);
      if (random() * (1 + onInterest) < response) this.order(when, Kind.causedOrder, at);
    }
  }

  /** An order and the visits that announce it; those of a caused one come after its touch and vanish with it. */
  private order(timeDays: number, kind: number, parent: number): void {
    const { spec, random, history } = this;
    if (!(timeDays >= 0 && timeDays < spec.days)) return;
    const visits = poisson(random, spec.announcingVisits);
    const earliest = parent === NO_PARENT ? 0 : history.timeDays[parent]!;
    for (let i = 0; i < visits; i++) {
      const day = timeDays - exponential(random, ANNOUNCEMENT_DAYS);
      if (day > earliest)
        this.touch(
          day,
          weighted(random, this.visitWeights),
          parent === NO_PARENT ? Kind.spread : Kind.offspring,
          parent,
        );
    }
    const click = random() < spec.closingClickShare ? weighted(random, this.closingWeights) : -1;
    const value = Math.round(100 * spec.orderValue.median * Math.exp(spec.orderValue.spread * normal(random))) / 100;
    history.add({ timeDays, channel: click === -1 ? NO_CHANNEL : click, kind, parent, value }, random(), random());
  }

  private touch(timeDays: number, channel: number, kind: number, parent = NO_PARENT): void {
    if (timeDays >= 0 && timeDays < this.spec.days && channel >= 0)
      this.history.add({ timeDays, channel, kind, parent, value: 0 }, this.random(), 0);
  }

  /** A day of the window (from `from` on), denser where season and growth make it so. */
  private seasonalDay(from: number): number {
    const { days, weekly, growth } = this.spec;
    const most = (1 + weekly) * (1 + Math.max(0, growth));
    for (;;) {
      const day = from + this.random() * (days - from);
      if (weekly === 0 && growth === 0) return day;
      const demand = (1 + weekly * Math.sin((2 * Math.PI * day) / WEEK_DAYS)) * (1 + growth * Math.max(0, day / days));
      if (this.random() * most < demand) return day;
    }
  }

  private dayOnAir(c: number, onAir: number): number {
    for (;;) {
      const day = this.random() * this.spec.days;
      if ((day / FLIGHT_DAYS + this.phase[c]!) % 1 < onAir) return day;
    }
  }

  /** Rise and decay (1 − e^(−x/rise)) e^(−x/decay), normalised: the density of a sum of two exponential delays. */
  private interestDensity(x: number): number {
    const { decayDays } = this.spec.episodes;
    const { fastDays } = this;
    return x <= 0 ? 0 : (Math.exp(-x / decayDays) - Math.exp(-x / fastDays)) / (decayDays - fastDays);
  }

  private interestDay({ startDays }: Episode): number {
    return startDays + exponential(this.random, this.spec.episodes.decayDays) + exponential(this.random, this.fastDays);
  }

  private lag(meanDays: number): number {
    return meanDays > 0 ? exponential(this.random, meanDays) : 0;
  }

  private interestAt(day: number): number {
    return this.episodes.reduce(
      (sum, { startDays, strength }) => sum + strength * this.interestDensity(day - startDays),
      0,
    );
  }
}
