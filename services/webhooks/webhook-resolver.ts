import { Arg, Args, Ctx, ID, Mutation, Query, Resolver } from 'type-graphql';
import { z } from 'zod';
import { assertAction } from '../../schema/actions.ts';
import type { RequestContext } from '../../schema/principal.ts';
import { EVENT_TYPES } from '../../schema/event-catalogue.ts';
import { DELIVERY_STATUSES, type Delivery } from './delivery.ts';
import { countDeliveries, listDeliveries } from './delivery-store.ts';
import { countWebhooks, deleteEndpoint, listWebhooks, requireWebhook } from './endpoint-store.ts';
import { connectionOf, PageArguments, parsePage, type Connection } from '../../platform/graph/connection.ts';
import { parseInput } from '../../platform/graph/parse-input.ts';
import { exactlyOnce } from '../idempotency/exactly-once.ts';
import { type TrustEnvelope } from '../../schema/trust-envelope.ts';
import { recordEnvelope } from '../trust/envelope.ts';
import { createWebhook, webhookEffect, type ShownWebhook } from './create-webhook.ts';
import { redeliverWebhook } from './redeliver-webhook.ts';
import { attemptEffect, readDelivery, testWebhook } from './test-webhook.ts';
import { updateWebhook } from './update-webhook.ts';
import type { WebhookServices } from './webhook-services.ts';
import {
  CreateWebhookInput,
  DeleteWebhookInput,
  DeleteWebhookPayload,
  presentDelivery,
  presentWebhook,
  RedeliverWebhookInput,
  RedeliverWebhookPayload,
  TestWebhookInput,
  TestWebhookPayload,
  UpdateWebhookInput,
  WebhookConnection,
  WebhookDeliveryConnection,
  WebhookDeliveryFilterInput,
  WebhookDeliveryType,
  WebhookPayload,
  WebhookType,
} from './webhook-type.ts';

const filterSchema = z.object({
  status: z.enum(DELIVERY_STATUSES).nullish().transform((status) => status ?? undefined),
  eventType: z.enum(EVENT_TYPES).nullish().transform((type) => type ?? undefined),
});

@Resolver(() => WebhookType)
export class WebhookResolver {
  readonly #services: WebhookServices;

  constructor(services: WebhookServices) {
    this.#services = services;
  }

