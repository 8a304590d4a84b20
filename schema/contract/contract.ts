import { z } from 'zod';
import { agentUsages } from './agent-usages.ts';
import { agents } from './agents.ts';
import { channelImpact } from './attribution-impact.ts';
import { attributions } from './attributions.ts';
import { auditEvents } from './audit-events.ts';
import { billingSummaries } from './billing-summaries.ts';
import { billingUsages } from './billing-usages.ts';
import { channelRules } from './channel-rules.ts';
import { commissions } from './commissions.ts';
import { dataQualities } from './data-quality.ts';
import { sources } from './data-sources.ts';
import { deliveries } from './deliveries.ts';
import { experimentDesigns } from './experiment-designs.ts';
import { experiments } from './experiments.ts';
import { invoices } from './invoices.ts';
import { keys } from './keys.ts';
import type { Noun } from './noun.ts';
import { plans } from './plans.ts';
import { referrals } from './referrals.ts';
import { rejects } from './rejects.ts';
import { resultVerification } from './result-verification.ts';
import { graphNameOf, saidOf } from './terms.ts';
import { spendLimits } from './spend-limits.ts';
import { subscriptions } from './subscriptions.ts';
import { trustEnvelope } from './trust-envelope.ts';
import { valueProofs } from './value-proofs.ts';
import { webhooks } from './webhooks.ts';
import { workspaces } from './workspaces.ts';

/** Every noun, in the order in which REST is documented. */
export const NOUNS = [
  attributions,
  sources,
  rejects,
  dataQualities,
  channelRules,
  experiments,
  experimentDesigns,
  agents,
  agentUsages,
  referrals,
  commissions,
  keys,
  auditEvents,
  workspaces,
  webhooks,
  deliveries,
  plans,
  valueProofs,
  billingSummaries,
  billingUsages,
  spendLimits,
  subscriptions,
  invoices,
] as const satisfies readonly Noun[];

/** Records that documents ask for as a whole, by the names of their fragments; those of the nouns stand with them. */
export const FRAGMENTS: Readonly<Record<string, z.ZodObject>> = {
  Trust: trustEnvelope,
  ResultVerificationRecord: resultVerification,
  ChannelImpactRecord: channelImpact,
};

const MEMBERS = [trustEnvelope, ...NOUNS.map(({ record }) => record)].flatMap(membersIn);

/** Decimals that are shown of a member, by `Type.member` of the graph. */
export const DIGITS: ReadonlyMap<string, number> = new Map(
  MEMBERS.flatMap(([name, { digits }]) => (digits === undefined ? [] : [[name, digits] as const])),
);

/** Lists that REST shows as maps, as `Type.member` of the graph. */
export const MAPS_IN_REST: ReadonlySet<string> = new Set(
  MEMBERS.flatMap(([name, { mapInRest }]) => (mapInRest === true ? [name] : [])),
);

/** What is said of the members of a record, and of the records in it. */
function membersIn(schema: z.ZodType): (readonly [name: string, said: z.GlobalMeta])[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return membersIn(schema.def.innerType as z.ZodType);
  }
  if (schema instanceof z.ZodArray) return membersIn(schema.def.element as z.ZodType);
  if (!(schema instanceof z.ZodObject)) return [];
  return Object.entries(schema.shape as Record<string, z.ZodType>).flatMap(([name, member]) => [
    [`${graphNameOf(schema)}.${name}`, saidOf(member)] as const,
    ...membersIn(member),
  ]);
}
