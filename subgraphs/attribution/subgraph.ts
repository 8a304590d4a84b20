import { buildSubgraph, type Subgraph } from '../../platform/graph/subgraph-schema.ts';
import { Attribution } from './analysis/attributions/attribution.ts';
import { attributionChangeResolver } from './analysis/attributions/attribution-change-resolver.ts';
import { AttributionLinksResolver, ServedAgentType } from './analysis/attributions/attribution-links-resolver.ts';
import { attributionProgressResolver } from './analysis/attributions/attribution-progress-resolver.ts';
import { AttributionResolver } from './analysis/attributions/attribution-resolver.ts';
import type { RunAttributionServices } from './analysis/attributions/run-attribution.ts';
import { ChannelRuleResolver } from './intake/channel-rules/channel-rule-resolver.ts';
import type { ChannelRuleServices } from './intake/channel-rules/set-channel-rules.ts';
import { DataQualityResolver, type DataQualityServices } from './intake/quality/data-quality-resolver.ts';
import { DataSource } from './intake/data-sources/data-source.ts';
import { DataSourceResolver, type DataSourceServices } from './intake/data-sources/data-source-resolver.ts';
import { sourceChangeResolver } from './intake/data-sources/source-change-resolver.ts';
import { Upload } from './intake/data-sources/upload.ts';
import { Experiment } from './analysis/experiments/experiment.ts';
import { ExperimentResolver } from './analysis/experiments/experiment-resolver.ts';
import { ExperimentDesignResolver } from './analysis/designs/experiment-design-resolver.ts';
import { Insight } from './analysis/insights/insight.ts';
import { ResultVerificationResolver } from './analysis/verification/result-verification-resolver.ts';

/** Entities that the attribution subgraph keeps in PostgreSQL; touchpoints live in ClickHouse. */
export const attributionEntities = [DataSource, Upload, Experiment, Attribution, Insight];

/** The attribution subgraph: sources, their rows, experiments on their channels, and the analyses of them. */
export function attributionSubgraph(
  services: DataSourceServices & ChannelRuleServices & DataQualityServices & RunAttributionServices,
): Promise<Subgraph> {
  const dataSources = new DataSourceResolver(services);
  const attributions = new AttributionResolver(services);
  const links = new AttributionLinksResolver(
    (reference, context) => dataSources.resolveReference(reference, context),
    services.publicBaseUrl,
  );
  return buildSubgraph({
    name: 'attribution',
    resolvers: [
      dataSources,
      sourceChangeResolver(services),
      new ChannelRuleResolver(services),
      new DataQualityResolver(services),
      new ExperimentResolver(services),
      new ExperimentDesignResolver(services),
      attributions,
      links,
      attributionProgressResolver(services, attributions),
      attributionChangeResolver(services, attributions),
      new ResultVerificationResolver(services),
    ],
    references: {
      DataSource: (reference, context) => dataSources.resolveReference(reference, context),
      Attribution: (reference, context) => attributions.resolveReference(reference, context),
    },
    orphanedTypes: [ServedAgentType],
  });
}
