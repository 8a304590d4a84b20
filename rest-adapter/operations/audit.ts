import { z } from 'zod';
import { BREAK_REASONS } from '../../services/audit/audit-chain.ts';
import { auditEntrySchema, entryHash } from '../../services/audit/audit-entry.ts';
import { AUDIT_EVENT_TYPES, AUDIT_SEVERITIES } from '../../services/audit/audit-event.ts';
import { canonicalJson } from '../../services/trust/canonical-json.ts';
import { given, inOrder, nodesAt, objectAt } from '../members.ts';
import { operation, type Json } from '../operation.ts';
import { graphPage, isWithinReach, meta, pageParameters, presentMeta, queryInteger } from '../representations/list.ts';
import { exampleTrust, trustEnvelope } from '../representations/trust-envelope.ts';

/** As it is hashed, and its hash: without the hash, its canonical JSON is what was hashed. */
const auditEvent = auditEntrySchema.extend({ hash: z.string().meta({ description: 'SHA-256 of previous_hash, a line feed, and the canonical JSON (RFC 8785) of the entry without hash' }) }).meta({ id: 'AuditEvent' });

const LARGEST_SEQUENCE = 2 ** 31 - 1;

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 500;

const eventsQuery = z
  .object({
    event_type: z.enum(AUDIT_EVENT_TYPES).optional(),
    severity: z.enum(AUDIT_SEVERITIES).optional(),
    since: z.iso.datetime({ offset: true, error: 'must be a moment such as 2026-02-01T09:30:00Z' }).optional().meta({ description: 'Not before this moment' }),
    actor_id: z.string().min(1).max(64).optional().meta({ description: 'Agent or key, agent_… or key_…' }),
    before_sequence: queryInteger(1, LARGEST_SEQUENCE, 'Only older entries than this one: the next page while the log grows').optional(),
    limit: queryInteger(1, MAX_LIMIT, 'Entries per page; 50 when nothing is said').optional(),
    page: pageParameters.page,
    per_page: queryInteger(1, 100, 'The same as limit, as other lists have it').optional(),
  })
  .refine(({ page, limit, per_page }) => isWithinReach(page, limit ?? per_page ?? DEFAULT_LIMIT, MAX_LIMIT), { path: ['page'], message: 'page × limit must not pass 100 000; go on with before_sequence', params: { code: 'page_out_of_reach' } });

/** The page that a query asks for. */
function pageOf({ page, limit, per_page }: z.output<typeof eventsQuery>): { readonly page: number; readonly per_page: number } {
  return { page, per_page: limit ?? per_page ?? DEFAULT_LIMIT };
}

const verification = z
  .object({
    chain_intact: z.boolean(),
    entries_verified: z.int().min(0).meta({ description: 'Entries found right, up to the first that is not' }),
    verified_at: z.iso.datetime(),
    first_broken_sequence: z.int().nullable(),
    reason: z.enum([...BREAK_REASONS, 'heads_missing']).nullable().meta({ description: 'Null when intact' }),
    heads_matched: z.int().min(0).meta({ description: 'Signed heads in the range that the chain agrees with' }),
    signed_through: z.int().nullable().meta({ description: 'Last entry that a signed head vouches for; null where none was signed yet' }),
    trust: trustEnvelope,
  })
  .meta({ id: 'AuditChainVerification' });

const sequence = z.int().min(1).max(LARGEST_SEQUENCE);

const exampleEvent: Json = {
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
  previous_hash: 'sha256:0000000000000000000000000000000000000000000000000000000000000000',
};

/** That of the entry above. */
const EXAMPLE_HASH = entryHash(String(exampleEvent['previous_hash']), canonicalJson(exampleEvent));

export const auditOperations = [
  operation({
    id: 'listAuditEvents',
    tag: 'Audit',
    method: 'GET',
    path: '/audit/events',
    kind: 'read',
    action: 'audit:read',
    document: 'AuditEvents',
    summary: 'Read the audit log',
    description: 'Newest first. Every entry can be hashed again by its reader; chain_verified says that each on this page was, and is linked to its neighbours. A test key sees the entries of the sandbox alone. Entries older than 90 days may come from an archive, which takes longer.',
    querySchema: eventsQuery,
    success: { status: 200, description: 'A page of the log', schema: z.object({ events: z.array(auditEvent), chain_verified: z.boolean(), total_count: z.int().min(0), meta, trust: trustEnvelope }), headers: { Link: 'first, prev, next and last page' } },
    problems: [],
    variables: ({ query }) => ({
      ...graphPage(pageOf(query)),
      filter: given({ eventType: query.event_type, severity: query.severity, since: query.since, actorId: query.actor_id, beforeSequence: query.before_sequence }),
    }),
    present: (data, { query }) => {
      const connection = objectAt(data, 'audit_events');
      const totalCount = Number(connection['total_count']);
      return {
        events: nodesAt(connection).map((node) => inOrder(auditEvent, node)),
        chain_verified: connection['chain_verified'],
        total_count: totalCount,
        meta: presentMeta(pageOf(query), totalCount),
        trust: connection['trust'],
      };
    },
    example: {
      query: { severity: 'info', limit: '50' },
      response: { events: [{ ...exampleEvent, hash: EXAMPLE_HASH }], chain_verified: true, total_count: 1, meta: { page: 1, per_page: 50, total: 1, total_pages: 1 }, trust: exampleTrust(1) },
    },
  }),
  operation({
    id: 'verifyAuditChain',
    tag: 'Audit',
    method: 'POST',
    path: '/audit/verify',
    kind: 'write',
    action: 'audit:read',
    document: 'VerifyAuditChain',
    summary: 'Verify the audit chain',
    description: 'Hashes a range of the log again, checks every link, and compares it with the heads that were signed outside of the database: entries that were changed, taken out, swapped or cut off, and a chain that was hashed anew, are found. A failed verification is itself a critical event of the log.',
    bodySchema: z.object({ start_sequence: sequence.default(1), end_sequence: sequence.optional().meta({ description: 'The last entry when left out, or when there are fewer' }) }).optional().meta({ id: 'AuditVerifyRequest' }),
    success: { status: 200, description: 'What came of it', schema: verification },
    problems: [],
    variables: ({ body }) => ({ input: given({ startSequence: body?.start_sequence, endSequence: body?.end_sequence }) }),
    present: (data) => inOrder(verification, objectAt(data, 'verify_audit_chain')),
    example: {
      body: { start_sequence: 1, end_sequence: 120 },
      response: { chain_intact: true, entries_verified: 120, verified_at: '2026-02-01T09:30:00.000Z', first_broken_sequence: null, reason: null, heads_matched: 2, signed_through: 120, trust: exampleTrust(120) },
    },
  }),
];
