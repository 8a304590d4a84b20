import { z } from 'zod';
import { ProblemError } from '../../../../schema/problems.ts';
import { ATTRIBUTION_DEFAULTS, newAttribution } from '../../../../schema/contract/attribution-request.ts';
import { ENVIRONMENTS } from '../../../../schema/value-lists.ts';
import type { Environment, Principal } from '../../../../schema/principal.ts';
import type { JobQueue, Jobs } from '../../../../platform/jobs/jobs.ts';
import { parseGraphInput } from '../../../../platform/graph/parse-input.ts';
import type { Settle } from '../../../../services/idempotency/exactly-once.ts';
import { newUuid, requireUuid, uuid, type Uuid } from '../../../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../../../platform/postgres/database.ts';
import type { PubSub } from '../../../../platform/postgres/pub-sub.ts';
import { namedSource } from '../../intake/channel-rules/channel-rule-store.ts';
import type { SourceKey } from '../../intake/touchpoints/source-key.ts';
import { namesOf } from '../../intake/data-sources/channel-names.ts';
import type { DataSource } from '../../intake/data-sources/data-source.ts';
import { DataSourceStore } from '../../intake/data-sources/data-source-store.ts';
import { parseDateRange, type DateRange } from '../../intake/data-sources/date-range.ts';
import { listenToLateRows } from '../../intake/data-sources/late-rows.ts';
import { rowsOfDays, UNDATED } from '../../intake/data-sources/source-days.ts';
import { requireSource, type SourceServices } from '../../intake/data-sources/require-source.ts';
import { servingAgent, type IsAgent } from '../../intake/data-sources/serving-agent.ts';
import { workspaceOf } from '../../intake/data-sources/workspace-of.ts';
import { Attribution } from './attribution.ts';
import { MANY_TOUCHES } from './large-run.ts';
import { appendProgress } from './progress.ts';

/** What the worker is told; everything else stands in the row. */
export interface RunJob {
  readonly accountId: Uuid;
  readonly environment: Environment;
  readonly attributionId: Uuid;
  /** The revision that the run makes. */
  readonly revision: number;
  /** How much longer than need be the run takes. */
  readonly delayMs: number;
  /** That are stored of its days, each step of a path counted as one. */
  readonly rows: number;
}

export const RUN_QUEUE: JobQueue<RunJob> = {
  name: 'attribution.run',
  data: z.object({
    accountId: uuid,
    environment: z.enum(ENVIRONMENTS),
    attributionId: uuid,
    revision: z.int().min(1).default(1),
    delayMs: z.int().min(0),
    rows: z.int().min(0).default(0),
  }),
  // Of one account in one environment (decision table of the contract, rate limits).
  perShare: { running: 4, waiting: 16 },
  isLarge: ({ rows }) => rows > MANY_TOUCHES,
};

export interface RunAttributionServices extends SourceServices {
  readonly jobs: Jobs;
  readonly pubSub: PubSub;
  /** Address of the REST door, `/v1` included. */
  readonly publicBaseUrl: string;
  /** The channels that a source has rows of. */
  readonly channelsOf: (source: SourceKey) => Promise<readonly string[]>;
  readonly isAgent: IsAgent;
  readonly clock: () => Date;
}

/** The analysis that was accepted. */
export const runEffect = z.object({ attributionId: uuid });

/**
 * Accepts an analysis: the row, its first progress event and its job in one transaction, so that an accepted analysis
 * is always run and a refused one leaves nothing.
 * @throws ProblemError `validation_error` (also an unknown channel, agent or workspace), `resource_not_found` (source),
 * `data_source_unavailable` (nothing stored yet),
 *   `rate_limit_exceeded` / `concurrency` (too many of the caller's analyses run and wait).
 */
