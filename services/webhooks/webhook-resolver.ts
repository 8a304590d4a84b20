import { Arg, Args, Ctx, ID, Resolver } from 'type-graphql';
import { z } from 'zod';
import { deliveries, delivery, deliveryFilter } from '../../schema/contract/deliveries.ts';
import { webhook, webhooks } from '../../schema/contract/webhooks.ts';
import { assertAction } from '../../schema/actions.ts';
import type { RequestContext } from '../../schema/principal.ts';
import type { Delivery } from './delivery.ts';
import { countDeliveries, listDeliveries } from './delivery-store.ts';
import { countWebhooks, deleteEndpoint, listWebhooks, requireWebhook } from './endpoint-store.ts';
import type { Endpoint } from './endpoint.ts';
import { connectionOf, PageArguments, parsePage } from '../../platform/graph/connection.ts';
import type { GraphRecord } from '../../platform/graph/contract-types.ts';
import { nounTypes, type Answered } from '../../platform/graph/noun-types.ts';
import { presentRecord } from '../../platform/graph/present-record.ts';
import { parseFilter } from '../../platform/graph/parse-input.ts';
import { exactlyOnce } from '../idempotency/exactly-once.ts';
import { type TrustEnvelope } from '../../schema/trust-envelope.ts';
import { recordEnvelope } from '../trust/envelope.ts';
import { createWebhook, webhookEffect, type ShownWebhook } from './create-webhook.ts';
import { redeliverWebhook } from './redeliver-webhook.ts';
import { attemptEffect, readDelivery, testWebhook } from './test-webhook.ts';
import { updateWebhook } from './update-webhook.ts';
import type { WebhookServices } from './webhook-services.ts';

const { Record, Query, Mutation, inputOf } = nounTypes(webhooks);
const ofDeliveries = nounTypes(deliveries);
type Answer<Id extends keyof typeof webhooks.operations> = Promise<Answered<typeof webhooks, Id>>;
type DeliveryAnswer<Id extends keyof typeof deliveries.operations> = Promise<Answered<typeof deliveries, Id>>;

@Resolver(() => Record)
export class WebhookResolver {
  readonly #services: WebhookServices;

  constructor(services: WebhookServices) {
    this.#services = services;
  }

  @Query('getWebhook')
  async webhook(
    @Ctx() context: RequestContext,
    @Arg('id', () => ID, { description: 'UUID of the subscription.' }) id: string,
  ): Answer<'getWebhook'> {
    const principal = assertAction(context.principal, 'webhook:read');
    return this.#shown(await this.#services.database.asTenant(principal, (em) => requireWebhook(em, id)), context);
  }

