/**
 * The closed value lists of the contract, each in its one place: the doors, the graph and the domain all read them
 * here. Written as REST writes them; the graph shows them in upper case.
 */

export const MODELS = ['causal', 'markov', 'shapley', 'dominance', 'rwa', 'prav'] as const;
/** Rules of thumb that stand beside the models. */
export const COMPARISON_RULES = ['last_click', 'first_click', 'linear', 'time_decay', 'position_based'] as const;
/** How far the rows pin a channel's effect down, and why no further (interface decisions §20). */
export const IDENTIFICATION_STATUSES = ['point', 'partial', 'none'] as const;
export const IDENTIFICATION_REASONS = [
  'reactive_targeting',
  'navigational_click',
  'untracked_spend',
  'too_few_exposures',
  'horizon_exceeds_data',
  'ids_split',
  'placebo_contains_effect',
  'no_placebo',
] as const;
/** What is tried on the data of a causal analysis that a sound answer has to pass. */
export const CREDIT_TESTS = [
  'held_out_placebo',
  'lead',
  'horizon_halved',
  'horizon_doubled',
  'window_halves',
  'overlap',
] as const;
export const CREDIT_TEST_STATUSES = ['pass', 'fail', 'not_applicable'] as const;
/** What is looked at in the rows of a source, and how bad it can be (interface decisions §20). */
export const QUALITY_CODES = [
  'order_match_rate',
  'user_match_rate',
  'rejected_revenue',
  'mixed_currencies',
  'spend_without_touches',
  'touches_without_spend',
  'duplicate_orders',
  'missing_days',
  'ambiguous_dates',
  'assumed_time_zone',
  'bot_like_users',
  'level_shift',
  'campaign_coverage',
  'refunds_missing',
] as const;
/** Of these, the ones after which nobody knows whose the money is (interface decisions §20). */
export const DECISIVE_QUALITY_CODES = [
  'order_match_rate',
  'user_match_rate',
  'rejected_revenue',
  'mixed_currencies',
] as const satisfies readonly (typeof QUALITY_CODES)[number][];
/** Where the margin of an analysis was said. */
export const MARGIN_ORIGINS = ['orders', 'setting', 'request'] as const;
export const QUALITY_SEVERITIES = ['info', 'warning', 'blocking'] as const;
export const QUALITY_STATUSES = ['good', 'warning', 'blocking'] as const;
export const GRANULARITIES = ['daily', 'weekly', 'monthly'] as const;
export const ATTRIBUTION_STATUSES = ['pending', 'processing', 'completed', 'failed'] as const;
/** Why an analysis ended without figures. */
export const FAILURE_CODES = [
  'insufficient_data',
  'source_unavailable',
  'amount_out_of_range',
  'data_quality_insufficient',
  'cancelled',
  'internal',
] as const;
export const ENVIRONMENTS = ['live', 'sandbox'] as const;

export const SOURCE_TYPES = ['ga4', 'shopify', 'meta_ads', 'google_ads', 'csv_upload'] as const;
export const SOURCE_STATUSES = ['connected', 'syncing', 'error'] as const;
export const SYNC_SCHEDULES = ['daily', 'weekly', 'realtime'] as const;
export const SYNC_STATUSES = ['queued', 'running', 'completed', 'failed'] as const;
/** What may stand between the cells of a CSV file. */
export const DELIMITERS = [',', ';', '\t', '|'] as const;

/** How an experiment kept some people or places away from a channel. */
export const EXPERIMENT_METHODS = ['holdout', 'geo'] as const;

/** What an analysis can be downloaded as, and what a row of it is. */
export const EXPORT_FORMATS = ['csv', 'ndjson', 'json', 'parquet'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];
export const EXPORT_LEVELS = ['channels', 'periods', 'campaigns', 'paths'] as const;
export type ExportLevel = (typeof EXPORT_LEVELS)[number];
/** What the report of an analysis can be had as. */
export const REPORT_FORMATS = ['html', 'xlsx'] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

export const CAPABILITIES = ['attribution', 'channel_analysis', 'journey', 'health', 'forecasting'] as const;

export const AGENT_STATUSES = ['active', 'suspended', 'closed'] as const;
/** Standing of an agent in the referral program, over both tables of tiers. */
export const TIERS = ['discovery', 'builder', 'partner', 'ambassador', 'enterprise'] as const;
export type Tier = (typeof TIERS)[number];

