import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { assertAction } from '../../../../schema/actions.ts';
import type { Principal, RequestContext } from '../../../../schema/principal.ts';
import { AccessLog } from '../../../../services/audit/access-log.ts';
import { connectionOf, PageArguments, parsePage, type Connection } from '../../../../platform/graph/connection.ts';
import { exactlyOnce } from '../../../../services/idempotency/exactly-once.ts';
import { filterUuid, publicId, requireUuid } from '../../../../platform/identifiers.ts';
import { recordEnvelope } from '../../../../services/trust/envelope.ts';
import type { Attribution } from './attribution.ts';
import { AttributionFilterInput, CancelAttributionInput, DeleteAttributionInput, RunAttributionInput } from './attribution-input.ts';
import { AttributionStore, type AttributionFilter } from './attribution-store.ts';
import { AttributionConnection, AttributionType, CancelAttributionPayload, DeleteAttributionPayload, RunAttributionPayload } from './attribution-type.ts';
import { cancelAttribution, cancelEffect } from './cancel-attribution.ts';
import { deleteAttribution, deleteEffect } from './delete-attribution.ts';
import { presentAttribution } from './present-attribution.ts';
import type { SourceNow } from './present-trust.ts';
import { UNREADABLE } from './published-figures.ts';
import { latestProgress } from './progress.ts';
import { runAttribution, runEffect, type RunAttributionServices } from './run-attribution.ts';
import { sourcesNow } from './source-now.ts';

@Resolver(() => AttributionType)
export class AttributionResolver {
  readonly #services: RunAttributionServices;
  readonly #accesses: AccessLog;

  constructor(services: RunAttributionServices) {
    this.#services = services;
    this.#accesses = new AccessLog(services.database, services.clock);
  }

  @Query(() => AttributionType, { nullable: true, description: 'One analysis. Errors: RESOURCE_NOT_FOUND.' })
  async attribution(@Ctx() context: RequestContext, @Arg('id', () => ID, { description: 'Public id of the analysis.' }) id: string): Promise<AttributionType> {
    return this.#load(assertAction(context.principal, 'attribution:read'), id, context);
  }

  @Query(() => AttributionConnection, { nullable: true, description: 'Analyses of the account, newest first.' })
  async attributions(
    @Ctx() context: RequestContext,
    @Args(() => PageArguments) args: PageArguments,
    @Arg('filter', () => AttributionFilterInput, { nullable: true }) filter?: AttributionFilterInput | null,
  ): Promise<Connection<AttributionType>> {
    const principal = assertAction(context.principal, 'attribution:read');
    const narrowed = storeFilter(filter ?? {});
    const connection = await this.#services.database.asTenant(principal, async (em) => {
      const store = new AttributionStore(em);
      const page = await parsePage(args, () => store.count(narrowed));
      const [rows, totalCount] = await store.list(narrowed, page);
      const progress = await latestProgress(em, rows.filter((row) => !row.isFinished()).map((row) => row.id));
      const sources = await sourcesNow(em, rows);
      const nodes = rows.map((row) => this.#presentAlone(row, progress.get(row.id) ?? 0, sources.get(row.id) ?? null, context));
      return connectionOf(nodes, page, totalCount, recordEnvelope(nodes.length, this.#services.clock(), context.apiVersion));
    });
    await this.#accesses.tell(context, { type: 'attribution', id: '*' });
    return connection;
  }

  @Mutation(() => RunAttributionPayload, { nullable: true, description: 'Accepts an analysis and returns it at once; watch it with attributionProgress. Errors: VALIDATION_ERROR, RESOURCE_NOT_FOUND, DATA_SOURCE_UNAVAILABLE.' })
  async runAttribution(@Ctx() context: RequestContext, @Arg('input', () => RunAttributionInput) input: RunAttributionInput): Promise<RunAttributionPayload> {
    const principal = assertAction(context.principal, 'attribution:run');
    const attribution = await exactlyOnce(this.#services.database, context, {
      effect: runEffect,
      act: async (settle) => this.#present(await runAttribution(this.#services, principal, input, settle, context.sandboxDelayMs), 0, null, context),
      recall: ({ attributionId }) => this.#load(principal, publicId('attr', attributionId), context),
    });
    return { attribution, trust: attribution.trust };
  }

