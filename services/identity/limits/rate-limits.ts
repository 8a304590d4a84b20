import { ProblemError } from '../../../schema/problems.ts';
import type { Plan } from '../../../schema/principal.ts';
import type { Tier } from '../../../schema/value-lists.ts';
import type { TierTable } from './tiers.ts';

/** How often a class of callers may call; `perDay` null means without limit. */
export interface RateLimit {
  readonly perMinute: number;
  readonly perDay: number | null;
}

/**
 * Who is limited how: keys of the sandbox, operators by plan (`standard`, `pro`, `enterprise`, `self_hosted`), agents
 * by tier (`agent_enterprise` is the highest tier of the table of four), and strangers by address.
 */
export const RATE_CLASSES = [
  'sandbox',
  'standard',
  'pro',
  'enterprise',
  'self_hosted',
  'discovery',
  'builder',
  'partner',
  'ambassador',
  'agent_enterprise',
  'register',
  'oauth',
  'bootstrap',
  'anonymous',
] as const;
export type RateClass = (typeof RATE_CLASSES)[number];
/** The limits of every class of callers. */
export type RateLimits = Readonly<Record<RateClass, RateLimit>>;

/** What strangers are counted by. */
export type StrangerClass = Extract<RateClass, 'register' | 'oauth' | 'bootstrap' | 'anonymous'>;

/** Tiers of the other table stand for their neighbour: an account keeps its tier when the table is changed. */
const LIMITS_OF_TIERS: Readonly<
  Record<TierTable, Pick<RateLimits, 'discovery' | 'builder' | 'partner' | 'ambassador' | 'agent_enterprise'>>
> = {
  three: {
    discovery: { perMinute: 60, perDay: 10_000 },
    builder: { perMinute: 60, perDay: 10_000 },
    partner: { perMinute: 120, perDay: 50_000 },
    ambassador: { perMinute: 300, perDay: null },
    agent_enterprise: { perMinute: 300, perDay: null },
  },
  four: {
    discovery: { perMinute: 60, perDay: 10_000 },
    builder: { perMinute: 120, perDay: 50_000 },
    partner: { perMinute: 500, perDay: 200_000 },
    ambassador: { perMinute: 500, perDay: 200_000 },
    agent_enterprise: { perMinute: 2_000, perDay: 1_000_000 },
  },
};

/**
 * The contract's numbers (§8 "Rate limits"); `enterprise` holds until an account has agreed on others, and
 * `self_hosted` only keeps a program that has run away from the others.
 */
export function standardRateLimits(tierTable: TierTable): RateLimits {
  return {
    sandbox: { perMinute: 100, perDay: null },
    standard: { perMinute: 100, perDay: null },
    pro: { perMinute: 500, perDay: null },
    enterprise: { perMinute: 1_000, perDay: null },
    self_hosted: { perMinute: 6_000, perDay: null },
    ...LIMITS_OF_TIERS[tierTable],
    register: { perMinute: 10, perDay: 100 },
    oauth: { perMinute: 30, perDay: null },
    bootstrap: { perMinute: 5, perDay: 50 },
    anonymous: { perMinute: 60, perDay: null },
  };
}

let limitsInForce: RateLimits = standardRateLimits('three');

/** Says once, at the start of a process, which limits its answers tell of. */
export function useRateLimits(limits: RateLimits): void {
  limitsInForce = limits;
}

/** What an agent's tier allows. */
export function rateLimitOfTier(tier: Tier): RateLimit {
  return limitsInForce[tier === 'enterprise' ? 'agent_enterprise' : tier];
}

/** What stands behind an account's limits. Agreed numbers are null where nothing was agreed. */
export interface Standing {
  readonly plan: Plan;
  readonly tier: Tier;
  readonly agreedPerMinute: number | null;
  readonly agreedPerDay: number | null;
}

/**
 * What live calls of an agent's account are held to, by the rule of `auth.admit`: agreed numbers, then the plan, then
 * the tier.
 */
export function rateLimitOf({ plan, tier, agreedPerMinute, agreedPerDay }: Standing): RateLimit {
  const { perMinute, perDay } =
    plan === 'pay_per_analysis' ? rateLimitOfTier(tier) : limitsInForce[plan === 'pro_trial' ? 'pro' : plan];
  return { perMinute: agreedPerMinute ?? perMinute, perDay: agreedPerDay ?? perDay };
}

const PAIR = /^([a-z_]+)=([1-9]\d{0,8})(?:\/([1-9]\d{0,8}))?$/;

/**
 * Reads `standard=200,discovery=60/20000`: calls per minute and, behind a slash, per day; without it days are
 * unlimited. Null when it reads otherwise.
 */
export function parseRateLimits(text: string): Partial<RateLimits> | null {
  const limits: Partial<Record<RateClass, RateLimit>> = {};
  for (const pair of text.split(',')) {
    const [, name, perMinute, perDay] = PAIR.exec(pair.trim()) ?? [];
    if (name === undefined || !(RATE_CLASSES as readonly string[]).includes(name)) return null;
    limits[name as RateClass] = { perMinute: Number(perMinute), perDay: perDay === undefined ? null : Number(perDay) };
  }
  return limits;
}

/** One fixed window as it stands after the call: a minute, or a UTC day. */
export interface RateWindow {
  readonly name: 'minute' | 'day';
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the window begins anew, at least 1. */
  readonly resetsInS: number;
}

const LENGTH_S = { minute: 60, day: 86_400 } as const;

/** The call came on top of what a window allows; it was not counted. */
export class RateLimitError extends ProblemError {
  readonly windows: readonly RateWindow[];

  constructor(windows: readonly RateWindow[], exceeded: RateWindow) {
    super(
      'rate_limit_exceeded',
      `More than ${exceeded.limit} requests came in this ${exceeded.name}. Go on in ${exceeded.resetsInS} s.`,
      { code: `per_${exceeded.name}`, retryAfterS: exceeded.resetsInS },
    );
    this.windows = windows;
  }
}

/**
 * `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers), and the older `X-RateLimit-*`, which tell
 * of one window: the minute, or the day once that is used up.
 */
export function rateLimitHeaders(windows: readonly RateWindow[]): Record<string, string> {
  const shown = windows.find(({ remaining, name }) => name === 'day' && remaining === 0) ?? windows[0];
  if (shown === undefined) return {};
  return {
    'RateLimit-Policy': windows.map(({ name, limit }) => `"${name}";q=${limit};w=${LENGTH_S[name]}`).join(', '),
    RateLimit: windows.map(({ name, remaining, resetsInS }) => `"${name}";r=${remaining};t=${resetsInS}`).join(', '),
    'X-RateLimit-Limit': String(shown.limit),
    'X-RateLimit-Remaining': String(shown.remaining),
    'X-RateLimit-Reset': String(shown.resetsInS),
  };
}
