import { z } from 'zod';
import { agents } from './agents.ts';
import { channelImpact } from './attribution-impact.ts';
import { attributions } from './attributions.ts';
import { auditEvents } from './audit-events.ts';
import { channelRules } from './channel-rules.ts';
import { sources } from './data-sources.ts';
import { deliveries } from './deliveries.ts';
import { experiments } from './experiments.ts';
import { keys } from './keys.ts';
import type { Noun } from './noun.ts';
import { plans } from './plans.ts';
import { referrals } from './referrals.ts';
import { rejects } from './rejects.ts';
import { resultVerification } from './result-verification.ts';
import { graphNameOf, saidOf } from './terms.ts';
import { trustEnvelope } from './trust-envelope.ts';
import { webhooks } from './webhooks.ts';
import { workspaces } from './workspaces.ts';

/** Every noun. */
export const NOUNS = [
  attributions,
  experiments,
  workspaces,
  webhooks,
  deliveries,
  keys,
  agents,
  referrals,
  plans,
  sources,
  rejects,
  auditEvents,
  channelRules,
] as const satisfies readonly Noun[];

/** Records that documents ask for as a whole, by the names of their fragments; those of the nouns stand with them. */
export const FRAGMENTS: Readonly<Record<string, z.ZodObject>> = {
  Trust: trustEnvelope,
  ResultVerificationRecord: resultVerification,
  ChannelImpactRecord: channelImpact,
};

/** Decimals that REST shows of a member, by `Type.member` of the graph. */
export const DIGITS: ReadonlyMap<string, number> = new Map(
  [trustEnvelope, ...NOUNS.map(({ record }) => record)].flatMap(digitsIn),
);

/** Of a record and of the records in it. */
function digitsIn(schema: z.ZodType): (readonly [string, number])[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return digitsIn(schema.def.innerType as z.ZodType);
  }
  if (schema instanceof z.ZodArray) return digitsIn(schema.def.element as z.ZodType);
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape as Record<string, z.ZodType>).flatMap(([name, member]) => {
    const { digits } = saidOf(member);
    return digits === undefined ? digitsIn(member) : [[`${graphNameOf(schema)}.${name}`, digits] as const];
  });
}
