import { Arg, Args, Ctx, ID, Mutation as FieldMutation, Resolver } from 'type-graphql';
import type { z } from 'zod';
import type { attributionFilter } from '../../../../schema/contract/attribution-request.ts';
import type { attributions } from '../../../../schema/contract/attributions.ts';
import { assertAction } from '../../../../schema/actions.ts';
import { ProblemError } from '../../../../schema/problems.ts';
import type { Principal, RequestContext } from '../../../../schema/principal.ts';
import { AccessLog } from '../../../../services/audit/access-log.ts';
import { connectionOf, PageArguments, parsePage, type Edge, type Rows } from '../../../../platform/graph/connection.ts';
import { PacedTurns } from '../../../../platform/paced-turns.ts';
import type { Answered } from '../../../../platform/graph/noun-types.ts';
import type { SqlEntityManager } from '../../../../platform/postgres/database.ts';
import { exactlyOnce } from '../../../../services/idempotency/exactly-once.ts';
import { filterAgent, filterUuid, publicId, requireUuid, type Uuid } from '../../../../platform/identifiers.ts';
import { recordEnvelope } from '../../../../services/trust/envelope.ts';
import { cancelRun } from '../../runs/cancel-run.ts';
import { isFinished } from '../../runs/run.ts';
import { latestProgress } from '../../runs/run-progress.ts';
import { requireRun } from '../../runs/run-table.ts';
import { announcedAttributions } from './announce-attribution.ts';
import { ATTRIBUTION_RUNS, type Attribution } from './attribution.ts';
import { AttributionStore, resultBytes, type AttributionFilter } from './attribution-store.ts';
import { attributionTypes, RunAttributionInput, RunAttributionPayload } from './attribution-types.ts';
import type { AcceptedAttribution, AttributionRecord } from './attribution-types.ts';
import { deleteAttribution, deleteEffect } from './delete-attribution.ts';
import { presentAttribution } from './present-attribution.ts';
import type { SourceNow } from './present-trust.ts';
import { UNREADABLE } from './published-figures.ts';
import { runAttribution, runEffect, type RunAttributionServices } from './run-attribution.ts';
import { sourcesNow } from './source-now.ts';

const { Record, Query, Mutation, inputOf } = attributionTypes;
type Answer<Id extends keyof typeof attributions.operations> = Promise<Answered<typeof attributions, Id>>;
type Filter = Partial<z.output<typeof attributionFilter>>;

@Resolver(() => Record)
export class AttributionResolver {
  readonly #services: RunAttributionServices;
  readonly #accesses: AccessLog;
  /** To read a large result, and to make an answer of it behind the resolver, takes the thread for long. */
  readonly #largeAnswers = new PacedTurns();

  constructor(services: RunAttributionServices) {
    this.#services = services;
    this.#accesses = new AccessLog(services.database, services.clock);
  }

