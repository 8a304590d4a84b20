import { z } from 'zod';
import { ProblemError } from '../../../../schema/problems.ts';
import { areFewRules } from '../../../../schema/contract/channel-rules.ts';
import { ATTRIBUTION_DEFAULTS, newAttribution } from '../../../../schema/contract/attribution-request.ts';
import type { Environment, Principal } from '../../../../schema/principal.ts';
import type { Jobs } from '../../../../platform/jobs/jobs.ts';
import { parseGraphInput } from '../../../../platform/graph/parse-input.ts';
import type { Settle } from '../../../../services/idempotency/exactly-once.ts';
import { newUuid, uuid, type Uuid } from '../../../../platform/identifiers.ts';
import type { SqlEntityManager } from '../../../../platform/postgres/database.ts';
import type { PubSub } from '../../../../platform/postgres/pub-sub.ts';
import { namedSources } from '../../intake/channel-rules/channel-rule-store.ts';
import { namedAlike, type SourceKey } from '../../intake/touchpoints/source-key.ts';
import { namesOf } from '../../intake/data-sources/channel-names.ts';
import type { DataSource } from '../../intake/data-sources/data-source.ts';
import { parseDateRange, type DateRange } from '../../intake/data-sources/date-range.ts';
import { listenToLateRows } from '../../intake/data-sources/late-rows.ts';
import {
  findSources,
  requireSources,
  sourceParam,
  sourcesParam,
  type Joined,
} from '../../intake/data-sources/joined-sources.ts';
import { rowsOfDays, UNDATED } from '../../intake/data-sources/source-days.ts';
import { refuseUnusable, type SourceServices } from '../../intake/data-sources/require-source.ts';
import { servingAgent, type IsAgent } from '../../intake/data-sources/serving-agent.ts';
import { workspaceOf } from '../../intake/data-sources/workspace-of.ts';
import type { MeasureQuality } from '../../intake/quality/measure-quality.ts';
import { acceptRun } from '../../runs/accept-run.ts';
import type { FeeAhead } from './announce-attribution.ts';
import { Attribution, ATTRIBUTION_RUNS } from './attribution.ts';
import { refuseBadRows } from './refuse-bad-rows.ts';

export interface RunAttributionServices extends SourceServices {
  readonly jobs: Jobs;
  readonly pubSub: PubSub;
  /** Address of the REST door, `/v1` included. */
  readonly publicBaseUrl: string;
  /** The channels that a source has rows of. */
  readonly channelsOf: (source: SourceKey) => Promise<readonly string[]>;
  readonly feeAhead: FeeAhead;
  readonly refuseUnpayable: RefuseUnpayable;
  readonly isAgent: IsAgent;
  readonly measureQuality: MeasureQuality;
  readonly clock: () => Date;
}

/**
 * Refuses an analysis that its account does not want to pay for, or has not paid for, in the transaction that would
 * accept it.
 * @throws ProblemError `spend_limit_exceeded`, `payment_required`
 */
export type RefuseUnpayable = (
  em: SqlEntityManager,
  wanted: { readonly accountId: Uuid; readonly environment: Environment; readonly currency: string | null },
) => Promise<void>;

/** The analysis that was accepted. */
export const runEffect = z.object({ attributionId: uuid });