  @Query('listWebhooks')
  async webhooks(
    @Ctx() context: RequestContext,
    @Args(() => PageArguments) args: PageArguments,
    @Arg('includeInactive', () => Boolean, {
      nullable: true,
      description: 'Whether those that are off are shown, too; false when nothing is said.',
    })
    includeInactive?: boolean | null,
  ): Answer<'listWebhooks'> {
    const principal = assertAction(context.principal, 'webhook:read');
    const all = includeInactive === true;
    return this.#services.database.asTenant(principal, async (em) => {
      const totalCount = await countWebhooks(em, all);
      const page = parsePage(args);
      const rows = await listWebhooks(em, all, page);
      return connectionOf(
        rows.map((row) => this.#shown(row, context)),
        page,
        totalCount,
        this.#trust(context, rows.list.length),
      );
    });
  }

  @ofDeliveries.Query('listWebhookDeliveries')
  async webhookDeliveries(
    @Ctx() context: RequestContext,
    @Arg('webhookId', () => ID, { description: 'UUID of the subscription.' }) webhookId: string,
    @Args(() => PageArguments) args: PageArguments,
    @Arg('filter', ofDeliveries.inputOf('listWebhookDeliveries'), { nullable: true }) filter?: object | null,
  ): DeliveryAnswer<'listWebhookDeliveries'> {
    const principal = assertAction(context.principal, 'webhook:read');
    const wanted = parseFilter(deliveryFilter, filter);
    return this.#services.database.asTenant(principal, async (em) => {
      const { id } = await requireWebhook(em, webhookId);
      const totalCount = await countDeliveries(em, id, wanted);
      const page = parsePage(args);
      const rows = await listDeliveries(em, id, wanted, page);
      return connectionOf(rows.map(presentDelivery), page, totalCount, this.#trust(context, rows.list.length));
    });
  }

  @Mutation('createWebhook')
  async createWebhook(
    @Ctx() context: RequestContext,
    @Arg('input', inputOf('createWebhook')) input: object,
  ): Answer<'createWebhook'> {
    const principal = assertAction(context.principal, 'webhook:write');
    const shown = await exactlyOnce(this.#services.database, context, {
      effect: webhookEffect,
      act: (settle) => createWebhook(this.#services, context, principal, input, settle),
      recall: (made): Promise<ShownWebhook> => this.#recall(context, made),
    });
    return this.#present(context, shown);
  }

  @Mutation('updateWebhook')
  async updateWebhook(
    @Ctx() context: RequestContext,
    @Arg('input', inputOf('updateWebhook')) { id, ...changes }: { id: string },
  ): Answer<'updateWebhook'> {
    const principal = assertAction(context.principal, 'webhook:write');
    const shown = await exactlyOnce(this.#services.database, context, {
      effect: webhookEffect,
      act: (settle) => updateWebhook(this.#services, principal, id, changes, settle),
      recall: (made): Promise<ShownWebhook> => this.#recall(context, made),
    });
    return this.#present(context, shown);
  }

  @Mutation('deleteWebhook')
  async deleteWebhook(
    @Ctx() context: RequestContext,
    @Arg('input', inputOf('deleteWebhook')) { id }: { id: string },
  ): Answer<'deleteWebhook'> {
    const principal = assertAction(context.principal, 'webhook:write');
    const { database } = this.#services;
    await exactlyOnce(database, context, {
      effect: z.object({}),
      needsRoom: false,
      act: (settle) =>
        database.asTenant(principal, async (em) => {
          await deleteEndpoint(em, (await requireWebhook(em, id)).id);
          await settle(em, {});
        }),
      recall: () => Promise.resolve(),
    });
    return { id, deleted: true, trust: this.#trust(context, 1) };
  }

  @Mutation('testWebhook')
  async testWebhook(
    @Ctx() context: RequestContext,
    @Arg('input', inputOf('testWebhook')) { id, ...choice }: { id: string },
  ): Answer<'testWebhook'> {
    const principal = assertAction(context.principal, 'webhook:write');
    const delivery = await exactlyOnce(this.#services.database, context, {
      effect: attemptEffect,
      act: (settle) => testWebhook(this.#services, principal, id, choice, settle),
      recall: ({ webhookId, deliveryId }): Promise<Delivery> =>
        readDelivery(this.#services, principal, webhookId, deliveryId),
    });
    return {
      delivered: delivery.status === 'success',
      eventType: delivery.eventType,
      delivery: presentDelivery(delivery),
      trust: this.#trust(context, 1),
    };
  }

  @ofDeliveries.Mutation('redeliverWebhook')
  async redeliverWebhook(
    @Ctx() context: RequestContext,
    @Arg('input', ofDeliveries.inputOf('redeliverWebhook')) {
      webhookId,
      deliveryId,
    }: { webhookId: string; deliveryId: string },
  ): DeliveryAnswer<'redeliverWebhook'> {
    const principal = assertAction(context.principal, 'webhook:write');
    const delivery = await exactlyOnce(this.#services.database, context, {
      effect: attemptEffect,
      act: (settle) => redeliverWebhook(this.#services, principal, webhookId, deliveryId, settle),
      recall: (made): Promise<Delivery> => readDelivery(this.#services, principal, made.webhookId, made.deliveryId),
    });
    return { delivery: presentDelivery(delivery), trust: this.#trust(context, 1) };
  }

  async #recall(context: RequestContext, { webhookId, secret }: z.output<typeof webhookEffect>): Promise<ShownWebhook> {
    const principal = assertAction(context.principal, 'webhook:write');
    return {
      webhook: await this.#services.database.asTenant(principal, (em) => requireWebhook(em, webhookId)),
      secret,
    };
  }

  #present(context: RequestContext, { webhook: endpoint, secret }: ShownWebhook): Awaited<Answer<'createWebhook'>> {
    const shown = this.#shown(endpoint, context);
    return { webhook: shown, secret, trust: shown.trust };
  }

  #shown(endpoint: Endpoint, context: RequestContext): GraphRecord<typeof webhook> {
    const { isActive: active, delivered, failed, lastSuccessAt, lastFailureAt } = endpoint;
    return {
      ...presentRecord(webhook, endpoint, { active, stats: { delivered, failed, lastSuccessAt, lastFailureAt } }),
      trust: this.#trust(context, 1),
    };
  }

  #trust(context: RequestContext, records: number): TrustEnvelope {
    return recordEnvelope(records, this.#services.clock(), context.apiVersion);
  }
}

/** An attempt as the graph shows it. */
function presentDelivery(attempt: Delivery): z.output<typeof delivery> {
  return presentRecord(delivery, attempt, { test: attempt.isTest });
}
