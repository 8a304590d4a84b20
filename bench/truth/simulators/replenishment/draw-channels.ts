import type { Trait } from '../simulator.ts';
import { dayQuantiles } from './calendar.ts';
import type { ChannelKind } from './channel-kinds.ts';
import { drawDeal } from './deals.ts';
import { lineUp, shuffled } from './line-up.ts';
import { BURN_IN_DAYS, HABITS } from './model.ts';
import type { Channel, Effects, Role } from './model.ts';
import { Stream } from './random.ts';
import type { ShopPlan } from './shop-plans.ts';

/** What channels are drawn for. */
export interface Setting {
  readonly plan: ShopPlan;
  readonly days: number;
  readonly demand: Float64Array;
  /** of an order, and planned revenue per person of the market and week: prices of media go with them */
  readonly basket: number;
  readonly weeklyRevenue: number;
}

function drawEffects(stream: Stream, kind: ChannelKind, { traits }: ShopPlan): Effects {
  // How much a channel works differs more within a medium than between media.
  const strength = stream.jitter(0.9);
  const part = (typical: number): number => typical * strength * stream.jitter(0.5);
  const isLong = traits.has('long_horizon');
  const isShort = traits.has('short_horizon');
  const { recall, fadeDays, nudge, awareness, basket, impulse } = kind.effects;
  return {
    recall: part(recall),
    fadeDays: isShort
      ? stream.between(0.4, 2.5)
      : isLong
        ? Math.min(40, Math.max(10, fadeDays * stream.jitter(0.4) * 2.5))
        : fadeDays * stream.jitter(0.4),
    nudge: part(nudge) * (isLong ? 0.4 : 1),
    awareness: isShort ? 0 : part(awareness),
    basket: part(basket),
    impulse: part(impulse) * (isLong ? 0.3 : 1),
    turnAway: 0,
    halo: 0,
  };
}

const NOTHING = { recall: 0, nudge: 0, awareness: 0, basket: 0, impulse: 0 };

/** Few are on a list, and they are mailed often; visitors are met by ads more often than all others. */
function turnAwayOf(role: Role, u: number): number {
  if (role === 'coupon') return 0;
  if (role === 'newsletter') return 0.06 + 0.1 * u;
  return 0.02 + 0.05 * u;
}

/** When the channel runs: steady, in flights of weeks, or with demand; whole weeks, as budgets are planned. */
function drawIntensity(stream: Stream, { days, demand }: Setting, follows: boolean): Float64Array {
  const flights = !follows && stream.isTrue(0.45);
  const onShare = stream.between(0.3, 0.8);
  const power = stream.between(1.2, 2.5);
  let level = 0;
  let weekly = 1;
  return Float64Array.from({ length: BURN_IN_DAYS + days }, (_, day) => {
    if (day % 7 === 0) {
      level = 0.6 * level + 0.2 * stream.normal();
      weekly = Math.exp(level) * (flights && stream.next() > onShare ? 0.04 : 1);
    }
    return weekly * (follows ? demand[day]! ** power : 1);
  });
}

/** Days: mailings by calendar are as far apart, others follow a visit after as long. */
function delaysOf(role: Role): readonly [least: number, most: number] {
  if (role === 'newsletter') return [2.5, 7];
  return role === 'flows' ? [0.05, 0.4] : [0.3, 2];
}

const ADS: ReadonlySet<Role> = new Set<Role>(['prospecting', 'search', 'comparison', 'retargeting', 'broadcast']);

/** What a shop's plan wants of one channel at least. */
interface Wanted {
  readonly isHarmful: boolean;
  /** the channel that shows what is planned for some */
  readonly isShown: boolean;
}