/** The dated versions that the service answers in, newest first (interface specification §9). */
export const API_VERSIONS = ['2026-02-01', '2025-11-01', '2025-08-01'] as const;

/** Where a key leads, what it is, and where it stands in its life. */
export const KEY_ENVIRONMENTS = ['live', 'test'] as const;
export const KEY_TYPES = ['sk', 'pk'] as const;
export const KEY_STATUSES = ['active', 'rotating', 'revoked', 'expired'] as const;
/** What ends a key besides its own end: the key that made it, or the grant of the token that did. */
export const KEY_BONDS = ['key', 'grant'] as const;
/** Longest time that a rotated key goes on working (interface specification §8: 24 hours). */
export const MAX_GRACE_HOURS = 24;

/** Where a referral stands; the last one for ever. */
export const REFERRAL_STATUSES = ['pending', 'active', 'churned'] as const;

/** What a commission is for (decisions of the contract, §7), and where its payment stands. */
export const COMMISSION_TYPES = ['l1_referral', 'l2_referral', 'brand_serving', 'clawback', 'adjustment'] as const;
export const COMMISSION_STATUSES = ['provisional', 'payable', 'paid', 'reversed'] as const;

/** Where an attempt to deliver an event stands, and why it failed. */
export const DELIVERY_STATUSES = ['pending', 'success', 'failed'] as const;
export const DELIVERY_ERRORS = ['timeout', 'dns', 'tls', 'connection', 'blocked_address', 'http_error'] as const;
/** Why a webhook was switched off by itself. */
export const DISABLED_REASONS = ['gone', 'consecutive_failures', 'grant_ended', 'key_ended'] as const;

/** Where the data of a workspace lies; a deployment serves one of them. */
export const REGIONS = ['eu', 'us', 'apac'] as const;
export type Region = (typeof REGIONS)[number];

/** Why a signed result is not believed. */
export const SIGNATURE_REASONS = [
  'bad_signature',
  'unknown_key',
  'revoked_key',
  'wrong_issuer',
  'digest_mismatch',
  'superseded_revision',
  'malformed_payload',
] as const;

/** Where the bill of a period stands. */
export const BILLING_STATUSES = ['accruing', 'invoiced', 'paid', 'past_due', 'void', 'none'] as const;
/** Where a subscription stands; the last one for ever. */
export const SUBSCRIPTION_STATUSES = ['pending', 'trialing', 'active', 'past_due', 'canceled'] as const;
/** Where an invoice stands; the last two for ever. */
export const INVOICE_STATUSES = ['invoiced', 'past_due', 'paid', 'void'] as const;
export const PAYMENT_METHODS = ['invoice', 'card', 'wallet'] as const;
/** What happens where a month has cost as much as the account wants to spend. */
export const SPEND_LIMIT_ACTIONS = ['block', 'notify'] as const;

/** What signatures are made for. */
export const SIGNED_SUBJECTS = ['attribution_result', 'value_receipt'] as const;

/** Bands of the trust score, and what can be wrong with an answer, by the contract's taxonomy. */
export const RISK_LEVELS = ['minimal', 'low', 'moderate', 'high', 'critical'] as const;
export const TRUST_CLASSIFICATIONS = [
  'fabrication',
  'misattribution',
  'outdated_reference',
  'reasoning_failure',
] as const;

/**
 * What the audit log knows of (contract §6), and the failed verification that the contract's table of severities names.
 */
export const AUDIT_EVENT_TYPES = [
  'agent.registered',
  'auth.token_issued',
  'auth.token_refreshed',
  'auth.failed',
  'agent.key_rotated',
  'agent.key_revoked',
  'agent.scope_changed',
  'agent.tier_changed',
  'commission.created',
  'commission.verified',
  'referral.activated',
  'rate_limit.exceeded',
  'data.accessed',
  'data.exported',
  'data.deleted',
  'audit.verification_failed',
] as const;
export const AUDIT_SEVERITIES = ['info', 'warning', 'critical'] as const;
export const AUDIT_ACTOR_TYPES = ['agent', 'key', 'system', 'anonymous'] as const;
export const AUDIT_OUTCOMES = ['success', 'failure'] as const;
/**
 * Why a chain is broken: an entry is not there (`missing`), is not what was sealed or not linked to its predecessor
 * (`altered`), or is not what a signed head saw (`head_mismatch`); a line of the heads file that no key of ours
 * signed (`head_unproven`).
 */
export const BREAK_REASONS = ['missing', 'altered', 'head_mismatch', 'head_unproven'] as const;
