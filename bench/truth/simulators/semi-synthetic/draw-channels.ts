import type { Draws } from './draws.ts';
import type { Trait } from '../simulator.ts';

/**
 * How a channel meets people: `intent` answers a search, `audience` is bought by audience, `retargeting` follows
 * visitors, `email` goes to customers, `door` is clicked by people on their way in, `broadcast` leaves no touches.
 */
export type ChannelKind = 'intent' | 'audience' | 'retargeting' | 'email' | 'door' | 'broadcast' | 'unpaid';

export interface ChannelSpec {
  readonly name: string;
  readonly kind: ChannelKind;
  readonly traits: readonly Trait[];
  /** share of people within reach of the spend as it is; rises by 1 − exp(−curvature × factor) */
  readonly reach: number;
  readonly curvature: number;
  /** frequency rises by this power of the spend; what is left of the spend goes into dearer auctions */
  readonly frequencyPower: number;
  /** correlation of being within reach with the propensity to buy here */
  readonly targeting: number;
  /** exposures per day of a person within reach (e-mail: mailings per week) */
  readonly rate: number;
  /** rise of the rate close to a purchase in the category (what platforms learn of a person) */
  readonly following: number;
  readonly clickRate: number;
  readonly viewsTracked: boolean;
  /** change of the log odds when the stock is large; before the shop's calibration, but for harm (negative) */
  readonly strength: number;
  readonly halfLife: number;
  /** stock of half the effect */
  readonly halfStock: number;
  readonly viewWeight: number;
  /** chance that an exposure brings a visit by another door within days */
  readonly halo: number;
  /** chance of an order on impulse after a click, before calibration */
  readonly impulse: number;
  /** part of a click's visit that counts for the visitor's interest */
  readonly clickQuality: number;
  /** searches that reach the shop all the same, unpaid */
  readonly substitution: number;
  /** how often it is the door of a visit and of an order */
  readonly visitDoor: number;
  readonly orderDoor: number;
  /** orders by this door that are lost to a competitor without it, and the discount that it gives away */
  readonly lossWithout: number;
  readonly discount: number;
  readonly pricing: 'click' | 'view' | 'commission' | 'send';
  /** part of the budget (commission: of the order) */
  readonly price: number;
  /** power of the season that the budget follows, and whether it runs in flights */
  readonly followsDemand: number;
  readonly flights: boolean;
}

const BASE: ChannelSpec = {
  name: '',
  kind: 'unpaid',
  traits: [],
  reach: 0,
  curvature: 1,
  frequencyPower: 0.2,
  targeting: 0,
  rate: 0,
  following: 0,
  clickRate: 0,
  viewsTracked: false,
  strength: 0,
  halfLife: 1,
  halfStock: 1,
  viewWeight: 0,
  halo: 0,
  impulse: 0,
  clickQuality: 1,
  substitution: 0,
  visitDoor: 0,
  orderDoor: 0,
  lossWithout: 0,
  discount: 0,
  pricing: 'click',
  price: 0,
  followsDemand: 0,
  flights: false,
};

const INTENT = ['shopping_ads', 'price_comparison'] as const;
const AUDIENCE = ['display', 'online_video', 'influencers', 'native_ads'] as const;

function drawIntent(draws: Draws, name: string): ChannelSpec {
  return {
    ...BASE,
    name,
    kind: 'intent',
    reach: draws.between(0.25, 0.5),
    curvature: draws.between(0.9, 2.2),
    frequencyPower: draws.between(0.1, 0.35),
    targeting: draws.between(0.1, 0.35),
    rate: draws.between(0.06, 0.16),
    following: draws.between(2, 6),
    strength: draws.between(0.6, 1.6),
    halfLife: draws.logBetween(1, 4),
    halfStock: draws.between(0.6, 1.2),
    impulse: draws.between(0.002, 0.006),
    substitution: draws.between(0.15, 0.5),
    orderDoor: draws.between(0.2, 0.5),
    price: draws.between(0.18, 0.34),
  };
}

