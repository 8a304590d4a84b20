import { defineEntity, p } from '@mikro-orm/core';
import type { ExperimentRecord } from '../../../../schema/contract/experiments.ts';
import type { Environment } from '../../../../schema/principal.ts';
import type { Uuid } from '../../../../platform/identifiers.ts';

export type ExperimentMethod = ExperimentRecord['method'];

const ExperimentSchema = defineEntity({
  name: 'Experiment',
  tableName: 'experiments',
  schema: 'attribution',
  properties: {
    id: p.uuid().$type<Uuid>().primary(),
    accountId: p.uuid().$type<Uuid>(),
    dataSourceId: p.uuid().$type<Uuid>(),
    environment: p.text().$type<Environment>(),
    channel: p.text(),
    channels: p.array().$type<string[]>().nullable(),
    method: p.text().$type<ExperimentMethod>(),
    periodStart: p.date(),
    periodEnd: p.date(),
    incrementalRevenue: p.float(),
    standardError: p.float(),
    currency: p.text(),
    notes: p.text().nullable(),
    createdAt: p.datetime(3),
  },
});

/**
 * A measured effect: what a channel added to the revenue of the whole shop over a period, by an experiment that kept
 * some people (`holdout`) or places (`geo`) away from it. `incrementalRevenue ± standardError` in major units of the
 * source's currency; the effect may be negative. Several channels that were kept away together stand in `channels`,
 * and `channel` is what they are called together. A source has one result per channel, method and period.
 */
export class Experiment extends ExperimentSchema.class {}
ExperimentSchema.setClass(Experiment);
