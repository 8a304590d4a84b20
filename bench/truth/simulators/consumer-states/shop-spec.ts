import type { Trait } from '../simulator.ts';
import type { Targeting } from './channel-kinds.ts';

/** States of a person towards the shop's category and the shop. */
export const DORMANT = 0;
export const AWARE = 1;
export const CONSIDERING = 2;
export const INTENDING = 3;
export const SATIATED = 4;
export const LAPSED = 5;

/** Which transition of a state media lift: index into `lift` of a channel; -1 = none. */
export const LIFT_OF_STATE: readonly number[] = [0, 1, 2, 3, -1, 4];

/** A channel of a shop, its parameters drawn. */
export interface ChannelSpec {
  readonly name: string;
  readonly paid: boolean;
  readonly tracked: boolean;
  readonly door: boolean;
  readonly targeting: Targeting;
  readonly viewsSeen: boolean;
  readonly brand: boolean;
  readonly rate: number;
  readonly member: number;
  /** spread of media habits (sigma of the log) */
  readonly habitSigma: number;
  readonly click: number;
  readonly divert: number;
  /** visits lost to others when a door's ad isn't there */
  readonly leak: number;
  /** part of clicks outside own visits that can end in an order */
  readonly induce: number;
  readonly retention: number;
  readonly saturation: number;
  /** before the shop's common strength; negative where the channel annoys */
  readonly lift: readonly number[];
  readonly price: number;
  readonly commission: number;
  readonly discount: number;
  readonly elasticity: number;
  /** how much more people in the market are met (platform's targeting) */
  readonly inMarket: number;
  /** how budgets follow demand: exponent on the lagged demand index */
  readonly followDemand: number;
  readonly promotionLift: number;
  /** days of a flight on and off; 0 off = always on */
  readonly flightOn: number;
  readonly flightOff: number;
  readonly traits: readonly Trait[];
}

/** All that a shop's world consists of, but for the common scales that the pilot finds. */
export interface ShopSpec {
  readonly index: number;
  readonly seed: number;
  readonly name: string;
  readonly days: number;
  readonly burnInDays: number;
  readonly startS: number;
  readonly traits: readonly Trait[];
  readonly nothingWorks: boolean;
  readonly channels: readonly ChannelSpec[];
  /** pace of the funnel: 1 = days, 0.15 = weeks per stage */
  readonly tempo: number;
  readonly cycleDays: number;
  readonly needSigma: number;
  readonly lapseDays: number;
  readonly customerShare: number;
  readonly buyHazard: number;
  readonly impulse: number;
  readonly visitRate: readonly number[];
  readonly competitor: number;
  /** part of media's effect on need that comes alike to everybody instead of in proportion to own need */
  readonly primaryDemand: number;
  readonly liftCap: number;
  readonly synergy: number;
  readonly haloVisits: number;
  readonly wordOfMouth: number;
  readonly navigational: number;
  readonly buyerExclusion: number;
  readonly basket: number;
  readonly basketSigma: number;
  readonly seasonAmplitude: number;
  readonly demandNoise: number;
  readonly promotions: readonly { readonly from: number; readonly to: number; readonly cut: number }[];
  readonly priceElasticity: number;
  readonly idsSplit: number;
  readonly touchesLost: number;
  readonly trackingRefused: number;
  readonly phoneOrders: number;
  readonly targetOrders: number;
  readonly targetShare: number;
  /** share of revenue that untracked channels bring, 0 where there are none */
  readonly targetUntracked: number;
  readonly targetSpendShare: number;
}

/** Common scales, found by a pilot so that the shop meets its drawn targets. */
export interface Scales {
  need: number;
  /** on the hazard of an order in a visit, where need alone doesn't bring enough orders */
  buy: number;
  strength: number;
  untracked: number;
  price: number;
}
