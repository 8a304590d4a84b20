import { readdirSync, readFileSync } from 'node:fs';
import {
  buildSchema,
  execute,
  Kind,
  parse,
  subscribe,
  visit,
  type DocumentNode,
  type ExecutionResult,
  type FragmentDefinitionNode,
  type GraphQLSchema,
} from 'graphql';
import type { GraphClient } from '../../gateway/client.ts';
import { ProblemError } from '../../schema/problems.ts';
import type { RequestContext } from '../../schema/principal.ts';

/** A graph with the shape of the real one, as far as this door's documents see it. */
const SDL = /* GraphQL */ `
  scalar DateTime
  scalar Date
  scalar JSON
  scalar Cents
  scalar URL
  enum RiskLevel {
    MINIMAL
    LOW
    MODERATE
    HIGH
    CRITICAL
  }
  enum TrustClassification {
    FABRICATION
    MISATTRIBUTION
    OUTDATED_REFERENCE
    REASONING_FAILURE
  }
  type Detection {
    score: Float!
    semanticEntropy: Float!
    calibrationError: Float!
    perplexityAnomaly: Float!
  }
  type AttributionTrust {
    score: Float!
    factualGrounding: Float!
    knowledgeGraphDivergence: Float!
    promptSensitivity: Float!
  }
  type Provenance {
    score: Float!
    sourceRetrievability: Float!
    temporalDisplacement: Float!
    citationReliability: Float!
  }
  type Consistency {
    score: Float!
    internalConsistency: Float!
    logicalCoherence: Float!
    crossResponseConsistency: Float!
  }
  type Taxonomy {
    score: Float!
    classifications: [TrustClassification!]!
  }
  type TrustComponents {
    detection: Detection!
    attribution: AttributionTrust!
    provenance: Provenance!
    consistency: Consistency!
    taxonomy: Taxonomy!
  }
  type Verification {
    groundTruthSource: String!
    claimsVerified: Int!
    claimsTotal: Int!
    confidenceIntervalsIncluded: Boolean!
    modelRunTraceable: Boolean!
  }
  type TrustMetadata {
    hreiVersion: String!
    evaluatedAt: DateTime!
    weights: JSON!
  }
  type TrustEnvelope {
    hreiScore: Float!
    riskLevel: RiskLevel!
    components: TrustComponents!
    verification: Verification!
    metadata: TrustMetadata!
  }

  enum AttributionModel {
    CAUSAL
    MARKOV
    SHAPLEY
    DOMINANCE
    RWA
    PRAV
  }
  enum AttributionStatus {
    PENDING
    PROCESSING
    COMPLETED
    FAILED
  }
  enum Granularity {
    DAILY
    WEEKLY
    MONTHLY
  }
  enum Environment {
    LIVE
    SANDBOX
  }
  type ConfidenceInterval {
    lower: Float!
    upper: Float!
    level: Float!
  }
  type ChannelImpact {
    channel: String!
    causalLift: Float
    roi: Float
    spend: Float
    attributedRevenue: Float
    confidence: Float
    confidenceInterval: ConfidenceInterval
    lastclickRevenue: Float
    deltaR: Float
    incrementalRevenue: Float
    conversions: Float
    share: Float
    roas: Float
    rank: Int
    isBaseline: Boolean!
  }
  type TimeSeriesPoint {
    periodStart: Date!
    partial: Boolean!
    revenue: Float!
    baselineRevenue: Float!
    channels: JSON!
  }
  type CampaignImpact {
    channel: String!
    campaign: String
    spend: Float!
    touches: Float!
    attributedRevenue: Float!
    lastclickRevenue: Float!
    deltaR: Float!
    roi: Float
    roas: Float
  }
  type Failure {
    code: String!
    message: String!
  }
  enum ExperimentMethod {
    HOLDOUT
    GEO
  }
  enum ExperimentBasis {
    TOUCHES
    DAYS
  }
  type ExperimentCalibration {
    id: ID!
    channel: String!
    method: ExperimentMethod!
    period: [Date!]!
    measuredIncrementalRevenue: Float!
    measuredStandardError: Float!
    incrementalRevenue: Float!
    standardError: Float!
    overlap: Float!
    basis: ExperimentBasis!
    modelIncrementalRevenueBefore: Float!
    modelIncrementalRevenueAfter: Float!
  }
  type Diagnostics {
    journeys: Int!
    convertingJourneys: Int!
    touches: Int!
    converged: Boolean!
    iterations: Int!
    elapsedMs: Float!
    seed: String!
    runDigest: String!
    warnings: [String!]!
    models: JSON!
    experiments: [ExperimentCalibration!]!
  }
  type Attribution {
    id: ID!
    status: AttributionStatus!
    model: AttributionModel!
    dataSourceId: ID!
    dateRange: [Date!]!
    channelImpact: [ChannelImpact!]!
    methodology: String!
    confidence: Float
    createdAt: DateTime!
    completedAt: DateTime
    granularity: Granularity!
    channels: [String!]
    currency: String
    environment: Environment!
    revision: Int!
    autoRefresh: Boolean
    conversions: Float
    revenue: Float
    baselineRevenue: Float
    unattributedRevenue: Float
    lookbackWindowDays: Int!
    conversionEvent: String!
    confidenceLevel: Float!
    revenueLastclickCents: Cents
    revenueCausalCents: Cents
    deltaRCents: Cents
    deltaRNetCents: Cents
    platformFeeCents: Cents
    progress: Float
    failure: Failure
    agentId: ID
    signature: String
    trust: TrustEnvelope
    timeSeries: [TimeSeriesPoint!]
    campaigns: [CampaignImpact!]
    modelBreakdown: JSON
    comparison: JSON
    diagnostics: Diagnostics
  }
  type AttributionEdge {
    node: Attribution!
  }
  type AttributionConnection {
    edges: [AttributionEdge!]!
    totalCount: Int!
    trust: TrustEnvelope!
  }
  input AttributionFilter {
    status: AttributionStatus
    model: AttributionModel
    dataSourceId: ID
    agentId: ID
    createdAfter: DateTime
    createdBefore: DateTime
  }
  input ModelOptions {
    markovOrder: Int
  }
  input RunAttributionInput {
    dataSourceId: ID!
    dateRange: [Date!]!
    model: AttributionModel
    granularity: Granularity
    channels: [String!]
    baselineChannels: [String!]
    workspaceId: ID
    agentId: ID
    lookbackWindowDays: Int
    conversionEvent: String
    confidenceLevel: Float
    modelOptions: ModelOptions
    autoRefresh: Boolean
  }
  type RunAttributionPayload {
    attribution: Attribution!
  }
  input DeleteAttributionInput {
    id: ID!
  }
  type DeleteAttributionPayload {
    id: ID!
    deleted: Boolean!
    trust: TrustEnvelope!
  }
  input CancelAttributionInput {
    id: ID!
  }
  type CancelAttributionPayload {
    attribution: Attribution!
  }
  enum ProgressKind {
    PROGRESS
    CHANNEL_RESULT
    RESULT
    ERROR
  }
  type AttributionProgress {
    sequence: Int!
    kind: ProgressKind!
    progress: Float
    stage: String
    message: String
    model: AttributionModel
    status: AttributionStatus
    etaSeconds: Int
    channelImpact: [ChannelImpact!]
    result: Attribution
    failureCode: String
  }

  enum DataSourceType {
    GA4
    SHOPIFY
    META_ADS
    GOOGLE_ADS
    CSV_UPLOAD
  }
  enum DataSourceStatus {
    CONNECTED
    SYNCING
    ERROR
  }
  enum SyncSchedule {
    DAILY
    WEEKLY
    REALTIME
  }
  type SourceError {
    code: String!
    message: String!
    at: DateTime!
    retryable: Boolean!
  }
  type Coverage {
    earliest: Date
    latest: Date
    missingDays: [Date!]!
  }
  type RecordCounts {
    touchpoints: Int!
    conversions: Int!
    spendRows: Int!
    paths: Int!
    rejected: Int!
  }
  type Quality {
    touchpointMatchRate: Float
    unattributedShare: Float
    duplicateRate: Float
  }
  type CurrentSync {
    syncId: ID!
    progress: Float
    startedAt: DateTime!
    rows: Int!
  }
  type RecentSync {
    syncId: ID!
    status: String!
    rows: Int!
    startedAt: DateTime!
    completedAt: DateTime
  }
  type DataSourceDetail {
    coverage: Coverage
    freshnessSeconds: Int
    records: RecordCounts
    quality: Quality
    currentSync: CurrentSync
    recentSyncs: [RecentSync!]!
  }
  type DataSource {
    id: ID!
    type: DataSourceType!
    status: DataSourceStatus!
    firstSyncEta: DateTime
    lastSync: DateTime
    nextSync: DateTime
    recordsSynced: Int!
    healthScore: Float
    name: String!
    syncSchedule: SyncSchedule!
    agentId: ID
    workspaceId: ID
    brandId: ID
    currency: String
    baselineChannels: [String!]!
    createdAt: DateTime!
    error: SourceError
    detail: DataSourceDetail!
    trust: TrustEnvelope!
  }
  type DataSourceEdge {
    node: DataSource!
  }
  type DataSourceConnection {
    edges: [DataSourceEdge!]!
    totalCount: Int!
    trust: TrustEnvelope!
  }
  input ConnectDataSourceInput {
    type: DataSourceType!
    credentials: JSON!
    syncSchedule: SyncSchedule
    name: String
    agentId: ID
    workspaceId: ID
    brandId: ID
    timezone: String
    baselineChannels: [String!]
  }
  type RowError {
    line: Int!
    column: String
    code: String!
    message: String!
  }
  type IngestReport {
    kind: String!
    accepted: Int!
    rejected: Int!
    errors: [RowError!]!
    warnings: [String!]!
  }
  type ConnectDataSourcePayload {
    dataSource: DataSource!
    ingest: IngestReport
    trust: TrustEnvelope!
  }
  type RejectedRow {
    uploadId: ID!
    line: Int!
    column: String
    code: String!
    message: String!
  }
  type RejectedRowEdge {
    node: RejectedRow!
  }
  type RejectedRowConnection {
    edges: [RejectedRowEdge!]!
    totalCount: Int!
    trust: TrustEnvelope!
  }
  enum SyncStatus {
    QUEUED
    RUNNING
    COMPLETED
    FAILED
  }
  type Sync {
    syncId: ID!
    dataSourceId: ID!
    status: SyncStatus!
    requestedAt: DateTime!
  }
  input SyncDataSourceInput {
    id: ID!
  }
  type SyncDataSourcePayload {
    sync: Sync!
    trust: TrustEnvelope!
  }
  input DeleteDataSourceInput {
    id: ID!
  }
  type DeleteDataSourcePayload {
    id: ID!
    deleted: Boolean!
    trust: TrustEnvelope!
  }

  type ChannelMatch {
    channel: String
    source: String
    medium: String
    referrer: String
    clickId: String
    campaignRegex: String
  }
  type ChannelRule {
    match: ChannelMatch!
    channel: String!
  }
  type ChannelRules {
    rules: [ChannelRule!]!
    trust: TrustEnvelope!
  }
  input ChannelMatchInput {
    channel: String
    source: String
    medium: String
    referrer: String
    clickId: String
    campaignRegex: String
  }
  input ChannelRuleInput {
    match: ChannelMatchInput!
    channel: String!
  }
  input SetChannelRulesInput {
    dataSourceId: ID!
    rules: [ChannelRuleInput!]!
  }
  type SetChannelRulesPayload {
    channelRules: ChannelRules!
    trust: TrustEnvelope!
  }
  type Experiment {
    id: ID!
    dataSourceId: ID!
    channel: String!
    method: ExperimentMethod!
    period: [Date!]!
    incrementalRevenue: Float!
    standardError: Float!
    currency: String!
    notes: String
    environment: Environment!
    createdAt: DateTime!
    trust: TrustEnvelope!
  }
  type ExperimentEdge {
    node: Experiment!
  }
  type ExperimentConnection {
    edges: [ExperimentEdge!]!
    totalCount: Int!
    trust: TrustEnvelope!
  }
  input ExperimentFilter {
    dataSourceId: ID
    channel: String
  }
  input CreateExperimentInput {
    dataSourceId: ID!
    channel: String!
    method: ExperimentMethod!
    period: [Date!]!
    incrementalRevenue: Float!
    standardError: Float!
    currency: String
    notes: String
  }
  type CreateExperimentPayload {
    experiment: Experiment!
    trust: TrustEnvelope!
  }
  input DeleteExperimentInput {
    id: ID!
  }
  type DeleteExperimentPayload {
    id: ID!
    deleted: Boolean!
    trust: TrustEnvelope!
  }

  enum Capability {
    ATTRIBUTION
    CHANNEL_ANALYSIS
    JOURNEY
    HEALTH
    FORECASTING
  }
  enum Tier {
    DISCOVERY
    PARTNER
    AMBASSADOR
  }
  enum AgentStatus {
    ACTIVE
    SUSPENDED
    CLOSED
  }
  type NextTier {
    name: Tier!
    referralsNeeded: Int!
  }
  enum ReferralStatus {
    PENDING
    ACTIVE
    CHURNED
  }
  type Referral {
    referredAgentId: ID!
    referredAgentName: String!
    status: ReferralStatus!
    chainDepth: Int!
    accumulatedDeltaR: Float!
    activationProgress: Float!
    createdAt: DateTime!
    activatedAt: DateTime
    expiresAt: DateTime
  }
  type ReferralEdge {
    node: Referral!
  }
  type ReferralConnection {
    edges: [ReferralEdge!]!
    totalActive: Int!
    totalPending: Int!
    totalChurned: Int!
    totalCount: Int!
    trust: TrustEnvelope!
  }
  input ReferralFilter {
    status: ReferralStatus
    depth: Int
  }
  type RateLimits {
    requestsPerMinute: Int!
    dailyLimit: Int
  }
  type Agent {
    id: ID!
    agentUuid: ID
    name: String!
    capabilities: [Capability!]!
    referralCode: String
    tier: Tier!
    trustScore: Float!
    totalApiCalls: Int!
    totalDeltaRCents: Cents!
    activeReferrals: Int
    nextTier: NextTier
    totalCommissionEarnedCents: Cents!
    rateLimits: RateLimits
    callbackUrl: String
    redirectUris: [String!]
    public: Boolean
    status: AgentStatus
    createdAt: DateTime!
    operatorId: String
    operatorEmail: String
    trust: TrustEnvelope!
  }
  input RegisterAgentInput {
    name: String!
    operatorId: String
    operatorEmail: String
    capabilities: [Capability!]
    referralCode: String
    callbackUrl: String
  }
  input UpdateAgentInput {
    name: String
    callbackUrl: String
    redirectUris: [String!]
    public: Boolean
  }
  type UpdateAgentPayload {
    agent: Agent!
    callbackSecret: String
    trust: TrustEnvelope!
  }
  type RegisterAgentPayload {
    agent: Agent!
    apiKey: String!
    scopes: [String!]!
    callbackSecret: String
    trust: TrustEnvelope!
  }

  enum ApiKeyEnvironment {
    LIVE
    TEST
  }
  enum ApiKeyType {
    SK
    PK
  }
  enum ApiKeyStatus {
    ACTIVE
    ROTATING
    REVOKED
    EXPIRED
  }
  enum ApiKeyBond {
    KEY
    GRANT
  }
  type ApiKey {
    id: ID!
    keyPairId: ID
    name: String
    env: ApiKeyEnvironment!
    type: ApiKeyType!
    prefix: String!
    last4: String!
    scopes: [String!]!
    allowedIps: [String!]
    status: ApiKeyStatus!
    createdAt: DateTime!
    lastUsedAt: DateTime
    expiresAt: DateTime
    endsWith: ApiKeyBond
    rotatedTo: ID
    graceEndsAt: DateTime
  }
  type ApiKeyEdge {
    node: ApiKey!
  }
  type ApiKeyConnection {
    edges: [ApiKeyEdge!]!
    totalCount: Int!
    trust: TrustEnvelope!
  }
  type NewApiKey {
    id: ID!
    key: String!
    prefix: String!
    last4: String!
    env: ApiKeyEnvironment!
    type: ApiKeyType!
    createdAt: DateTime!
    expiresAt: DateTime
  }
  input CreateKeyInput {
    name: String
    scopes: [String!]
    allowedIps: [String!]
    expiresAt: DateTime
    apiVersion: String
  }
  type CreateKeyPayload {
    keyPairId: ID!
    name: String
    scopes: [String!]!
    live: NewApiKey!
    test: NewApiKey!
    trust: TrustEnvelope!
  }
  input RevokeKeyInput {
    id: ID!
  }
  type RevokeKeyPayload {
    id: ID!
    status: ApiKeyStatus!
    revokedAt: DateTime!
    trust: TrustEnvelope!
  }
  input RotateKeyInput {
    id: ID!
    graceHours: Int
  }
  input RotateAgentKeyInput {
    agentId: ID!
    graceHours: Int
  }
  type RotateKeyPayload {
    id: ID!
    key: String!
    prefix: String!
    last4: String!
    previousKeyId: ID!
    previousKeyExpiresAt: DateTime!
    rotatedAt: DateTime!
    trustScore: Float
    trust: TrustEnvelope!
  }
  input UpdateCapabilitiesInput {
    capabilities: [Capability!]!
  }
  type UpdateCapabilitiesPayload {
    agent: Agent!
    updatedAt: DateTime!
    trust: TrustEnvelope!
  }

  enum Region {
    EU
    US
    APAC
  }
  enum WorkspaceRole {
    OWNER
    ANALYST
    VIEWER
    AUDITOR
  }
  type WorkspaceMember {
    agentId: ID!
    role: WorkspaceRole!
    addedBy: ID!
    addedAt: DateTime!
  }
  type Workspace {
    id: ID!
    name: String!
    region: Region!
    brandIds: [String!]!
    role: WorkspaceRole!
    members: [WorkspaceMember!]!
    createdAt: DateTime!
    trust: TrustEnvelope!
  }
  type WorkspaceEdge {
    node: Workspace!
  }
  type WorkspaceConnection {
    edges: [WorkspaceEdge!]!
    totalCount: Int!
    trust: TrustEnvelope!
  }
  input CreateWorkspaceInput {
    name: String!
    region: Region
    brandIds: [String!]
  }
  type CreateWorkspacePayload {
    workspace: Workspace!
    trust: TrustEnvelope!
  }
  input AddWorkspaceAgentInput {
    workspaceId: ID!
    agentId: ID!
    role: WorkspaceRole!
  }
  type AddWorkspaceAgentPayload {
    workspaceId: ID!
    member: WorkspaceMember!
    isNew: Boolean!
    trust: TrustEnvelope!
  }

  enum PlanInterval {
    MONTH
    ONE_TIME
  }
  type Fee {
    rate: Float!
    floorCents: Cents!
  }
  type PlanLimits {
    requestsPerMinute: Int
    dailyLimit: Int
  }
  type Plan {
    planId: ID!
    name: String!
    priceCents: Cents
    currency: String!
    interval: PlanInterval
    trialDays: Int
    perAnalysisFee: Fee
    limits: PlanLimits!
    features: [String!]!
    selfServe: Boolean!
    current: Boolean!
  }
  enum SignatureReason {
    BAD_SIGNATURE
    UNKNOWN_KEY
    REVOKED_KEY
    WRONG_ISSUER
    DIGEST_MISMATCH
    SUPERSEDED_REVISION
    MALFORMED_PAYLOAD
  }
  input VerifyResultInput {
    jws: String
    result: JSON
  }
  type SignedSubject {
    type: String!
    id: ID!
    revision: Int!
  }
  type ResultVerification {
    valid: Boolean!
    signatureValid: Boolean!
    digestMatch: Boolean
    reason: SignatureReason
    algorithm: String!
    keyId: String
    issuer: String
    subject: SignedSubject
    signedAt: DateTime
    environment: Environment
    payload: JSON
    verifiedAt: DateTime!
    trust: TrustEnvelope!
  }
  enum AuditSeverity {
    INFO
    WARNING
    CRITICAL
  }
  enum AuditActorType {
    AGENT
    KEY
    SYSTEM
    ANONYMOUS
  }
  enum AuditOutcome {
    SUCCESS
    FAILURE
  }
  enum ChainBreakReason {
    MISSING
    ALTERED
    HEAD_MISMATCH
    HEAD_UNPROVEN
    HEADS_MISSING
  }
  type AuditActor {
    type: AuditActorType!
    id: ID
    ipHash: String
    userAgent: String
  }
  type AuditTarget {
    type: String!
    id: ID!
  }
  type AuditEvent {
    chainId: String!
    sequence: Int!
    eventId: ID!
    eventType: String!
    severity: AuditSeverity!
    occurredAt: DateTime!
    actor: AuditActor!
    target: AuditTarget
    outcome: AuditOutcome!
    environment: Environment!
    requestId: String!
    details: JSON!
    previousHash: String!
    hash: String!
  }
  type AuditEventEdge {
    node: AuditEvent!
  }
  type AuditEventConnection {
    edges: [AuditEventEdge!]!
    chainVerified: Boolean!
    totalCount: Int!
    trust: TrustEnvelope!
  }
  input AuditEventFilter {
    eventType: String
    severity: AuditSeverity
    since: DateTime
    actorId: ID
    beforeSequence: Int
  }
  input VerifyAuditChainInput {
    startSequence: Int
    endSequence: Int
  }
  type AuditChainVerification {
    chainIntact: Boolean!
    entriesVerified: Int!
    verifiedAt: DateTime!
    firstBrokenSequence: Int
    reason: ChainBreakReason
    headsMatched: Int!
    signedThrough: Int
    trust: TrustEnvelope!
  }
  enum WebhookDisabledReason {
    GONE
    CONSECUTIVE_FAILURES
  }
  enum WebhookDeliveryStatus {
    PENDING
    SUCCESS
    FAILED
  }
  enum WebhookDeliveryError {
    TIMEOUT
    DNS
    TLS
    CONNECTION
    BLOCKED_ADDRESS
    HTTP_ERROR
  }
  type WebhookStats {
    delivered: Int!
    failed: Int!
    lastSuccessAt: DateTime
    lastFailureAt: DateTime
  }
  type Webhook {
    id: ID!
    url: String!
    events: [String!]!
    active: Boolean!
    metadata: JSON!
    secretPrefix: String!
    apiVersion: String!
    environment: Environment!
    createdAt: DateTime!
    updatedAt: DateTime!
    disabledReason: WebhookDisabledReason
    stats: WebhookStats!
    trust: TrustEnvelope!
  }
  type WebhookEdge {
    node: Webhook!
  }
  type WebhookConnection {
    edges: [WebhookEdge!]!
    totalCount: Int!
    trust: TrustEnvelope!
  }
  type WebhookDelivery {
    id: ID!
    eventId: ID!
    eventType: String!
    attempt: Int!
    status: WebhookDeliveryStatus!
    url: String!
    responseStatus: Int
    responseTimeMs: Int
    responseBody: String
    error: WebhookDeliveryError
    scheduledAt: DateTime!
    sentAt: DateTime
    completedAt: DateTime
    nextAttemptAt: DateTime
    requestHeaders: JSON
    test: Boolean!
  }
  type WebhookDeliveryEdge {
    node: WebhookDelivery!
  }
  type WebhookDeliveryConnection {
    edges: [WebhookDeliveryEdge!]!
    totalCount: Int!
    trust: TrustEnvelope!
  }
  input WebhookDeliveryFilter {
    status: WebhookDeliveryStatus
    eventType: String
  }
  input CreateWebhookInput {
    url: String!
    events: [String!]!
    secret: String
    metadata: JSON
  }
  input UpdateWebhookInput {
    id: ID!
    url: String
    events: [String!]
    active: Boolean
    metadata: JSON
    secret: String
  }
  input DeleteWebhookInput {
    id: ID!
  }
  input TestWebhookInput {
    id: ID!
    eventType: String
  }
  input RedeliverWebhookInput {
    webhookId: ID!
    deliveryId: ID!
  }
  type WebhookPayload {
    webhook: Webhook!
    secret: String
    trust: TrustEnvelope!
  }
  type DeleteWebhookPayload {
    id: ID!
    deleted: Boolean!
    trust: TrustEnvelope!
  }
  type TestWebhookPayload {
    delivered: Boolean!
    eventType: String!
    delivery: WebhookDelivery!
    trust: TrustEnvelope!
  }
  type RedeliverWebhookPayload {
    delivery: WebhookDelivery!
    trust: TrustEnvelope!
  }
  type PlansPayload {
    plans: [Plan!]!
    trust: TrustEnvelope!
  }

  type Query {
    me: Agent
    agent(id: ID!): Agent
    referrals(agentId: ID, first: Int, offset: Int, filter: ReferralFilter): ReferralConnection!
    workspaces(first: Int, offset: Int): WorkspaceConnection!
    attribution(id: ID!): Attribution
    attributions(first: Int, offset: Int, filter: AttributionFilter): AttributionConnection!
    dataSource(id: ID!): DataSource
    dataSources(first: Int, offset: Int): DataSourceConnection!
    dataSourceRejects(id: ID!, first: Int, offset: Int): RejectedRowConnection!
    channelRules(dataSourceId: ID!): ChannelRules
    experiment(id: ID!): Experiment
    experiments(first: Int, offset: Int, filter: ExperimentFilter): ExperimentConnection!
    keys(first: Int, offset: Int): ApiKeyConnection!
    webhook(id: ID!): Webhook
    webhooks(first: Int, offset: Int, includeInactive: Boolean): WebhookConnection!
    webhookDeliveries(
      webhookId: ID!
      first: Int
      offset: Int
      filter: WebhookDeliveryFilter
    ): WebhookDeliveryConnection!
    plans: PlansPayload!
    auditEvents(first: Int, offset: Int, filter: AuditEventFilter): AuditEventConnection!
    verifyResult(input: VerifyResultInput!): ResultVerification!
  }
  type Mutation {
    createWebhook(input: CreateWebhookInput!): WebhookPayload!
    updateWebhook(input: UpdateWebhookInput!): WebhookPayload!
    deleteWebhook(input: DeleteWebhookInput!): DeleteWebhookPayload!
    testWebhook(input: TestWebhookInput!): TestWebhookPayload!
    redeliverWebhook(input: RedeliverWebhookInput!): RedeliverWebhookPayload!
    verifyAuditChain(input: VerifyAuditChainInput!): AuditChainVerification!
    registerAgent(input: RegisterAgentInput!): RegisterAgentPayload!
    createKey(input: CreateKeyInput!): CreateKeyPayload!
    revokeKey(input: RevokeKeyInput!): RevokeKeyPayload!
    rotateKey(input: RotateKeyInput!): RotateKeyPayload!
    rotateAgentKey(input: RotateAgentKeyInput!): RotateKeyPayload!
    updateAgent(input: UpdateAgentInput!): UpdateAgentPayload!
    updateCapabilities(input: UpdateCapabilitiesInput!): UpdateCapabilitiesPayload!
    createWorkspace(input: CreateWorkspaceInput!): CreateWorkspacePayload!
    addWorkspaceAgent(input: AddWorkspaceAgentInput!): AddWorkspaceAgentPayload!
    connectDataSource(input: ConnectDataSourceInput!): ConnectDataSourcePayload!
    syncDataSource(input: SyncDataSourceInput!): SyncDataSourcePayload!
    deleteDataSource(input: DeleteDataSourceInput!): DeleteDataSourcePayload!
    setChannelRules(input: SetChannelRulesInput!): SetChannelRulesPayload!
    createExperiment(input: CreateExperimentInput!): CreateExperimentPayload!
    deleteExperiment(input: DeleteExperimentInput!): DeleteExperimentPayload!
    runAttribution(input: RunAttributionInput!): RunAttributionPayload!
    cancelAttribution(input: CancelAttributionInput!): CancelAttributionPayload!
    deleteAttribution(input: DeleteAttributionInput!): DeleteAttributionPayload!
  }
  type RecordedEvent {
    id: ID!
    type: String!
    timestamp: DateTime!
    environment: Environment!
    subject: ID!
    data: JSON!
  }
  type EventFeedItem {
    position: Int!
    event: RecordedEvent
  }
  type Subscription {
    attributionProgress(id: ID!, after: Int): AttributionProgress!
    events(after: Int, types: [String!]): EventFeedItem!
  }
`;

