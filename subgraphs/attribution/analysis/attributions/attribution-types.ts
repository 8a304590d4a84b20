import { z } from 'zod';
import type { channelImpact, campaignImpact, timeSeriesPoint } from '../../../../schema/contract/attribution-impact.ts';
import { attributionChange, attributionProgress } from '../../../../schema/contract/attribution-progress.ts';
import { newAttribution } from '../../../../schema/contract/attribution-request.ts';
import { attribution } from '../../../../schema/contract/attribution-result.ts';
import { attributions } from '../../../../schema/contract/attributions.ts';
import type { Frozen } from '../../../../schema/contract/frozen.ts';
import { memberOf } from '../../../../schema/contract/rest-form.ts';
import { graphTypes } from '../../../../schema/contract/terms.ts';
import { trustEnvelope } from '../../../../schema/contract/trust-envelope.ts';
import { inputTypeOf, objectTypeOf } from '../../../../platform/graph/contract-types.ts';
import { nounTypes } from '../../../../platform/graph/noun-types.ts';

/* GraphQL's types of an analysis, and what resolvers give for them. */

export type AttributionRecord = Frozen<z.output<typeof attribution>>;
export type ChannelImpact = Frozen<z.output<typeof channelImpact>>;
export type CampaignImpact = Frozen<z.output<typeof campaignImpact>>;
export type TimeSeriesPoint = Frozen<z.output<typeof timeSeriesPoint>>;
export type AttributionProgress = Frozen<z.output<typeof attributionProgress>>;
export type AttributionChange = Frozen<z.output<typeof attributionChange>>;

/** What stands in the contract as rows. */
export const attributionTypes = nounTypes(attributions);
export const AttributionProgressType = objectTypeOf(attributionProgress);
export const AttributionChangeType = objectTypeOf(attributionChange);

export const RunAttributionInput = inputTypeOf('RunAttributionInput', newAttribution);
const acceptedAttribution = z
  .object({
    attribution: memberOf(attribution, 'The analysis, usually still pending.'),
    trust: trustEnvelope.nullable().meta({ graph: 'Trust envelope of the analysis.' }),
  })
  .register(graphTypes, { name: 'RunAttributionPayload', description: 'The analysis that was accepted.' });
export type AcceptedAttribution = Frozen<z.output<typeof acceptedAttribution>>;
export const RunAttributionPayload = objectTypeOf(acceptedAttribution);
