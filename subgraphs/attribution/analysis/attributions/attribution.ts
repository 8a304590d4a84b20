import { defineEntity, p } from '@mikro-orm/core';
import type { QualityCode } from '../../../../schema/contract/data-quality.ts';
import type { GRANULARITIES, MODELS } from '../../../../schema/value-lists.ts';
import type { Uuid } from '../../../../platform/identifiers.ts';
import { runColumns } from '../../runs/run.ts';
import type { StoredRuns } from '../../runs/run-table.ts';
import type { AnalysisFigures } from './figures.ts';
import { MANY_TOUCHES } from './large-run.ts';
import type { TrustEvidence } from './trust-evidence.ts';

export type AttributionModel = (typeof MODELS)[number];
export type Granularity = (typeof GRANULARITIES)[number];

const AttributionSchema = defineEntity({
  name: 'Attribution',
  tableName: 'attributions',
  schema: 'attribution',
  properties: {
    ...runColumns<AnalysisFigures>(),
    agentId: p.uuid().$type<Uuid>().nullable(),
    /** The first of several. */
    dataSourceId: p.uuid().$type<Uuid>(),
    /** All of several; null for one. */
    dataSourceIds: p.array().columnType('uuid[]').$type<Uuid[]>().nullable(),
    model: p.text().$type<AttributionModel>(),
    dateStart: p.date(),
    dateEnd: p.date(),
    granularity: p.text().$type<Granularity>(),
    channels: p.array().$type<string[]>().nullable(),
    baselineChannels: p.array().$type<string[]>().nullable(),
    /** Share of revenue left after the cost of goods, by whoever asked; null where nothing was said. */
    margin: p.float().nullable(),
    lookbackWindowDays: p.integer(),
    conversionEvent: p.text(),
    confidenceLevel: p.float(),
    markovOrder: p.integer(),
    workspaceId: p.uuid().$type<Uuid>().nullable(),
    autoRefresh: p.boolean().default(false),
    trust: p.json().$type<TrustEvidence>().nullable(),
    signature: p.text().nullable(),
    /** Names how the rows of the figures were read, by `readingDigest`; null for one source without rules. */
    channelRulesDigest: p.text().nullable(),
    /** What may be wrong with the rows, by whoever asked. */
    acceptQuality: p.array().$type<QualityCode[]>().nullable(),
  },
});

/** One analysis: what was asked, where its run is, and what it found. */
export class Attribution extends AttributionSchema.class {
  /** The result is complete and vouched for; the signature stays with it until the next revision. */
  sign(signature: string): void {
    if (this.status !== 'completed' || this.signature != null)
      throw new Error(`cannot sign attribution ${this.id}: it is ${this.status}`);
    this.signature = signature;
  }
}
AttributionSchema.setClass(Attribution);

/** Where analyses are kept, and how they are called. */
export const ATTRIBUTION_RUNS: StoredRuns<Attribution> = {
  name: 'attribution',
  noun: 'analysis',
  prefix: 'attr',
  entity: Attribution,
  table: 'attribution.attributions',
  progressTable: 'attribution.attribution_progress',
  manyRows: MANY_TOUCHES,
};
