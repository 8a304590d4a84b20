import { Arg, Args, Ctx, ID, Resolver } from 'type-graphql';
import { invoice, invoiceFilter, invoices } from '../../../schema/contract/invoices.ts';
import { assertAction } from '../../../schema/actions.ts';
import type { RequestContext } from '../../../schema/principal.ts';
import { ProblemError } from '../../../schema/problems.ts';
import { connectionOf, PageArguments, parsePage } from '../../../platform/graph/connection.ts';
import { nounTypes, type Answered } from '../../../platform/graph/noun-types.ts';
import { parseFilter } from '../../../platform/graph/parse-input.ts';
import { presentRecord } from '../../../platform/graph/present-record.ts';
import { requireUuid, shownId } from '../../../platform/identifiers.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import { recordEnvelope } from '../../../services/trust/envelope.ts';
import { InvoiceStore, type Invoice } from './invoice-store.ts';

const { Record, Query, inputOf } = nounTypes(invoices);

@Resolver(() => Record)
export class InvoiceResolver {
  readonly #database: Database;
  readonly #clock: () => Date;

  constructor({ database, clock }: { readonly database: Database; readonly clock: () => Date }) {
    this.#database = database;
    this.#clock = clock;
  }

  @Query('listInvoices')
  async invoices(
    @Ctx() context: RequestContext,
    @Args(() => PageArguments) args: PageArguments,
    @Arg('filter', inputOf('listInvoices'), { nullable: true }) filter?: object | null,
  ): Promise<Answered<typeof invoices, 'listInvoices'>> {
    const principal = assertAction(context.principal, 'billing:read');
    const { status } = parseFilter(invoiceFilter, filter);
    const page = parsePage(args);
    const [rows, total] = await this.#database.asTenant(principal, async (em) => {
      const store = new InvoiceStore(em, principal.environment);
      return [await store.list(status, page), await store.count(status)] as const;
    });
    const trust = recordEnvelope(rows.list.length, this.#clock(), context.apiVersion);
    return connectionOf(
      rows.map((each) => this.#present(each, context)),
      page,
      total,
      trust,
    );
  }

  @Query('getInvoice')
  async invoice(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'Public id of the invoice.' }) id: string,
  ): Promise<Answered<typeof invoices, 'getInvoice'>> {
    const principal = assertAction(context.principal, 'billing:read');
    const uuid = requireUuid('inv', id, 'invoice');
    const found = await this.#database.asTenant(principal, (em) =>
      new InvoiceStore(em, principal.environment).find(uuid),
    );
    if (found === null) throw new ProblemError('resource_not_found', `There is no invoice ${shownId(id)}.`);
    return this.#present(found, context);
  }

  #present(entity: Invoice, context: RequestContext) {
    const trust = recordEnvelope(1, this.#clock(), context.apiVersion);
    return { ...presentRecord(invoice, entity, {}), trust };
  }
}
