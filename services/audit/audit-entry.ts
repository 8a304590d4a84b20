import { createHash, createHmac, hkdfSync } from 'node:crypto';
import type { z } from 'zod';
import { auditEvent } from '../../schema/contract/audit-events.ts';
import { restForm, type InRest } from '../../schema/contract/rest-form.ts';
import { publicId, type Uuid } from '../../platform/identifiers.ts';
import { canonicalJson } from '../trust/canonical-json.ts';
import type { AuditActor, AuditSeverity } from './audit-event.ts';
import { INSTALLATION_CHAIN } from './audit-migration.ts';

/** What the first entry of a chain is linked to. */
export const GENESIS_HASH = `sha256:${'0'.repeat(64)}`;

/** The place that an entry is linked to: its predecessor, or the beginning of the chain. */
export interface ChainHead {
  readonly sequence: number;
  readonly hash: string;
}

/** What the first entry of a chain is linked to. */
export const GENESIS: ChainHead = { sequence: 0, hash: GENESIS_HASH };

/** An entry as it is stored: canonical JSON without `hash`, exactly the bytes that are hashed, and their hash. */
export interface ChainedEntry extends ChainHead {
  readonly entry: string;
}

const hashed = auditEvent.omit({ hash: true });
/** An entry as it is hashed and served (decisions of the contract, audit), its own hash apart. */
export type AuditEntry = InRest<z.input<typeof hashed>>;
const auditEntrySchema = restForm(hashed);

/** The entry that is stored as a text; null for a text that is none. */
export function parseEntry(text: string): AuditEntry | null {
  try {
    return (auditEntrySchema.safeParse(JSON.parse(text)).data ?? null) as AuditEntry | null;
  } catch {
    return null;
  }
}

/** An event that waits to be sealed, as it was told. */
export interface ToldEvent {
  readonly eventId: Uuid;
  readonly occurredAt: Date;
  readonly clientAddress: string | null;
  readonly body: {
    readonly type: string;
    readonly severity: AuditSeverity;
    readonly actor: AuditActor;
    readonly target: AuditEntry['target'];
    readonly outcome: AuditEntry['outcome'];
    readonly environment: AuditEntry['environment'];
    readonly details: Readonly<Record<string, unknown>>;
    readonly requestId: string;
    readonly userAgent: string | null;
  };
}

/** What the chain of a tenant is called in its entries; that of the installation, `installation`. */
export function chainName(chain: string): string {
  return chain === INSTALLATION_CHAIN ? 'installation' : chain;
}

/** Tells addresses apart without showing them: HMAC-SHA-256 under a key of the installation. */
export class AddressHasher {
  readonly #key: Buffer;

  /** @param secret the pepper of the installation, the same in every process */
  constructor(secret: Buffer) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', 'liftgraph audit addresses', 32));
  }

  hash(address: string): string {
    return `hmac-sha256:${createHmac('sha256', this.#key).update(address).digest('hex')}`;
  }
}

/**
 * `sha256:` and the hex SHA-256 of the predecessor's hash, a line feed, and the entry's canonical JSON (contract,
 * audit).
 */
export function entryHash(previousHash: string, entry: string): string {
  return `sha256:${createHash('sha256').update(`${previousHash}\n${entry}`).digest('hex')}`;
}

/** Gives an event its place directly behind `head`. */
export function chainEvent(
  chain: string,
  head: ChainHead,
  { eventId, occurredAt, clientAddress, body }: ToldEvent,
  addresses: AddressHasher,
): ChainedEntry {
  const content: AuditEntry = {
    chain_id: chainName(chain),
    sequence: head.sequence + 1,
    event_id: publicId('aud', eventId),
    event_type: body.type,
    severity: body.severity,
    occurred_at: occurredAt.toISOString(),
    actor: {
      type: body.actor.type,
      id: body.actor.id,
      ip_hash: clientAddress === null ? null : addresses.hash(clientAddress),
      user_agent: body.userAgent,
    },
    target: body.target,
    outcome: body.outcome,
    environment: body.environment,
    request_id: body.requestId,
    details: body.details,
    previous_hash: head.hash,
  };
  const entry = canonicalJson(content);
  return { sequence: content.sequence, entry, hash: entryHash(head.hash, entry) };
}
