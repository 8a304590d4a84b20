import { restAttribution } from '../../../../schema/attribution-result.ts';
import type { Json } from '../../../../schema/rest-shape.ts';
import { API_VERSIONS } from '../../../../schema/value-lists.ts';
import { EVENT_CATALOGUE, type EventData } from '../../../../schema/event-catalogue.ts';
import { recordEvent } from '../../../../services/events/outbox.ts';
import type { SqlEntityManager } from '../../../../platform/postgres/database.ts';
import type { PubSub } from '../../../../platform/postgres/pub-sub.ts';
import type { EndedRuns } from '../../runs/end-run.ts';
import { ATTRIBUTION_RUNS, type Attribution } from './attribution.ts';
import { presentAttribution } from './present-attribution.ts';
import { sourcesNow } from './source-now.ts';

const TOP_CHANNELS = 5;

export interface AnnouncingServices {
  readonly pubSub: PubSub;
  /** Address of the REST door, `/v1` included. */
  readonly publicBaseUrl: string;
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
  const data = await finishedAnalysis(em, services, attribution);
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
    ...(await finishedAnalysis(em, services, attribution)),
    revision,
    previous_delta_r_cents: Math.min(previousDeltaRCents, Number.MAX_SAFE_INTEGER),
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

/** The analysis as its events tell it: as the REST door writes it, in short. */
async function finishedAnalysis(
  em: SqlEntityManager,
  { publicBaseUrl, clock }: AnnouncingServices,
  attribution: Attribution,
): Promise<EventData<'attribution.completed'>> {
  const sourceNow = (await sourcesNow(em, [attribution])).get(attribution.id) ?? null;
  const shown = presentAttribution(attribution, 1, clock(), API_VERSIONS[0], sourceNow);
  const result: Json = restAttribution(shown);
  return EVENT_CATALOGUE['attribution.completed'].data.parse({
    ...result,
    top_channels: (result['channel_impact'] as Json[]).slice(0, TOP_CHANNELS),
    // The record envelope of a failed analysis judges nothing.
    hrei_score: attribution.result == null ? null : (shown.trust?.hreiScore ?? null),
    agent_id: shown.agentId,
    input_digest: attribution.trust?.trace.inputsDigest ?? null,
    failure: result['failure'] ?? undefined,
    url: `${publicBaseUrl}/attribution/${shown.id}`,
  });
}