  @Query('getAttribution')
  async attribution(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'Public id of the analysis.' }) id: string,
  ): Answer<'getAttribution'> {
    return this.#load(assertAction(context.principal, 'attribution:read'), id, context);
  }

  @Query('listAttributions')
  async attributions(
    @Ctx() context: RequestContext,
    @Args(() => PageArguments) args: PageArguments,
    @Arg('filter', inputOf('listAttributions'), { nullable: true }) filter?: Filter | null,
  ): Answer<'listAttributions'> {
    const principal = assertAction(context.principal, 'attribution:read');
    const [narrowed, page] = [storeFilter(filter ?? {}, principal), parsePage(args)];
    const connection = await this.#services.database.asTenant(principal, async (em) => {
      const store = new AttributionStore(em);
      const { rows, figureBytes, totalCount } = await store.list(narrowed, page);
      const trust = (count: number) => recordEnvelope(count, this.#services.clock(), context.apiVersion);
      if (figureBytes > LARGE_BYTES) {
        const listed = connectionOf(rows, page, totalCount, trust(rows.list.length));
        return { ...listed, edges: listed.edges.map((edge) => this.#inItsTurn(principal, edge, context)) };
      }
      const nodes = await this.#shown(em, await store.withFigures(rows), context);
      return connectionOf(nodes, page, totalCount, trust(nodes.list.length));
    });
    await this.#accesses.tell(context, { type: 'attribution', id: '*' });
    return connection;
  }

  @FieldMutation(() => RunAttributionPayload, {
    nullable: true,
    description:
      'Accepts an analysis and returns it at once; watch it with attributionProgress. Errors: VALIDATION_ERROR, ' +
      'RESOURCE_NOT_FOUND, DATA_SOURCE_UNAVAILABLE.',
  })
  async runAttribution(
    @Ctx() context: RequestContext,
    @Arg('input', () => RunAttributionInput) input: object,
  ): Promise<AcceptedAttribution> {
    const principal = assertAction(context.principal, 'attribution:run');
    const attribution = await exactlyOnce(this.#services.database, context, {
      effect: runEffect,
      act: async (settle) =>
        this.#present(
          await runAttribution(this.#services, principal, input, settle, context.sandboxDelayMs),
          0,
          null,
          context,
        ),
      recall: ({ attributionId }) => this.#load(principal, publicId('attr', attributionId), context),
    });
    return { attribution, trust: attribution.trust };
  }

  @Mutation('cancelAttribution')
  async cancelAttribution(
    @Ctx() context: RequestContext,
    @Arg('input', inputOf('cancelAttribution')) input: { id: string },
  ): Answer<'cancelAttribution'> {
    const principal = assertAction(context.principal, 'attribution:run');
    const id = requireUuid('attr', input.id, 'attribution');
    const attribution = await exactlyOnce(this.#services.database, context, {
      effect: runEffect,
      needsRoom: false,
      act: async (settle) =>
        this.#present(
          await cancelRun(this.#services, announcedAttributions(this.#services), principal, id, (em) =>
            settle(em, { attributionId: id }),
          ),
          1,
          null,
          context,
        ),
      recall: ({ attributionId }) => this.#load(principal, publicId('attr', attributionId), context),
    });
    return { attribution, trust: attribution.trust };
  }

  @Mutation('deleteAttribution')
  async deleteAttribution(
    @Ctx() context: RequestContext,
    @Arg('input', inputOf('deleteAttribution')) { id }: { id: string },
  ): Answer<'deleteAttribution'> {
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
  async resolveReference(
    reference: Readonly<Record<string, unknown>>,
    context: RequestContext,
  ): Promise<AttributionRecord> {
    return this.#load(assertAction(context.principal, 'attribution:read'), String(reference['id']), context);
  }

  async #shown(
    em: SqlEntityManager,
    rows: Rows<Attribution>,
    context: RequestContext,
  ): Promise<Rows<AttributionRecord>> {
    const underWay = rows.list.filter((row) => !isFinished(row)).map((row) => row.id);
    const progress = await latestProgress(em, ATTRIBUTION_RUNS, underWay);
    const sources = await sourcesNow(em, rows.list);
    return rows.map((row) => this.#presentAlone(row, progress.get(row.id) ?? 0, sources.get(row.id) ?? null, context));
  }

  /**
   * A member of a page of many figures: it is read, and an answer made of it, where it is asked for and in a turn of
   * its own, so that others come between any two.
   */
  #inItsTurn(principal: Principal, { node, cursor }: Edge<Attribution>, context: RequestContext) {
    const read = async (): Promise<AttributionRecord> => {
      try {
        return await this.#inTurn(principal, () => this.#read(principal, node.id, context));
      } catch (error) {
        if (error instanceof ProblemError && error.type !== 'resource_not_found') throw error;
        return this.#unreadable(node, context);
      }
    };
    return {
      cursor,
      // Fields may be promises, which the shapes of the contract do not tell.
      get node(): AttributionRecord {
        return read() as unknown as AttributionRecord;
      },
    };
  }

  async #load(principal: Principal, id: string, context: RequestContext): Promise<AttributionRecord> {
    const uuid = requireUuid('attr', id, 'attribution');
    const load = async (): Promise<AttributionRecord> => {
      const shown = await this.#read(principal, uuid, context);
      await this.#accesses.tell(context, { type: 'attribution', id });
      return shown;
    };
    const isLarge = (await resultBytes(this.#services.database, principal, uuid)) > LARGE_BYTES;
    return isLarge ? this.#inTurn(principal, load) : load();
  }

  async #inTurn<Result>({ accountId }: Principal, read: () => Promise<Result>): Promise<Result> {
    const over = await this.#largeAnswers.take(accountId);
    try {
      return await read();
    } finally {
      over();
    }
  }

  async #read(principal: Principal, id: Uuid, context: RequestContext): Promise<AttributionRecord> {
    return this.#services.database.asTenant(principal, async (em) => {
      const attribution = await requireRun(em, ATTRIBUTION_RUNS, id);
      const progress = isFinished(attribution) ? undefined : (await latestProgress(em, ATTRIBUTION_RUNS, [id])).get(id);
      return this.#present(attribution, progress ?? 0, (await sourcesNow(em, [attribution])).get(id) ?? null, context);
    });
  }

  /** A member of a list: what is wrong with it takes down no other. Read by itself, it tells the log what that is. */
  #presentAlone(
    attribution: Attribution,
    progress: number,
    sourceNow: SourceNow | null,
    context: RequestContext,
  ): AttributionRecord {
    try {
      return this.#present(attribution, progress, sourceNow, context);
    } catch {
      return this.#unreadable(attribution, context);
    }
  }

  #unreadable(attribution: Attribution, context: RequestContext): AttributionRecord {
    return presentAttribution(attribution, 1, this.#services.clock(), context.apiVersion, null, UNREADABLE);
  }

  #present(
    attribution: Attribution,
    progress: number,
    sourceNow: SourceNow | null,
    context: RequestContext,
  ): AttributionRecord {
    return presentAttribution(attribution, progress, this.#services.clock(), context.apiVersion, sourceNow);
  }
}

/** Results of more than this, and members of pages of more, come by turns. */
export const LARGE_BYTES = 64 * 1024;

function storeFilter(filter: Filter, { agentId: own }: Principal): AttributionFilter {
  return {
    status: filter.status ?? undefined,
    model: filter.model ?? undefined,
    dataSourceId: filter.dataSourceId == null ? undefined : filterUuid('ds', filter.dataSourceId),
    agentId: filter.agentId == null ? undefined : filterAgent(filter.agentId, own),
    createdAfter: filter.createdAfter ?? undefined,
    createdBefore: filter.createdBefore ?? undefined,
  };
}
