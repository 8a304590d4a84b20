import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { z } from 'zod';
import { assertAction } from '../../../platform/auth/actions.ts';
import type { RequestContext } from '../../../platform/auth/principal.ts';
import { connectionOf, PageArguments, parsePage, type Connection } from '../../../platform/graph/connection.ts';
import { exactlyOnce } from '../../../platform/idempotency/exactly-once.ts';
import { filterUuid, publicId, requireUuid } from '../../../platform/identifiers.ts';
import { recordEnvelope, type TrustEnvelope } from '../../../platform/trust/envelope.ts';
import type { Experiment } from './experiment.ts';
import { ExperimentStore } from './experiment-store.ts';
import {
  CreateExperimentInput,
  CreateExperimentPayload,
  DeleteExperimentInput,
  DeleteExperimentPayload,
  ExperimentConnection,
  ExperimentFilterInput,
  ExperimentType,
} from './experiment-type.ts';
import { experimentEffect, recordExperiment, type ExperimentServices } from './record-experiment.ts';

@Resolver(() => ExperimentType)
export class ExperimentResolver {
  readonly #services: ExperimentServices;

  constructor(services: ExperimentServices) {
    this.#services = services;
  }

  @Query(() => ExperimentType, { nullable: true, description: 'One experiment. Errors: RESOURCE_NOT_FOUND.' })
  async experiment(@Ctx() context: RequestContext, @Arg('id', () => ID, { description: 'Public id of the experiment.' }) id: string): Promise<ExperimentType> {
    const principal = assertAction(context.principal, 'experiment:read');
    const uuid = requireUuid('exp', id, 'experiment');
    return this.#present(await this.#services.database.asTenant(principal, (em) => new ExperimentStore(em).require(uuid)), context);
  }

  @Query(() => ExperimentConnection, { nullable: true, description: 'Experiments of the account, newest first.' })
  async experiments(
    @Ctx() context: RequestContext,
    @Args(() => PageArguments) args: PageArguments,
    @Arg('filter', () => ExperimentFilterInput, { nullable: true }) filter?: ExperimentFilterInput | null,
  ): Promise<Connection<ExperimentType>> {
    const principal = assertAction(context.principal, 'experiment:read');
    const narrowed = {
      dataSourceId: filter?.dataSourceId == null ? undefined : filterUuid('ds', filter.dataSourceId),
      channel: filter?.channel ?? undefined,
    };
    return this.#services.database.asTenant(principal, async (em) => {
      const store = new ExperimentStore(em);
      const page = await parsePage(args, () => store.count(narrowed));
      const [rows, totalCount] = await store.list(narrowed, page);
      return connectionOf(rows.map((row) => this.#present(row, context)), page, totalCount, this.#trust(context, rows.length));
    });
  }

  @Mutation(() => CreateExperimentPayload, { nullable: true, description: 'Records the result of an experiment; later causal analyses are calibrated by it. Errors: VALIDATION_ERROR, RESOURCE_NOT_FOUND, CONFLICT.' })
  async createExperiment(@Ctx() context: RequestContext, @Arg('input', () => CreateExperimentInput) input: CreateExperimentInput): Promise<CreateExperimentPayload> {
    const principal = assertAction(context.principal, 'experiment:write');
    const { database } = this.#services;
    const recorded = await exactlyOnce(database, context, {
      effect: experimentEffect,
      act: (settle) => recordExperiment(this.#services, principal, input, settle),
      recall: ({ experimentId }) => database.asTenant(principal, (em) => new ExperimentStore(em).require(experimentId)),
    });
    const experiment = this.#present(recorded, context);
    return { experiment, trust: experiment.trust };
  }

  @Mutation(() => DeleteExperimentPayload, { nullable: true, description: 'Deletes an experiment; analyses that used it keep what they computed. Errors: RESOURCE_NOT_FOUND.' })
  async deleteExperiment(@Ctx() context: RequestContext, @Arg('input', () => DeleteExperimentInput) input: DeleteExperimentInput): Promise<DeleteExperimentPayload> {
    const principal = assertAction(context.principal, 'experiment:write');
    const uuid = requireUuid('exp', input.id, 'experiment');
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
    return { id: input.id, deleted: true, trust: this.#trust(context, 1) };
  }

  #present(experiment: Experiment, context: RequestContext): ExperimentType {
    const { channel, method, incrementalRevenue, standardError, currency, environment, createdAt } = experiment;
    return {
      id: publicId('exp', experiment.id),
      dataSourceId: publicId('ds', experiment.dataSourceId),
      channel,
      method,
      period: [experiment.periodStart, experiment.periodEnd],
      incrementalRevenue,
      standardError,
      currency,
      notes: experiment.notes ?? null,
      environment,
      createdAt,
      trust: this.#trust(context, 1),
    };
  }

  #trust(context: RequestContext, records: number): TrustEnvelope {
    return recordEnvelope(records, this.#services.clock(), context.apiVersion);
  }
}
