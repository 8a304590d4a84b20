import { defineEntity, p } from '@mikro-orm/core';
import type { z } from 'zod';
import type { attributionFailure } from '../../../../schema/contract/attribution-result.ts';
import type { Frozen } from '../../../../schema/contract/frozen.ts';
import type { ATTRIBUTION_STATUSES, GRANULARITIES, MODELS } from '../../../../schema/value-lists.ts';
import type { Environment } from '../../../../schema/principal.ts';
import type { Uuid } from '../../../../platform/identifiers.ts';
import type { AnalysisFigures } from './figures.ts';
import type { TrustEvidence } from './trust-evidence.ts';

export type AttributionModel = (typeof MODELS)[number];
export type Granularity = (typeof GRANULARITIES)[number];
export type AttributionStatus = (typeof ATTRIBUTION_STATUSES)[number];

/** Why an analysis failed, in words that a shop owner can act on. */
export type AttributionFailure = Frozen<z.output<typeof attributionFailure>>;

const AttributionSchema = defineEntity({
  name: 'Attribution',
  tableName: 'attributions',
  schema: 'attribution',
  properties: {
    id: p.uuid().$type<Uuid>().primary(),
    accountId: p.uuid().$type<Uuid>(),
    agentId: p.uuid().$type<Uuid>().nullable(),
    dataSourceId: p.uuid().$type<Uuid>(),
    model: p.text().$type<AttributionModel>(),
    status: p.text().$type<AttributionStatus>(),
    dateStart: p.date(),
    dateEnd: p.date(),
    granularity: p.text().$type<Granularity>(),
    channels: p.array().$type<string[]>().nullable(),
    baselineChannels: p.array().$type<string[]>().nullable(),
    lookbackWindowDays: p.integer(),
    conversionEvent: p.text(),
    confidenceLevel: p.float(),
    markovOrder: p.integer(),
    environment: p.text().$type<Environment>(),
    workspaceId: p.uuid().$type<Uuid>().nullable(),
    autoRefresh: p.boolean().default(false),
    revision: p.integer().default(1),
    result: p.json().$type<AnalysisFigures>().nullable(),
    trust: p.json().$type<TrustEvidence>().nullable(),
    failure: p.json().$type<AttributionFailure>().nullable(),
    signature: p.text().nullable(),
    /** Names the channel rules that the figures follow; null for none. */
    channelRulesDigest: p.text().nullable(),
    createdAt: p.datetime(3),
    completedAt: p.datetime(3).nullable(),
    deletedAt: p.datetime(3).nullable(),
  },
});

/**
 * One analysis and its life: pending → processing → completed | failed, and pending → failed. A job that is taken over
 * from a dead worker starts `processing` again. Nothing leaves `failed`, and only a refresh leaves `completed`, to
 * return to it: meanwhile the figures of the last revision stay.
 */
export class Attribution extends AttributionSchema.class {
  /** True while nothing is happening to this analysis, and nothing is going to unless late rows arrive. */
  isFinished(): boolean {
    return this.status === 'completed' || this.status === 'failed';
  }

  /** True while a completed analysis is run again. */
  isRefreshing(): boolean {
    return this.status === 'processing' && this.result != null;
  }

  /** The revision that the run under way will make; null while there is none. Tells the runs of one analysis apart. */
  revisionUnderWay(): number | null {
    if (this.isFinished()) return null;
    return this.result == null ? 1 : this.revision + 1;
  }

  /** A worker took the job, for the first time or from a worker that died. */
  begin(): void {
    assertOpen(this, 'begin');
    this.status = 'processing';
  }

  /** The figures are there, with the evidence of how far they can be trusted; null where that could not be measured. */
  complete(figures: AnalysisFigures, trust: TrustEvidence | null, now: Date): void {
    assertOpen(this, 'complete');
    if (this.result != null) this.revision += 1;
    this.status = 'completed';
    this.signature = null;
    this.result = figures;
    this.trust = trust;
    this.completedAt = now;
  }

  /** The figures are complete and vouched for; the signature stays with them. */
  sign(signature: string): void {
    if (this.status !== 'completed' || this.signature != null)
      throw new Error(`cannot sign attribution ${this.id}: it is ${this.status}`);
    this.signature = signature;
  }

  /** The rows of a completed analysis have changed: it is run again. */
  beginRefresh(): void {
    if (this.status !== 'completed' || !this.autoRefresh)
      throw new Error(`cannot refresh attribution ${this.id}: it is ${this.status}`);
    this.status = 'processing';
  }

  /** The refresh came to nothing: the last revision stays, with its signature. */
  keepRevision(): void {
    if (!this.isRefreshing())
      throw new Error(`cannot keep the revision of attribution ${this.id}: it is ${this.status}`);
    this.status = 'completed';
  }

  /** The analysis ended without figures. */
  fail(failure: AttributionFailure, now: Date): void {
    assertOpen(this, 'fail');
    if (this.isRefreshing()) throw new Error(`cannot fail attribution ${this.id}: it has figures`);
    this.status = 'failed';
    this.failure = failure;
    this.completedAt = now;
  }
}
AttributionSchema.setClass(Attribution);

// A function, since MikroORM guards entities with proxies, which have no private methods.
function assertOpen(attribution: Attribution, step: string): void {
  if (attribution.isFinished())
    throw new Error(`cannot ${step} attribution ${attribution.id}: it is ${attribution.status}`);
}
