import DataLoader from 'dataloader';
import { Arg, Args, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { valueProofFilter, valueProofs } from '../../../schema/contract/value-proofs.ts';
import { assertAction } from '../../../schema/actions.ts';
import { parsePeriod } from '../../../schema/period.ts';
import type { Principal, RequestContext } from '../../../schema/principal.ts';
import { connectionOf, PageArguments, parsePage } from '../../../platform/graph/connection.ts';
import { nounTypes, type Answered } from '../../../platform/graph/noun-types.ts';
import { parseFilter } from '../../../platform/graph/parse-input.ts';
import { perRequest } from '../../../platform/graph/request-context.ts';
import { filterUuid, requireUuid, type Uuid } from '../../../platform/identifiers.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import { auditActor, recordAuditEvent } from '../../../services/audit/audit-event.ts';
import { recordEnvelope } from '../../../services/trust/envelope.ts';
import { BilledAttributionType } from '../fees/attribution-fee-resolver.ts';
import { chargingNow } from '../fees/charging-clock.ts';
import { ValueProofStore, type ValueProof } from './value-proof-store.ts';

/** The contract's largest `limit` for this list. */
const LARGEST_PAGE = 200;

const { Record, Query, inputOf } = nounTypes(valueProofs);

interface ProofServices {
  readonly database: Database;
  readonly clock: () => Date;
}

/** Tells the audit log that figures of the account leave it, before they do. */
async function tellExport(
  { database }: ProofServices,
  context: RequestContext,
  principal: Principal,
  proofs: number,
): Promise<void> {
  const { accountId, environment } = principal;
  await database.asNobody(
    (em) =>
      recordAuditEvent(em, context, {
        accountId,
        type: 'data.exported',
        actor: auditActor(principal),
        target: null,
        outcome: 'success',
        environment,
        details: { level: 'value_proofs', proofs },
      }),
    { turnOf: accountId },
  );
}

@Resolver(() => Record)
export class ValueProofResolver {
  readonly #services: ProofServices;

  constructor(services: ProofServices) {
    this.#services = services;
  }

  @Query('listValueProofs')
  async valueProofs(
    @Ctx() context: RequestContext,
    @Args(() => PageArguments) args: PageArguments,
    @Arg('filter', inputOf('listValueProofs'), { nullable: true }) filter?: object | null,
  ): Promise<Answered<typeof valueProofs, 'listValueProofs'>> {
    const principal = assertAction(context.principal, 'billing:read');
    const { analysisId, period } = parseFilter(valueProofFilter, filter);
    const { database, clock } = this.#services;
    const page = parsePage(args, { largest: LARGEST_PAGE });
    const [rows, total] = await database.asTenant(principal, async (em) => {
      const wanted = {
        analysisId: analysisId === undefined ? undefined : filterUuid('attr', analysisId),
        period: period === undefined ? undefined : (parsePeriod(period, await chargingNow(em)) ?? undefined),
      };
      const store = new ValueProofStore(em);
      return [await store.list(wanted, page), await store.count(wanted)] as const;
    });
    await tellExport(this.#services, context, principal, rows.list.length);
    return connectionOf(rows, page, total, recordEnvelope(rows.list.length, clock(), context.apiVersion));
  }
}

/** What billing can prove of an analysis. */
@Resolver(() => BilledAttributionType)
export class AttributionProofResolver {
  readonly #proofs;

  constructor(services: ProofServices) {
    this.#proofs = perRequest((context) => {
      const principal = assertAction(context.principal, 'billing:read');
      return new DataLoader<string, ValueProof | null>(async (ids) => {
        const uuids = ids.map((id): Uuid => requireUuid('attr', id, 'attribution'));
        const proofs = await services.database.asTenant(principal, (em) => new ValueProofStore(em).ofAnalyses(uuids));
        if (proofs.size > 0) await tellExport(services, context, principal, proofs.size);
        return uuids.map((uuid) => proofs.get(uuid) ?? null);
      });
    });
  }

  @FieldResolver(() => Record, {
    nullable: true,
    description:
      'What it has brought and cost, with a signed receipt. Null until it was charged, moments after it has ' +
      'completed; also for analyses from before there were receipts. It takes the scope billing:read.',
  })
  valueProof(@Root() { id }: BilledAttributionType, @Ctx() context: RequestContext): Promise<ValueProof | null> {
    return this.#proofs(context).load(id);
  }
}