/**
 * Accepts an analysis: the row, its first progress event and its job in one transaction, so that an accepted analysis
 * is always run and a refused one leaves nothing.
 * @throws ProblemError `validation_error` (also an unknown channel, agent or workspace, and rows that are not good
 *   enough), `resource_not_found` (source), `data_source_unavailable` (nothing stored yet),
 *   `rate_limit_exceeded` / `concurrency` (too many of the caller's analyses run and wait), `spend_limit_exceeded`,
 *   `payment_required`.
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
  const workspaceId = await workspaceOf(services.database, principal, input.workspaceId);
  const { agentId } = input;
  const namedAgentId = agentId === undefined ? null : await servingAgent(services.isAgent, principal, agentId);
  // Asked first, since the columnar store knows nothing of workspaces and environments.
  const found = await requireSources(services, principal, input);
  const dataSourceIds = found.map(({ id }) => id as Uuid) as unknown as Joined<Uuid>;
  const [dataSourceId] = dataSourceIds;
  const param = sourcesParam(input);
  const source = await namedSources(services.database, principal, found);
  refuseCostlyRules(source, param);
  if (input.channels !== undefined) await refuseUnknownChannels(services, source, input.channels);
  await refuseBadRows(services, principal, found, {
    key: source,
    param,
    dateRange,
    conversionEvent: input.conversionEvent ?? ATTRIBUTION_DEFAULTS.conversionEvent,
    baselineChannels: input.baselineChannels ?? found[0].baselineChannels,
    accepted: input.acceptQuality,
  });

  return services.database.asTenant(principal, async (em) => {
    const sources = (await findSources(em, dataSourceIds)) ?? refuseGone(param);
    for (const [place, each] of sources.entries()) refuseUnusable(each, sourceParam(input, place));
    refuseWithoutUsers(sources, model);
    const [source] = sources;
    const { environment } = principal;
    await services.refuseUnpayable(em, { accountId, environment, currency: source.currency ?? null });
    const attribution = em.create(Attribution, {
      id: newUuid(now.getTime()),
      accountId,
      agentId: namedAgentId ?? source.agentId ?? null,
      workspaceId: workspaceId ?? source.workspaceId ?? null,
      dataSourceId,
      dataSourceIds: dataSourceIds.length === 1 ? null : [...dataSourceIds],
      model,
      status: 'pending',
      ...columnsOf(dateRange),
      granularity: input.granularity ?? ATTRIBUTION_DEFAULTS.granularity,
      channels: input.channels ?? null,
      baselineChannels: input.baselineChannels ?? null,
      margin: input.margin ?? null,
      lookbackWindowDays: input.lookbackWindowDays ?? ATTRIBUTION_DEFAULTS.lookbackWindowDays,
      conversionEvent: input.conversionEvent ?? ATTRIBUTION_DEFAULTS.conversionEvent,
      confidenceLevel: input.confidenceLevel ?? ATTRIBUTION_DEFAULTS.confidenceLevel,
      markovOrder: input.modelOptions?.markovOrder ?? ATTRIBUTION_DEFAULTS.markovOrder,
      acceptQuality: input.acceptQuality ?? null,
      autoRefresh,
      environment,
      createdAt: now,
    });
    await em.flush();
    if (autoRefresh) await listenToLateRows(em, dataSourceIds);
    const rows = await rowsOfRun(em, dataSourceIds, dateRange);
    await acceptRun(em, services, ATTRIBUTION_RUNS, attribution, { rows, delayMs });
    await settle(em, { attributionId: attribution.id });
    return attribution;
  });
}

/** How far before its range a run may read. */
const REACH_BACK_DAYS = 90;
const DAY_MS = 86_400_000;

/** About as many rows as a run reads: those of its range and before it; all of aggregated paths without dates. */
export async function rowsOfRun(
  em: SqlEntityManager,
  dataSourceIds: Joined<Uuid>,
  { start, end }: DateRange,
): Promise<number> {
  const first = new Date(Date.parse(start) - REACH_BACK_DAYS * DAY_MS).toISOString().slice(0, 10);
  return (await rowsOfDays(em, dataSourceIds, first, end)) + (await rowsOfDays(em, dataSourceIds, UNDATED, UNDATED));
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

/** Rules of one source are bounded where they are set; a statement that reads several has those of all of them. */
export function refuseCostlyRules(source: SourceKey, param: string): void {
  const groups = namedAlike(source);
  if (groups.length < 2) return;
  const rules = groups.flatMap(({ naming }) => naming?.rules ?? []);
  if (areFewRules(rules)) return;
  throw new ProblemError(
    'validation_error',
    `${param.slice(1)}: the channel rules of these sources are more together than one source may have. Give them the ` +
      'same rules, which count once, or shorter ones.',
    { code: 'costly_rules', param },
  );
}

function refuseGone(param: string): never {
  throw new ProblemError('resource_not_found', 'One of the data sources was deleted just now.', { param });
}

function refuseWithoutUsers(sources: readonly DataSource[], model: Attribution['model']): void {
  if (model !== 'prav' || !sources.every((source) => source.holdsOnlyPaths())) return;
  throw new ProblemError(
    'validation_error',
    'model: prav needs touchpoints of single users, and this source holds aggregated paths only. Upload ' +
      'touchpoints, or choose another model.',
    { code: 'insufficient_data', param: '/model' },
  );
}
