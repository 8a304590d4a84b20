import { defineEntity, p } from '@mikro-orm/core';
import type { CAPABILITIES } from '../../../schema/value-lists.ts';
import { rateLimitOfTier } from '../../../platform/auth/rate-limits.ts';
import type { Tier } from '../../../platform/auth/tiers.ts';
import type { Uuid } from '../../../platform/identifiers.ts';

export type Capability = (typeof CAPABILITIES)[number];

/** What a tier may ask for; `dailyLimit` null means unlimited. */
export interface AgentRateLimits {
  readonly requestsPerMinute: number;
  readonly dailyLimit: number | null;
}

const AgentSchema = defineEntity({
  name: 'Agent',
  tableName: 'agents',
  schema: 'agents',
  properties: {
    id: p.uuid().$type<Uuid>().primary(),
    accountId: p.uuid().$type<Uuid>(),
    name: p.text(),
    operatorId: p.text().nullable(),
    operatorEmail: p.text().nullable(),
    capabilities: p.array().$type<Capability[]>(),
    referralCode: p.text(),
    referredBy: p.uuid().$type<Uuid>().nullable(),
    callbackUrl: p.text().nullable(),
    redirectUris: p.array().$type<string[]>().default([]),
    isPublic: p.boolean().default(false),
    tier: p.text().$type<Tier>().default('discovery'),
    trustScore: p.float().default(0.5),
    status: p.text().$type<'active' | 'suspended' | 'closed'>().default('active'),
    createdAt: p.datetime(3),
    capabilitiesUpdatedAt: p.datetime(3).nullable(),
  },
});

/** An AI agent in the registry. One account has one agent; the account is the operator. */
export class Agent extends AgentSchema.class {
  /** What the agent's tier allows it per minute and per day. */
  rateLimits(): AgentRateLimits {
    const { perMinute, perDay } = rateLimitOfTier(this.tier as Tier);
    return { requestsPerMinute: perMinute, dailyLimit: perDay };
  }
}
AgentSchema.setClass(Agent);
