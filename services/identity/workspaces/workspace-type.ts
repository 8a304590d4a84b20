import { Directive, Field, ID, InputType, ObjectType, registerEnumType } from 'type-graphql';
import { REGIONS, type Region } from '../../../schema/value-lists.ts';
import { ROLES, type Role } from '../../../schema/principal.ts';
import type { Workspace, WorkspaceMember } from './workspace-store.ts';
import { connectionType } from '../../../platform/graph/connection.ts';
import { enumOf } from '../../../platform/graph/enum-of.ts';
import { DateTimeScalar } from '../../../platform/graph/scalars.ts';
import { TrustEnvelope as TrustEnvelopeType } from '../../../platform/graph/trust-type.ts';
import { publicId, type Uuid } from '../../../platform/identifiers.ts';
import type { TrustEnvelope } from '../../../schema/trust-envelope.ts';

const RegionEnum = enumOf(REGIONS);
registerEnumType(RegionEnum, { name: 'Region', description: 'Where the data of a workspace lies.' });
const WorkspaceRoleEnum = enumOf(ROLES);
registerEnumType(WorkspaceRoleEnum, {
  name: 'WorkspaceRole',
  description: 'OWNER may do everything in the workspace, ANALYST all but manage members, billing and audit, VIEWER read, AUDITOR read (no raw journeys) and audit.',
});

@ObjectType('WorkspaceMember', { description: 'An agent in a workspace.' })
export class WorkspaceMemberType {
  @Field(() => ID, { description: 'Public id of the agent, which may be of another account.' })
  agentId!: string;
  @Field(() => WorkspaceRoleEnum, { description: 'What it may do there.' })
  role!: Role;
  @Field(() => ID, { description: 'Public id of the agent or key that added it.' })
  addedBy!: string;
  @Field(() => DateTimeScalar, { description: 'When it was added.' })
  addedAt!: Date;
}

@Directive('@key(fields: "id")')
@ObjectType('Workspace', { description: 'A part of an account that agents, also of other accounts, work in together. Requests act in it with SVC-Workspace.' })
export class WorkspaceType {
  @Field(() => ID, { description: 'Public id, ws_ and 22 characters.' })
  id!: string;
  @Field(() => String, { description: '1 to 80 characters.' })
  name!: string;
  @Field(() => RegionEnum, { description: 'Where its data lies; never changes.' })
  region!: Region;
  @Field(() => [String], { description: 'Brands that it is about.' })
  brandIds!: readonly string[];
  @Field(() => WorkspaceRoleEnum, { description: 'What the caller may do in it.' })
  role!: Role;
  @Field(() => [WorkspaceMemberType], { description: 'The agents in it, in the order of joining.' })
  members!: readonly WorkspaceMemberType[];
  @Field(() => DateTimeScalar, { description: 'When it was made.' })
  createdAt!: Date;
  @Field(() => TrustEnvelopeType, { description: 'Trust envelope of this record.' })
  trust!: TrustEnvelope;
}

export const WorkspaceConnection = connectionType('Workspace', () => WorkspaceType);

@InputType('CreateWorkspaceInput', { description: 'A new workspace.' })
export class CreateWorkspaceInput {
  @Field(() => String, { description: '1 to 80 characters.' })
  name!: string;
  @Field(() => RegionEnum, { nullable: true, description: 'The region that this deployment serves; others are refused.' })
  region?: Region | null;
  @Field(() => [String], { nullable: true, description: 'Up to 100 brands of 1 to 128 characters.' })
  brandIds?: string[] | null;
}

@ObjectType('CreateWorkspacePayload', { description: 'The workspace that was made.' })
export class CreateWorkspacePayload {
  @Field(() => WorkspaceType, { description: 'The new workspace.' })
  workspace!: WorkspaceType;
  @Field(() => TrustEnvelopeType, { description: 'Trust envelope of the workspace.' })
  trust!: TrustEnvelope;
}

@InputType('AddWorkspaceAgentInput', { description: 'An agent for a workspace, or another role for one that is there.' })
export class AddWorkspaceAgentInput {
  @Field(() => ID, { description: 'Public id of a workspace that the caller owns.' })
  workspaceId!: string;
  @Field(() => ID, { description: 'Public id or UUID of an agent of any account.' })
  agentId!: string;
  @Field(() => WorkspaceRoleEnum, { description: 'What it may do there.' })
  role!: Role;
}

@ObjectType('AddWorkspaceAgentPayload', { description: 'The membership as it is now.' })
export class AddWorkspaceAgentPayload {
  @Field(() => ID, { description: 'Public id of the workspace.' })
  workspaceId!: string;
  @Field(() => WorkspaceMemberType, { description: 'The member.' })
  member!: WorkspaceMemberType;
  @Field(() => Boolean, { description: 'False when the agent was a member already.' })
  isNew!: boolean;
  @Field(() => TrustEnvelopeType, { description: 'Trust envelope of the membership.' })
  trust!: TrustEnvelope;
}

/** A workspace as the graph shows it. */
export function presentWorkspace({ id, name, region, brandIds, role, members, createdAt }: Workspace, trust: TrustEnvelope): WorkspaceType {
  return { id: publicId('ws', id), name, region, brandIds, role, members: members.map(presentMember), createdAt, trust };
}

/** A member as the graph shows it. */
export function presentMember(member: WorkspaceMember): WorkspaceMemberType {
  return { ...member, agentId: publicId('agent', member.agentId as Uuid) };
}
