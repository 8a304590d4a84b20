import { Arg, Args, Ctx, Resolver } from 'type-graphql';
import type { z } from 'zod';
import { auditEvent, auditEvents, auditFilter, auditVerifyRequest } from '../../schema/contract/audit-events.ts';
import { fromRest } from '../../schema/contract/rest-form.ts';
import { assertAction } from '../../schema/actions.ts';
import type { RequestContext } from '../../schema/principal.ts';
import type { AuditLog, ServedEntry } from './audit-log.ts';
import type { AuditFilter } from './audit-store.ts';
import {
  connectionOf,
  isNumberKey,
  PageArguments,
  parsePage,
  placesOf,
  Rows,
} from '../../platform/graph/connection.ts';
import { nounTypes, type Answered } from '../../platform/graph/noun-types.ts';
import { agentUuid, publicId } from '../../platform/identifiers.ts';
import { parseFilter, parseGraphInput } from '../../platform/graph/parse-input.ts';
import { recordEnvelope } from '../trust/envelope.ts';
import { ProblemError } from '../../schema/problems.ts';

export interface AuditServices {
  readonly auditLog: AuditLog;
  readonly clock: () => Date;
}

/** The contract's largest `limit` for this list. */
const LARGEST_PAGE = 500;

const { Record, Query, Mutation, inputOf } = nounTypes(auditEvents);
type Answer<Id extends keyof typeof auditEvents.operations> = Promise<Answered<typeof auditEvents, Id>>;

/** The audit log of the caller's account. */
@Resolver(() => Record)
export class AuditResolver {
  readonly #services: AuditServices;

  constructor(services: AuditServices) {
    this.#services = services;
  }

  @Query('listAuditEvents')
  async auditEvents(
    @Ctx() context: RequestContext,
    @Args(() => PageArguments) args: PageArguments,
    @Arg('filter', inputOf('listAuditEvents'), { nullable: true }) filter?: object | null,
  ): Answer<'listAuditEvents'> {
    const { accountId, environment } = assertAction(context.principal, 'audit:read');
    // A test key is for people who shall not see the shop; the chain itself is one.
    const ofKey = environment === 'sandbox' ? environment : undefined;
    const { actorId, ...given } = parseFilter(auditFilter, filter);
    const actor = actorId === undefined ? {} : { actorId: namedActor(actorId) };
    const narrowed: AuditFilter = { ...given, ...actor, environment: ofKey };
    const { auditLog, clock } = this.#services;
    const page = parsePage(args, { largest: LARGEST_PAGE, isKey: isNumberKey });
    const total = await auditLog.count(accountId, narrowed);
    // The log grows at its head alone: what stands behind an entry stays there.
    const places = await placesOf(
      page,
      total,
      async (key) => total - 1 - (await auditLog.count(accountId, behind(narrowed, Number(key)))),
    );
    const { entries, totalCount, chainVerified } = await auditLog.list(
      accountId,
      narrowed,
      places.limit,
      places.offset,
    );
    const rows = Rows.at(entries, { offset: places.offset, total: totalCount }, page, ({ sequence }) =>
      String(sequence),
    );
    return {
      ...connectionOf(rows.map(present), page, totalCount, recordEnvelope(entries.length, clock(), context.apiVersion)),
      chainVerified,
    };
  }

  @Mutation('verifyAuditChain')
  async verifyAuditChain(
    @Ctx() context: RequestContext,
    @Arg('input', inputOf('verifyAuditChain')) input: object,
  ): Answer<'verifyAuditChain'> {
    const { accountId } = assertAction(context.principal, 'audit:read');
    const { startSequence = 1, endSequence } = parseGraphInput(auditVerifyRequest, input);
    if (endSequence !== undefined && startSequence > endSequence) {
      throw new ProblemError('validation_error', 'start_sequence: must not be after end_sequence', {
        code: 'invalid_range',
        param: '/start_sequence',
      });
    }
    const { auditLog, clock } = this.#services;
    const { intact, ...result } = await auditLog.verify(context, accountId, startSequence, endSequence);
    const verifiedAt = clock();
    return {
      ...result,
      chainIntact: intact,
      verifiedAt,
      trust: recordEnvelope(result.entriesVerified, verifiedAt, context.apiVersion),
    };
  }
}

function present(entry: ServedEntry): z.output<typeof auditEvent> {
  const shown = fromRest(auditEvent, entry) as z.input<typeof auditEvent>;
  return { ...shown, occurredAt: new Date(entry.occurred_at) };
}

/** The log calls agents by their public ids; callers also by their UUIDs. */
function namedActor(named: string): string {
  const agent = agentUuid(named);
  return agent === undefined ? named : publicId('agent', agent);
}

/** What matches and is older than an entry. */
function behind(filter: AuditFilter, sequence: number): AuditFilter {
  return { ...filter, beforeSequence: Math.min(sequence, filter.beforeSequence ?? sequence) };
}
