import { restAttribution } from '../../../../schema/attribution-result.ts';
import type { ShownFee } from '../../../../schema/platform-fee.ts';
import type { Environment } from '../../../../schema/principal.ts';
import type { Json } from '../../../../schema/rest-shape.ts';
import { API_VERSIONS } from '../../../../schema/value-lists.ts';
import { EVENT_CATALOGUE, type EventData } from '../../../../schema/event-catalogue.ts';
import type { Uuid } from '../../../../platform/identifiers.ts';
import { recordEvent } from '../../../../services/events/outbox.ts';
import type { SqlEntityManager } from '../../../../platform/postgres/database.ts';
import type { PubSub } from '../../../../platform/postgres/pub-sub.ts';
import type { EndedRuns } from '../../runs/end-run.ts';
import { ATTRIBUTION_RUNS, type Attribution } from './attribution.ts';
import { presentAttribution } from './present-attribution.ts';
import { sourcesNow } from './source-now.ts';

const TOP_CHANNELS = 5;

/** What an analysis is going to cost, as far as it can be told in the transaction that completes it. */
export type FeeAhead = (
  em: SqlEntityManager,
  completed: {
    readonly id: Uuid;
    readonly accountId: Uuid;
    readonly environment: Environment;
    readonly deltaRCents: bigint;
    readonly inputDigest: string | null;
  },
) => Promise<ShownFee>;

export interface AnnouncingServices {
  readonly pubSub: PubSub;
  /** Address of the REST door, `/v1` included. */
  readonly publicBaseUrl: string;
  readonly feeAhead: FeeAhead;
  readonly clock: () => Date;
}

/** Analyses, as far as ending them goes. */
export function announcedAttributions(services: AnnouncingServices): EndedRuns<Attribution> {
  return { ...ATTRIBUTION_RUNS, announce: (em, row) => announceCompletion(em, services, row) };
}

/**
 * Records that an analysis has ended, in the transaction that ends it; `em` acts for its tenant. Once per analysis,
 * whatever came of it: what is paid for an analysis is paid upon this event.
 */
async function announceCompletion(
  em: SqlEntityManager,
  services: AnnouncingServices,
  attribution: Attribution,
): Promise<void> {
  const { accountId, environment, workspaceId } = attribution;
  const data = await finishedAnalysis(em, services, attribution, attribution.result?.deltaRCents);
  await recordEvent(em, services.pubSub, {
    accountId,
    environment,
    type: 'attribution.completed',
    subject: data.id,
    workspaceId,
    data,
  });
}

/** Records that a refresh has made a new revision, in the transaction that makes it. Nobody pays for a revision. */
export async function announceRevision(
  em: SqlEntityManager,
  services: AnnouncingServices,
  attribution: Attribution,
  previousDeltaRCents: number,
): Promise<void> {
  const { accountId, environment, workspaceId, revision } = attribution;
  const data = {
    ...(await finishedAnalysis(em, services, attribution, previousDeltaRCents)),
    revision,
    previous_delta_r_cents: Number(shownCents(previousDeltaRCents)),
    reason: 'late_data' as const,
  };
  await recordEvent(em, services.pubSub, {
    accountId,
    environment,
    type: 'attribution.updated',
    subject: data.id,
    workspaceId,
    data,
  });
}

/**
 * The analysis as its events tell it: as the REST door writes it, in short.
 * @param chargedCents recovered revenue that it is charged by; undefined where it has none
 */
async function finishedAnalysis(
  em: SqlEntityManager,
  { publicBaseUrl, feeAhead, clock }: AnnouncingServices,
  attribution: Attribution,
  chargedCents: number | undefined,
): Promise<EventData<'attribution.completed'>> {
  const { id, accountId, environment } = attribution;
  const inputDigest = attribution.trust?.trace.inputsDigest ?? null;
  const fee =
    chargedCents === undefined
      ? { platformFeeCents: null, billed: null }
      : await feeAhead(em, { id, accountId, environment, deltaRCents: shownCents(chargedCents), inputDigest });
  const sourceNow = (await sourcesNow(em, [attribution])).get(attribution.id) ?? null;
  const shown = presentAttribution(attribution, 1, clock(), API_VERSIONS[0], sourceNow);
  const result: Json = restAttribution(shown, fee);
  return EVENT_CATALOGUE['attribution.completed'].data.parse({
    ...result,
    top_channels: (result['channel_impact'] as Json[]).slice(0, TOP_CHANNELS),
    // The record envelope of a failed analysis judges nothing.
    hrei_score: attribution.result == null ? null : (shown.trust?.hreiScore ?? null),
    agent_id: shown.agentId,
    input_digest: inputDigest,
    failure: result['failure'] ?? undefined,
    url: `${publicBaseUrl}/attribution/${shown.id}`,
  });
}

/** Cents as every door shows them: up to the largest number that readers can tell from the next. */
function shownCents(cents: number): bigint {
  return BigInt(Math.min(cents, Number.MAX_SAFE_INTEGER));
}
