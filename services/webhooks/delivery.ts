import type { Environment } from '../../schema/principal.ts';
import type { Uuid } from '../../platform/identifiers.ts';
import type { EventType } from '../../schema/event-catalogue.ts';
import type { DELIVERY_ERRORS, DELIVERY_STATUSES } from '../../schema/value-lists.ts';

export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];
export type DeliveryError = (typeof DELIVERY_ERRORS)[number];

/** One attempt to deliver one event to one endpoint. */
export interface Delivery {
  readonly id: Uuid;
  readonly eventId: Uuid;
  readonly eventType: EventType;
  /** 1 to 6. */
  readonly attempt: number;
  readonly status: DeliveryStatus;
  readonly url: string;
  readonly responseStatus: number | null;
  readonly responseTimeMs: number | null;
  /** The first kilobyte. */
  readonly responseBody: string | null;
  readonly error: DeliveryError | null;
  readonly scheduledAt: Date;
  readonly sentAt: Date | null;
  readonly completedAt: Date | null;
  /** When the attempt behind this one is due. */
  readonly nextAttemptAt: Date | null;
  readonly requestHeaders: Readonly<Record<string, string>> | null;
  readonly isTest: boolean;
}

/** An attempt that a sender has claimed, with all that it takes to send it. */
export interface ClaimedDelivery {
  readonly id: Uuid;
  readonly accountId: Uuid;
  readonly environment: Environment;
  readonly endpointId: Uuid;
  readonly eventId: Uuid;
  readonly eventType: EventType;
  readonly isTest: boolean;
  readonly attempt: number;
  readonly sentAt: Date;
  readonly kind: 'webhook' | 'callback';
  readonly url: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly apiVersion: string;
  readonly sealedSecret: Buffer;
  /** Signs beside the other for a day. */
  readonly sealedReplacedSecret: Buffer | null;
  /** Null for a test, which is about nothing that happened. */
  readonly data: Readonly<Record<string, unknown>> | null;
  readonly occurredAt: Date;
}

/** What came of an attempt. */
export interface Outcome {
  readonly status: 'success' | 'failed';
  readonly responseStatus: number | null;
  readonly responseTimeMs: number;
  readonly responseBody: string | null;
  readonly error: DeliveryError | null;
  /** What the receiver asked for, 0 when it did not ask. */
  readonly retryAfterMs: number;
  readonly requestHeaders: Readonly<Record<string, string>>;
}
