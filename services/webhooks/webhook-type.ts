import { Field, ID, InputType, Int, ObjectType, registerEnumType } from 'type-graphql';
import { DELIVERY_ERRORS, DELIVERY_STATUSES, type Delivery, type DeliveryError, type DeliveryStatus } from './delivery.ts';
import { DISABLED_REASONS, type DisabledReason, type Endpoint } from './endpoint.ts';
import type { Environment } from '../../schema/principal.ts';
import { connectionType } from '../../platform/graph/connection.ts';
import { enumOf } from '../../platform/graph/enum-of.ts';
import { DateTimeScalar, JsonScalar } from '../../platform/graph/scalars.ts';
import { TrustEnvelope as TrustEnvelopeType } from '../../platform/graph/trust-type.ts';
import { publicId } from '../../platform/identifiers.ts';
import type { TrustEnvelope } from '../../schema/trust-envelope.ts';
import { EnvironmentEnum } from '../../platform/graph/environment-type.ts';

const DisabledReasonEnum = enumOf(DISABLED_REASONS);
registerEnumType(DisabledReasonEnum, { name: 'WebhookDisabledReason', description: 'Why a webhook is off: its receiver answered 410, 20 events in a row could not be delivered, or the grant or key that made it has ended.' });
const DeliveryStatusEnum = enumOf(DELIVERY_STATUSES);
registerEnumType(DeliveryStatusEnum, { name: 'WebhookDeliveryStatus', description: 'Status of one attempt.' });
const DeliveryErrorEnum = enumOf(DELIVERY_ERRORS);
registerEnumType(DeliveryErrorEnum, { name: 'WebhookDeliveryError', description: 'Why an attempt failed; HTTP_ERROR is any status but 2xx.' });

@ObjectType('WebhookStats', { description: 'How a webhook fares; tests do not count.' })
export class WebhookStatsType {
  @Field(() => Int, { description: 'Events that arrived.' })
  delivered!: number;
  @Field(() => Int, { description: 'Events that were given up after their last attempt.' })
  failed!: number;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When something arrived last.' })
  lastSuccessAt!: Date | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When an attempt failed last.' })
  lastFailureAt!: Date | null;
}

@ObjectType('Webhook', { description: 'A subscription: events of the account, or of one workspace, are sent to its address.' })
export class WebhookType {
  @Field(() => ID, { description: 'A UUID.' })
  id!: string;
  @Field(() => String, { description: 'Where messages are sent.' })
  url!: string;
  @Field(() => [String], { description: 'Event types, or * alone for all that its maker may read.' })
  events!: readonly string[];
  @Field(() => Boolean, { description: 'Whether events are sent.' })
  active!: boolean;
  @Field(() => JsonScalar, { description: 'Texts of your own, part of every message.' })
  metadata!: Readonly<Record<string, string>>;
  @Field(() => String, { description: 'The beginning of the secret.' })
  secretPrefix!: string;
  @Field(() => String, { description: 'Dated version that the messages follow.' })
  apiVersion!: string;
  @Field(() => EnvironmentEnum, { description: 'Environment whose events it receives.' })
  environment!: Environment;
  @Field(() => DateTimeScalar, { description: 'When it was made.' })
  createdAt!: Date;
  @Field(() => DateTimeScalar, { description: 'When it was changed last.' })
  updatedAt!: Date;
  @Field(() => DisabledReasonEnum, { nullable: true, description: 'Why it was switched off by itself; null otherwise.' })
  disabledReason!: DisabledReason | null;
  @Field(() => WebhookStatsType, { description: 'How it fares.' })
  stats!: WebhookStatsType;
  @Field(() => TrustEnvelopeType, { description: 'Trust envelope of this record.' })
  trust!: TrustEnvelope;
}

@ObjectType('WebhookDelivery', { description: 'One attempt to deliver one event.' })
export class WebhookDeliveryType {
  @Field(() => ID, { description: 'dlv_ and 22 characters.' })
  id!: string;
  @Field(() => ID, { description: 'evt_ and 22 characters; the same in every attempt at the event.' })
  eventId!: string;
  @Field(() => String, { description: 'Type of the event.' })
  eventType!: string;
  @Field(() => Int, { description: '1 to 6.' })
  attempt!: number;
  @Field(() => DeliveryStatusEnum, { description: 'Status of the attempt.' })
  status!: DeliveryStatus;
  @Field(() => String, { description: 'Where it went, or will go.' })
  url!: string;
  @Field(() => Int, { nullable: true, description: 'HTTP status of the answer; null without one.' })
  responseStatus!: number | null;
  @Field(() => Int, { nullable: true, description: 'Milliseconds from the lookup to the answer or the failure.' })
  responseTimeMs!: number | null;
  @Field(() => String, { nullable: true, description: 'First kilobyte of the answer.' })
  responseBody!: string | null;
  @Field(() => DeliveryErrorEnum, { nullable: true, description: 'Why it failed; null otherwise.' })
  error!: DeliveryError | null;
  @Field(() => DateTimeScalar, { description: 'When it is due.' })
  scheduledAt!: Date;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When it was sent.' })
  sentAt!: Date | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When its outcome was known.' })
  completedAt!: Date | null;
  @Field(() => DateTimeScalar, { nullable: true, description: 'When the attempt behind it is due; null where there is none.' })
  nextAttemptAt!: Date | null;
  @Field(() => JsonScalar, { nullable: true, description: 'Headers that were sent; null before.' })
  requestHeaders!: Readonly<Record<string, string>> | null;
  @Field(() => Boolean, { description: 'Whether it was a test, about nothing that happened.' })
  test!: boolean;
}

