import { Arg, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { assertAction } from '../../../schema/actions.ts';
import { SCOPES, type Principal, type RequestContext } from '../../../schema/principal.ts';
import { exactlyOnce } from '../../../services/idempotency/exactly-once.ts';
import { agentUuid, shownId, type Uuid } from '../../../platform/identifiers.ts';
import { ProblemError } from '../../../schema/problems.ts';
import { recordEnvelope } from '../../../services/trust/envelope.ts';
import {
  AgentType,
  presentAgent,
  presentPublicFace,
  RegisterAgentInput,
  RegisterAgentPayload,
  UpdateAgentInput,
  UpdateAgentPayload,
  UpdateCapabilitiesInput,
  UpdateCapabilitiesPayload,
} from './agent-type.ts';
import { findProfile, ownProfile } from './profile.ts';
import { findPublicFace } from './public-face.ts';
import { registerAgent, registrationEffect } from './register-agent.ts';
import type { RegistryServices } from './registry-services.ts';
import { agentUpdateEffect, updateAgent } from './update-agent.ts';
import { capabilitiesEffect, updateCapabilities } from './update-capabilities.ts';

@Resolver(() => AgentType)
export class AgentResolver {
  readonly #services: RegistryServices;

  constructor(services: RegistryServices) {
    this.#services = services;
  }

  @Query(() => AgentType, { nullable: true, description: 'The calling agent. Errors: INVALID_API_KEY; RESOURCE_NOT_FOUND for a key that is bound to no agent.' })
  async me(@Ctx() context: RequestContext): Promise<AgentType> {
    const principal = assertAction(context.principal, 'agent:readSelf');
    return this.#self(principal, context);
  }

  @Query(() => AgentType, { nullable: true, description: 'An agent by public id, UUID or me: whole to itself, its public face to others. Errors: RESOURCE_NOT_FOUND.' })
  async agent(@Ctx() context: RequestContext, @Arg('id', () => ID, { description: 'Public id, UUID or me.' }) id: string): Promise<AgentType> {
    if (id === 'me') return this.me(context);
    const principal = assertAction(context.principal, 'agent:read');
    const uuid = agentUuid(id);
    const agent = uuid === undefined ? null : await this.#find(principal, uuid, context);
    if (agent === null) throw new ProblemError('resource_not_found', `There is no agent ${shownId(id)}.`);
    return agent;
  }

  @Mutation(() => RegisterAgentPayload, { nullable: true, description: 'Registers an agent and issues its first key; public. Errors: VALIDATION_ERROR, CONFLICT (operator_already_registered).' })
  async registerAgent(@Ctx() context: RequestContext, @Arg('input', () => RegisterAgentInput) input: RegisterAgentInput): Promise<RegisterAgentPayload> {
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

  @Mutation(() => UpdateAgentPayload, { nullable: true, description: 'Changes the calling agent; with a test key, how the sandbox shows it. Errors: VALIDATION_ERROR; INSUFFICIENT_PERMISSIONS (outlives_maker); RESOURCE_NOT_FOUND for a key that is bound to no agent.' })
  async updateAgent(@Ctx() context: RequestContext, @Arg('input', () => UpdateAgentInput) input: UpdateAgentInput): Promise<UpdateAgentPayload> {
    const principal = assertAction(context.principal, 'agent:write');
    const { callbackSecret } = await exactlyOnce(this.#services.database, context, {
      effect: agentUpdateEffect,
      act: (settle) => updateAgent(this.#services, context, principal, input, settle),
      recall: async (made) => made,
    });
    const agent = await this.#self(principal, context);
    return { agent, callbackSecret, trust: agent.trust };
  }

  @Mutation(() => UpdateCapabilitiesPayload, { nullable: true, description: 'Replaces the capabilities that the calling agent declares; with a test key, what the sandbox says. Errors: VALIDATION_ERROR, RESOURCE_NOT_FOUND for a key that is bound to no agent.' })
  async updateCapabilities(@Ctx() context: RequestContext, @Arg('input', () => UpdateCapabilitiesInput) input: UpdateCapabilitiesInput): Promise<UpdateCapabilitiesPayload> {
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
  async resolveReference(reference: Readonly<Record<string, unknown>>, context: RequestContext): Promise<AgentType | null> {
    const principal = assertAction(context.principal, 'agent:read');
    const uuid = agentUuid(String(reference['id']));
    return uuid === undefined ? null : this.#find(principal, uuid, context);
  }

  /** @throws ProblemError `resource_not_found` */
  async #self(principal: Principal, context: RequestContext): Promise<AgentType> {
    const agent = await ownProfile(this.#services.database, principal);
    if (agent === null) throw new ProblemError('resource_not_found', 'This key is bound to no agent. Use the key of the agent.');
    return presentAgent(agent, this.#trust(context));
  }

  async #find(principal: Principal, id: Uuid, context: RequestContext): Promise<AgentType | null> {
    const self = id === principal.agentId ? await ownProfile(this.#services.database, principal) : null;
    if (self !== null) return presentAgent(self, this.#trust(context));
    const face = await findPublicFace(this.#services.database, id);
    return face === null ? null : presentPublicFace(face, this.#trust(context));
  }

  #trust(context: RequestContext) {
    return recordEnvelope(1, this.#services.clock(), context.apiVersion);
  }
}