function drawChannel(stream: Stream, kind: ChannelKind, setting: Setting, wanted: Wanted): Channel {
  const { isHarmful, isShown } = wanted;
  const { plan } = setting;
  const { role } = kind;
  const worksAtAll = !plan.traits.has('nothing_works');
  const isDoor = role === 'brand' || role === 'coupon';
  const isIdle = (stream.isTrue(isDoor ? 0.35 : 0.15) && !isHarmful && !isShown) || !worksAtAll;
  const drawn = drawEffects(stream, kind, plan);
  // Visits are followed by ads that may work, so that a channel of visits alone would do something after all.
  const mayHalo = plan.traits.has('halo_visits') && role === 'prospecting' && !(isIdle && worksAtAll);
  const hasHalo = (stream.isTrue(0.8) || isShown) && mayHalo;
  const strong = worksAtAll ? 1 : 1.6;
  const lost = plan.traits.has('touches_lost') && role !== 'broadcast' ? stream.between(0.1, 0.6) : 0;
  const follows = plan.traits.has('budget_follows_demand') && ADS.has(role) && (stream.isTrue(0.8) || isShown);
  const intensity = drawIntensity(stream, setting, follows);
  const leak = isDoor ? stream.between(0.005, role === 'brand' ? 0.06 : 0.25) : 0;
  const discount = role === 'coupon' && (isHarmful || stream.isTrue(0.5)) ? stream.between(0.03, 0.1) : 0;
  const substitution = stream.between(0.2, 0.9);
  const traits: Trait[] = [
    ...(isIdle ? (['nothing_works'] as const) : []),
    ...(isHarmful ? (['harm'] as const) : []),
    ...(role === 'retargeting' || role === 'flows' ? (['reactive_targeting'] as const) : []),
    ...(isDoor ? (['navigational_clicks'] as const) : []),
    ...(role === 'broadcast' ? (['untracked_spend'] as const) : []),
    ...(lost > 0.2 ? (['touches_lost'] as const) : []),
    ...(follows ? (['budget_follows_demand'] as const) : []),
    ...(hasHalo ? (['halo_visits'] as const) : []),
  ];
  const k = isDoor ? stream.between(0.04, 0.12) : stream.between(0.25, 1.2);
  return {
    name: kind.name,
    paid: true,
    tracked: role !== 'broadcast',
    traits,
    role,
    habit: HABITS.indexOf(kind.habit),
    k,
    perDay: (kind.contacts / 100) * stream.jitter(0.45) * (1 + k),
    lookalike: kind.lookalike * stream.between(0.4, 1.8) * strong,
    inMarket: kind.inMarket * stream.jitter(0.5) * strong,
    viewSeen: Math.min(0.8, kind.viewSeen * stream.pick([0, 0.6, 1, 1.6])),
    click: isDoor ? 1 : Math.min(0.5, kind.click * stream.jitter(0.3)),
    effects: {
      ...drawn,
      ...(isIdle ? NOTHING : {}),
      ...(isHarmful ? { ...NOTHING, turnAway: turnAwayOf(role, stream.next()) } : {}),
      halo: hasHalo ? stream.scaleBetween(0.01, 0.08) : 0,
    },
    partner: -1,
    synergy: 0,
    substitution: isIdle ? 1 : substitution,
    leak: isIdle ? 0 : isHarmful ? 0.005 : leak,
    discount: isIdle ? 0 : isHarmful ? 0.05 + discount : discount,
    contacts: 1 + Math.floor(stream.next() * (role === 'flows' ? 2 : 5)),
    delayDays: stream.between(...delaysOf(role)),
    keepsOn: role === 'retargeting' && stream.isTrue(0.4),
    lost,
    dayQuantiles: dayQuantiles(intensity),
    ...drawDeal(new Stream(stream.key()), kind, setting, intensity),
  };
}

const UNPAID: readonly string[] = ['organic_search', 'direct'];

function unpaid(stream: Stream, name: string, { plan, days }: Setting): Channel {
  const lost = plan.traits.has('touches_lost') ? stream.between(0, 0.2) : 0;
  return {
    name,
    paid: false,
    tracked: true,
    traits: [],
    role: 'unpaid',
    habit: HABITS.indexOf('web'),
    k: 1,
    perDay: 0,
    lookalike: 0,
    inMarket: 0,
    viewSeen: 0,
    click: 1,
    effects: { ...NOTHING, fadeDays: 5, turnAway: 0, halo: 0 },
    partner: -1,
    synergy: 0,
    substitution: 1,
    leak: 0,
    discount: 0,
    contacts: 0,
    delayDays: 1,
    keepsOn: false,
    lost,
    dayQuantiles: dayQuantiles(new Float64Array(BURN_IN_DAYS + days).fill(1)),
    weeksOn: [],
    deal: { perContact: 0, perClick: 0, commission: 0, weeklyFee: 0 },
  };
}

/** In shops with synergy, one or two channels work better on people whom another has met. */
function withSynergy(stream: Stream, channels: readonly Channel[]): Channel[] {
  const working = (roles: readonly string[]): number[] =>
    channels.flatMap(({ role, effects }, c) => (roles.includes(role) && effects.recall > 0 ? [c] : []));
  const partners = working(['prospecting', 'broadcast']);
  const partner = partners.length > 0 ? stream.pick(partners) : -1;
  const helped = shuffled(
    stream,
    working(['prospecting', 'search', 'comparison', 'retargeting', 'flows', 'newsletter']).filter((c) => c !== partner),
  ).slice(0, 2);
  if (partner < 0 || helped.length === 0) return [...channels];
  return channels.map((channel, c): Channel => {
    if (c === partner) return { ...channel, traits: [...channel.traits, 'synergy'] };
    if (!helped.includes(c)) return channel;
    const traits: readonly Trait[] = [...channel.traits, 'synergy'];
    return { ...channel, traits, partner, synergy: stream.between(1, 3) };
  });
}

/** The channels of a shop, paid ones first. */
export function drawChannels(stream: Stream, setting: Setting): Channel[] {
  const kinds = lineUp(stream, setting.plan);
  const harmful = kinds.findIndex(({ role }) => role === setting.plan.harmful);
  const shown = kinds.findIndex(({ role }, c) => role === 'prospecting' && c !== harmful);
  const paid = kinds.map((kind, c) =>
    drawChannel(stream, kind, setting, { isHarmful: c === harmful, isShown: c === shown }),
  );
  const free = UNPAID.map((name) => unpaid(stream, name, setting));
  return [...(setting.plan.traits.has('synergy') ? withSynergy(stream, paid) : paid), ...free];
}