  @Mutation(() => CancelAttributionPayload, { nullable: true, description: 'Ends an analysis that has not ended by itself: it fails with CANCELLED, and nothing is billed. Repeating it changes nothing. Errors: RESOURCE_NOT_FOUND, CONFLICT (already_finished).' })
  async cancelAttribution(@Ctx() context: RequestContext, @Arg('input', () => CancelAttributionInput) input: CancelAttributionInput): Promise<CancelAttributionPayload> {
    const principal = assertAction(context.principal, 'attribution:run');
    const id = requireUuid('attr', input.id, 'attribution');
    const attribution = await exactlyOnce(this.#services.database, context, {
      effect: cancelEffect,
      needsRoom: false,
      act: async (settle) => this.#present(await cancelAttribution(this.#services, principal, id, settle), 1, null, context),
      recall: ({ attributionId }) => this.#load(principal, publicId('attr', attributionId), context),
    });
    return { attribution, trust: attribution.trust };
  }

  @Mutation(() => DeleteAttributionPayload, { nullable: true, description: 'Deletes an analysis with its figures; what was billed stays on record. Errors: RESOURCE_NOT_FOUND, CONFLICT (not_finished).' })
  async deleteAttribution(@Ctx() context: RequestContext, @Arg('input', () => DeleteAttributionInput) { id }: DeleteAttributionInput): Promise<DeleteAttributionPayload> {
    const principal = assertAction(context.principal, 'attribution:delete');
    const uuid = requireUuid('attr', id, 'attribution');
    await exactlyOnce(this.#services.database, context, {
      effect: deleteEffect,
      needsRoom: false,
      act: (settle) => deleteAttribution(this.#services, context, principal, uuid, settle),
      recall: () => Promise.resolve(),
    });
    return { id, deleted: true, trust: recordEnvelope(1, this.#services.clock(), context.apiVersion) };
  }

  /** Entity resolver. */
  async resolveReference(reference: Readonly<Record<string, unknown>>, context: RequestContext): Promise<AttributionType> {
    return this.#load(assertAction(context.principal, 'attribution:read'), String(reference['id']), context);
  }

  async #load(principal: Principal, id: string, context: RequestContext): Promise<AttributionType> {
    const uuid = requireUuid('attr', id, 'attribution');
    const shown = await this.#services.database.asTenant(principal, async (em) => {
      const attribution = await new AttributionStore(em).require(uuid);
      const progress = attribution.isFinished() ? undefined : (await latestProgress(em, [uuid])).get(uuid);
      return this.#present(attribution, progress ?? 0, (await sourcesNow(em, [attribution])).get(uuid) ?? null, context);
    });
    await this.#accesses.tell(context, { type: 'attribution', id });
    return shown;
  }

  /** A member of a list: what is wrong with it takes down no other. Read by itself, it tells the log what that is. */
  #presentAlone(attribution: Attribution, progress: number, sourceNow: SourceNow | null, context: RequestContext): AttributionType {
    try {
      return this.#present(attribution, progress, sourceNow, context);
    } catch {
      return presentAttribution(attribution, 1, this.#services.clock(), context.apiVersion, null, UNREADABLE);
    }
  }

  #present(attribution: Attribution, progress: number, sourceNow: SourceNow | null, context: RequestContext): AttributionType {
    return presentAttribution(attribution, progress, this.#services.clock(), context.apiVersion, sourceNow);
  }
}

function storeFilter(filter: AttributionFilterInput): AttributionFilter {
  return {
    status: filter.status ?? undefined,
    model: filter.model ?? undefined,
    dataSourceId: filter.dataSourceId == null ? undefined : filterUuid('ds', filter.dataSourceId),
    agentId: filter.agentId == null ? undefined : filterUuid('agent', filter.agentId),
    createdAfter: filter.createdAfter ?? undefined,
    createdBefore: filter.createdBefore ?? undefined,
  };
}
