import { createHash } from 'node:crypto';
import { canonicalJson } from '../../../services/trust/canonical-json.ts';
import { publicId, type Uuid } from '../../../platform/identifiers.ts';
import type { CommissionType } from './commission-rules.ts';

/** What the first entry of a chain is linked to (decisions of the contract, §7 "Chain"). */
export const GENESIS_HASH = `sha256:${'0'.repeat(64)}`;

/** An entry of an agent's commission ledger. */
export interface Commission {
  readonly id: Uuid;
  readonly agentId: Uuid;
  /** Its place in the chain of its agent, from 1 without gaps. */
  readonly sequence: number;
  readonly type: CommissionType;
  /** The agent that served the analysis. */
  readonly sourceAgentId: Uuid;
  readonly analysisId: Uuid | null;
  /** Negative where something is taken back. */
  readonly amountCents: number;
  /** ISO 4217, of the fee. */
  readonly currency: string;
  readonly deltaRCents: number;
  /** Share of the fee, in hundredths of a percent. */
  readonly rate: number;
  /** The entry that this one takes back. */
  readonly reverses: Uuid | null;
  readonly createdAt: Date;
  readonly payableAt: Date;
  readonly previousHash: string;
  readonly ledgerHash: string;
}

/** An entry as REST shows it and as it is hashed: all of it but its hash, and what changes with its payment. */
export function hashedEntry(entry: Omit<Commission, 'ledgerHash'>) {
  return {
    id: publicId('com', entry.id),
    agent_id: publicId('agent', entry.agentId),
    type: entry.type,
    source_agent_id: publicId('agent', entry.sourceAgentId),
    amount_cents: entry.amountCents,
    currency: entry.currency,
    delta_r_cents: entry.deltaRCents,
    rate: entry.rate / 10_000,
    analysis_id: entry.analysisId === null ? null : publicId('attr', entry.analysisId),
    reverses: entry.reverses === null ? null : publicId('com', entry.reverses),
    sequence: entry.sequence,
    created_at: entry.createdAt.toISOString(),
    payable_at: entry.payableAt.toISOString(),
    previous_hash: entry.previousHash,
  };
}

/**
 * `sha256:` and the hex SHA-256 of the predecessor's hash, a line feed, and the entry's canonical JSON (RFC 8785),
 * which is without `ledger_hash`, `status` and `paid_at` (decisions of the contract, §7 "Chain").
 */
export function ledgerHashOf(entry: Omit<Commission, 'ledgerHash'>): string {
  const text = `${entry.previousHash}\n${canonicalJson(hashedEntry(entry))}`;
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

/** A row of `billing.commissions`, as {@link COMMISSION_COLUMNS} reads it. */
export interface CommissionRow {
  readonly id: Uuid;
  readonly agent_id: Uuid;
  readonly sequence: number;
  readonly type: CommissionType;
  readonly source_agent_id: Uuid;
  readonly analysis_id: Uuid | null;
  readonly amount_cents: string;
  readonly currency: string;
  readonly delta_r_cents: string;
  readonly rate: number;
  readonly reverses: Uuid | null;
  readonly created: string;
  readonly payable: string;
  readonly previous_hash: string;
  readonly ledger_hash: string;
}

export const COMMISSION_COLUMNS = `c.id, c.agent_id, c.sequence, c.type, c.source_agent_id, c.analysis_id,
  c.amount_cents, c.currency, c.delta_r_cents, c.rate, c.reverses, to_jsonb(c.created_at) #>> '{}' as created,
  to_jsonb(c.payable_at) #>> '{}' as payable, c.previous_hash, c.ledger_hash`;

export function commissionOf(row: CommissionRow): Commission {
  return {
    id: row.id,
    agentId: row.agent_id,
    sequence: row.sequence,
    type: row.type,
    sourceAgentId: row.source_agent_id,
    analysisId: row.analysis_id,
    amountCents: Number(row.amount_cents),
    currency: row.currency,
    deltaRCents: Number(row.delta_r_cents),
    rate: row.rate,
    reverses: row.reverses,
    createdAt: new Date(row.created),
    payableAt: new Date(row.payable),
    previousHash: row.previous_hash,
    ledgerHash: row.ledger_hash,
  };
}
