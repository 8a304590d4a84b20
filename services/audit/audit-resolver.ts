import { Arg, Args, Ctx, Mutation, Query, Resolver } from 'type-graphql';
import { z } from 'zod';
import { assertAction } from '../../schema/actions.ts';
import type { RequestContext } from '../../schema/principal.ts';
import { AUDIT_EVENT_TYPES, AUDIT_SEVERITIES } from './audit-event.ts';
import type { AuditLog, ServedEntry } from './audit-log.ts';
import type { AuditFilter } from './audit-store.ts';
import { connectionOf, PageArguments, parsePage } from '../../platform/graph/connection.ts';
import { parseInput } from '../../platform/graph/parse-input.ts';
import { recordEnvelope } from '../trust/envelope.ts';
import { ProblemError } from '../../schema/problems.ts';
import { AuditChainVerificationType, AuditEventConnection, AuditEventFilterInput, AuditEventType, VerifyAuditChainInput } from './audit-type.ts';

export interface AuditServices {
  readonly auditLog: AuditLog;
  readonly clock: () => Date;
}

/** The contract's largest `limit` for this list. */
const LARGEST_PAGE = 500;

const sequence = z.int().min(1);
const filterSchema = z.object({
  eventType: z.enum(AUDIT_EVENT_TYPES).nullish().transform(orUndefined),
  severity: z.enum(AUDIT_SEVERITIES).nullish().transform(orUndefined),
  since: z.date().nullish().transform(orUndefined),
  actorId: z.string().min(1).max(64).nullish().transform(orUndefined),
  beforeSequence: sequence.nullish().transform(orUndefined),
});
const rangeSchema = z.object({ startSequence: sequence.nullish(), endSequence: sequence.nullish() });

/** The audit log of the caller's account. */
@Resolver(() => AuditEventType)
export class AuditResolver {
  readonly #services: AuditServices;

  constructor(services: AuditServices) {
    this.#services = services;
  }

  @Query(() => AuditEventConnection, { nullable: true, description: 'Events of the account, newest first, at most 500 at a time; a test key sees those of the sandbox alone. Errors: VALIDATION_ERROR, INSUFFICIENT_PERMISSIONS.' })
  async auditEvents(
    @Ctx() context: RequestContext,
    @Args(() => PageArguments) args: PageArguments,
    @Arg('filter', () => AuditEventFilterInput, { nullable: true }) filter?: AuditEventFilterInput | null,
  ): Promise<AuditEventConnection> {
    const { accountId, environment } = assertAction(context.principal, 'audit:read');
    // A test key is for people who shall not see the shop; the chain itself is one.
    const narrowed: AuditFilter = { ...parseInput(filterSchema, filter ?? {}), environment: environment === 'sandbox' ? environment : undefined };
    const { auditLog, clock } = this.#services;
    const page = await parsePage(args, () => auditLog.count(accountId, narrowed), LARGEST_PAGE);
    const { entries, totalCount, chainVerified } = await auditLog.list(accountId, narrowed, page.limit, page.offset);
    return { ...connectionOf(entries.map(present), page, totalCount, recordEnvelope(entries.length, clock(), context.apiVersion)), chainVerified };
  }

  @Mutation(() => AuditChainVerificationType, { nullable: true, description: 'Checks a range of the chain against its hashes and the signed heads; a chain that does not hold is itself a critical event. Errors: VALIDATION_ERROR, INSUFFICIENT_PERMISSIONS.' })
  async verifyAuditChain(@Ctx() context: RequestContext, @Arg('input', () => VerifyAuditChainInput) input: VerifyAuditChainInput): Promise<AuditChainVerificationType> {
    const { accountId } = assertAction(context.principal, 'audit:read');
    const { startSequence, endSequence } = parseInput(rangeSchema, input);
    if (startSequence != null && endSequence != null && startSequence > endSequence) {
      throw new ProblemError('validation_error', 'start_sequence: must not be after end_sequence', { code: 'invalid_range', param: '/start_sequence' });
    }
    const { auditLog, clock } = this.#services;
    const { intact, ...result } = await auditLog.verify(context, accountId, startSequence ?? 1, endSequence ?? undefined);
    const verifiedAt = clock();
    return { ...result, chainIntact: intact, verifiedAt, trust: recordEnvelope(result.entriesVerified, verifiedAt, context.apiVersion) };
  }
}

function orUndefined<Value>(value: Value | null | undefined): Value | undefined {
  return value ?? undefined;
}

function present(entry: ServedEntry): AuditEventType {
  const { actor } = entry;
  return {
    chainId: entry.chain_id,
    sequence: entry.sequence,
    eventId: entry.event_id,
    eventType: entry.event_type,
    severity: entry.severity,
    occurredAt: new Date(entry.occurred_at),
    actor: { type: actor.type, id: actor.id, ipHash: actor.ip_hash, userAgent: actor.user_agent },
    target: entry.target,
    outcome: entry.outcome,
    environment: entry.environment,
    requestId: entry.request_id,
    details: entry.details,
    previousHash: entry.previous_hash,
    hash: entry.hash,
  };
}
