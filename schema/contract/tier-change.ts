import { z } from 'zod';
import type { EventType } from '../event-catalogue.ts';
import { agent, rateLimits, tier } from './agent-profile.ts';
import { channelImpact } from './attribution-impact.ts';
import { progressKind } from './progress-kind.ts';
import { memberOf } from './rest-form.ts';
import { graphTypes } from './terms.ts';

/** The event that tells of a new tier. */
export const TIER_CHANGED = 'agent.tier_changed' satisfies EventType;

/** What the subscription tells of tiers. */
export const tierChange = z
  .object({
    sequence: z.int().meta({ graph: 'Rises with every change; pass the last one as `after` to resume.' }),
    kind: progressKind.meta({ graph: 'RESULT: the tier changed. PROGRESS: the stage watching.' }),
    progress: z.number().meta({ graph: '1 with a change, 0 without.' }),
    stage: z.enum(['watching', TIER_CHANGED]).meta({
      scalar: 'String',
      graph: `${TIER_CHANGED}, or watching: the first item, which says where the stream begins.`,
    }),
    previousTier: tier.nullable().meta({ graph: 'The tier until then; null, as all below, for the stage watching.' }),
    tier: tier.nullable().meta({ graph: 'The tier from then on.' }),
    activeReferrals: z.int().nullable().meta({ graph: 'The number of active referrals that made it so.' }),
    rateLimits: memberOf(rateLimits, 'What the tier allows.').nullable(),
    channelImpact: z.array(channelImpact).nullable().meta({
      graph: 'Always null, since a tier credits no channel: the member that subscriptions have in common.',
    }),
    result: memberOf(agent, 'The agent as it is now, which may be later than the change.').nullable(),
  })
  .register(graphTypes, { name: 'TierChange', description: 'A change of the tier of the account’s agent.' });
