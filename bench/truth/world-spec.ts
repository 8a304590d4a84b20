/** How a channel reaches people and what it does to them. Times are days. */
export interface ChannelSpec {
  readonly name: string;
  readonly paid: boolean;
  /** expected touches per user in the window, before those that `perVisit` and `halo` bring */
  readonly touchesPerUser: number;
  /** part of them that follows interest; the rest is spread over time */
  readonly interestShare: number;
  /** mean delay behind the interest it follows: coupon sites come late */
  readonly lagDays: number;
  /** how much of the spread-out part goes to users who buy more anyway: rate ∝ propensity^targeting */
  readonly targeting: number;
  /** part of the users that the spread-out touches can reach */
  readonly reach: number;
  /**
   * spread-out touches go to known customers alone: `knownShare` of the users, and whoever has ordered since the window
   * began
   */
  readonly customersOnly: boolean;
  /** touches that an unpaid visit brings in the days after it (retargeting) */
  readonly perVisit: number;
  /** part of the time that the spread-out touches are on air */
  readonly onAir: number;
  /** incremental orders that a fresh touch sets off, before `boost` and satiation; 0 = a channel without any effect */
  readonly effect: number;
  /** of the effect's decay: when a touch's orders come, and how long it wears out the next touch */
  readonly halfLifeDays: number;
  /** own touches in stock that halve a further touch's effect; Infinity = none wears out */
  readonly saturation: number;
  /**
   * a touch works `without` times its effect where the user has seen nothing of channel `by`, up to `with` times where
   * he has
   */
  readonly boost: { readonly by: string; readonly without: number; readonly with: number } | null;
  /** unpaid visits that touches bring, per order that they would set off; they come whether or not an order follows */
  readonly halo: number;
  /** weight among the clicks by which people come to place their order; such a click causes nothing */
  readonly closing: number;
}

/** A population with known causal effects. Everything follows from it, bit by bit. */
export interface WorldSpec {
  readonly name: string;
  readonly family: string;
  readonly seed: number;
  readonly users: number;
  readonly days: number;
  readonly channels: readonly ChannelSpec[];
  /** standard deviation of the logarithm of the users' lasting propensity to buy; its mean is 1 */
  readonly propensitySpread: number;
  /** spells of being in the market */
  readonly episodes: {
    /** expected number per user in the window */
    readonly perUser: number;
    readonly riseDays: number;
    readonly decayDays: number;
    /** standard deviation of the logarithm of their strength; its mean is 1 */
    readonly strengthSpread: number;
    /** number of spells ∝ propensity^exponent */
    readonly propensityExponent: number;
  };
  /** expected orders per user in the window without any advertising and before satiation */
  readonly organicOrdersPerUser: number;
  /** part of them that follows interest; the rest follows propensity alone */
  readonly organicInterestShare: number;
  /** 0: a touch works on everybody alike; towards 1: mostly on people in the market */
  readonly effectOnInterest: number;
  /** a touch's effect ∝ propensity^exponent of its user */
  readonly effectOnPropensity: number;
  /** mean delay of the orders behind the interest: people look around before they buy */
  readonly orderLagDays: number;
  /** orders out of a spell ∝ strength^steepness: 1 = like touches and visits, above: the keenest account for most */
  readonly orderSteepness: number;
  /** after an order the wish to order (and to look around) falls by `depth` and recovers within `days` */
  readonly satiation: { readonly depth: number; readonly days: number };
  /** part of the users who are customers when the window begins */
  readonly knownShare: number;
  /** orders, caused or not, announce themselves by this many unpaid visits on the days before */
  readonly announcingVisits: number;
  /** part of the orders that carry the click by which they came */
  readonly closingClickShare: number;
  /** log-normal, major currency units */
  readonly orderValue: { readonly median: number; readonly spread: number };
  /** relative amplitude of the week, and relative growth of demand over the window */
  readonly weekly: number;
  readonly growth: number;
}

/** Index of the paid channels among all. */
export const paidChannels = (spec: WorldSpec): number[] =>
  spec.channels.flatMap((channel, c) => (channel.paid ? [c] : []));

/** A world in which no channel works. */
export const withoutEffects = (spec: WorldSpec): WorldSpec => ({
  ...spec,
  channels: spec.channels.map((channel) => ({ ...channel, effect: 0 })),
});
