import { z } from 'zod';
import { AUDIT_ACTOR_TYPES, AUDIT_EVENT_TYPES, AUDIT_OUTCOMES } from '../value-lists.ts';
import { AUDIT_SEVERITIES, BREAK_REASONS } from '../value-lists.ts';
import { noun } from './noun.ts';
import { memberOf } from './rest-form.ts';
import { environment, graphTypes, id, inRest, moment } from './terms.ts';

const severity = z.enum(AUDIT_SEVERITIES).register(graphTypes, {
  name: 'AuditSeverity',
  description: 'How much attention an event of the audit log asks for.',
});
const actorType = z.enum(AUDIT_ACTOR_TYPES).register(graphTypes, {
  name: 'AuditActorType',
  description: 'What kind of caller acted.',
});
const outcome = z.enum(AUDIT_OUTCOMES).register(graphTypes, {
  name: 'AuditOutcome',
  description: 'Whether what was tried happened.',
});
const breakReason = z.enum([...BREAK_REASONS, 'heads_missing']).register(graphTypes, {
  name: 'ChainBreakReason',
  description:
    'MISSING: an entry is not there. ALTERED: an entry is not what was sealed. HEAD_MISMATCH: an entry is not what ' +
    'a signed head saw. HEAD_UNPROVEN: a line of the heads file was signed by nobody here. HEADS_MISSING: heads ' +
    'that were signed are not in the heads file.',
});

const anyId = z.string().meta({ scalar: 'ID' });
const actor = z
  .object({
    type: actorType.meta({ graph: 'What kind of caller.' }),
    id: anyId.nullable().meta({ graph: 'Public id of the agent or key; null for the system and for strangers.' }),
    ipHash: z.string().nullable().meta({
      graph: 'HMAC-SHA-256 of the address under a key of the installation: equal for equal addresses.',
    }),
    userAgent: z.string().nullable().meta({ graph: 'As the client called itself, at most 256 characters.' }),
  })
  .register(graphTypes, { name: 'AuditActor', description: 'Who acted.' });
const target = z
  .object({
    type: z.string().meta({ graph: 'Kind of thing, for example attribution.' }),
    id: anyId.meta({ graph: 'Its public id.' }),
  })
  .register(graphTypes, { name: 'AuditTarget', description: 'What was acted on.' });

/**
 * An entry as it is served. REST's form without the hash is what is stored and hashed: no released member may change.
 */
export const auditEvent = z
  .object({
    chainId: z.string().meta({ graph: 'The chain that it belongs to; it is part of what is hashed.' }),
    sequence: z.int().min(1).meta({ graph: 'Place in the chain, from 1, without gaps.' }),
    eventId: id('aud').meta({ graph: 'Public id, aud_ and 22 characters.' }),
    eventType: z.string().meta({ graph: 'What happened, for example agent.registered.' }),
    severity: severity.meta({ graph: 'How much attention it asks for.' }),
    occurredAt: moment.meta({ graph: 'When it happened, by the clock of the database.' }),
    actor: memberOf(actor, 'Who acted.'),
    target: target.nullable().meta({ graph: 'What was acted on.' }),
    outcome: outcome.meta({ graph: 'Whether it happened.' }),
    environment: environment.meta({ graph: 'Live data, or the sandbox.' }),
    requestId: z.string().meta({ graph: 'The request in which it happened.' }),
    details: z.record(z.string(), z.unknown()).meta({ graph: 'What the type of the event adds.' }),
    previousHash: z.string().meta({ graph: 'Hash of the entry before; sha256: and 64 zeros for the first.' }),
    hash: z.string().meta({
      description: 'SHA-256 of previous_hash, a line feed, and the canonical JSON (RFC 8785) of the entry without hash',
      graph: 'sha256: and 64 hexadecimal digits.',
    }),
  })
  .meta({
    id: 'AuditEvent',
    graph:
      'One entry of the audit log. The log is append-only and hash-chained: hash = SHA-256(previousHash, line feed, ' +
      'canonical JSON of the entry as REST shows it, without hash).',
  });

const pageVerdict = z
  .object({
    chainVerified: z.boolean().meta({
      graph:
        'Whether every entry of the page has its hash and is linked to its neighbours. verifyAuditChain ' +
        'checks the rest.',
    }),
  })
  .meta({ graph: 'One page of the audit log, the newest first.' });

const MOMENT_FAULT = 'must be a moment such as 2026-02-01T09:30:00Z';
export const auditFilter = z
  .object({
    eventType: z.enum(AUDIT_EVENT_TYPES).meta({ scalar: 'String' }).optional().meta({ graph: 'Only this type.' }),
    severity: severity.optional().meta({ graph: 'Only this severity.' }),
    since: inRest(z.iso.datetime({ offset: true, error: MOMENT_FAULT }), z.date())
      .optional()
      .meta({
        description: 'Not before this moment',
      }),
    actorId: z.string().min(1).max(64).meta({ scalar: 'ID' }).optional().meta({
      description: 'Agent or key, agent_…, its UUID, or key_…',
      graph: 'Only what this agent, by public id or UUID, or this key did.',
    }),
    beforeSequence: z.int().min(1).optional().meta({
      description: 'Only older entries than this one: the next page while the log grows',
      graph: 'Only entries before this one: the next page while the log grows.',
    }),
  })
  .meta({ graph: 'Narrows the audit log.' });