type Resolver = (args: never, context: RequestContext) => unknown;
/** Root resolvers by field; a subscription field returns an async iterable of its values. */
export type Resolvers = Record<string, Resolver>;

/** A client over the graph above, with the documents of the repository. */
export function graphClient(
  resolvers: Resolvers,
): GraphClient & { readonly calls: { readonly name: string; readonly variables: unknown }[] } {
  const apiSchema = buildSchema(SDL);
  const documents = loadDocuments();
  const calls: { name: string; variables: unknown }[] = [];
  const document = (name: string): DocumentNode => {
    const found = documents.get(name);
    if (found === undefined) throw new Error(`no document ${name}`);
    return found;
  };
  return {
    calls,
    operations: [...documents.keys()],
    apiSchema,
    document,
    async execute(name, variables, context) {
      calls.push({ name, variables });
      return dataOf(
        await execute({
          schema: apiSchema,
          document: document(name),
          variableValues: variables,
          contextValue: context,
          rootValue: resolvers,
        }),
      );
    },
    subscribe(name, variables, context) {
      calls.push({ name, variables });
      return subscription(apiSchema, document(name), variables, context, resolvers);
    },
  };
}

function dataOf(result: ExecutionResult): Record<string, unknown> {
  const error = result.errors?.[0];
  if (error === undefined) return result.data as Record<string, unknown>;
  throw error.originalError ?? new ProblemError('internal_error', error.message, { cause: error });
}

