import { Arg, Ctx, ID, Resolver } from 'type-graphql';
import type { agents } from '../../../schema/contract/agents.ts';
import { assertAction } from '../../../schema/actions.ts';
import { SCOPES, type Principal, type RequestContext } from '../../../schema/principal.ts';
import { exactlyOnce } from '../../../services/idempotency/exactly-once.ts';
import { agentUuid, shownId, publicId, type Uuid } from '../../../platform/identifiers.ts';
import { ProblemError } from '../../../schema/problems.ts';
import { boundToNoAgent } from '../../../services/identity/accounts/own-agent.ts';
import { recordEnvelope } from '../../../services/trust/envelope.ts';
import type { Answered } from '../../../platform/graph/noun-types.ts';
import { ofAgents, presentAgent, presentPublicFace, type ShownAgent } from './present-agent.ts';
import { findProfile, ownProfile } from './profile.ts';
import { closeAgent, closingEffect } from './close-agent.ts';
import { findPublicFace } from './public-face.ts';
import { registerAgent, registrationEffect } from './register-agent.ts';
import type { RegistryServices } from './registry-services.ts';
import { agentUpdateEffect, updateAgent } from './update-agent.ts';
import { capabilitiesEffect, updateCapabilities } from './update-capabilities.ts';

const { Record, Query, Mutation, inputOf } = ofAgents;
type Answer<Id extends keyof typeof agents.operations> = Promise<Answered<typeof agents, Id>>;

export interface AgentServices extends RegistryServices {
  /** Ends the referrals of agents that are gone, with what hangs on them; housekeeping does the same now and then. */
  readonly endReferrals: () => Promise<unknown>;
}

@Resolver(() => Record)
export class AgentResolver {
  readonly #services: AgentServices;

  constructor(services: AgentServices) {
    this.#services = services;
  }

  @Query('getOwnAgent')
  async me(@Ctx() context: RequestContext): Answer<'getOwnAgent'> {
    const principal = assertAction(context.principal, 'agent:readSelf');
    return this.#self(principal, context);
  }

  @Query('getAgent')
  async agent(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'Public id, UUID or me.' }) id: string,
  ): Answer<'getAgent'> {
    if (id === 'me') return this.me(context);
    const principal = assertAction(context.principal, 'agent:read');
    const uuid = agentUuid(id);
    const agent = uuid === undefined ? null : await this.#find(principal, uuid, context);
    if (agent === null) throw new ProblemError('resource_not_found', `There is no agent ${shownId(id)}.`);
    return agent;
  }

  @Mutation('registerAgent')
  async registerAgent(
    @Ctx() context: RequestContext,
    @Arg('input', inputOf('registerAgent')) input: object,
  ): Answer<'registerAgent'> {
    const { database } = this.#services;
    const { agent, apiKey, callbackSecret } = await exactlyOnce(database, context, {
      effect: registrationEffect,
      act: (settle) => registerAgent(this.#services, context, input, settle),
      recall: async ({ accountId, agentId, ...secrets }) => ({ agent: { accountId, id: agentId }, ...secrets }),
    });
    const trust = this.#trust(context);
    const profile = await findProfile(database, agent.accountId, agent.id, 'live');
    return { agent: presentAgent(profile!, trust), apiKey, scopes: [...SCOPES], callbackSecret, trust };
  }

  @Mutation('updateOwnAgent')
  async updateAgent(
    @Ctx() context: RequestContext,
    @Arg('input', inputOf('updateOwnAgent')) input: object,
  ): Answer<'updateOwnAgent'> {
    const principal = assertAction(context.principal, 'agent:write');
    const { callbackSecret } = await exactlyOnce(this.#services.database, context, {
      effect: agentUpdateEffect,
      act: (settle) => updateAgent(this.#services, context, principal, input, settle),
      recall: async (made) => made,
    });
    const agent = await this.#self(principal, context);
    return { agent, callbackSecret, trust: agent.trust };
  }

  @Mutation('closeAgent')
  async closeAgent(
    @Ctx() context: RequestContext,
    @Arg('input', inputOf('closeAgent')) input: object,
  ): Answer<'closeAgent'> {
    const principal = assertAction(context.principal, 'agent:close');
    const { database, endReferrals } = this.#services;
    const { agentId } = await exactlyOnce(database, context, {
      effect: closingEffect,
      needsRoom: false,
      act: (settle) => closeAgent(database, context, principal, input, settle),
      recall: async (closed) => closed,
    });
    await endReferrals();
    return { id: publicId('agent', agentId), deleted: true, trust: this.#trust(context) };
  }

  @Mutation('updateCapabilities')
  async updateCapabilities(
    @Ctx() context: RequestContext,
    @Arg('input', inputOf('updateCapabilities')) input: object,
  ): Answer<'updateCapabilities'> {
    const principal = assertAction(context.principal, 'agent:write');
    const { database, clock } = this.#services;
    const now = clock();
    const { updatedAt } = await exactlyOnce(database, context, {
      effect: capabilitiesEffect,
      act: async (settle) => {
        await updateCapabilities(database, principal, input, now, settle);
        return { updatedAt: now };
      },
      recall: async (made) => made,
    });
    const agent = await this.#self(principal, context);
    return { agent, updatedAt, trust: agent.trust };
  }

  /** Entity resolver: the agent behind a reference of another subgraph; null where there is none. */
  async resolveReference(
    reference: Readonly<Record<string, unknown>>,
    context: RequestContext,
  ): Promise<ShownAgent | null> {
    const principal = assertAction(context.principal, 'agent:read');
    const uuid = agentUuid(String(reference['id']));
    return uuid === undefined ? null : this.#find(principal, uuid, context);
  }

  /** @throws ProblemError `resource_not_found` */
  async #self(principal: Principal, context: RequestContext): Promise<ShownAgent> {
    const agent = await ownProfile(this.#services.database, principal);
    if (agent === null) throw boundToNoAgent();
    return presentAgent(agent, this.#trust(context));
  }

  async #find(principal: Principal, id: Uuid, context: RequestContext): Promise<ShownAgent | null> {
    const self = id === principal.agentId ? await ownProfile(this.#services.database, principal) : null;
    if (self !== null) return presentAgent(self, this.#trust(context));
    const face = await findPublicFace(this.#services.database, id);
    return face === null ? null : presentPublicFace(face, this.#trust(context));
  }

  #trust(context: RequestContext) {
    return recordEnvelope(1, this.#services.clock(), context.apiVersion);
  }
}