export async function runAttribution(
  services: RunAttributionServices,
  principal: Principal,
  rawInput: unknown,
  settle: Settle<z.output<typeof runEffect>>,
  delayMs = 0,
): Promise<Attribution> {
  const input = parseGraphInput(newAttribution, rawInput);
  const { model = ATTRIBUTION_DEFAULTS.model, autoRefresh = ATTRIBUTION_DEFAULTS.autoRefresh } = input;
  const now = services.clock();
  const dateRange = parseDateRange(input.dateRange, now, principal.environment);
  const accountId = principal.accountId as Uuid;
  const dataSourceId = requireUuid('ds', input.dataSourceId, 'data source', '/data_source_id');
  const workspaceId = await workspaceOf(services.database, principal, input.workspaceId);
  const { agentId } = input;
  const namedAgentId = agentId === undefined ? null : await servingAgent(services.isAgent, principal, agentId);
  // Asked first, since the columnar store knows nothing of workspaces and environments.
  const found = await requireSource(services, principal, dataSourceId, '/data_source_id');
  if (input.channels !== undefined)
    await refuseUnknownChannels(services, await namedSource(services.database, principal, found), input.channels);

  return services.database.asTenant(principal, async (em) => {
    const source = await new DataSourceStore(em).require(dataSourceId);
    refuseUnusable(source, model);
    const attribution = em.create(Attribution, {
      id: newUuid(now.getTime()),
      accountId,
      agentId: namedAgentId ?? source.agentId ?? null,
      workspaceId: workspaceId ?? source.workspaceId ?? null,
      dataSourceId,
      model,
      status: 'pending',
      ...columnsOf(dateRange),
      granularity: input.granularity ?? ATTRIBUTION_DEFAULTS.granularity,
      channels: input.channels ?? null,
      baselineChannels: input.baselineChannels ?? null,
      lookbackWindowDays: input.lookbackWindowDays ?? ATTRIBUTION_DEFAULTS.lookbackWindowDays,
      conversionEvent: input.conversionEvent ?? ATTRIBUTION_DEFAULTS.conversionEvent,
      confidenceLevel: input.confidenceLevel ?? ATTRIBUTION_DEFAULTS.confidenceLevel,
      markovOrder: input.modelOptions?.markovOrder ?? ATTRIBUTION_DEFAULTS.markovOrder,
      autoRefresh,
      environment: principal.environment,
      createdAt: now,
    });
    await em.flush();
    if (autoRefresh) await listenToLateRows(em, dataSourceId);
    await appendProgress(em, services.pubSub, attribution, [
      { kind: 'PROGRESS', stage: 'queued', progress: 0, message: 'Waiting for a worker' },
    ]);
    const rows = await rowsOfRun(em, dataSourceId, dateRange);
    const job: RunJob = {
      accountId,
      environment: principal.environment,
      attributionId: attribution.id,
      revision: 1,
      delayMs,
      rows,
    };
    await services.jobs.enqueue(em, RUN_QUEUE, job, {
      tenant: accountId,
      share: principal.environment,
      singletonKey: attribution.id,
    });
    await settle(em, { attributionId: attribution.id });
    return attribution;
  });
}

/** How far before its range a run may read. */
const REACH_BACK_DAYS = 90;
const DAY_MS = 86_400_000;

/** About as many rows as a run reads: those of its range and before it; all of aggregated paths without dates. */
export async function rowsOfRun(em: SqlEntityManager, dataSourceId: Uuid, { start, end }: DateRange): Promise<number> {
  const first = new Date(Date.parse(start) - REACH_BACK_DAYS * DAY_MS).toISOString().slice(0, 10);
  return (await rowsOfDays(em, dataSourceId, first, end)) + (await rowsOfDays(em, dataSourceId, UNDATED, UNDATED));
}

function columnsOf(range: DateRange) {
  return { dateStart: range.start, dateEnd: range.end };
}

async function refuseUnknownChannels(
  services: RunAttributionServices,
  source: SourceKey,
  wanted: readonly string[],
): Promise<void> {
  const known = await services.channelsOf(source);
  const unknown = wanted.findIndex((channel) => !known.includes(channel));
  if (unknown < 0) return;
  const param = `/channels/${unknown}`;
  throw new ProblemError(
    'validation_error',
    `channels: the source has no channel ${JSON.stringify(wanted[unknown])}; it has ${namesOf(known)}.`,
    { code: 'unknown_channel', param },
  );
}

function refuseUnusable(source: DataSource, model: Attribution['model']): void {
  if (source.statistics == null && source.error != null) {
    throw new ProblemError('data_source_unavailable', source.error.message, {
      code: source.error.code,
      param: '/data_source_id',
    });
  }
  if (source.statistics == null) {
    throw new ProblemError(
      'data_source_unavailable',
      'The data source has no rows yet. Upload them with POST /v1/data-sources/{id}/records, then ask again.',
      { code: 'never_synced', param: '/data_source_id' },
    );
  }
  if (model === 'prav' && source.holdsOnlyPaths()) {
    throw new ProblemError(
      'validation_error',
      'model: prav needs touchpoints of single users, and this source holds aggregated paths only. Upload ' +
        'touchpoints, or choose another model.',
      { code: 'insufficient_data', param: '/model' },
    );
  }
}