function drawAudience(draws: Draws, name: string): ChannelSpec {
  return {
    ...BASE,
    name,
    kind: 'audience',
    reach: draws.between(0.12, 0.5),
    curvature: draws.between(0.8, 2.2),
    frequencyPower: draws.between(0.1, 0.4),
    targeting: draws.between(0, 0.3),
    rate: draws.logBetween(0.03, 0.12),
    following: draws.between(0.3, 1.8),
    clickRate: draws.logBetween(0.01, 0.05),
    viewsTracked: draws.chance(0.6),
    strength: draws.between(0.3, 1.5),
    halfLife: draws.logBetween(2.5, 9),
    halfStock: draws.between(0.4, 1.3),
    viewWeight: draws.between(0.25, 0.6),
    halo: draws.logBetween(0.001, 0.006),
    impulse: draws.between(0.003, 0.01),
    clickQuality: draws.between(0.4, 0.9),
    pricing: 'view',
    price: draws.between(0.08, 0.28),
    flights: draws.chance(0.35),
  };
}

function drawRetargeting(draws: Draws): ChannelSpec {
  return {
    ...BASE,
    name: 'retargeting',
    kind: 'retargeting',
    traits: ['reactive_targeting'],
    reach: draws.between(0.4, 0.75),
    curvature: draws.between(1, 2.5),
    targeting: draws.between(0, 0.2),
    rate: draws.between(0.25, 0.7),
    clickRate: draws.between(0.01, 0.04),
    viewsTracked: draws.chance(0.65),
    strength: draws.between(0.1, 0.9),
    halfLife: draws.logBetween(1.5, 5),
    halfStock: draws.between(0.6, 1.8),
    viewWeight: draws.between(0.25, 0.6),
    impulse: draws.between(0.003, 0.012),
    clickQuality: draws.between(0.6, 1),
    orderDoor: draws.between(0.1, 0.35),
    pricing: 'view',
    price: draws.between(0.05, 0.12),
  };
}

function drawEmail(draws: Draws): ChannelSpec {
  return {
    ...BASE,
    name: 'email',
    kind: 'email',
    reach: draws.between(0.5, 0.8),
    curvature: 2.5,
    targeting: draws.between(0, 0.2),
    rate: draws.between(0.7, 2.2),
    clickRate: draws.between(0.06, 0.16),
    strength: draws.between(0.1, 0.7),
    halfLife: draws.logBetween(1.5, 4),
    halfStock: draws.between(0.8, 1.6),
    viewWeight: draws.between(0.3, 0.6),
    impulse: draws.between(0.002, 0.008),
    orderDoor: draws.between(0.2, 0.5),
    pricing: 'send',
    price: draws.between(0.08, 0.2),
  };
}

function drawDoor(draws: Draws, name: 'brand_search' | 'affiliates'): ChannelSpec {
  const brand = name === 'brand_search';
  return {
    ...BASE,
    name,
    kind: 'door',
    traits: ['navigational_clicks'],
    reach: brand ? 0.8 : draws.between(0.25, 0.5),
    curvature: brand ? 2.5 : 1.5,
    strength: brand ? draws.between(0, 0.12) : 0,
    halfLife: 2,
    visitDoor: brand ? draws.between(0.25, 0.6) : 0.08,
    orderDoor: brand ? draws.between(0.6, 1.4) : draws.between(0.5, 1.5),
    lossWithout: brand ? draws.between(0, 0.08) : draws.between(0.03, 0.2),
    discount: brand || draws.chance(0.4) ? 0 : draws.between(0.03, 0.1),
    pricing: brand ? 'click' : 'commission',
    price: brand ? draws.between(0.05, 0.14) : draws.between(0.04, 0.1),
  };
}

function drawBroadcast(draws: Draws, name: string): ChannelSpec {
  return {
    ...BASE,
    name,
    kind: 'broadcast',
    traits: ['untracked_spend'],
    reach: draws.between(0.5, 0.85),
    curvature: draws.between(0.7, 2),
    rate: draws.between(0.08, 0.25),
    strength: draws.between(0.4, 1.2),
    halfLife: draws.logBetween(4, 14),
    halfStock: draws.between(0.7, 2),
    viewWeight: 1,
    halo: draws.logBetween(0.002, 0.01),
    pricing: 'view',
    price: draws.between(0.2, 0.4),
    flights: true,
  };
}

