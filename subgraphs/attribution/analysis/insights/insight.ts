import { defineEntity, p } from '@mikro-orm/core';
import { ATTRIBUTION_DEFAULTS } from '../../../../schema/contract/attribution-request.ts';
import { QUALITY_CODES } from '../../../../schema/value-lists.ts';
import type { Uuid } from '../../../../platform/identifiers.ts';
import { runColumns } from '../../runs/run.ts';
import type { StoredRuns } from '../../runs/run-table.ts';
import { ATTRIBUTION_RUNS } from '../attributions/attribution.ts';
import type { AskedAnalysis } from '../attributions/compute-analysis.ts';
import type { AnalysisFigures } from '../attributions/figures.ts';
import type { TrustEvidence } from '../attributions/trust-evidence.ts';

const InsightSchema = defineEntity({
  name: 'Insight',
  tableName: 'insights',
  schema: 'attribution',
  properties: {
    ...runColumns<AnalysisFigures>(),
    /** The first of several. */
    dataSourceId: p.uuid().$type<Uuid>(),
    /** All of several; null for one. */
    dataSourceIds: p.array().columnType('uuid[]').$type<Uuid[]>().nullable(),
    dateStart: p.date(),
    dateEnd: p.date(),
    /** Names the rows, rules and experiments that it stands on: on others, it says nothing. */
    ground: p.text(),
    trust: p.json().$type<TrustEvidence>().nullable(),
  },
});

/**
 * A causal run that a read needed, since no analysis had the figures that it is made of. It has a table of its own, so
 * that nothing which lists, shows, announces, bills or counts analyses can meet it.
 */
export class Insight extends InsightSchema.class {}
InsightSchema.setClass(Insight);

/** Where such runs are kept, and how they are called. */
export const INSIGHT_RUNS: StoredRuns<Insight> = {
  name: 'insight',
  noun: 'run',
  prefix: 'ins',
  entity: Insight,
  table: 'attribution.insights',
  progressTable: 'attribution.insight_progress',
  manyRows: ATTRIBUTION_RUNS.manyRows,
};

/**
 * An analysis as it is when nothing is asked for but sources and range. Rows that are bad refuse whoever reads it, not
 * the run: the next one may accept them.
 */
export function askedBy(insight: Insight): AskedAnalysis {
  const { accountId, environment, dataSourceId, dataSourceIds, dateStart, dateEnd } = insight;
  const { granularity, lookbackWindowDays, conversionEvent, confidenceLevel, markovOrder } = ATTRIBUTION_DEFAULTS;
  return {
    accountId,
    environment,
    dataSourceId,
    dataSourceIds: dataSourceIds ?? null,
    dateStart,
    dateEnd,
    model: 'causal',
    baselineChannels: null,
    granularity,
    lookbackWindowDays,
    conversionEvent,
    confidenceLevel,
    markovOrder,
    acceptQuality: [...QUALITY_CODES],
  };
}
