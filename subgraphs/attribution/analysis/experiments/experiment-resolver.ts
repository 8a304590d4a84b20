import { Arg, Args, Ctx, ID, Resolver } from 'type-graphql';
import { z } from 'zod';
import { experiment, experiments, type experimentFilter } from '../../../../schema/contract/experiments.ts';
import { assertAction } from '../../../../schema/actions.ts';
import type { RequestContext } from '../../../../schema/principal.ts';
import { connectionOf, PageArguments, parsePage } from '../../../../platform/graph/connection.ts';
import type { GraphRecord } from '../../../../platform/graph/contract-types.ts';
import { nounTypes, type Answered } from '../../../../platform/graph/noun-types.ts';
import { presentRecord } from '../../../../platform/graph/present-record.ts';
import { exactlyOnce } from '../../../../services/idempotency/exactly-once.ts';
import { filterUuid, requireUuid } from '../../../../platform/identifiers.ts';
import type { TrustEnvelope } from '../../../../schema/trust-envelope.ts';
import { recordEnvelope } from '../../../../services/trust/envelope.ts';
import type { Experiment } from './experiment.ts';
import { ExperimentStore } from './experiment-store.ts';
import { experimentEffect, recordExperiment, type ExperimentServices } from './record-experiment.ts';

const { Record, Query, Mutation, inputOf } = nounTypes(experiments);
type Answer<Id extends keyof typeof experiments.operations> = Promise<Answered<typeof experiments, Id>>;

@Resolver(() => Record)
export class ExperimentResolver {
  readonly #services: ExperimentServices;

  constructor(services: ExperimentServices) {
    this.#services = services;
  }

  @Query('getExperiment')
  async experiment(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'Public id of the experiment.' }) id: string,
  ): Answer<'getExperiment'> {
    const principal = assertAction(context.principal, 'experiment:read');
    const uuid = requireUuid('exp', id, 'experiment');
    return this.#present(
      await this.#services.database.asTenant(principal, (em) => new ExperimentStore(em).require(uuid)),
      context,
    );
  }

  @Query('listExperiments')
  async experiments(
    @Ctx() context: RequestContext,
    @Args(() => PageArguments) args: PageArguments,
    @Arg('filter', inputOf('listExperiments'), { nullable: true }) filter?: z.output<typeof experimentFilter> | null,
  ): Answer<'listExperiments'> {
    const principal = assertAction(context.principal, 'experiment:read');
    const narrowed = {
      dataSourceId: filter?.dataSourceId == null ? undefined : filterUuid('ds', filter.dataSourceId),
      channel: filter?.channel ?? undefined,
    };
    return this.#services.database.asTenant(principal, async (em) => {
      const store = new ExperimentStore(em);
      const page = parsePage(args);
      const [rows, totalCount] = await store.list(narrowed, page);
      return connectionOf(
        rows.map((row) => this.#present(row, context)),
        page,
        totalCount,
        this.#trust(context, rows.list.length),
      );
    });
  }

  @Mutation('createExperiment')
  async createExperiment(
    @Ctx() context: RequestContext,
    @Arg('input', inputOf('createExperiment')) input: object,
  ): Answer<'createExperiment'> {
    const principal = assertAction(context.principal, 'experiment:write');
    const { database } = this.#services;
    const recorded = await exactlyOnce(database, context, {
      effect: experimentEffect,
      act: (settle) => recordExperiment(this.#services, principal, input, settle),
      recall: ({ experimentId }) => database.asTenant(principal, (em) => new ExperimentStore(em).require(experimentId)),
    });
    const shown = this.#present(recorded, context);
    return { experiment: shown, trust: shown.trust };
  }

  @Mutation('deleteExperiment')
  async deleteExperiment(
    @Ctx() context: RequestContext,
    @Arg('input', inputOf('deleteExperiment')) { id }: { id: string },
  ): Answer<'deleteExperiment'> {
    const principal = assertAction(context.principal, 'experiment:write');
    const uuid = requireUuid('exp', id, 'experiment');
    const { database } = this.#services;
    await exactlyOnce(database, context, {
      effect: z.object({}),
      needsRoom: false,
      act: (settle) =>
        database.asTenant(principal, async (em) => {
          await new ExperimentStore(em).remove(uuid);
          await settle(em, {});
        }),
      recall: () => Promise.resolve(),
    });
    return { id, deleted: true, trust: this.#trust(context, 1) };
  }

  #present(row: Experiment, context: RequestContext): GraphRecord<typeof experiment> {
    return {
      ...presentRecord(experiment, row, {
        channels: row.channels ?? [row.channel],
        period: [row.periodStart, row.periodEnd],
      }),
      trust: this.#trust(context, 1),
    };
  }

  #trust(context: RequestContext, records: number): TrustEnvelope {
    return recordEnvelope(records, this.#services.clock(), context.apiVersion);
  }
}