/** What a trait of the shop changes in its channels; every channel may also turn out to do nothing. */
function applyTraits(drawn: ChannelSpec[], draws: Draws, index: number, has: (trait: Trait) => boolean): ChannelSpec[] {
  const pushed = drawn.flatMap((c, k) => (c.kind === 'audience' || c.kind === 'retargeting' ? [k] : []));
  const harmful = has('harm') ? pushed[index % pushed.length] : undefined;
  const pair = has('synergy') ? [pushed.find((k) => k !== harmful), drawn.findIndex((c) => c.kind === 'intent')] : [];
  return drawn.map((c, k): ChannelSpec => {
    if (c.kind === 'unpaid') return c;
    const followsDemand = has('budget_follows_demand') && draws.chance(0.7) ? draws.between(0.5, 1.5) : 0;
    const inert = draws.chance(0.2) && !pair.includes(k) && c.kind !== 'broadcast';
    const longer = has('long_horizon') && (c.kind === 'audience' || c.kind === 'broadcast');
    const halo = has('halo_visits') && (c.kind === 'audience' || c.kind === 'broadcast');
    const more = { halfLife: draws.between(2.5, 4.5), halo: draws.between(4, 9), shorter: draws.between(0.2, 0.45) };
    const traits = [...c.traits];
    if (followsDemand > 0) traits.push('budget_follows_demand');
    if (has('nothing_works')) {
      return {
        ...c,
        traits: [...traits, 'nothing_works'],
        followsDemand,
        strength: 0,
        halo: 0,
        impulse: 0,
        lossWithout: 0,
        discount: 0,
      };
    }
    if (k === harmful) {
      const strength = -draws.between(0.2, 0.55);
      return { ...c, traits: [...traits, 'harm'], followsDemand, strength, halo: 0, impulse: 0, clickQuality: 0.2 };
    }
    if (inert && c.kind !== 'door') {
      traits.push('nothing_works');
      return { ...c, traits, followsDemand, strength: 0, halo: 0, impulse: 0, clickQuality: 0, lossWithout: 0 };
    }
    if (longer) traits.push('long_horizon');
    if (halo) traits.push('halo_visits');
    if (has('short_horizon') && !longer && c.kind !== 'door') traits.push('short_horizon');
    if (pair.includes(k)) traits.push('synergy');
    const halfLife = Math.min(24, c.halfLife * (longer ? more.halfLife : has('short_horizon') ? more.shorter : 1));
    // managers have some idea of what works: the budget follows the effect a little
    const price = c.pricing === 'commission' ? c.price : c.price * (0.5 + 0.6 * Math.min(1.6, c.strength));
    return { ...c, traits, followsDemand, halfLife, price, halo: c.halo * (halo ? more.halo : 1) };
  });
}

/** The channels of one shop: five to nine paid ones, then the unpaid ones. */
export function drawChannels(draws: Draws, index: number, has: (trait: Trait) => boolean): ChannelSpec[] {
  const paid: ChannelSpec[] = [drawIntent(draws, 'paid_search')];
  if (draws.chance(0.85)) paid.push(drawDoor(draws, 'brand_search'));
  paid.push(drawAudience(draws, 'paid_social'));
  if (draws.chance(0.85)) paid.push(drawRetargeting(draws));
  if (draws.chance(0.8)) paid.push(drawEmail(draws));
  if (draws.chance(0.65)) paid.push(drawDoor(draws, 'affiliates'));
  for (const name of INTENT) if (draws.chance(name === 'shopping_ads' ? 0.5 : 0.2)) paid.push(drawIntent(draws, name));
  for (const name of AUDIENCE) if (paid.length < 8 && draws.chance(0.4)) paid.push(drawAudience(draws, name));
  for (const name of ['display', 'online_video'] as const) {
    if (paid.length < 4 && !paid.some((c) => c.name === name)) paid.push(drawAudience(draws, name));
  }
  if (has('untracked_spend')) paid.push(drawBroadcast(draws, draws.chance(0.75) ? 'television' : 'radio'));
  while (paid.length < 5) paid.push(drawAudience(draws, `partner_ads_${paid.length}`));
  const unpaid: ChannelSpec[] = [
    { ...BASE, name: 'direct', visitDoor: 1, orderDoor: draws.between(0.8, 1.6) },
    { ...BASE, name: 'organic_search', visitDoor: draws.between(0.5, 1), orderDoor: draws.between(0.4, 0.9) },
  ];
  if (draws.chance(0.5)) unpaid.push({ ...BASE, name: 'organic_social', visitDoor: 0.2, orderDoor: 0.08 });
  if (draws.chance(0.35)) unpaid.push({ ...BASE, name: 'organic_referral', visitDoor: 0.15, orderDoor: 0.1 });
  return applyTraits([...paid, ...unpaid], draws, index, has);
}
