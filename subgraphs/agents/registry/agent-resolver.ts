import { Arg, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { z } from 'zod';
import { assertAction } from '../../../platform/auth/actions.ts';
import type { KeyStore } from '../../../platform/auth/key-store.ts';
import { SCOPES, type RequestContext } from '../../../platform/auth/principal.ts';
import { exactlyOnce } from '../../../platform/idempotency/exactly-once.ts';
import { uuidFromPublicId, type Uuid } from '../../../platform/identifiers.ts';
import { ProblemError } from '../../../schema/problems.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import { recordEnvelope } from '../../../platform/trust/envelope.ts';
import { Agent } from './agent.ts';
import { AgentType, presentAgent, RegisterAgentInput, RegisterAgentPayload, UpdateAgentInput, UpdateAgentPayload } from './agent-type.ts';
import { registerAgent, registrationEffect } from './register-agent.ts';
import { updateAgent } from './update-agent.ts';

export interface RegistryServices {
  readonly database: Database;
  readonly keys: KeyStore;
  readonly clock: () => Date;
}

@Resolver(() => AgentType)
export class AgentResolver {
  readonly #services: RegistryServices;

  constructor(services: RegistryServices) {
    this.#services = services;
  }

  @Query(() => AgentType, { description: 'The calling agent. Errors: INVALID_API_KEY; RESOURCE_NOT_FOUND for a key that is bound to no agent.' })
  async me(@Ctx() context: RequestContext): Promise<AgentType> {
    const principal = assertAction(context.principal, 'agent:readSelf');
    const agent = principal.agentId === null ? null : await this.#find(principal.accountId, principal.agentId);
    if (agent === null) throw new ProblemError('resource_not_found', 'This key is bound to no agent.');
    return presentAgent(agent, true, this.#trust(context));
  }

  @Mutation(() => RegisterAgentPayload, { description: 'Registers an agent and issues its first key; public. Errors: VALIDATION_ERROR, CONFLICT (operator_already_registered).' })
  async registerAgent(@Ctx() context: RequestContext, @Arg('input', () => RegisterAgentInput) input: RegisterAgentInput): Promise<RegisterAgentPayload> {
    const { database, keys, clock } = this.#services;
    const { agent, apiKey } = await exactlyOnce(database, context, {
      effect: registrationEffect,
      act: (settle) => registerAgent(database, keys, context, input, clock(), settle),
      recall: async ({ accountId, agentId, apiKey }) => ({ agent: await database.asTenant(accountId, (em) => em.findOneOrFail(Agent, { id: agentId })), apiKey }),
    });
    const trust = this.#trust(context);
    return { agent: presentAgent(agent, true, trust), apiKey, scopes: [...SCOPES], trust };
  }

  @Mutation(() => UpdateAgentPayload, { description: 'Changes the calling agent. Errors: VALIDATION_ERROR; RESOURCE_NOT_FOUND for a key that is bound to no agent.' })
  async updateAgent(@Ctx() context: RequestContext, @Arg('input', () => UpdateAgentInput) input: UpdateAgentInput): Promise<UpdateAgentPayload> {
    const principal = assertAction(context.principal, 'agent:write');
    const trust = this.#trust(context);
    const { database } = this.#services;
    const agent = await exactlyOnce(database, context, {
      effect: z.object({}),
      act: (settle) => updateAgent(database, principal, input, settle),
      recall: () => database.asTenant(principal.accountId, (em) => em.findOneOrFail(Agent, { id: principal.agentId as Uuid })),
    });
    return { agent: presentAgent(agent, true, trust), trust };
  }

  /** Entity resolver: the agent behind a reference of another subgraph; null where the tenant cannot see it. */
  async resolveReference(reference: Readonly<Record<string, unknown>>, context: RequestContext): Promise<AgentType | null> {
    const principal = assertAction(context.principal, 'agent:read');
    const uuid = uuidFromPublicId('agent', String(reference['id']));
    const agent = uuid === undefined ? null : await this.#find(principal.accountId, uuid);
    return agent === null ? null : presentAgent(agent, agent.id === principal.agentId, this.#trust(context));
  }

  #find(accountId: string, id: string): Promise<Agent | null> {
    return this.#services.database.asTenant(accountId, (em) => em.findOne(Agent, { id: id as Uuid }));
  }

  #trust(context: RequestContext) {
    return recordEnvelope(1, this.#services.clock(), context.apiVersion);
  }
}
