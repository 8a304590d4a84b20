import { Arg, Args, Ctx, ID, Query as FieldQuery, Resolver } from 'type-graphql';
import { workspace, workspaceMember, workspaces } from '../../../schema/contract/workspaces.ts';
import type { Region } from '../../../schema/value-lists.ts';
import { assertAction } from '../../../schema/actions.ts';
import type { RequestContext } from '../../../schema/principal.ts';
import { exactlyOnce } from '../../idempotency/exactly-once.ts';
import { connectionOf, PageArguments, parsePage } from '../../../platform/graph/connection.ts';
import type { GraphRecord } from '../../../platform/graph/contract-types.ts';
import { nounTypes, type Answered } from '../../../platform/graph/noun-types.ts';
import { presentRecord } from '../../../platform/graph/present-record.ts';
import { publicId } from '../../../platform/identifiers.ts';
import { type TrustEnvelope } from '../../../schema/trust-envelope.ts';
import { recordEnvelope } from '../../trust/envelope.ts';
import {
  addWorkspaceAgent,
  membershipEffect,
  type MembershipServices,
  type MemberToAdd,
} from './add-workspace-agent.ts';
import { createWorkspace, workspaceEffect } from './create-workspace.ts';
import type { Workspace } from './workspace-store.ts';

const { Record, Query, Mutation, inputOf } = nounTypes(workspaces);
type Answer<Id extends keyof typeof workspaces.operations> = Promise<Answered<typeof workspaces, Id>>;
type ShownWorkspace = GraphRecord<typeof workspace>;

export interface WorkspaceServices extends MembershipServices {
  /** The region that this deployment serves. */
  readonly region: Region;
}

@Resolver(() => Record)
export class WorkspaceResolver {
  readonly #services: WorkspaceServices;

  constructor(services: WorkspaceServices) {
    this.#services = services;
  }

  // REST has no row for one workspace.
  @FieldQuery(() => Record, {
    nullable: true,
    description: 'A workspace that the caller belongs to. Errors: RESOURCE_NOT_FOUND.',
  })
  async workspace(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'Public id of the workspace.' }) id: string,
  ): Promise<ShownWorkspace> {
    const principal = assertAction(context.principal, 'workspace:read');
    return this.#present(await this.#services.workspaces.require(principal, id), context);
  }

  @Query('listWorkspaces')
  async workspaces(
    @Ctx() context: RequestContext,
    @Args(() => PageArguments) args: PageArguments,
  ): Answer<'listWorkspaces'> {
    const principal = assertAction(context.principal, 'workspace:read');
    const { workspaces } = this.#services;
    const page = parsePage(args);
    const totalCount = await workspaces.count(principal);
    const rows = await workspaces.list(principal, page);
    return connectionOf(
      rows.map((row) => this.#present(row, context)),
      page,
      totalCount,
      this.#trust(context, rows.list.length),
    );
  }

  @Mutation('createWorkspace')
  async createWorkspace(
    @Ctx() context: RequestContext,
    @Arg('input', inputOf('createWorkspace')) input: object,
  ): Answer<'createWorkspace'> {
    const principal = assertAction(context.principal, 'workspace:create');
    const { database, region, workspaces, clock } = this.#services;
    const made = await exactlyOnce(database, context, {
      effect: workspaceEffect,
      act: (settle) => createWorkspace(database, region, principal, input, clock(), settle),
      recall: ({ workspaceId }) => workspaces.require(principal, publicId('ws', workspaceId)),
    });
    const shown = this.#present(made, context);
    return { workspace: shown, trust: shown.trust };
  }

  @Mutation('addWorkspaceAgent')
  async addWorkspaceAgent(
    @Ctx() context: RequestContext,
    @Arg('input', inputOf('addWorkspaceAgent')) input: MemberToAdd,
  ): Answer<'addWorkspaceAgent'> {
    const principal = assertAction(context.principal, 'workspace:write');
    const { workspaceId, member, isNew } = await exactlyOnce(this.#services.database, context, {
      effect: membershipEffect,
      act: (settle) => addWorkspaceAgent(this.#services, context, principal, input, settle),
      recall: (outcome) => Promise.resolve(outcome),
    });
    return {
      workspaceId: publicId('ws', workspaceId),
      member: presentRecord(workspaceMember, member, {}),
      isNew,
      trust: this.#trust(context, 1),
    };
  }

  /** Entity resolver: the workspace behind a reference of another subgraph, for those who belong to it. */
  async resolveReference(reference: { readonly id: string }, context: RequestContext): Promise<ShownWorkspace> {
    return this.workspace(context, reference.id);
  }

  #present(row: Workspace, context: RequestContext): ShownWorkspace {
    return {
      ...presentRecord(workspace, row, {
        members: row.members.map((member) => presentRecord(workspaceMember, member, {})),
      }),
      trust: this.#trust(context, 1),
    };
  }

  #trust(context: RequestContext, records: number): TrustEnvelope {
    return recordEnvelope(records, this.#services.clock(), context.apiVersion);
  }
}