function subscription(
  schema: GraphQLSchema,
  document: DocumentNode,
  variables: Readonly<Record<string, unknown>>,
  context: RequestContext,
  resolvers: Resolvers,
): AsyncIterableIterator<Record<string, unknown>> {
  const rootValue = Object.fromEntries(
    Object.entries(resolvers).map(([field, resolve]) => [
      field,
      (args: never) => wrapped(resolve(args, context) as AsyncIterable<unknown>, field),
    ]),
  );
  const opened = (async () =>
    subscribe({ schema, document, variableValues: variables, contextValue: context, rootValue }))();
  const source = async () => {
    const iterator = await opened;
    if (!(Symbol.asyncIterator in iterator)) throw iterator.errors![0]!.originalError ?? iterator.errors![0]!;
    return iterator;
  };
  return {
    async next() {
      const { done, value } = await (await source()).next();
      return done === true ? { done, value: undefined } : { done: false, value: dataOf(value) };
    },
    async return() {
      await (await source()).return(undefined as never);
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

function wrapped(source: AsyncIterable<unknown>, field: string): AsyncIterable<Record<string, unknown>> {
  const iterator = source[Symbol.asyncIterator]();
  return {
    [Symbol.asyncIterator]: () => ({
      async next() {
        const { done, value } = await iterator.next();
        return done === true ? { done, value: undefined } : { done: false, value: { [field]: value } };
      },
      async return() {
        await iterator.return?.();
        return { done: true, value: undefined };
      },
    }),
  };
}

function loadDocuments(): Map<string, DocumentNode> {
  const directory = new URL('../../schema/operations/', import.meta.url);
  const definitions = readdirSync(directory).flatMap(
    (file) => parse(readFileSync(new URL(file, directory), 'utf8')).definitions,
  );
  const fragments = new Map(
    definitions
      .filter((definition): definition is FragmentDefinitionNode => definition.kind === Kind.FRAGMENT_DEFINITION)
      .map((fragment) => [fragment.name.value, fragment]),
  );
  const documents = new Map<string, DocumentNode>();
  for (const definition of definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    const used = new Set<FragmentDefinitionNode>();
    const collect = (node: DocumentNode['definitions'][number]): unknown =>
      visit(node, {
        FragmentSpread({ name }) {
          const fragment = fragments.get(name.value)!;
          if (used.has(fragment)) return;
          used.add(fragment);
          collect(fragment);
        },
      });
    collect(definition);
    documents.set(definition.name!.value, { kind: Kind.DOCUMENT, definitions: [definition, ...used] });
  }
  return documents;
}