export const WebhookConnection = connectionType('Webhook', () => WebhookType);
export const WebhookDeliveryConnection = connectionType('WebhookDelivery', () => WebhookDeliveryType);

@InputType('WebhookDeliveryFilter', { description: 'Which attempts; what is left out narrows nothing.' })
export class WebhookDeliveryFilterInput {
  @Field(() => DeliveryStatusEnum, { nullable: true, description: 'Of this status.' })
  status?: DeliveryStatus | null;
  @Field(() => String, { nullable: true, description: 'At events of this type.' })
  eventType?: string | null;
}

@InputType('CreateWebhookInput', { description: 'A new subscription.' })
export class CreateWebhookInput {
  @Field(() => String, { description: 'https address of a public host, at most 2048 characters.' })
  url!: string;
  @Field(() => [String], { description: 'Event types, or ["*"] for all that the key may read.' })
  events!: string[];
  @Field(() => String, { nullable: true, description: '8 to 256 characters; whsec_ and 32 random bytes when nothing is said.' })
  secret?: string | null;
  @Field(() => JsonScalar, { nullable: true, description: 'Up to 50 texts of at most 500 characters.' })
  metadata?: unknown;
}

@InputType('UpdateWebhookInput', { description: 'Changes to a subscription; what is left out stays.' })
export class UpdateWebhookInput {
  @Field(() => ID, { description: 'Its UUID.' })
  id!: string;
  @Field(() => String, { nullable: true, description: 'https address of a public host.' })
  url?: string | null;
  @Field(() => [String], { nullable: true, description: 'Replaces the whole list.' })
  events?: string[] | null;
  @Field(() => Boolean, { nullable: true, description: 'Switches it on or off.' })
  active?: boolean | null;
  @Field(() => JsonScalar, { nullable: true, description: 'Replaces all of it.' })
  metadata?: unknown;
  @Field(() => String, { nullable: true, description: 'The new secret; the previous one keeps signing beside it for 24 hours.' })
  secret?: string | null;
}

@ObjectType('WebhookPayload', { description: 'A subscription as it is now.' })
export class WebhookPayload {
  @Field(() => WebhookType, { description: 'The subscription.' })
  webhook!: WebhookType;
  @Field(() => String, { nullable: true, description: 'The secret, where it was set just now. Shown this once; it is kept sealed.' })
  secret!: string | null;
  @Field(() => TrustEnvelopeType, { description: 'Trust envelope of the subscription.' })
  trust!: TrustEnvelope;
}

@InputType('DeleteWebhookInput', { description: 'A subscription to end.' })
export class DeleteWebhookInput {
  @Field(() => ID, { description: 'Its UUID.' })
  id!: string;
}

@ObjectType('DeleteWebhookPayload', { description: 'The subscription that is gone.' })
export class DeleteWebhookPayload {
  @Field(() => ID, { description: 'Its UUID.' })
  id!: string;
  @Field(() => Boolean, { description: 'True.' })
  deleted!: boolean;
  @Field(() => TrustEnvelopeType, { description: 'Trust envelope of the record.' })
  trust!: TrustEnvelope;
}

@InputType('TestWebhookInput', { description: 'A test of a subscription.' })
export class TestWebhookInput {
  @Field(() => ID, { description: 'Its UUID.' })
  id!: string;
  @Field(() => String, { nullable: true, description: 'Type of the made-up event; the first one subscribed to when nothing is said.' })
  eventType?: string | null;
}

@ObjectType('TestWebhookPayload', { description: 'What came of a test.' })
export class TestWebhookPayload {
  @Field(() => Boolean, { description: 'Whether the receiver answered with 2xx.' })
  delivered!: boolean;
  @Field(() => String, { description: 'Type of the event that was sent.' })
  eventType!: string;
  @Field(() => WebhookDeliveryType, { description: 'The attempt.' })
  delivery!: WebhookDeliveryType;
  @Field(() => TrustEnvelopeType, { description: 'Trust envelope of the record.' })
  trust!: TrustEnvelope;
}

@InputType('RedeliverWebhookInput', { description: 'An attempt whose event is to be sent again.' })
export class RedeliverWebhookInput {
  @Field(() => ID, { description: 'UUID of the subscription.' })
  webhookId!: string;
  @Field(() => ID, { description: 'The attempt, dlv_….' })
  deliveryId!: string;
}

@ObjectType('RedeliverWebhookPayload', { description: 'The attempt that will be made.' })
export class RedeliverWebhookPayload {
  @Field(() => WebhookDeliveryType, { description: 'The new attempt, with the event id of the old one.' })
  delivery!: WebhookDeliveryType;
  @Field(() => TrustEnvelopeType, { description: 'Trust envelope of the record.' })
  trust!: TrustEnvelope;
}

/** A subscription as the graph shows it. */
export function presentWebhook(endpoint: Endpoint, trust: TrustEnvelope): WebhookType {
  const { id, url, events, isActive, metadata, secretPrefix, apiVersion, environment, createdAt, updatedAt, disabledReason, delivered, failed, lastSuccessAt, lastFailureAt } = endpoint;
  return { id, url, events, active: isActive, metadata, secretPrefix, apiVersion, environment, createdAt, updatedAt, disabledReason, stats: { delivered, failed, lastSuccessAt, lastFailureAt }, trust };
}

/** An attempt as the graph shows it. */
export function presentDelivery({ id, eventId, isTest, ...attempt }: Delivery): WebhookDeliveryType {
  return { ...attempt, id: publicId('dlv', id), eventId: publicId('evt', eventId), test: isTest };
}