export const LARGEST_SEQUENCE = 2 ** 31 - 1;
const namedSequence = z.int().min(1).max(LARGEST_SEQUENCE);
export const auditVerifyRequest = z
  .object({
    startSequence: namedSequence.optional().meta({ default: 1, graph: 'First entry; 1 when nothing is said.' }),
    endSequence: namedSequence.optional().meta({
      description: 'The last entry when left out, or when there are fewer',
      graph: 'Last entry; the last of all when nothing is said or there are fewer.',
    }),
  })
  .meta({ id: 'AuditVerifyRequest', graph: 'A range of the chain.' });

const count = z.int().min(0);
const verification = z
  .object({
    chainIntact: z.boolean().meta({
      graph: 'Whether every entry has its hash, is linked to the one before, and is what the signed heads saw.',
    }),
    entriesVerified: count.meta({
      description: 'Entries found right, up to the first that is not',
    }),
    verifiedAt: moment.meta({ graph: 'When it was checked.' }),
    firstBrokenSequence: z.int().nullable().meta({ graph: 'First entry that is not right.' }),
    reason: breakReason.nullable().meta({
      description: 'Null when intact',
      graph: 'What is wrong; null for an intact chain.',
    }),
    headsMatched: count.meta({
      description: 'Signed heads in the range that the chain agrees with',
    }),
    signedThrough: z.int().nullable().meta({
      description: 'Last entry that a signed head vouches for; null where none was signed yet',
    }),
  })
  .meta({ id: 'AuditChainVerification', graph: 'What came of checking a range of the chain.' });

const example = {
  chain_id: '019c17a2-5d0e-7c3a-9b1f-0d2f6a4c8e10',
  sequence: 1,
  event_id: 'aud_01JQ2n4Kc7WyQhTzBdMpRs',
  event_type: 'agent.registered',
  severity: 'info',
  occurred_at: '2026-02-01T09:20:11.000Z',
  actor: { type: 'agent', id: 'agent_01JQ2kZr5uHn4GdPaLxWqB', ip_hash: null, user_agent: 'curl/8.5.0' },
  target: { type: 'agent', id: 'agent_01JQ2kZr5uHn4GdPaLxWqB' },
  outcome: 'success',
  environment: 'live',
  request_id: 'req_01JQ2kZr5uHn4GdPaLxWqC',
  details: { capabilities: ['attribution'], referred: false, tier: 'discovery' },
  previous_hash: `sha256:${'0'.repeat(64)}`,
  // Of the members above; a test computes it anew.
  hash: 'sha256:637c35ddf84de70fc12a1fe22440ed7857667e0c80f3648158a0d0e2f0504d11',
};

export const auditEvents = noun({
  one: 'audit event',
  many: 'audit-events',
  listed: 'events',
  tag: 'Audit',
  record: auditEvent,
  withoutTrust: true,
  example,
  operations: {
    listAuditEvents: {
      method: 'GET',
      path: '/audit/events',
      kind: 'read',
      action: 'audit:read',
      field: 'auditEvents',
      summary: 'Read the audit log',
      description:
        'Newest first. Every entry can be hashed again by its reader; chain_verified says that each on this page ' +
        'was, and is linked to its neighbours. A test key sees the entries of the sandbox alone. Entries older than ' +
        '90 days may come from an archive, which takes longer.',
      graph:
        'Events of the account, newest first, at most 500 at a time; a test key sees those of the sandbox alone. ' +
        'Errors: VALIDATION_ERROR, INSUFFICIENT_PERMISSIONS.',
      filter: auditFilter,
      answer: { page: auditEvent, beside: pageVerdict },
      answered: 'A page of the log',
    },
    verifyAuditChain: {
      method: 'POST',
      path: '/audit/verify',
      kind: 'write',
      action: 'audit:read',
      summary: 'Verify the audit chain',
      description:
        'Hashes a range of the log again, checks every link, and compares it with the heads that were signed ' +
        'outside of the database: entries that were changed, taken out, swapped or cut off, and a chain that was ' +
        'hashed anew, are found. A failed verification is itself a critical event of the log.',
      graph:
        'Checks a range of the chain against its hashes and the signed heads; a chain that does not hold is itself a ' +
        'critical event. Errors: VALIDATION_ERROR, INSUFFICIENT_PERMISSIONS.',
      input: auditVerifyRequest,
      bodyOptional: true,
      answer: { outcome: verification, trust: 'Trust envelope of the answer.' },
      answered: 'What came of it',
      example: {
        body: { start_sequence: 1, end_sequence: 120 },
        response: {
          chain_intact: true,
          entries_verified: 120,
          verified_at: '2026-02-01T09:30:00.000Z',
          first_broken_sequence: null,
          reason: null,
          heads_matched: 2,
          signed_through: 120,
        },
        records: 120,
      },
    },
  },
});
