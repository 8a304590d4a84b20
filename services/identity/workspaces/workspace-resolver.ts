import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import type { Region } from '../../../schema/value-lists.ts';
import { assertAction } from '../../../schema/actions.ts';
import type { RequestContext } from '../../../schema/principal.ts';
import { exactlyOnce } from '../../idempotency/exactly-once.ts';
import { connectionOf, PageArguments, parsePage, type Connection } from '../../../platform/graph/connection.ts';
import { publicId } from '../../../platform/identifiers.ts';
import { type TrustEnvelope } from '../../../schema/trust-envelope.ts';
import { recordEnvelope } from '../../trust/envelope.ts';
import { addWorkspaceAgent, membership, type MembershipServices } from './add-workspace-agent.ts';
import { createWorkspace, workspaceEffect } from './create-workspace.ts';
import {
  AddWorkspaceAgentInput,
  AddWorkspaceAgentPayload,
  CreateWorkspaceInput,
  CreateWorkspacePayload,
  presentMember,
  presentWorkspace,
  WorkspaceConnection,
  WorkspaceType,
} from './workspace-type.ts';

export interface WorkspaceServices extends MembershipServices {
  /** The region that this deployment serves. */
  readonly region: Region;
}

@Resolver(() => WorkspaceType)
export class WorkspaceResolver {
  readonly #services: WorkspaceServices;

  constructor(services: WorkspaceServices) {
    this.#services = services;
  }

  @Query(() => WorkspaceType, { nullable: true, description: 'A workspace that the caller belongs to. Errors: RESOURCE_NOT_FOUND.' })
  async workspace(@Ctx() context: RequestContext, @Arg('id', () => ID, { description: 'Public id of the workspace.' }) id: string): Promise<WorkspaceType> {
    const principal = assertAction(context.principal, 'workspace:read');
    return presentWorkspace(await this.#services.workspaces.require(principal, id), this.#trust(context, 1));
  }

  @Query(() => WorkspaceConnection, { nullable: true, description: 'Workspaces that the caller belongs to, newest first.' })
  async workspaces(@Ctx() context: RequestContext, @Args(() => PageArguments) args: PageArguments): Promise<Connection<WorkspaceType>> {
    const principal = assertAction(context.principal, 'workspace:read');
    const { workspaces } = this.#services;
    const totalCount = await workspaces.count(principal);
    const page = await parsePage(args, () => Promise.resolve(totalCount));
    const rows = await workspaces.list(principal, page);
    return connectionOf(rows.map((row) => presentWorkspace(row, this.#trust(context, 1))), page, totalCount, this.#trust(context, rows.length));
  }

  @Mutation(() => CreateWorkspacePayload, { nullable: true, description: 'Makes a workspace of the caller’s account. Errors: VALIDATION_ERROR (also region_not_served), INSUFFICIENT_PERMISSIONS.' })
  async createWorkspace(@Ctx() context: RequestContext, @Arg('input', () => CreateWorkspaceInput) input: CreateWorkspaceInput): Promise<CreateWorkspacePayload> {
    const principal = assertAction(context.principal, 'workspace:create');
    const { database, region, workspaces, clock } = this.#services;
    const made = await exactlyOnce(database, context, {
      effect: workspaceEffect,
      act: (settle) => createWorkspace(database, region, principal, input, clock(), settle),
      recall: ({ workspaceId }) => workspaces.require(principal, publicId('ws', workspaceId)),
    });
    const workspace = presentWorkspace(made, this.#trust(context, 1));
    return { workspace, trust: workspace.trust };
  }

  @Mutation(() => AddWorkspaceAgentPayload, { nullable: true, description: 'Adds an agent of any account, or gives a member another role. Errors: VALIDATION_ERROR, RESOURCE_NOT_FOUND, INSUFFICIENT_PERMISSIONS, CONFLICT (last_owner).' })
  async addWorkspaceAgent(@Ctx() context: RequestContext, @Arg('input', () => AddWorkspaceAgentInput) input: AddWorkspaceAgentInput): Promise<AddWorkspaceAgentPayload> {
    const principal = assertAction(context.principal, 'workspace:write');
    const { workspaceId, member, isNew } = await exactlyOnce(this.#services.database, context, {
      effect: membership,
      act: (settle) => addWorkspaceAgent(this.#services, context, principal, input, settle),
      recall: (outcome) => Promise.resolve(outcome),
    });
    return { workspaceId: publicId('ws', workspaceId), member: presentMember(member), isNew, trust: this.#trust(context, 1) };
  }

  /** Entity resolver: the workspace behind a reference of another subgraph, for those who belong to it. */
  async resolveReference(reference: { readonly id: string }, context: RequestContext): Promise<WorkspaceType> {
    return this.workspace(context, reference.id);
  }

  #trust(context: RequestContext, records: number): TrustEnvelope {
    return recordEnvelope(records, this.#services.clock(), context.apiVersion);
  }
}
