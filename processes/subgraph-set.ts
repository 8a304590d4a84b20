import { KeyStore } from '../services/identity/keys/key-store.ts';
import {
  DEFAULT_PUBLIC_BASE_URL,
  DEFAULT_REGION,
  DEFAULT_SOURCES_PER_ACCOUNT,
  DEFAULT_TIER_TABLE,
  planOfNewcomers,
  type Config,
} from './config/config.ts';
import { EndpointSecrets } from '../services/webhooks/endpoint-secret.ts';
import type { Subgraph } from '../platform/graph/subgraph-schema.ts';
import type { Caller } from '../platform/outgoing/caller.ts';
import { KeyVault } from '../services/trust/key-vault.ts';
import { findPublicFace } from '../subgraphs/agents/registry/public-face.ts';
import { agentScores, NARROW_SCOPE_BONUS } from '../subgraphs/agents/registry/trust-score.ts';
import { agentsSubgraph } from '../subgraphs/agents/subgraph.ts';
import { regexCheck } from '../subgraphs/attribution/intake/channel-rules/set-channel-rules.ts';
import { Connectors, SERVED } from '../subgraphs/attribution/intake/connectors/registry.ts';
import { SourceCredentials } from '../subgraphs/attribution/intake/connectors/source-credentials.ts';
import type { InspectRecords, ReceiveRecords } from '../subgraphs/attribution/intake/data-sources/records.ts';
import { sandboxRefresh } from '../subgraphs/attribution/sandbox/refresh-sandbox.ts';
import { attributionSubgraph } from '../subgraphs/attribution/subgraph.ts';
import { inspectRecords } from '../subgraphs/attribution/intake/files/inspect-records.ts';
import { receiveRecords } from '../subgraphs/attribution/intake/files/receive-records.ts';
import { listRejects, rejectsBefore } from '../subgraphs/attribution/intake/files/rejects.ts';
import { withoutGaps } from '../subgraphs/attribution/intake/touchpoints/named-rows.ts';
import { qualityMeasure } from '../subgraphs/attribution/intake/quality/measure-quality.ts';
import { measureSource, sourceChannels } from '../subgraphs/attribution/intake/touchpoints/touchpoint-store.ts';
import { feeAhead } from '../subgraphs/billing/fees/charge.ts';
import { refuseUnpayable } from '../subgraphs/billing/subscriptions/refuse-unpayable.ts';
import { invoiceProvider } from '../subgraphs/billing/subscriptions/payment-provider.ts';
import { billingSubgraph } from '../subgraphs/billing/subgraph.ts';
import { auditLog, type AuditPlaces } from './audit-services.ts';
import type { BackingServices } from './backing-services.ts';
import { endReferrals } from './end-referrals.ts';

export type SubgraphName = 'attribution' | 'agents' | 'billing';

/** Ports of the attribution subgraph that no GraphQL operation can carry. */
export interface RecordsPort {
  readonly receiveRecords: ReceiveRecords;
  readonly inspectRecords: InspectRecords;
}

export interface SubgraphOptions {
  readonly backing: BackingServices;
  readonly keyPepper: Buffer;
  /** Seals the secrets of webhooks and the credentials of data sources. */
  readonly keyEncryptionKey: string;
  /** The way out, to addresses that customers name. */
  readonly outgoing: Caller;
  readonly auditPlaces: AuditPlaces;
  /** The types of data sources that can be connected; those of every deployment when absent. */
  readonly connectors?: Connectors;
  readonly clock: () => Date;
  readonly config: Pick<Config, 'billing'> &
    Partial<Pick<Config, 'publicBaseUrl' | 'trustNarrowScopeBonus' | 'region' | 'tierTable' | 'sourcesPerAccount'>>;
}

/** The verbs behind uploads, with their services filled in. */
export function recordsPort({ backing, clock }: Pick<SubgraphOptions, 'backing' | 'clock'>): RecordsPort {
  const services = {
    database: backing.database,
    jobs: backing.jobs,
    clickhouse: backing.clickhouse,
    readingRoom: backing.readingRoom,
    clock,
    measureSource: measureSource(backing.clickhouse, clock),
  };
  return {
    receiveRecords: (principal, dataSourceId, records, onStored) =>
      receiveRecords(services, principal, dataSourceId, records, onStored),
    inspectRecords: (principal, dataSourceId, records) => inspectRecords(services, principal, dataSourceId, records),
  };
}

/** Builds one subgraph with its services filled in. */
export function buildNamedSubgraph(name: SubgraphName, options: SubgraphOptions): Promise<Subgraph> {
  const { backing, keyPepper, clock, config } = options;
  const { database, jobs, pubSub, clickhouse } = backing;
  switch (name) {
    case 'agents':
      return agentsSubgraph({
        database,
        pubSub,
        outgoing: options.outgoing,
        endpointSecrets: new EndpointSecrets(new KeyVault(options.keyEncryptionKey)),
        keys: new KeyStore(database, keyPepper),
        auditLog: auditLog(database, keyPepper, options.auditPlaces),
        clock,
        newcomersPlan: planOfNewcomers(config.billing),
        agentScores: agentScores(config.trustNarrowScopeBonus ?? NARROW_SCOPE_BONUS),
        region: config.region ?? DEFAULT_REGION,
        tierTable: config.tierTable ?? DEFAULT_TIER_TABLE,
        endReferrals: () => endReferrals(database, { pubSub, tierTable: config.tierTable ?? DEFAULT_TIER_TABLE }),
      });
    case 'billing':
      return billingSubgraph({
        database,
        pubSub,
        clock,
        payments: invoiceProvider,
        auditLog: auditLog(database, keyPepper, options.auditPlaces),
      });
    case 'attribution':
      return attributionSubgraph({
        database,
        jobs,
        pubSub,
        clock,
        publicBaseUrl: config.publicBaseUrl ?? DEFAULT_PUBLIC_BASE_URL,
        feeAhead,
        refuseUnpayable,
        ...recordsPort(options),
        listRejects: (source, page) => listRejects(clickhouse, source, page),
        rejectsBefore: (source, row) => rejectsBefore(clickhouse, source, row),
        connectors: options.connectors ?? new Connectors(SERVED),
        sourceCredentials: new SourceCredentials(new KeyVault(options.keyEncryptionKey)),
        refreshSandbox: sandboxRefresh({ database, clickhouse, clock }),
        mostSources: config.sourcesPerAccount ?? DEFAULT_SOURCES_PER_ACCOUNT,
        isAgent: async (id) => (await findPublicFace(database, id)) !== null,
        channelsOf: async (source) => sourceChannels(clickhouse, await withoutGaps(clickhouse, source)),
        isRegex: regexCheck(clickhouse),
        measureQuality: qualityMeasure(clickhouse),
      });
  }
}

/** All three. */
export function buildSubgraphs(options: SubgraphOptions): Promise<Subgraph[]> {
  return Promise.all((['attribution', 'agents', 'billing'] as const).map((name) => buildNamedSubgraph(name, options)));
}
