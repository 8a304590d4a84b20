import { defineEntity, p } from '@mikro-orm/core';
import type { CAPABILITIES } from '../../../schema/value-lists.ts';
import type { Tier } from '../../../platform/auth/tiers.ts';
import type { Uuid } from '../../../platform/identifiers.ts';

export type Capability = (typeof CAPABILITIES)[number];

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
export class Agent extends AgentSchema.class {}
AgentSchema.setClass(Agent);
