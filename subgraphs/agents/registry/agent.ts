import { defineEntity, p } from '@mikro-orm/core';
import type { AGENT_STATUSES, CAPABILITIES, Tier } from '../../../schema/value-lists.ts';
import type { Environment } from '../../../schema/principal.ts';
import type { Uuid } from '../../../platform/identifiers.ts';

export type Capability = (typeof CAPABILITIES)[number];

/** What an agent says of itself, and may change. */
export interface Presentation {
  name: string;
  capabilities: Capability[];
  callbackUrl: string | null;
  redirectUris: string[];
  isPublic: boolean;
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
    /** What its test keys have changed: the sandbox shows it, and nothing else knows of it. */
    sandboxPresentation: p.json().$type<Partial<Presentation>>().nullable(),
    tier: p.text().$type<Tier>().default('discovery'),
    trustScore: p.float().default(0.5),
    status: p.text().$type<(typeof AGENT_STATUSES)[number]>().default('active'),
    createdAt: p.datetime(3),
    capabilitiesUpdatedAt: p.datetime(3).nullable(),
  },
});

/** An AI agent in the registry. One account has one agent; the account is the operator. */
export class Agent extends AgentSchema.class {
  /** Changes what the agent says of itself, in one environment. */
  present(changes: Partial<Presentation>, environment: Environment): void {
    if (environment === 'live') Object.assign(this, changes);
    else this.sandboxPresentation = { ...this.sandboxPresentation, ...changes };
  }
}
AgentSchema.setClass(Agent);
