import type { Plan } from '../../../schema/principal.ts';
import { ProblemError } from '../../../schema/problems.ts';
import type { OfferedPlan, Subscription } from './subscription-store.ts';

/** What an account has when it asks for a plan. */
export interface Standing {
  /** The subscription that counts. */
  readonly current: Subscription | null;
  /** The one that waits for a contract. */
  readonly pending: Subscription | null;
  readonly hadTrial: boolean;
  /** That the account is on. */
  readonly plan: Plan;
}

/** What becomes of a request. */
export type Step =
  | { readonly kind: 'begin'; readonly ends: Subscription | null }
  | { readonly kind: 'change'; readonly subscription: Subscription };

/**
 * What asking for a plan comes to: a new subscription in place of the one that there is, or another end of that one.
 * What was paid for is used up before another plan counts, but for a step up.
 * @throws ProblemError `conflict`
 */
export function decide({ current, pending, hadTrial, plan }: Standing, asked: OfferedPlan): Step {
  if (plan === 'enterprise' || (plan !== 'pay_per_analysis' && plan !== current?.planId))
    throw conflict('plan_given', `The plan ${plan} was given to this account, and only who gave it can change it.`);
  const isPaid = current?.planId === 'pro' || current?.planId === 'pro_trial';
  switch (asked) {
    case 'enterprise':
      if (pending !== null) throw alreadySubscribed(asked);
      return { kind: 'begin', ends: null };
    case 'pay_per_analysis':
      if (current?.planId === asked) throw alreadySubscribed(asked);
      return current === null ? begins(null) : ending(current, 'pay_per_analysis');
    case 'pro_trial':
      if (hadTrial) throw conflict('trial_used', 'Each account has one trial, and this one has had it.');
      if (isPaid) throw alreadySubscribed(current!.planId);
      return begins(current);
    case 'pro':
      if (!isPaid) return begins(current);
      if (current!.planId === 'pro_trial' && current!.nextPlan !== 'pro') return ending(current!, 'pro');
      if (current!.planId === 'pro' && current!.nextPlan !== null) return ending(current!, null);
      throw alreadySubscribed(asked);
  }
}

const begins = (ends: Subscription | null): Step => ({ kind: 'begin', ends });
const ending = (current: Subscription, nextPlan: OfferedPlan | null): Step => ({
  kind: 'change',
  subscription: { ...current, nextPlan },
});

function alreadySubscribed(plan: string): ProblemError {
  return conflict('already_subscribed', `The account has subscribed to ${plan} already.`);
}

function conflict(code: string, message: string): ProblemError {
  return new ProblemError('conflict', message, { code, param: '/plan_id' });
}