  @Query(() => WebhookType, { nullable: true, description: 'A subscription of the caller’s environment. Errors: RESOURCE_NOT_FOUND, INSUFFICIENT_PERMISSIONS.' })
  async webhook(@Ctx() context: RequestContext, @Arg('id', () => ID, { description: 'UUID of the subscription.' }) id: string): Promise<WebhookType> {
    const principal = assertAction(context.principal, 'webhook:read');
    return presentWebhook(await this.#services.database.asTenant(principal, (em) => requireWebhook(em, id)), this.#trust(context, 1));
  }

  @Query(() => WebhookConnection, { nullable: true, description: 'Subscriptions of the caller’s environment, newest first; those that are off only when asked for. Errors: INSUFFICIENT_PERMISSIONS.' })
  async webhooks(
    @Ctx() context: RequestContext,
    @Args(() => PageArguments) args: PageArguments,
    @Arg('includeInactive', () => Boolean, { nullable: true, description: 'Whether those that are off are shown, too; false when nothing is said.' }) includeInactive?: boolean | null,
  ): Promise<Connection<WebhookType>> {
    const principal = assertAction(context.principal, 'webhook:read');
    const all = includeInactive === true;
    return this.#services.database.asTenant(principal, async (em) => {
      const totalCount = await countWebhooks(em, all);
      const page = await parsePage(args, () => Promise.resolve(totalCount));
      const rows = await listWebhooks(em, all, page);
      return connectionOf(rows.map((row) => presentWebhook(row, this.#trust(context, 1))), page, totalCount, this.#trust(context, rows.length));
    });
  }

  @Query(() => WebhookDeliveryConnection, { nullable: true, description: 'Attempts to deliver to a subscription, newest first. Errors: RESOURCE_NOT_FOUND, VALIDATION_ERROR, INSUFFICIENT_PERMISSIONS.' })
  async webhookDeliveries(
    @Ctx() context: RequestContext,
    @Arg('webhookId', () => ID, { description: 'UUID of the subscription.' }) webhookId: string,
    @Args(() => PageArguments) args: PageArguments,
    @Arg('filter', () => WebhookDeliveryFilterInput, { nullable: true }) filter?: WebhookDeliveryFilterInput | null,
  ): Promise<Connection<WebhookDeliveryType>> {
    const principal = assertAction(context.principal, 'webhook:read');
    const wanted = parseInput(filterSchema, filter ?? {});
    return this.#services.database.asTenant(principal, async (em) => {
      const { id } = await requireWebhook(em, webhookId);
      const totalCount = await countDeliveries(em, id, wanted);
      const page = await parsePage(args, () => Promise.resolve(totalCount));
      const rows = await listDeliveries(em, id, wanted, page);
      return connectionOf(rows.map(presentDelivery), page, totalCount, this.#trust(context, rows.length));
    });
  }

  @Mutation(() => WebhookPayload, { nullable: true, description: 'Subscribes an address to events. Errors: VALIDATION_ERROR (refused_address, unknown_host, too_many_webhooks), INSUFFICIENT_PERMISSIONS (missing_scope of an event).' })
  async createWebhook(@Ctx() context: RequestContext, @Arg('input', () => CreateWebhookInput) input: CreateWebhookInput): Promise<WebhookPayload> {
    const principal = assertAction(context.principal, 'webhook:write');
    const shown = await exactlyOnce(this.#services.database, context, {
      effect: webhookEffect,
      act: (settle) => createWebhook(this.#services, context, principal, input, settle),
      recall: (made): Promise<ShownWebhook> => this.#recall(context, made),
    });
    return this.#present(context, shown);
  }

  @Mutation(() => WebhookPayload, { nullable: true, description: 'Changes a subscription. Errors: RESOURCE_NOT_FOUND, VALIDATION_ERROR (refused_address, unknown_host), INSUFFICIENT_PERMISSIONS (missing_scope of an event).' })
  async updateWebhook(@Ctx() context: RequestContext, @Arg('input', () => UpdateWebhookInput) { id, ...changes }: UpdateWebhookInput): Promise<WebhookPayload> {
    const principal = assertAction(context.principal, 'webhook:write');
    const shown = await exactlyOnce(this.#services.database, context, {
      effect: webhookEffect,
      act: (settle) => updateWebhook(this.#services, principal, id, changes, settle),
      recall: (made): Promise<ShownWebhook> => this.#recall(context, made),
    });
    return this.#present(context, shown);
  }

  @Mutation(() => DeleteWebhookPayload, { nullable: true, description: 'Ends a subscription, with all that was still to be delivered. Errors: RESOURCE_NOT_FOUND.' })
  async deleteWebhook(@Ctx() context: RequestContext, @Arg('input', () => DeleteWebhookInput) { id }: DeleteWebhookInput): Promise<DeleteWebhookPayload> {
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

  @Mutation(() => TestWebhookPayload, { nullable: true, description: 'Sends a made-up event at once, without retries. Errors: RESOURCE_NOT_FOUND, VALIDATION_ERROR.' })
  async testWebhook(@Ctx() context: RequestContext, @Arg('input', () => TestWebhookInput) { id, eventType }: TestWebhookInput): Promise<TestWebhookPayload> {
    const principal = assertAction(context.principal, 'webhook:write');
    const delivery = await exactlyOnce(this.#services.database, context, {
      effect: attemptEffect,
      act: (settle) => testWebhook(this.#services, principal, id, { eventType }, settle),
      recall: ({ webhookId, deliveryId }): Promise<Delivery> => readDelivery(this.#services, principal, webhookId, deliveryId),
    });
    return { delivered: delivery.status === 'success', eventType: delivery.eventType, delivery: presentDelivery(delivery), trust: this.#trust(context, 1) };
  }

  @Mutation(() => RedeliverWebhookPayload, { nullable: true, description: 'Sends the event of an attempt again, with its id. Errors: RESOURCE_NOT_FOUND, CONFLICT (delivery_pending, webhook_inactive).' })
  async redeliverWebhook(@Ctx() context: RequestContext, @Arg('input', () => RedeliverWebhookInput) { webhookId, deliveryId }: RedeliverWebhookInput): Promise<RedeliverWebhookPayload> {
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
    return { webhook: await this.#services.database.asTenant(principal, (em) => requireWebhook(em, webhookId)), secret };
  }

  #present(context: RequestContext, { webhook, secret }: ShownWebhook): WebhookPayload {
    const shown = presentWebhook(webhook, this.#trust(context, 1));
    return { webhook: shown, secret, trust: shown.trust };
  }

  #trust(context: RequestContext, records: number): TrustEnvelope {
    return recordEnvelope(records, this.#services.clock(), context.apiVersion);
  }
}
